# SPDX-License-Identifier: MIT
"""The longest sections of a run without interrupts or without preemption, whether a sample met them or not.

An observation, not a bound: another run may take other ways.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from rtqual.parts.explain.context import Slice
from rtqual.parts.explain.timeline import dominant
from rtqual.parts.explain.trace import Trace

_KINDS = {"ct": "interrupts off", "pq": "preemption off"}


@dataclass(frozen=True)
class SwitchedOff:
    """Times are ns of the guest; threads and addresses as the plugin saw them."""

    kind: str
    begin_ns: int
    end_ns: int
    thread: str  # that ran when it ended
    off_word: int
    on_word: int
    cpu: int = 0

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class Placed:
    """A section and the functions in which it spent most of its time, the outermost first."""

    section: SwitchedOff
    chain: tuple[str, ...]
    times: int = 1  # of the sections looked at, how many lie there
    turns_ns: int = 0  # of it, in which other CPUs had their turns


def longest(trace: Trace, from_ns: int, to_ns: int, most: int) -> list[SwitchedOff]:
    """Of each kind, those that lie between two moments; the longest first."""
    found = list(chain.from_iterable(_sections(trace, pair, kind) for pair, kind in _KINDS.items()))
    inside = [section for section in found if from_ns <= section.begin_ns and section.end_ns <= to_ns]
    inside.sort(key=lambda section: (-section.duration_ns, section.begin_ns))
    return [section for kind in _KINDS.values() for section in [own for own in inside if own.kind == kind][:most]]


def _sections(trace: Trace, pair: str, kind: str) -> Iterator[SwitchedOff]:
    """They are told when they end: where from, and then where to."""
    off, on = (np.flatnonzero(trace.kinds == ord(letter)) for letter in pair)
    for begin, end in zip(off.tolist(), on.tolist(), strict=False):
        if end != begin + 1:
            continue
        thread = trace.thread_at(end)
        yield SwitchedOff(
            kind, int(trace.ns[begin]), int(trace.ns[end]), str(thread or ""),
            int(trace.words[begin]), int(trace.words[end]), int(trace.cpus[end]),
        )  # fmt: skip


def by_place(found: Iterable[Placed], most: int) -> list[Placed]:
    """Of each kind, the longest section of each place; the longest first."""
    kept: dict[tuple[str, tuple[str, ...]], Placed] = {}
    for placed_section in sorted(
        found,
        key=lambda placed_section: (
            placed_section.section.kind,
            -placed_section.section.duration_ns,
            placed_section.section.begin_ns,
        ),
    ):
        place = placed_section.section.kind, placed_section.chain[-2:]
        kept[place] = replace(kept[place], times=kept[place].times + 1) if place in kept else placed_section
    return [
        placed_section
        for kind in _KINDS.values()
        for placed_section in [own for own in kept.values() if own.section.kind == kind][:most]
    ]


def placed(section: SwitchedOff, slices: Iterable[Slice]) -> Placed:
    inside = [piece for piece in slices if section.begin_ns <= piece.begin_ns < section.end_ns]
    turns_ns = sum(piece.end_ns - piece.begin_ns for piece in inside if piece.turn)
    return Placed(section, dominant(inside), turns_ns=turns_ns)
