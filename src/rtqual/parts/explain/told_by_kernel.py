# SPDX-License-Identifier: MIT
"""Late samples as the measured system's own kernel told them (engine/instruments/late.py), as timelines."""

from itertools import accumulate

from rtqual.base.errors import BadInput
from rtqual.parts.explain.matching import Sample
from rtqual.parts.explain.timeline import Stretch, TimeKind, Timeline
from rtqual.protocols.record.schema import LatePart, LateSample

_KINDS = {
    "before": TimeKind.DELIVERY,
    "timer": TimeKind.TIMER,
    "nmi": TimeKind.INTERRUPT,
    "irq": TimeKind.INTERRUPT,
    "softirq": TimeKind.SOFTIRQ,
    "thread": TimeKind.OTHER,
    "switch": TimeKind.SCHEDULING,
    "untold": TimeKind.UNNAMED,
    "own": TimeKind.OWN,
    "sibling": TimeKind.SIBLING,
    "held": TimeKind.PREEMPT_OFF,
    "wait": TimeKind.WAIT,
}
_IDLE = "swapper/"


def told(late: LateSample) -> Timeline:
    """Its clock begins at the timer's expiry. Raises BadInput where its parts leave a gap or do not add up."""
    ends = [0, *accumulate(part.duration_ns for part in late.parts)]
    if [part.begin_ns for part in late.parts] != ends[:-1] or ends[-1] != late.value_ns or not late.value_ns:
        raise BadInput(f"the parts of sample {late.number} do not add up to its {late.value_ns} ns: measure again")
    hit = late.parts[0].name
    parts = tuple(_part(part, hit, tuple(late.calls) if _is(part, hit) else ()) for part in late.parts)
    return Timeline(Sample(late.number, late.value_ns, 0, late.value_ns), parts, late.cpu)


def _is(part: LatePart, thread: str) -> bool:
    """Whether a part is of the thread that the timer's interrupt hit."""
    return part.source in ("before", "thread") and part.name == thread


def _part(late_part: LatePart, hit: str, chain: tuple[str, ...]) -> Stretch:
    interrupts = late_part.source in ("nmi", "irq", "softirq")
    idle = late_part.source == "thread" and late_part.name.startswith(_IDLE)
    return Stretch(
        kind=TimeKind.IDLE_EXIT if idle else _KINDS[late_part.source],
        begin_ns=late_part.begin_ns,
        duration_ns=late_part.duration_ns,
        thread=hit if interrupts else late_part.name,
        entry=(late_part.name or late_part.source.upper()) if interrupts else "",
        chain=chain,
        off_at="",
        off_before_ns=0,
    )
