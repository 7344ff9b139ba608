# SPDX-License-Identifier: MIT
"""Steadying a board's settings, on a tree as the kernel has it; and what tells whether a kernel did what was asked."""

import subprocess
from pathlib import Path

from rtqual.engine.boards.remote import truth
from rtqual.engine.boards.remote.tune import TunedSetting, changes, reset_script, script


def tree(root: Path) -> dict[str, str]:
    files = {
        "sys/devices/system/cpu/online": "0-3",
        "sys/devices/system/cpu/isolated": "2-3",
        **{f"sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor": "ondemand" for n in range(4)},
        "sys/devices/system/cpu/cpu0/cpuidle/state0/disable": "0",
        "sys/devices/system/cpu/cpu0/cpuidle/state1/disable": "0",
        "proc/sys/kernel/sched_rt_runtime_us": "950000",
        "proc/sys/kernel/timer_migration": "0",
        "proc/irq/24/smp_affinity_list": "0-3",
        "proc/irq/25/smp_affinity_list": "0-3",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    (root / "run").mkdir()
    return files


def test_settings_are_set_told_and_put_back(tmp_path: Path) -> None:
    before = tree(tmp_path)
    root = str(tmp_path)
    done = subprocess.run(["sh", "-c", script(root)], capture_output=True, text=True, check=True)
    assert (done.stderr, changes(done.stdout)) == ("", [
        TunedSetting("governor", "ondemand", "performance", 4),
        TunedSetting("idle states", "0", "1", 1),
        TunedSetting("limit of real-time CPU time", "950000", "-1", 1),
        TunedSetting("interrupts", "0-3", "0,1", 2),
    ])  # fmt: skip
    assert (tmp_path / "sys/devices/system/cpu/cpu0/cpuidle/state0/disable").read_text() == "0\n"
    again = subprocess.run(["sh", "-c", script(root)], capture_output=True, text=True, check=True)
    assert changes(again.stdout) == []  # and what stood there first is what is put back
    back = subprocess.run(["sh", "-c", reset_script(root)], capture_output=True, text=True, check=True)
    assert (back.stdout, back.stderr) == ("", "")
    assert {name: (tmp_path / name).read_text().strip() for name in before} == before
    assert list((tmp_path / "run").iterdir()) == []


def test_no_interrupt_is_moved_where_no_cpu_is_isolated(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "sys/devices/system/cpu/isolated").write_text("\n")
    done = subprocess.run(["sh", "-c", script(str(tmp_path))], capture_output=True, text=True, check=True)
    assert "interrupts" not in done.stdout and (tmp_path / "proc/irq/24/smp_affinity_list").read_text() == "0-3\n"


def test_what_the_kernel_refuses_is_told_and_no_answer_commands_a_terminal() -> None:
    (one,) = changes("boost\t1\t1\nno row\n")
    assert one.refused and str(one) == "boost: stays 1: the kernel refuses"
    (odd,) = changes("boost\t\x1b[2J\t0\n")
    assert "\x1b" not in str(odd)
    many = "".join(f"boost\t{n}\t{'c' * 500}\n{n}\tb\tc\n" for n in range(10**4))
    assert sum(len(str(one)) for one in changes(many)) < 10_000


def test_a_kernel_that_does_not_isolate_as_it_was_asked_is_a_problem() -> None:
    facts = {"isolated_cpus": "3 .", "nohz_full_cpus": "(null)", "rcu_nocbs_cpus": "3"}
    cmdline = ["isolcpus=3", "nohz_full=3", "rcu_nocbs=3", "quiet"]
    assert truth.isolation(cmdline, facts) == ["the kernel was asked for nohz_full=3 and does not do it"]
    none = {
        "isolated_cpus": " .",
        "nohz_full_cpus": " ",
        "rcu_nocbs_cpus": "unknown",
    }  # as a kernel and a shell print it
    assert len(truth.isolation(cmdline, none)) == 3 and len(truth.isolation(cmdline, {})) == 3
    assert truth.isolation(["quiet"], {}) == []


def test_interrupts_of_the_run_are_told_and_those_on_isolated_cpus() -> None:
    before = "  CPU0 CPU1\n 24:  10  0  GICv2 62 Level eth0\nLOC:  5  5 Local timer interrupts\n"
    after = "  CPU0 CPU1\n 24:  40  2  GICv2 62 Level eth0\nLOC:  9  5 Local timer interrupts\nERR:  0\n"
    assert truth.interrupts(before, after, {"isolated_cpus": "1 ."}) == {
        "interrupts_in_run": "24 eth0 32, LOC 4",
        "interrupts_on_isolated": "24 eth0 2",
    }
    assert truth.interrupts(before, before, {"isolated_cpus": "1 ."}) == {"interrupts_on_isolated": "none"}
    for odd in ("", "\x00", ":::\n\n:", "CPU0\n1: " + "9" * 400, "x" * 10**6, "CPU0 " * 10**5 + "\n1: 1"):
        truth.interrupts(before, odd, {"isolated_cpus": "0-99999999999,x,5-1"})
