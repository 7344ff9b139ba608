# SPDX-License-Identifier: MIT
"""The probe as an instrument: beside cyclictest, as a control loop, and as one table over operating systems."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Series
from support.command import Run

WAKEUP, BESIDE = all_instruments()["probe-wakeup"], all_instruments()["probe-beside"]
PROBE_LOOP = all_instruments()["probe-loop"]

ROOT = Path(__file__).parents[3]
CYCLES = 3000
LOOP = """
[mission]
name = "loop"
title = "The control loop on both kernels"
purpose = "Which path wakes it, and how late?"
duration = "1 h"

[[candidate]]
name = "rt"
title = "RT"
package = "linux-image-rt-amd64"

[[candidate]]
name = "stock"
title = "stock"
package = "linux-image-amd64"

[scale.demo.parameters.probe-loop]
iterations = 100

[[scale.demo.plan]]
instruments = ["probe-loop"]
loads = ["hackbench"]
runs = 1
"""


def samples(series: Series) -> np.ndarray:
    return np.repeat(series.values, series.counts)


@pytest.mark.full  # 20 s
def test_its_wake_up_is_cyclictests_to_a_microsecond(board: VirtualBoard) -> None:
    """The probe's is a little earlier: cyclictest's threads also return through glibc's restartable sequences."""
    cyclic, own = CyclictestParameters(cycles=CYCLES), ProbeParameters(iterations=CYCLES)
    outcome = board.run(CYCLICTEST.job(cyclic, cpus=1, seed=1), seed=1, timeout_s=300)
    theirs = samples(CYCLICTEST.read(cyclic, outcome, cpus=1).series[0])
    ours = samples(
        WAKEUP.read(own, board.run(WAKEUP.job(own, cpus=1, seed=1), seed=1, timeout_s=300), cpus=1).series[0]
    )
    assert len(theirs) == len(ours) == CYCLES
    quantiles = [*np.linspace(0.01, 0.99, 99), 0.995, 0.999]
    apart = np.quantile(theirs, quantiles, method="inverted_cdf") - np.quantile(ours, quantiles, method="inverted_cdf")
    assert np.abs(apart).max() < 1000
    assert np.median(ours) <= np.median(theirs)


def test_it_measures_every_cpu_at_once(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    few = ProbeParameters(iterations=100)
    board = VirtualBoard(kernel("debian-rt"), Machine(cpus=2), tmp_path)
    found = WAKEUP.read(few, board.run(WAKEUP.job(few, cpus=2, seed=1), seed=1, timeout_s=120), cpus=2)
    assert [(s.info.name, s.info.cpu, s.total) for s in found.series] == [("latency", 0, 100), ("latency", 1, 100)]
    assert found.problems == ()


@pytest.mark.full  # three minutes: the stock kernel's stages wait for the load
def test_the_control_loops_paths_differ_under_load(rtqual: Run, tmp_path: Path) -> None:
    mission = tmp_path / "loop.toml"
    mission.write_text(LOOP)
    done = rtqual("select", mission, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    found = {one["group"]["candidate"]: one for one in json.loads(done.stdout)["summaries"]}
    figures = {name: {key: figure["value"] for key, figure in one["figures"].items()} for name, one in found.items()}
    paths = ("sleep", "hard timer", "soft timer", "network", "futex")
    for name, one in figures.items():
        offered = [path for path in paths if f"loop by {path}" not in found[name]["absent"]]
        assert all(f"loop by {path}: deadline misses" in one for path in offered)
        assert all(f"loop by {path}: sensor start p99" in one for path in offered)
    assert "loop by soft timer" in found["stock"]["absent"]  # and says why
    hard, soft = (figures["rt"][f"loop by {path}: sensor start p50"] for path in ("hard timer", "soft timer"))
    assert soft > 1.5 * hard


def test_a_stage_of_the_loop_is_read_with_its_name(board: VirtualBoard) -> None:
    few = ProbeParameters(iterations=50)
    found = PROBE_LOOP.read(few, board.run(PROBE_LOOP.job(few, cpus=1, seed=1), seed=1, timeout_s=120), cpus=1)
    assert found.problems == ()
    assert {"loop by sleep: end to end", "loop by futex: actuator response"} <= {s.info.name for s in found.series}


@pytest.mark.full  # six minutes with the downloads: three kernels on the ARM board
def test_the_table_of_mechanisms_has_every_cell(rtqual: Run, tmp_path: Path) -> None:
    done = rtqual("select", ROOT / "missions/mechanisms.toml", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    summaries = json.loads(done.stdout)["summaries"]
    rows = {(one["group"]["candidate"], one["group"]["instrument"]): one for one in summaries}
    families = ("primitives", "itc", "periodic")
    systems = [
        ("freertos", "probe-"),
        *((f"armmp{rt}", f"probe-{space}") for rt in ("", "-rt") for space in ("", "kernel-")),
    ]
    assert {*rows} == {(name, prefix + family) for name, prefix in systems for family in families}
    assert len(rows["freertos", "probe-primitives"]["series"]) >= 18
    for cell, one in rows.items():
        assert one["timing"] == "instructions", cell
        alike = rows["freertos", cell[1].replace("kernel-", "")]
        assert {*one["series"], *one["absent"]} == {*alike["series"], *alike["absent"]}, cell
        assert not one["problems"], cell
    report = (tmp_path / "out/report.md").read_text()
    for family in ("primitives", "itc"):
        assert f"{family} idle, virtual-arm board, 1 CPU, by operating system" in report
        assert f"{family} idle, virtual-arm board, 1 CPU: rank correlation with published systems" in report
    ((_, *told),) = (
        line.split("|")[1:-1] for line in report.splitlines() if re.match(r"\| FreeRTOS, Raspberry Pi 2 ", line)
    )
    assert float(told[1].split()[0]) >= 0.75  # of FreeRTOS; the 18 rows
    assert told[0].strip() == "18"


@pytest.mark.guest
def test_only_deferred_timers_wait_for_a_thread_of_middle_priority(
    board: VirtualBoard, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    """Of PREEMPT_RT those of timerfd and timer_create: its threads for them have a lower one."""
    parameters = ProbeParameters(iterations=20)
    boards = {"rt": board, "stock": VirtualBoard(kernel("debian"), Machine(), tmp_path / "scratch")}
    job = BESIDE.job(parameters, cpus=1, seed=1)
    outcomes = {name: of.run(job, seed=1, timeout_s=600) for name, of in boards.items()}
    late = {
        (name, series.info.name.partition(" ")[0]): int(np.median(samples(series)))
        for name, outcome in outcomes.items()
        for series in BESIDE.read(parameters, outcome, cpus=1).series
    }
    assert {key for key, ns in late.items() if ns > 200_000} == {("rt", "timerfd"), ("rt", "timer_create")}
    assert max(ns for key, ns in late.items() if ns <= 200_000) < 50_000
