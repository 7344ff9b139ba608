# SPDX-License-Identifier: MIT
"""Which of many changes moves something: as few trials as there can be, where each trial is decisive.

The changes have an order. The shortest beginning of it that moves is found by halving: its last change acts, perhaps
together with earlier ones. With that change fixed the earlier ones are halved again, until what is fixed moves alone.
For one acting change of n that is log2 n trials and one more; each further change that acts with it costs as many.
What acts is then made minimal as delta debugging does (A. Zeller, R. Hildebrandt, "Simplifying and isolating
failure-inducing input", 2002): none of it can be left out.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil, log2

Trial = Callable[[frozenset[int]], bool | None]  # of some of the changes: whether they move it; None: not to be judged


@dataclass(frozen=True)
class Isolated:
    acting: tuple[tuple[int, ...], ...]  # changes that act together; several in one where none between can be judged
    rest_moves: bool | None  # whether all others do without them

    @property
    def changes(self) -> tuple[int, ...]:
        return tuple(sorted(_together(self.acting)))


def isolate(number: int, moves: Trial) -> Isolated:
    """Of changes 0 to `number` - 1, all of which together move, and none of which do not."""
    known: dict[frozenset[int], bool | None] = {frozenset(): False, frozenset(range(number)): True}

    def tried(some: Iterable[int]) -> bool | None:
        asked = frozenset(some)
        if asked not in known:
            known[asked] = moves(asked)
        return known[asked]

    groups: list[tuple[int, ...]] = []
    high = number
    while not tried(_together(groups)):
        fixed = _together(groups)
        low, high = turning(0, high, lambda at, fixed=fixed: tried({*range(at), *fixed}))  # type: ignore[misc]
        groups.insert(0, tuple(range(low, high)))
        high = low
    for group in tuple(groups) if len(groups) > 1 else ():
        if tried(_together(pair for pair in groups if pair != group)):
            groups.remove(group)
    return Isolated(tuple(groups), tried(set(range(number)) - _together(groups)))


def turning(low: int, high: int, moves: Callable[[int], bool | None]) -> tuple[int, int]:
    """Neighbours of which the first does not move and the second does, as `low` does not and `high` does; further
    apart where none between can be judged."""
    while high - low > 1:
        middle = (low + high) // 2
        for at in sorted(range(low + 1, high), key=lambda at: (abs(at - middle), at)):
            side = moves(at)
            if side is not None:
                low, high = (low, at) if side else (at, high)
                break
        else:
            break
    return low, high


def at_most(number: int) -> tuple[int, int]:
    """Trials where one change acts, besides those of all and of none; and for each further one that acts with it."""
    halvings = halved(number)
    return halvings + (2 if number > 1 else 0), halvings + 2


def halved(number: int) -> int:
    """Trials until one of so many is left."""
    return ceil(log2(number)) if number > 1 else 0


def _together(groups: Iterable[Iterable[int]]) -> frozenset[int]:
    return frozenset(number for group in groups for number in group)
