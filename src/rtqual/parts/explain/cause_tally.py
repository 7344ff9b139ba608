# SPDX-License-Identifier: MIT
"""Causes of many samples together: which kinds of time made a candidate's tail, and why one is later than another."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtqual.parts.explain.timeline import TimeKind, Timeline

_PLACES = 5


@dataclass(frozen=True)
class CauseTally:
    """The worst samples of a candidate under a load. Times are means over these samples, in ns."""

    candidate: str
    load: str
    samples: int
    mean_ns: float
    least_ns: int
    most_ns: int
    causes_ns: Mapping[TimeKind, float]
    of_the_worst_ns: Mapping[TimeKind, int]
    places: tuple[tuple[str, str, int], ...]  # (kind, function, in how many samples it is the longest part)


def tally(candidate: str, load: str, timelines: Sequence[Timeline]) -> CauseTally:
    """Of at least one timeline."""
    values = [line.sample.value_ns for line in timelines]
    total: dict[TimeKind, int] = defaultdict(int)
    for line in timelines:
        for kind, ns in line.causes.items():
            total[kind] += ns
    worst = max(timelines, key=lambda line: line.sample.value_ns)
    places = Counter((line.worst.kind.value, line.worst.where) for line in timelines)
    ordered = sorted(places.items(), key=lambda item: (-item[1], item[0]))[:_PLACES]
    return CauseTally(
        candidate=candidate,
        load=load,
        samples=len(timelines),
        mean_ns=sum(values) / len(values),
        least_ns=min(values),
        most_ns=max(values),
        causes_ns={kind: total[kind] / len(values) for kind in TimeKind if kind in total},
        of_the_worst_ns=worst.causes,
        places=tuple((kind, where, number) for (kind, where), number in ordered),
    )


@dataclass(frozen=True)
class TallyStep:
    """What of `later`'s lateness against `sooner` is of a kind; negative where `sooner` has more of it."""

    kind: TimeKind
    ns: float


@dataclass(frozen=True)
class Waterfall:
    """The steps add up to the difference of the means."""

    later: CauseTally
    sooner: CauseTally
    steps: tuple[TallyStep, ...]

    @property
    def difference_ns(self) -> float:
        return self.later.mean_ns - self.sooner.mean_ns


def waterfalls(tallies: Iterable[CauseTally]) -> list[Waterfall]:
    """Under each load, every candidate against the one whose worst samples are soonest."""
    by_load: dict[str, list[CauseTally]] = defaultdict(list)
    for tally in tallies:
        by_load[tally.load].append(tally)
    found = []
    for some in by_load.values():
        sooner, *others = sorted(some, key=lambda tally: (tally.mean_ns, tally.candidate))
        found += [_waterfall(other, sooner) for other in others]
    return found


def _waterfall(later: CauseTally, sooner: CauseTally) -> Waterfall:
    kinds = [kind for kind in TimeKind if kind in later.causes_ns or kind in sooner.causes_ns]
    steps = [TallyStep(kind, later.causes_ns.get(kind, 0) - sooner.causes_ns.get(kind, 0)) for kind in kinds]
    return Waterfall(later, sooner, tuple(sorted(steps, key=lambda step: (-step.ns, step.kind))))
