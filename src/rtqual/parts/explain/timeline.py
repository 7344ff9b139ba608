# SPDX-License-Identifier: MIT
"""A sample as parts, from the timer's expiry to the thread's first reading of its clock; they add up to its value."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from rtqual.base.errors import RunFailed
from rtqual.parts.explain.context import UNKNOWN, Slice
from rtqual.parts.explain.matching import Sample
from rtqual.parts.explain.processor import Processor
from rtqual.parts.explain.trace import KernelThread

_SHORT_NS = 1_000
_DOMINANT = 0.5  # of a part: a function that takes as much is named
_WAKES = frozenset({"try_to_wake_up", "wake_up_q", "wake_up_process", "swake_up_one", "rt_mutex_postunlock"})
_MEASURED = ("port_", "sleep_until", "sleep_and_look")  # the battery's own functions (target/probe/)
_WAITS = ("rt_mutex", "rtlock", "rwsem", "mutex", "futex_wait", "down_", "rwbase")


class TimeKind(StrEnum):
    """In the order in which they are looked for."""

    INTERRUPT = "interrupt"
    SOFTIRQ = "softirq"
    IRQS_OFF = "interrupts off"
    DELIVERY = "until the timer's interrupt"
    TIMER = "until the timer's thread"
    SCHEDULING = "scheduling"
    SYSTEM = "the system"  # whoever it runs: of an image that does not tell
    IDLE_EXIT = "idle exit"
    LOCK = "lock wait"
    PREEMPT_OFF = "preemption off"
    OTHER = "another thread"
    SIBLING = "another thread of the program"
    WAIT = "waits within its job"
    FAULT = "page fault"
    RETURN = "back to the thread"
    OWN = "the thread itself"
    # Of frames and telecommands, by who runs (roles.py):
    CAMERA = "camera"
    HOST = "USB host"
    WORKER = "worker"
    DECODE = "decode"
    POSE = "pose"
    GROUND = "ground"
    LINK = "link"
    COMMANDS = "commands"
    IDLE = "idle"
    UNNAMED = "not named"


@dataclass(frozen=True)
class Stretch:
    """`chain`: the functions in which it spends most of its time, the outermost first."""

    kind: TimeKind
    begin_ns: int  # since the expiry
    duration_ns: int
    thread: str
    entry: str  # of an interrupt or exception
    chain: tuple[str, ...]
    off_at: str  # where interrupts were switched off: the function, its caller, the caller of that
    off_before_ns: int  # how long before the part
    user: bool = False
    turn: str = ""  # who ran meanwhile, where it was another CPU's turn; all else is what the sample's CPU was at then

    @property
    def label(self) -> str:
        return "another CPU's turn" if self.turn else self.kind.value

    @property
    def where(self) -> str:
        return self.chain[-1] if self.chain else "user space" if self.user else ""


@dataclass(frozen=True)
class Timeline:
    sample: Sample
    parts: tuple[Stretch, ...]
    cpu: int = 0

    @property
    def causes(self) -> dict[TimeKind, int]:
        """ns by kind, the largest first."""
        found: dict[TimeKind, int] = defaultdict(int)
        for part in self.parts:
            found[part.kind] += part.duration_ns
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def turns_ns(self) -> int:
        return sum(part.duration_ns for part in self.parts if part.turn)

    @property
    def worst(self) -> Stretch:
        return max(self.parts, key=lambda part: part.duration_ns)

    @property
    def named(self) -> float:
        """Share of the sample."""
        unnamed = sum(part.duration_ns for part in self.parts if part.kind == TimeKind.UNNAMED)
        return 1 - unnamed / self.sample.value_ns if self.sample.value_ns else 1.0


def timeline(
    sample: Sample, processor: Processor, measured: KernelThread, slices: Iterable[Slice], cpu: int = 0
) -> Timeline:
    """Of a wake-up. `slices`: without a gap, from the expiry or before it to the reading or after it.

    Raises RunFailed otherwise, and where the timer's interrupt did not come on that CPU.
    """
    telling = _Telling(processor, measured)
    if not processor.threads:  # where no interrupt came none was waited for: the thread polls
        slices = list(slices)
        telling.fired = not any(piece.kind == "I" and piece.end_ns > sample.expiry_ns for piece in slices)
    line = told_by(sample, telling.kind, slices, cpu)
    if line.turns_ns and not telling.fired:
        raise RunFailed(
            f"sample {sample.number}: its timer's interrupt came on another CPU, as with nohz_full; such a wake-up is "
            "not explained"
        )
    return line


def told_by(sample: Sample, kind: Callable[[Slice], TimeKind], slices: Iterable[Slice], cpu: int = 0) -> Timeline:
    """The same, where `kind` says of each slice in turn what it is."""
    pieces: list[tuple[TimeKind, Slice]] = []
    for piece in slices:
        begin_ns, end_ns = max(piece.begin_ns, sample.expiry_ns), min(piece.end_ns, sample.read_ns)
        if begin_ns < end_ns:
            pieces.append((kind(piece), replace(piece, begin_ns=begin_ns, end_ns=end_ns)))
    groups = _without_flicker(_merged(pieces))
    by_turns = [(of, [*iterator]) for of, some in groups for _, iterator in groupby(some, _turn)]
    parts = _parts(by_turns, sample)
    if sum(part.duration_ns for part in parts) != sample.value_ns:
        raise RunFailed(f"sample {sample.number}: its parts do not add up; this is an error of rtqual")
    return Timeline(sample, parts, cpu)


def passing(piece: Slice) -> TimeKind | None:
    """What it is whoever runs; None where the thread says it."""
    placed = piece.chain or piece.turn  # in another CPU's turn thread and mask say enough
    if not piece.user and (piece.chain[-1:] == (UNKNOWN,) if placed else piece.kind == ""):
        return TimeKind.UNNAMED
    if piece.softirq:
        return TimeKind.SOFTIRQ
    return TimeKind.INTERRUPT if piece.kind == "I" else None


@dataclass
class _Telling:
    processor: Processor
    measured: KernelThread
    fired: bool = False  # the timer's interrupt came
    ran: bool = False  # the thread ran since the expiry
    waits: str = ""  # for what, where it ran and was taken off the CPU again

    def kind(self, piece: Slice) -> TimeKind:
        in_timer = piece.kind == "I" and (
            piece.entered in self.processor.timers or not self.processor.timer_handlers.isdisjoint(piece.chain)
        )
        self.fired = self.fired or in_timer
        mine = piece.thread is not None and piece.thread.task == self.measured.task
        if mine and self.fired:
            self.ran = True
            self.waits = next((name for name in piece.chain if any(wait in name for wait in _WAITS)), "")
        whoever = passing(piece)
        if whoever and not (whoever == TimeKind.INTERRUPT and self.processor.switches_at_leave and piece.scheduling):
            return whoever
        if not self.fired:
            return self._before(piece)
        if not self.processor.threads:
            return TimeKind.RETURN if any(name.startswith(_MEASURED) for name in piece.chain) else TimeKind.SYSTEM
        return self._mine(piece) if mine else self._others(piece)

    def _before(self, piece: Slice) -> TimeKind:
        """The timer's interrupt."""
        if piece.interrupts or (piece.chain[-1:] and piece.chain[-1].startswith(self.processor.vectors or "?")):
            return TimeKind.DELIVERY
        return (
            TimeKind.IDLE_EXIT
            if self.processor.halts and piece.off_at.startswith(self.processor.halts)
            else TimeKind.IRQS_OFF
        )

    def _others(self, piece: Slice) -> TimeKind:
        if piece.scheduling:
            return TimeKind.SCHEDULING
        if self.ran and self.waits:
            return TimeKind.LOCK
        if piece.thread is not None and piece.thread.idle:
            return TimeKind.IDLE_EXIT
        if not piece.interrupts:
            return TimeKind.IRQS_OFF
        return TimeKind.OTHER if piece.preemptible else TimeKind.PREEMPT_OFF

    def _mine(self, piece: Slice) -> TimeKind:
        if piece.scheduling:
            return TimeKind.SCHEDULING
        if piece.entered in self.processor.faults or not self.processor.fault_handlers.isdisjoint(piece.chain):
            return TimeKind.FAULT
        return TimeKind.OWN if piece.user else TimeKind.RETURN


