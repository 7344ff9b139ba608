# SPDX-License-Identifier: MIT
"""A frame or a telecommand as parts: whose time it was, from one program's reading of the clock to another's.

A frame's latency begins where the camera stamps it and ends where its reader has the ranges or the pose; that of a
telecommand begins where the ground sends it and ends where the ground has its answer. So nobody's timer is waited for,
and who runs says what goes on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.parts.explain.context import Slice
from rtqual.parts.explain.matching import Matched, Sample
from rtqual.parts.explain.timeline import TimeKind, passing
from rtqual.parts.explain.trace import KernelThread, Trace

STREAM, EMULATOR = "ds325-stream", "ds325-emulator"
GROUND, FLIGHT = "rtqual-ground", "ds325-flight"
_BY_PRIORITY = {
    40: TimeKind.COMMANDS,
    30: TimeKind.LINK,
}  # threads of the flight program (docking/flight/program/world.h)
# By the beginning of a thread's name; the first that holds counts.
_ROLES = (
    (EMULATOR, TimeKind.CAMERA),
    (STREAM, TimeKind.DECODE),
    ("ds325-", TimeKind.WORKER),  # of the camera's own driver
    ("kworker/", TimeKind.WORKER),
    ("vhci_", TimeKind.HOST),
    ("usbip_", TimeKind.HOST),
    ("swapper/", TimeKind.IDLE),
)
_TOLERANCE_NS = 3
_OFF = 1e-4  # of a duration: how far the guest's clock may be from 1 GHz


@dataclass(frozen=True)
class Roles:
    """`pose_ns`: from where on what decodes a frame makes its pose."""

    pose_ns: int | None = None

    @classmethod
    def of(cls, trace: Trace, sample: Sample, thread: KernelThread, *, poses: bool) -> "Roles":
        """Before it makes a pose, the thread reads its clock for the ranges."""
        if not poses:
            return cls()
        before = [ns for event, ns, who in trace.readings() if event < sample.event and who.task == thread.task]
        return cls(before[-1] if before else None)

    def kind(self, piece: Slice) -> TimeKind:
        whoever = passing(piece) or (TimeKind.SCHEDULING if piece.scheduling else None)
        if whoever or piece.thread is None:
            return whoever or TimeKind.UNNAMED
        kind = next((kind for start, kind in _ROLES if piece.thread.name.startswith(start)), TimeKind.OTHER)
        return (
            TimeKind.POSE
            if kind == TimeKind.DECODE and self.pose_ns is not None and piece.begin_ns >= self.pose_ns
            else kind
        )


@dataclass(frozen=True)
class Players:
    """Who answers a telecommand. `tasks`: threads of the flight program by what they do."""

    tasks: Mapping[int, TimeKind]

    @classmethod
    def of(cls, trace: Trace) -> "Players":
        """By the priority that a thread has most often: one that holds a lock may have another's for a while."""
        seen = Counter(thread for _, thread in trace.threads if thread.name == FLIGHT)
        usual = {thread.task: _BY_PRIORITY.get(99 - thread.priority) for thread, _ in reversed(seen.most_common())}
        return cls({task: kind for task, kind in usual.items() if kind})

    def kind(self, piece: Slice) -> TimeKind:
        whoever = passing(piece) or (TimeKind.SCHEDULING if piece.scheduling else None)
        if whoever or piece.thread is None:
            return whoever or TimeKind.UNNAMED
        if piece.thread.idle:
            return TimeKind.IDLE
        return TimeKind.GROUND if piece.thread.name == GROUND else self.tasks.get(piece.thread.task, TimeKind.OTHER)


def logged(trace: Trace, name: str, times_ns: Sequence[int]) -> list[tuple[int, int, KernelThread]]:
    """(event, ns, thread) of the readings of the clock that the thread `name` logged, in ns since one of them. It logs
    the last that it makes.

    Raises BadInput where they are not there at one rate of the clock.
    """
    tasks = {thread.task for _, thread in trace.threads if thread.name == name}
    every = [
        reading for reading in trace.readings() if reading[2].task in tasks
    ]  # it has its name from its first switch on
    while every and every[-1][2].name != name:  # of others that had its place in memory after it
        every.pop()
    read_ns, times = (np.array(column, np.float64) for column in ([ns for _, ns, _ in every], times_ns))
    for start_ns in read_ns:
        rate = (read_ns[-1] - start_ns) / times[-1]
        if abs(rate - 1) < _OFF:
            wanted = start_ns + times * rate
            places = np.searchsorted(read_ns, wanted - _TOLERANCE_NS)
            if (np.abs(read_ns[np.minimum(places, len(read_ns) - 1)] - wanted) <= _TOLERANCE_NS).all():
                return [every[place] for place in places.tolist()]
    raise BadInput(f"the times that {name} logged are not those of its {len(every)} readings of the clock")


def between(trace: Trace, series: Sequence[Sequence[int]], begin: str, end: str) -> list[Matched]:
    """The samples of each series, in ns and in their order: each from a reading of the clock by a thread named `begin`
    to one by a thread named `end`. They are numbered from 1 over all series.

    Raises BadInput where the readings do not give all values at one rate of the clock.
    """
    began = np.array([ns for _, ns, thread in trace.readings() if thread.name == begin], np.int64)
    ended: dict[int, list[tuple[int, int, KernelThread]]] = {}
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
    began: np.ndarray[tuple[int], np.dtype[np.int64]],
    ended: Sequence[tuple[int, int, KernelThread]],
    values: Sequence[int],
) -> list[tuple[int, int, KernelThread, int]] | None:
    """(event, ns, thread, ns of its beginning) of each value, in their order; None where one has none."""
    found: list[tuple[int, int, KernelThread, int]] = []
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
