# SPDX-License-Identifier: MIT
"""A frame as parts: whose time it was, from one program's reading of the clock to another's.

Its latency begins where the camera stamps it and ends where its reader has the ranges or the pose. So nobody's timer is
waited for, and who runs says what goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.cause.context import Slice
from rtqual.cause.matching import Matched, Sample
from rtqual.cause.timeline import Kind, passing
from rtqual.cause.trace import Thread, Trace

STREAM, EMULATOR = "ds325-stream", "ds325-emulator"
# By the beginning of a thread's name; the first that holds counts.
_ROLES = (
    (EMULATOR, Kind.CAMERA),
    (STREAM, Kind.DECODE),
    ("ds325-", Kind.WORKER),  # of the camera's own driver
    ("kworker/", Kind.WORKER),
    ("vhci_", Kind.HOST),
    ("usbip_", Kind.HOST),
    ("swapper/", Kind.IDLE),
)
_TOLERANCE_NS = 3
_OFF = 1e-4  # of a duration: how far the guest's clock may be from 1 GHz


@dataclass(frozen=True)
class Roles:
    """`pose_ns`: from where on what decodes a frame makes its pose."""

    pose_ns: int | None = None

    @classmethod
    def of(cls, trace: Trace, sample: Sample, thread: Thread, *, poses: bool) -> "Roles":
        """Before it makes a pose, the thread reads its clock for the ranges."""
        if not poses:
            return cls()
        before = [ns for event, ns, who in trace.readings() if event < sample.event and who.task == thread.task]
        return cls(before[-1] if before else None)

    def kind(self, one: Slice) -> Kind:
        whoever = passing(one) or (Kind.SCHEDULING if one.scheduling else None)
        if whoever or one.thread is None:
            return whoever or Kind.UNNAMED
        kind = next((kind for start, kind in _ROLES if one.thread.name.startswith(start)), Kind.OTHER)
        return Kind.POSE if kind == Kind.DECODE and self.pose_ns is not None and one.begin_ns >= self.pose_ns else kind


def between(trace: Trace, series: Sequence[Sequence[int]], begin: str, end: str) -> list[Matched]:
    """The samples of each series, in ns and in their order: each from a reading of the clock by a thread named `begin`
    to one by a thread named `end`. They are numbered from 1 over all series.

    Raises BadInput where the readings do not give all values at one rate of the clock.
    """
    began = np.array([ns for _, ns, thread in trace.readings() if thread.name == begin], np.int64)
    ended: dict[int, list[tuple[int, int, Thread]]] = {}
    for event, ns, thread in trace.readings():
        if thread.name == end:
            ended.setdefault(thread.task, []).append((event, ns, thread))
    found: list[Matched] = []
    pairs: list[tuple[int, int]] = []  # of all series: ns of the trace, the value
    number = 1
    for values in series:
        matched = next((some for every in ended.values() if (some := _ends(began, every, values))), None)
        if matched is None:
            raise BadInput(
                f"{len(values)} durations from {begin} to {end} are not among what their readings of the clock are "
                "apart (docs/explain.md)"
            )
        samples = [
            Sample(number + place, value, event, ns)
            for place, (value, (event, ns, _, _)) in enumerate(zip(values, matched, strict=True))
        ]
        number += len(values)
        pairs += [(ns - since, value) for value, (_, ns, _, since) in zip(values, matched, strict=True)]
        found.append(Matched(matched[-1][2], tuple(samples)))
    apart, told = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    if np.abs(told - apart * (told.sum() / apart.sum())).max() > _TOLERANCE_NS:
        raise BadInput(f"from {begin} to {end} the clock has no one rate: it was corrected meanwhile")
    return found


def _ends(
    began: np.ndarray[tuple[int], np.dtype[np.int64]], ended: Sequence[tuple[int, int, Thread]], values: Sequence[int]
) -> list[tuple[int, int, Thread, int]] | None:
    """(event, ns, thread, ns of its beginning) of each value, in their order; None where one has none."""
    found: list[tuple[int, int, Thread, int]] = []
    at = 0
    for value in values:
        slack = min(_TOLERANCE_NS + value * _OFF, value - 1)  # a reading is not its own beginning
        while True:
            if at == len(ended):
                return None
            event, ns, thread = ended[at]
            at += 1
            place = int(np.searchsorted(began, ns - value - slack))
            near = began[place : place + 8]
            near = near[np.abs(ns - value - near) <= slack]
            if len(near):
                found.append((event, ns, thread, int(near[np.abs(ns - value - near).argmin()])))
                break
    return found
