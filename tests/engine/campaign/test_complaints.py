# SPDX-License-Identifier: MIT
"""What a kernel says went wrong spoils a record, but for the panic that a procedure asked for; so do CPUs it lacks."""

from pathlib import Path

import pytest

from rtqual.engine.campaign.provenance import kernel_complaints, missing_cpus
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import load_mission
from support.command import mission_text

PANIC = """\
[   30.06] Kernel panic - not syncing: sysrq triggered crash
[   30.07] Call Trace:
[   30.07] Kernel Offset: disabled
rtqual: booted
"""


def test_only_a_panic_that_was_asked_for_is_none() -> None:
    assert kernel_complaints(PANIC, resets=True) == []
    assert kernel_complaints(PANIC) != []
    assert kernel_complaints(PANIC + "[ 9.0] BUG: scheduling while atomic", resets=True) != []
    assert kernel_complaints(PANIC.replace("sysrq triggered crash", "Fatal exception"), resets=True) != []


def test_cpus_that_are_kept_for_something_are_not_missing() -> None:
    assert missing_cpus({"cpus": "1"}, 4) == ["the kernel ran on 1 of 4 CPUs"]
    for facts in ({"cpus": "4"}, {"cpus": "2", "cmdline": "quiet isolcpus=2,3"}, {"cpus": "junk"}, {}):
        assert missing_cpus(facts, 4) == []


@pytest.mark.guest
def test_a_kernel_that_finds_one_cpu_of_two_gives_no_figures_of_two(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    text = mission_text("debian-rt", loads=("none",), runs=1).replace("runs = 1", "runs = 1\ncpus = [2]")
    path.write_text(text.replace('title = "debian-rt"', 'title = "debian-rt"\nboot = ["nr_cpus=1"]'))
    result = Campaign(load_mission(path), "demo", tmp_path / "out", workers=1).run(Watcher())
    assert all("the kernel ran on 1 of 2 CPUs" in one.manifest.problems for one in result.records)
    assert result.records
