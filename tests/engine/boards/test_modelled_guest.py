# SPDX-License-Identifier: MIT
"""A guest on CPUs that run side by side, with memory that stalls them (target/observers/memory.c)."""

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.machine import emulator_for, why_no_model
from rtqual.engine.boards.modelled import BUSY, models
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import make_ready
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual.protocols.board.jobscript import unpack
from rtqual.protocols.load.own import stress_ng

pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(bool(why_no_model(AMD64)), reason="only Debian 12's QEMU is known to the models of memory"),
]
SPIN = Path(__file__).parents[2] / "support/spin.c"
HOG = stress_ng("--stream", "3", "--stream-l3-size", "4m", "--taskset", "1-3")
PARAMETERS = CyclictestParameters(cycles=30)
Boards = Callable[[str], VirtualBoard]


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Boards:
    """Debian's RT kernel on four CPUs by a model's name; all models share the booted guest."""
    folder = tmp_path_factory.mktemp("modelled")
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-static", "-Wall", "-Werror", SPIN, "-o", folder / "spin"], check=True)
    extra = {"usr/bin/spin": folder / "spin"}
    fetched = fetch("linux-image-rt-amd64", kernel=True)
    kernel = make_ready("rt", fetched, boot=(), tools=guest_tools(), architecture=AMD64, extra=extra)

    def board(model: str) -> VirtualBoard:
        guests = folder / "guests"
        return VirtualBoard(kernel, Machine(cpus=4), folder / "scratch", guests=guests, model=models()[model])

    return board


def wakeups(board: VirtualBoard, *loads: Command) -> JobOutcome:
    """On CPU 0, each 1 ms."""
    job = CYCLICTEST.job(PARAMETERS, cpus=1, seed=1)
    return board.run(replace(job, loads=loads), seed=1, timeout_s=900)


def median_ns(outcome: JobOutcome) -> int:
    (series,) = CYCLICTEST.read(PARAMETERS, outcome, cpus=1).series
    ordered = [int(value) for value, n in zip(series.values, series.counts, strict=True) for _ in range(n)]
    return ordered[len(ordered) // 2]


def test_four_cpus_at_once_spin_as_fast_as_one_does_alone(boards: Boards) -> None:
    job = Job(measure=Command(("sh", "-c", "spin 1; spin 4")))
    alone, *together = map(int, boards("parallel").run(job, seed=1, timeout_s=300).stdout.split())
    assert len(together) == 4
    assert all(abs(ns / alone - 1) < 0.03 for ns in together)


def test_blocks_that_a_fault_ends_take_as_long_on_four_cpus_as_on_one(boards: Boards) -> None:
    """QEMU counts the rest of such a block back whole, though the clock went on by a share of it."""
    job = Job(measure=Command(("sh", "-c", "spin 1 faults; spin 4 faults")))
    alone, *together = map(int, boards("parallel").run(job, seed=1, timeout_s=600).stdout.split())
    assert len(together) == 4
    assert all(abs(ns / alone - 1) < 0.05 for ns in together), (alone, together)


def test_a_hog_beside_hurts_by_memory_and_two_runs_are_equal(boards: Boards) -> None:
    modelled, parallel = (wakeups(boards(model), *HOG) for model in ("cortex-a72", "parallel"))
    assert median_ns(modelled) > 3 * median_ns(parallel)
    assert 0.5 < float(modelled.facts[BUSY]) <= 1
    assert int(modelled.facts["memory_waited_for_dram_ns"]) > 0 and BUSY not in parallel.facts
    again = wakeups(boards("cortex-a72"), *HOG)
    told = {key: value for key, value in modelled.facts.items() if key.startswith("memory_")}
    assert (again.files, {key: again.facts[key] for key in told}) == (modelled.files, told)


@pytest.mark.full
def test_a_restored_run_is_the_uninterrupted_one(boards: Boards, tmp_path: Path) -> None:
    """On one CPU: caches begin cold at the mark in both."""
    board = VirtualBoard(boards("parallel").kernel, Machine(), tmp_path / "scratch", model=models()["cortex-a72"])
    restored = wakeups(board)
    subprocess.run(restored.command, cwd=tmp_path, check=False, stdin=subprocess.DEVNULL, timeout=900)
    uninterrupted = unpack((tmp_path / "result").read_bytes(), "uninterrupted")
    assert {name: uninterrupted[f"file.{name}"] for name in restored.files} == dict(restored.files)
    told = models()["cortex-a72"].facts((tmp_path / "memory").read_text())
    assert told == {key: restored.facts[key] for key in told}


def test_a_qemu_that_is_not_known_is_refused(boards: Boards, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plugin for the interface that Debian 13's has: QEMU or the plugin itself says no, and nothing is measured."""
    board = boards("parallel")
    newer = emulator_for(AMD64).plugin("rtqual-memory").with_name("rtqual-memory-3.so")
    plugin = type(board._emulator).plugin
    monkeypatch.setattr(
        type(board._emulator), "plugin", lambda self, name: newer if "memory" in name else plugin(self, name)
    )
    with pytest.raises(RunFailed, match="plugin"):
        board.run(Job(measure=Command(("true",))), seed=1, timeout_s=60)
