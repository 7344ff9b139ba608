# SPDX-License-Identifier: MIT
"""The gate on kernels that run in real guests."""

import json
from pathlib import Path

import pytest

from support.command import Run, mission_text
from support.gate_records import finished


def test_a_boot_parameter_that_makes_a_kernel_slower_fails_and_the_reverse_passes(
    rtqual: Run, kernel: object, tmp_path: Path
) -> None:
    """Somebody forgot to turn function tracing off. Ten runs, since another boot draws them anew."""
    text = mission_text("debian-rt", loads=("none",), runs=10)
    tracing = 'boot = ["ftrace=function", "ftrace_filter=*hrtimer*"]\n'
    plain, traced = tmp_path / "plain", tmp_path / "traced"
    for folder, mission in ((plain, text), (traced, text.replace('-amd64"\n', f'-amd64"\n{tracing}'))):
        folder.with_suffix(".toml").write_text(mission)
        done = rtqual("select", folder.with_suffix(".toml"), "--out", folder)
        assert done.returncode == 0, done.stderr
    equal = finished(tmp_path / "equal", plain)

    done = rtqual("gate", plain, equal, "--json")
    assert done.returncode == 0
    assert {one["course"] for one in json.loads(done.stdout)["figures"]} == {"same"}

    done = rtqual("gate", plain, traced, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"avg", "p50"} <= {one["figure"] for one in told["figures"] if one["course"] == "worse"}
    changed = {one["what"]: one["after"] for one in told["inputs"]}
    assert changed["kernel parameters"] == "ftrace=function ftrace_filter=*hrtimer*"

    done = rtqual("gate", traced, plain, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert {"avg", "p50"} <= {one["figure"] for one in told["figures"] if one["course"] == "better"}


@pytest.mark.full
def test_a_kernel_booted_without_preemption_fails_against_one_with_it(rtqual: Run, tmp_path: Path) -> None:
    """Two guests, ten runs each under load."""
    folders = {}
    for mode in ("full", "none"):
        text = mission_text("debian", loads=("hackbench",), runs=10)
        path = tmp_path / f"{mode}.toml"
        path.write_text(text.replace('-amd64"\n', f'-amd64"\npreempt = "{mode}"\n'))
        folders[mode] = tmp_path / mode
        done = rtqual("select", path, "--out", folders[mode])
        assert done.returncode == 0, done.stderr
    assert rtqual("gate", folders["full"], folders["full"]).returncode == 0
    done = rtqual("gate", folders["full"], folders["none"])
    assert done.returncode == 1
    for figure in ("avg", "p50", "p99", "max"):
        assert f" {figure} " in done.stdout.partition("Worse")[2]
    assert "preempt=full to preempt=none" in done.stdout
    done = rtqual("gate", folders["none"], folders["full"])
    assert done.returncode == 0, done.stdout
    assert "Better" in done.stdout