def _merged(pieces: Sequence[tuple[TimeKind, Slice]]) -> list[tuple[TimeKind, list[Slice]]]:
    groups: list[tuple[TimeKind, list[Slice]]] = []
    for kind, piece in pieces:
        if groups and groups[-1][0] == kind and _alike(groups[-1][1][-1], piece, kind):
            groups[-1][1].append(piece)
        else:
            groups.append((kind, [piece]))
    return groups


def _without_flicker(groups: Sequence[tuple[TimeKind, list[Slice]]]) -> list[tuple[TimeKind, list[Slice]]]:
    """A thread of the kernel switches preemption and interrupts off and on all the time: below _SHORT_NS these are no
    cause by themselves, but the thread that runs is."""
    found: list[tuple[TimeKind, list[Slice]]] = []
    fired = False
    for kind, some in groups:
        fired = fired or kind not in (TimeKind.DELIVERY, TimeKind.IRQS_OFF)  # until then they are why it did not
        short = fired and _whole_ns(piece for piece in some if not piece.turn) < _SHORT_NS
        called = (
            TimeKind.OTHER if short and kind in (TimeKind.PREEMPT_OFF, TimeKind.IRQS_OFF) and _taken(some[0]) else kind
        )
        if found and found[-1][0] == called and _alike(found[-1][1][-1], some[0], called):
            found[-1][1].extend(some)
        else:
            found.append((called, list(some)))
    return found


