# SPDX-License-Identifier: MIT
"""What is read of a board beside its figures, and what of it refuses them, without a board."""

import subprocess
from pathlib import Path

import pytest

from rtqual.engine.boards.remote import truth

STEADY = {
    "clocksource": "arch_sys_counter",
    "governor": "performance",
    "throttled": "throttled=0x0",
    "machine": "Raspberry Pi 4 Model B",
    "time_status": "8193 (PLL | NANO)",
    "sched_rt_runtime_us": "-1",
}


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({}, []),
        ({"clocksource": "timer"}, ["the clock source changed in the run: arch_sys_counter, then timer"]),
        ({"throttled": "throttled=0x50000"}, ["the board was throttled in the run: get_throttled was throttled=0x0"]),
        ({"throttled": "unknown"}, ["whether the board was throttled is unknown"]),
        ({"throttled": "Can't open device file: /dev/vcio, c 100 0"}, ["whether the board was throttled is unknown"]),
        ({"time_status": "64 (UNSYNC)"}, ["the board's clock lost its time source in the run"]),
        ({"governor": "ondemand"}, ["the CPU's governor changed in the run: performance, then ondemand"]),
        ({"sched_rt_runtime_us": "950000"}, ["the limit of real-time CPU time changed in the run"]),
    ],
)
def test_what_breaks_figures_is_a_problem(after: dict[str, str], told: list[str]) -> None:
    found = truth.problems(STEADY, STEADY | after)
    assert len(found) == len(told) and all(one.startswith(start) for one, start in zip(found, told, strict=True))


def test_throttling_before_the_run_is_no_problem_and_throttling_now_is() -> None:
    before = STEADY | {"throttled": "throttled=0x50000"}
    assert truth.problems(before, before) == []
    now = STEADY | {"throttled": "throttled=0x50005"}
    assert len(truth.problems(now, now)) == 1


def test_a_pc_counts_throttling_and_need_not() -> None:
    pc = STEADY | {"machine": "PC", "throttled": "unknown"}
    assert truth.problems(pc, pc) == []
    counted = pc | {"throttled": "3 4"}
    assert truth.problems(counted, counted) == []
    assert truth.problems(counted, counted | {"throttled": "3 6"}) == ["the processor was throttled 2 times in the run"]


def test_the_raspberry_pis_firmware_is_asked_as_its_own_program_does(tmp_path: Path) -> None:
    """With a device that takes the message apart. Not tried on a board."""
    root, asks = Path(__file__).parents[3], tmp_path / "rtqual-firmware"
    sources = [root / "target/agent/firmware.c", root / "tests/support/firmware_answers.c"]
    subprocess.run(
        ["gcc", "-Wall", "-Wextra", "-Werror", "-Wl,--wrap=open,--wrap=ioctl", *sources, "-o", asks], check=True
    )

    def said(*words: str, **answers: str) -> tuple[int, str]:
        done = subprocess.run([asks, *words], env=answers, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    assert said("get_throttled", "now", FIRMWARE_ANSWERS="throttled=0x50005") == (0, "throttled=0x50005\n")
    assert said("other", FIRMWARE_ANSWERS="x") == (1, "rtqual-firmware: the firmware answers with error 1\n")
    assert said("x" * 1024)[0] == 2 and said("x" * 1023)[0] == 1


def test_every_fact_is_read_here_and_what_is_not_there_is_unknown(tmp_path: Path) -> None:
    subprocess.run(["sh", "-c", truth.script(str(tmp_path / "facts"))], check=True)
    facts = truth.read((tmp_path / "facts").read_text())
    assert set(facts) == set(truth._FACTS)
    assert facts["clocksource"] not in ("", truth.UNKNOWN) and len(facts["boot_id"]) == 36
    assert len(truth.read(f"firmware={'x' * 10**6}")["firmware"]) == 400
    assert facts["throttled"]  # unknown in most guests, a count elsewhere, and never empty
