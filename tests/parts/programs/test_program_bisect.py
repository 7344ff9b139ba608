# SPDX-License-Identifier: MIT
"""A program's figure, bisected: its files are found where its mission lies, and a statistic is one series' own."""

import json
import subprocess
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.bisect.ends import figure
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from rtqual.protocols.record.store import Store, read
from support.command import Run
from support.store_records import record

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250" / "loop250.c"
_MISSION = """\
[mission]
name = "two"
title = "One kernel with other parameters"
purpose = "Which of them moves the start of jobs?"
duration = "1 min"

[[candidate]]
name = "good"
title = "good"
package = "linux-image-cloud-amd64"

[[candidate]]
name = "bad"
title = "bad"
package = "linux-image-cloud-amd64"
boot = ["nowatchdog"]

[[program]]
name = "loop250"
binary = "bin/loop250"
arguments = ["50", "70"]
[[program.task]]
name = "control"
thread = "gnc-250hz"
released_by = "timer"
[[program.output]]
from = "stdout"
format = "csv"
series = { exec = "exec_ns" }

[[scale.demo.plan]]
instruments = ["program-loop250"]
runs = 2
"""


def test_a_statistic_is_of_one_series() -> None:
    some = Series.raw([8_000, 9_000], name="control response"), Series.raw([1, 2], name="control start")
    run = record(Measurement(some, {"control missed": Scalar(value=3, unit="1")}))
    told = ("max", "control response max", "control start max", "control missed")
    drawn = [figure(run, name) for name in told]
    assert [(one.value, one.unit, one.samples) for one in drawn] == [
        (9_000, "ns", 2), (9_000, "ns", 2), (2, "ns", 2), (3, "1", 1),
    ]  # fmt: skip
    for name in ("control late max", "p44", "control"):
        with pytest.raises(BadInput, match=f"--statistic {name}: not of a run of"):
            figure(run, name)


@pytest.mark.full
def test_its_ends_are_measured_again_from_where_its_mission_lies(rtqual: Run, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", tmp_path / "bin/loop250", _EXAMPLE], check=True)
    (tmp_path / "two.toml").write_text(_MISSION)
    out = tmp_path / "out"
    done = rtqual("select", tmp_path / "two.toml", "--out", out, "--run-programs")
    assert done.returncode == 0, done.stderr
    how = "--instrument", "program-loop250", "--statistic", "control start p50", "--out", tmp_path / "found", "--json"
    done = rtqual("bisect", f"{out}:good", f"{out}:bad", "--runs", "1", *how)
    assert done.returncode in (0, 1), done.stderr  # whether the two differ is the kernel's affair
    told = json.loads(done.stdout)
    measured = [read(path) for path in Store(out / "records").paths()]
    first = {one.inputs.candidate: one for one in measured if one.inputs.seed == 1}
    assert told["unit"] == "ns"
    assert [step["values"] for step in told["steps"][:2]] == [
        [figure(first[name], "control start p50").value] for name in ("good", "bad")
    ]