def _taken(piece: Slice) -> bool:
    """By a thread that could be named, and not by an interrupt."""
    return piece.thread is not None and not piece.thread.idle and piece.kind != "I"


def _turn(piece: Slice) -> int | None:
    return piece.turn.cpu if piece.turn else None


def _whole_ns(slices: Iterable[Slice]) -> int:
    return sum(piece.end_ns - piece.begin_ns for piece in slices)


def _alike(a: Slice, b: Slice, kind: TimeKind) -> bool:
    if kind == TimeKind.SCHEDULING:
        return True
    if kind == TimeKind.SYSTEM:
        return a.chain[:1] == b.chain[:1]
    return a.thread == b.thread and (kind not in (TimeKind.INTERRUPT, TimeKind.FAULT) or a.entered == b.entered)


def _parts(groups: Sequence[tuple[TimeKind, list[Slice]]], sample: Sample) -> tuple[Stretch, ...]:
    """Who held a lock is seen when he gives it back, which may be long after the beginning of the wait."""
    found: list[Stretch] = []
    holder: tuple[str, tuple[str, ...]] | None = None
    for kind, some in reversed(groups):
        part = _part(kind, some, sample)
        if kind == TimeKind.LOCK:
            holder = _waker(some) or holder
            part = replace(part, thread=holder[0], chain=holder[1]) if holder else part
        found.append(part)
    return tuple(reversed(found))


def _waker(slices: Sequence[Slice]) -> tuple[str, tuple[str, ...]] | None:
    """The thread that wakes the one that waits, and what it calls for that."""
    for piece in [piece.turn or piece for piece in reversed(slices)]:
        wakes = [place for place, name in enumerate(piece.chain) if name.partition(".")[0] in _WAKES]
        if wakes and piece.kind != "I":
            return str(piece.thread or ""), piece.chain[: wakes[0]]
    return None


def _part(kind: TimeKind, slices: Sequence[Slice], sample: Sample) -> Stretch:
    first = slices[0]
    off = (
        next((piece for piece in slices if not piece.interrupts and piece.off_at), None)
        if kind == TimeKind.IRQS_OFF
        else None
    )
    whole_ns = _whole_ns(slices)
    others = [piece.turn for piece in slices if piece.turn]
    return Stretch(
        kind=kind,
        begin_ns=first.begin_ns - sample.expiry_ns,
        duration_ns=whole_ns,
        thread=str(first.thread) if first.thread else "",
        entry=first.entered if first.kind in ("I", "X") else "",
        chain=dominant(slices),
        off_at=off.off_at if off else "",
        off_before_ns=max(0, first.begin_ns - off.off_ns) if off else 0,
        user=_DOMINANT * whole_ns <= _whole_ns(piece for piece in slices if piece.user),
        turn=f"{others[0].thread or 'a thread'} on CPU {others[0].cpu}" if others else "",
    )


def dominant(slices: Sequence[Slice]) -> tuple[str, ...]:
    """Down the calls, as long as one of them takes most of the time."""
    whole = _whole_ns(slices)
    chain: tuple[str, ...] = ()
    while True:
        below: dict[str, int] = defaultdict(int)
        for piece in slices:
            if len(piece.chain) > len(chain) and piece.chain[: len(chain)] == chain:
                below[piece.chain[len(chain)]] += piece.end_ns - piece.begin_ns
        name = max(below, key=lambda name: (below[name], name), default="")
        if not name or below[name] < _DOMINANT * whole:
            return chain
        chain = (*chain, name)
