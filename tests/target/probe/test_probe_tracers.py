# SPDX-License-Identifier: MIT
"""The kernel's own tracers, timerlat and osnoise: what is read of them, and where a kernel has none."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.instruments.tracer import OsnoiseParameters, TimerlatParameters
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Inputs, Manifest, Provenance, Record, Timing
from support.instrument_outputs import captured_text, outcome_of, read_text

TIMERLAT = all_instruments()["timerlat"]
OSNOISE = all_instruments()["osnoise"]


def test_timerlat_keeps_both_latencies_of_every_cycle_in_their_order() -> None:
    found = read_text("timerlat", captured_text("timerlat"))
    assert [(s.info.name, s.info.unit, s.total) for s in found.series] == [("thread", "ns", 8), ("irq", "ns", 8)]
    thread, irq = ([*np.concatenate([*s.ordered()])] for s in found.series)
    assert (thread[:3], irq[:3]) == ([8078, 8525, 8502], [1214, 1519, 1400])
    assert found.problems == ()


def test_osnoise_counts_what_interrupted() -> None:
    found = read_text("osnoise", captured_text("osnoise"))
    assert [s.info.name for s in found.series] == ["noise", "largest part of it"]
    assert [*np.concatenate([*found.series[0].ordered()])] == [292_000, 290_000, 87_000, 92_000]
    assert found.scalars["interruptions by IRQ"].value == 14 + 13 + 13 + 12
    assert found.scalars["interruptions by thread"].value == 10 + 11 + 1 + 2
    assert found.scalars["resolution"].value == 1000  # it prints microseconds


@pytest.mark.parametrize("name", ["timerlat", "osnoise"])
def test_a_kernel_without_the_tracer_offers_no_figure(name: str) -> None:
    found = read_text(name, "not offered\n")
    assert not found.series and not found.scalars and not found.problems
    assert len(found.absent) == 2
    assert all(f"CONFIG_{name.upper()}_TRACER" in why for why in found.absent.values())


def test_what_is_not_offered_is_no_problem_and_no_zero() -> None:
    manifest = Manifest(
        hash="0", inputs=Inputs(candidate="c", instrument="timerlat", load="none", board="virtual", cpus=1, seed=1),
        timing=Timing.INSTRUCTIONS, series=[], absent={"thread": "not built in"}, samples_sha256="0",
        provenance=Provenance(rtqual="0", mission_sha256="", started=None, wall_s=None, command=[]),
    )  # fmt: skip
    ((group, records),) = groups([Record(manifest, ())]).items()
    summary = measure(group, records).summary
    assert (summary.problems, summary.figures, summary.absent) == ((), {}, {"thread": "not built in"})


def test_a_cycle_that_is_missing_is_told() -> None:
    lines = [line for line in captured_text("timerlat").splitlines() if "#5 " not in line or "irq" not in line]
    (problem,) = read_text("timerlat", "\n".join(lines)).problems
    assert "samples of irq" in problem


@pytest.mark.parametrize("name", ["timerlat", "osnoise"])
def test_a_trace_without_its_end_is_refused(name: str) -> None:
    text = captured_text(name).replace("end of the trace", "")
    with pytest.raises(RunFailed, match="cut off after"):
        read_text(name, text)


def test_a_thread_of_another_policy_is_a_problem() -> None:
    (problem,) = read_text("timerlat", captured_text("timerlat").replace(") 95 1", ") 0 0")).problems
    assert "policy 0" in problem
    (problem,) = read_text("timerlat", captured_text("timerlat").replace("(timerlat/0) 95 1\n", "")).problems
    assert "0 of 1 CPUs" in problem
    outcome = replace(outcome_of("timerlat", captured_text("timerlat")), facts={})
    assert TIMERLAT.read(TimerlatParameters(cycles=8), outcome, cpus=1).problems == (
        "the clock's resolution is not known",
    )


def test_a_kernel_that_has_them_is_traced_and_one_that_has_not_says_so(
    kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    few = TimerlatParameters(cycles=20)
    board = VirtualBoard(kernel("debian-rt"), Machine(), tmp_path / "rt")
    found = TIMERLAT.read(few, board.run(TIMERLAT.job(few, cpus=1, seed=1), seed=1, timeout_s=120), cpus=1)
    assert found.problems == ()
    thread, irq = found.series
    assert thread.total == irq.total == 20
    assert irq.values.max() < thread.values.min()  # the interrupt comes before the thread that it wakes
    stock = VirtualBoard(kernel("debian-cloud"), Machine(), tmp_path / "stock")
    once = OsnoiseParameters(cycles=1)
    found = OSNOISE.read(once, stock.run(OSNOISE.job(once, cpus=1, seed=1), seed=1, timeout_s=120), cpus=1)
    assert set(found.absent) == {"noise", "largest part of it"}
