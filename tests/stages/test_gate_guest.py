# SPDX-License-Identifier: MIT
"""The gate on kernels that run in real guests."""

import json
from pathlib import Path

import pytest

from support.command import Run, mission_text
from support.gate_records import finished


def test_a_boot_parameter_that_makes_a_kernel_slower_fails_and_the_reverse_passes(
    rtqual: Run, campaign: Path, tmp_path: Path
) -> None:
    """Somebody forgot to turn function tracing off. Takes 15 s."""
    text = mission_text("debian-rt", loads=("none",))
    tracing = 'boot = ["ftrace=function", "ftrace_filter=*hrtimer*"]\n'
    (tmp_path / "traced.toml").write_text(text.replace('-amd64"\n', f'-amd64"\n{tracing}'))
    traced, equal = tmp_path / "traced", finished(tmp_path / "equal", campaign)
    done = rtqual("select", tmp_path / "traced.toml", "--out", traced)
    assert done.returncode == 0, done.stderr

    done = rtqual("gate", campaign, equal, "--json")
    assert done.returncode == 0
    assert {one["course"] for one in json.loads(done.stdout)["figures"]} == {"same"}

    done = rtqual("gate", campaign, traced, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"avg", "p50", "p99", "max"} <= {one["figure"] for one in told["figures"] if one["course"] == "worse"}
    changed = {one["what"]: one["after"] for one in told["inputs"]}
    assert changed["kernel parameters"] == "ftrace=function ftrace_filter=*hrtimer*"
    assert [one["what"] for one in told["lost"]] == ["debian-rt: cyclictest under hackbench, virtual board, 1 CPU"]

    done = rtqual("gate", traced, campaign, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert {"avg", "p50", "p99", "max"} <= {one["figure"] for one in told["figures"] if one["course"] == "better"}
    assert len(told["added"]) == 1


@pytest.mark.full
def test_a_kernel_booted_without_preemption_fails_against_one_with_it(rtqual: Run, tmp_path: Path) -> None:
    """Takes a minute: two guests, three runs each under load."""
    folders = {}
    for mode in ("full", "none"):
        text = mission_text("debian", loads=("hackbench",))
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
