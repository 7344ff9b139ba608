# SPDX-License-Identifier: MIT
"""The docking camera's goals (docs/lidar.md): which way from frames to ranges meets which, on each kernel and load."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rtqual.analysis.figure.model import Summary
from rtqual.base.words import listed, under

_BASELINE, _SCALAR, _UVC = "lidar-baseline", "lidar-mmap", "lidar-mmap-simd"
LADDER = (_BASELINE, _SCALAR, _UVC, "lidar-mmap-raised", "lidar-dmabuf", "lidar-driver")
_RANGE_NS, _POSE_NS, _PER_S, _BASELINES_PART, _SCALARS_PART = 2e6, 6e6, 300, 1 / 5, 1 / 2
_WAKE_UP_MARGIN_NS = 5_000  # as the mission's for wake-ups: a difference within it does not matter


@dataclass(frozen=True)
class Ways:
    """The ways from frames to ranges beside each other, on one kernel under one load."""

    candidate: str
    load: str
    summaries: tuple[Summary, ...]  # one a way

    @property
    def names(self) -> list[str]:
        return [way_name(one.group.instrument) for one in self.summaries]

    @property
    def place(self) -> str:
        return f"{self.candidate} {under(self.load)}"

    def met(self, way: str) -> dict[str, bool | None]:
        """Goal -> whether a way meets it; None where a figure for it is missing, be it that of another way."""
        columns = {one.group.instrument: one for one in self.summaries}
        of = next(one for one in self.summaries if way_name(one.group.instrument) == way)
        return {goal: judge(of, columns.get) for goal, judge in _GOALS.items()}

    def told(self, way: str) -> tuple[int, str]:
        """How many goals a way meets, and which it misses or could not be judged on."""
        met = self.met(way)
        lists = {
            "Missed": [goal for goal in met if met[goal] is False],
            "Not judged": [goal for goal in met if met[goal] is None],
        }
        remarks = [f"{what}: {'; '.join(goals)}" for what, goals in lists.items() if goals]
        return list(met.values()).count(True), ". ".join(remarks)


def way_name(instrument: str) -> str:
    return instrument.removeprefix("lidar-")


def ways(summaries: Sequence[Summary], rungs: Sequence[str] = LADDER) -> Iterator[Ways]:
    """Kernels in the order of the summaries, columns in that of the rungs."""
    found = [one for one in summaries if one.group.instrument in rungs]
    for candidate, load, board, cpus in dict.fromkeys(map(_where, found)):
        here = [one for one in found if _where(one) == (candidate, load, board, cpus)]
        yield Ways(candidate, load, tuple(sorted(here, key=lambda one: rungs.index(one.group.instrument))))


def _where(one: Summary) -> tuple[str, str, str, int]:
    return one.group.candidate, one.group.load, one.group.board, one.group.cpus


def columns(measured: Sequence[Ways]) -> list[str]:
    """Every way that was measured anywhere, in the order of the ladder."""
    seen = {name for one in measured for name in one.names}
    return [name for name in map(way_name, LADDER) if name in seen]


@dataclass(frozen=True)
class Reached:
    """What a campaign says of the goals, in a sentence."""

    whole: bool  # a way meets all of them, everywhere
    text: str


def reached(measured: Sequence[Ways]) -> Reached:
    """The way that meets the most goals, over all kernels and loads, and what it misses."""
    met = {way: {one.place: one.met(way) for one in measured if way in one.names} for way in columns(measured)}
    order = {way: _met_and_missed(list(its.values())) for way, its in met.items()}
    best = [way for way in order if order[way] == max(order.values())]
    its = met[best[0]]
    missed = [f"'{goal}' on {place}" for place, goals in its.items() for goal in goals if goals[goal] is False]
    without = [place for place, goals in its.items() if False not in goals.values()]
    judged = min((sum(kept is not None for kept in its[place].values()) for place in without), default=0)
    what = f"all {judged} goals" if judged == len(GOALS) else f"the {judged} of {len(GOALS)} goals judged"
    miss = f"misses {missed[0]}" + (f" and {len(missed) - 1} more" if len(missed) > 1 else "") if missed else ""
    if not any(order[best[0]]):
        return Reached(False, "No goal could be judged.")
    if not missed:
        verb = "meets" if len(best) == 1 else "meet"
        return Reached(judged == len(GOALS), f"{listed(best)} {verb} {what} on {listed(without)}.")
    if judged:
        return Reached(False, f"{best[0]} meets {what} on {listed(without)}; it {miss}.")
    return Reached(False, f"No way meets every goal. Nearest: {best[0]}, which {miss}.")


def _met_and_missed(goals: Sequence[Mapping[str, bool | None]]) -> tuple[int, int]:
    """To sort by: the more met the better, then the fewer missed."""
    return sum(list(one.values()).count(True) for one in goals), -sum(list(one.values()).count(False) for one in goals)


Other = Callable[[str], Summary | None]
_Judge = Callable[[Summary, Other], bool | None]


def _value(summary: Summary | None, name: str) -> float | None:
    """Nothing of what a verdict must not rest on."""
    figure = summary.figures.get(name) if summary and not summary.problems else None
    return None if figure is None else figure.value


def _limit(name: str, limit: float, of: Summary, _: Other, *, at_least: bool = False) -> bool | None:
    found = _value(of, name)
    return None if found is None else (found >= limit if at_least else found <= limit)


def _beside(name: str, way: str, part: float, more: float, of: Summary, other: Other) -> bool | None:
    """At most a part of another way's figure and something more."""
    found, limit = _value(of, name), _value(other(way), name)
    return None if found is None or limit is None else found <= part * limit + more


_CPU = "cpu_per_frame"
_GOALS: dict[str, _Judge] = {
    "no frame lost": partial(_limit, "frames_lost", 0),
    "at least 300 frames/s unthrottled": partial(_limit, "frames_per_s_unthrottled", _PER_S, at_least=True),
    "frame end to range, p99 at most 2 ms": partial(_limit, "p99", _RANGE_NS),
    "frame end to pose, p99 at most 6 ms": partial(_limit, "pose p99", _POSE_NS),
    "CPU by frame at most a fifth of the baseline's": partial(_beside, _CPU, _BASELINE, _BASELINES_PART, 0),
    "CPU by frame at most half of mmap's": partial(_beside, _CPU, _SCALAR, _SCALARS_PART, 0),
    "wake-up, p99, at most 5 µs over mmap-simd's": partial(_beside, "wake-up p99", _UVC, 1, _WAKE_UP_MARGIN_NS),
    "wake-up, max, at most 5 µs over mmap-simd's": partial(_beside, "wake-up max", _UVC, 1, _WAKE_UP_MARGIN_NS),
}
GOALS = tuple(_GOALS)
