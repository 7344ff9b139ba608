# SPDX-License-Identifier: MIT
"""Explained samples that were made up."""

from collections.abc import Iterable

from rtqual.parts.explain.matching import Sample
from rtqual.parts.explain.timeline import Stretch, TimeKind, Timeline
from rtqual.parts.explain.whys import ExplainedRun, Whys
from rtqual.protocols.record.schema import Manifest


def line(number: int, *parts: tuple[TimeKind, int, str], thread: str = "hackbench") -> Timeline:
    """A sample of parts that each take so many ns in a function."""
    told: list[Stretch] = []
    at_ns = 0
    for kind, ns, function in parts:
        told.append(Stretch(kind, at_ns, ns, thread, "", ("schedule", function), "", 0))
        at_ns += ns
    return Timeline(Sample(number, at_ns, number, 1_000_000 + at_ns), tuple(told))


def explained(records: Iterable[Manifest], hostile: str = "") -> Whys:
    """Two samples of the first run of each candidate under hackbench; the stock kernel holds interrupts off.

    `hostile`: a name for threads and functions.
    """
    runs, thread, function = [], hostile or "hackbench", hostile or "free_pages"
    for record in records:
        inputs = record.inputs
        if (inputs.instrument, inputs.load, inputs.board, inputs.seed) != ("cyclictest", "hackbench", "virtual", 1):
            continue
        off_ns = 300_000 if inputs.candidate.startswith("stock") else 2_000
        base = ((TimeKind.INTERRUPT, 3_000, "hrtimer_interrupt"), (TimeKind.SCHEDULING, 4_000, "__schedule"))
        late = (
            line(number, (TimeKind.IRQS_OFF, off_ns // number, function), *base, thread=thread) for number in (1, 2)
        )
        runs.append(ExplainedRun(record=record.hash, worst=1, above_ns=1_000, timelines=tuple(late)))
    return Whys(runs=tuple(runs))
