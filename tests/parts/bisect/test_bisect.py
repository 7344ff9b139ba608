# SPDX-License-Identifier: MIT
"""`rtqual bisect`: the parameter that moves the figure is found by real guests; what cannot be bisected is refused."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.bisect.axis import parameters_between, with_parameters
from rtqual.parts.bisect.bisect import _Steps
from rtqual.parts.bisect.ends import _sound
from rtqual.protocols.record.store import Store
from support.command import Run
from support.store_records import MEASUREMENT, record

# Page-table isolation makes every way into the kernel longer, the timer's too; the watchdog sleeps for seconds.
MISSION = """\
[mission]
name = "two"
title = "One kernel with other parameters"
purpose = "Which of them moves the median of the wake-ups?"
duration = "1 min"

[[candidate]]
name = "good"
title = "good"
package = "linux-image-cloud-amd64"
boot = ["pti=off"]

[[candidate]]
name = "bad"
title = "bad"
package = "linux-image-cloud-amd64"
boot = ["nowatchdog", "pti=on"]

[parameters.cyclictest]
cycles = 100

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["none"]
runs = 2
"""


@pytest.fixture(scope="module")
def two(rtqual: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    (folder / "two.toml").write_text(MISSION)
    done = rtqual("select", folder / "two.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.mark.full
def test_the_parameter_that_moves_the_median_is_found(rtqual: Run, two: Path, tmp_path: Path) -> None:
    ends = f"{two}:good", f"{two}:bad", "--statistic", "p50"
    foreseen = rtqual("bisect", *ends, "--out", tmp_path, "--dry-run", "--json")
    assert json.loads(foreseen.stdout)["kernels"] == 5 and not [*tmp_path.iterdir()]
    done = rtqual("bisect", *ends, "--out", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["acting"], told["rest_moves"]) == ([["pti=on"]], False)
    good, bad, *between = told["steps"]
    assert (good["changes"], bad["changes"]) == ([], ["pti=on", "nowatchdog"])
    assert good["value"] < bad["value"] and 1 <= len(between) <= 3
    assert told["sentence"].startswith("pti=on moves the p50 of cyclictest idle from ")
    assert len(Store(tmp_path / "records").paths()) == 3 * len(told["steps"])
    again = rtqual("bisect", *ends, "--out", tmp_path, "--json")
    assert again.stdout == done.stdout and "done in" not in again.stderr and "step" not in again.stderr
    kept = _Steps.model_validate_json((tmp_path / "bisect.json").read_bytes())
    fewer = tuple(one for one in kept.steps if len(one.changes) != 1)  # as if it had been interrupted
    (tmp_path / "bisect.json").write_text(kept.model_copy(update={"steps": fewer}).sealed().model_dump_json())
    resumed = rtqual("bisect", *ends, "--out", tmp_path, "--json")
    assert resumed.stdout == done.stdout and "done in" not in resumed.stderr
    (tmp_path / "bisect.json").write_text("[")
    assert rtqual("bisect", *ends, "--out", tmp_path).returncode == 2


@pytest.mark.full
def test_ends_that_are_not_apart_are_told(rtqual: Run, two: Path, tmp_path: Path) -> None:
    """The good end taken for the bad one."""
    done = rtqual("bisect", f"{two}:bad", f"{two}:good", "--statistic", "p50", "--out", tmp_path)
    assert done.returncode == 1, done.stderr
    assert "Nothing to bisect: the p50 of cyclictest idle is" in " ".join(done.stdout.split())


def test_what_cannot_be_bisected_is_refused(fails: Callable[..., str], campaign: Path, tmp_path: Path) -> None:
    same = campaign, campaign
    assert "no such folder" in fails(2, "bisect", tmp_path / "none", campaign)
    assert "none of them" in fails(2, "bisect", f"{campaign}:third", campaign)
    assert "say which with --load" in fails(2, "bisect", *same)
    assert "holds no run of latmus-irq" in fails(2, "bisect", *same, "--instrument", "latmus-irq")
    assert "nothing to bisect" in fails(2, "bisect", *same, "--load", "none")
    assert "give one" in fails(2, "bisect", *same, "--load", "none", "--source", "a", "--through", "b")
    assert "names a package twice" in fails(2, "bisect", *same, "--load", "none", "--through", "linux-image-amd64")
    assert "--runs 0" in fails(2, "bisect", *same, "--runs", "0")
    shutil.copytree(campaign, tmp_path / "damaged")
    (tmp_path / "damaged/campaign.json").write_text("{}")
    assert "damaged" in fails(2, "bisect", tmp_path / "damaged", campaign)


def test_a_parameter_that_comes_several_times_is_one_change() -> None:
    good = ("console=ttyS0", "console=tty0", "quiet", "log-buf-len=1M")
    bad = ("console=ttyS0", "console=ttyS1", "console=tty0", "log_buf_len=1M", "nohz=off")
    between = parameters_between(good, bad)
    console, *_, nohz = between
    assert [str(one) for one in between] == [
        "console=ttyS0 console=ttyS1 console=tty0", "without quiet", "log_buf_len=1M", "nohz=off",
    ]  # fmt: skip
    assert sorted(with_parameters(good, between)) == sorted(bad)
    assert with_parameters(good, [nohz]) == (*good, "nohz=off") and with_parameters(good, []) == good
    assert with_parameters(good, [console]) == ("quiet", "log-buf-len=1M", *bad[:3])
    assert parameters_between(good, good) == []


def test_an_end_that_was_not_measured_well_is_refused_before_anything_is_built() -> None:
    with pytest.raises(BadInput, match="a, seed 1: one problem: such runs decide no step"):
        _sound(record())
    sound = record(replace(MEASUREMENT, problems=()))
    assert _sound(sound) is sound
