# SPDX-License-Identifier: MIT
"""The docking camera's goals (docs/docking/lidar.md): which way to ranges meets which, on each kernel and load."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rtqual.base.words import count, listed, under
from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.analysis.figure.wording import figure
from rtqual.engine.analysis.verdict.clock import by_clock
from rtqual.engine.analysis.verdict.goals import GoalPlace, Goals, Reach
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Mission
from rtqual.protocols.load.all_loads import all_loads
from rtqual_docking.goal import Goal
from rtqual_docking.ways import LADDER, PREFIX, WASTES

_TO_KNOW = "To know, measure on the board."


@dataclass(frozen=True)
class Ways:
    """The ways from frames to ranges beside each other, on one kernel under one load."""

    candidate: str
    load: str
    summaries: tuple[Summary, ...]  # one a way
    goals: tuple[Goal, ...] = ()
    accept_virtual: bool = False  # the mission takes counted instructions for time
    several: bool = False  # the same kernel and load were measured on other numbers of CPUs too

    @property
    def place(self) -> str:
        cpus = count(self.summaries[0].group.cpus, "CPU")
        return f"{self.candidate} {under(self.load)}" + (f" on {cpus}" if self.several else "")

    @property
    def names(self) -> list[str]:
        return [way_name(one.group.instrument) for one in self.summaries]

    @cached_property
    def scores(self) -> dict[str, Reach]:
        """By the names of the ways."""
        return {way_name(one.group.instrument): self._score(one) for one in self.summaries}

    def _score(self, of: Summary) -> Reach:
        asked = [goal for goal in self.goals if of.group.instrument in goal.ways or not goal.ways]
        return Reach({goal.name: self._judge(goal, of) for goal in asked}, len(self.goals))

    def _judge(self, goal: Goal, of: Summary) -> Gate:
        """A goal for one way, beside the figure of another where it says so."""
        way = goal.of or goal.over
        used = [of, *(one for one in self.summaries if one.group.instrument == way)]
        figures = [_figure(one, goal.figure) for one in used]
        found = figures[0]
        if found is None or None in figures or len(used) < (2 if way else 1):
            lacks = of if found is None else None
            reason = f"no usable {goal.figure} of {way_name(lacks.group.instrument if lacks else str(way))}"
            return Gate(goal.name, of.group.candidate, Outcome.UNDECIDED, found, goal.asked, reason)
        beside = figures[-1] if way else None
        met = goal.met(found.value, beside.value if beside else 0.0)
        sentences = [f"{goal.figure} {figure(one)}" for one in figures if one]
        reason = f"{' against '.join(sentences)} in {count(found.runs, 'run')}, {goal.asked} asked"
        hidden = found if met == bool(goal.at_most) else beside  # if it were larger, it could turn the outcome
        if hidden is not None and hidden.at_least:
            reason += "; samples overflowed the histogram"
            return Gate(goal.name, of.group.candidate, Outcome.UNDECIDED, found, goal.asked, reason)
        outcome = Outcome.MET if met else Outcome.NOT_MET
        gate = Gate(goal.name, of.group.candidate, outcome, found, goal.asked, reason, limit_value=goal.limit.value)
        unit = "%" if goal.of else found.unit
        return by_clock(gate, unit, used, accept_virtual=self.accept_virtual)


@dataclass(frozen=True)
class Reached:
    """What a campaign says of the goals, in a sentence."""

    whole: bool  # a way meets all of them, everywhere, and not on the emulator alone
    text: str


@dataclass(frozen=True)
class CameraWays:
    """What was measured of the ways: those a mission chooses between, and the published pipeline's wastes.

    Kernels and loads are in the order of the mission, so that every report has the same.
    """

    goals: tuple[str, ...] = ()
    ladder: tuple[Ways, ...] = ()
    wastes: tuple[Ways, ...] = ()

    @property
    def judged(self) -> tuple[Ways, ...]:
        """What goals were judged on; nothing where the mission sets none."""
        return self.ladder if self.goals else ()

    @property
    def ways(self) -> list[str]:
        """Every way of the ladder that was measured anywhere."""
        seen = {name for one in self.ladder for name in one.names}
        return [name for name in (way_name(way.name) for way in LADDER) if name in seen]

    @property
    def reached(self) -> Reached:
        """The way that meets the most goals, over all kernels and loads, and what it misses."""
        its = {way: {one.place: one.scores[way] for one in self.judged if way in one.names} for way in self.ways}
        order = {way: _kept_and_broken(list(scores.values())) for way, scores in its.items()}
        best = [way for way in order if order[way] == max(order.values())]
        if not any(order[best[0]]):
            return Reached(False, "No goal could be judged.")
        emulated = any(one.outcome == Outcome.INDICATIVE for way in best for one in _gates(its[way].values()))
        found = self._told(best, its[best[0]], emulated=emulated)
        return replace(found, whole=False, text=f"{found.text} {_TO_KNOW}") if emulated else found

    def _told(self, best: Sequence[str], its: Mapping[str, Reach], *, emulated: bool) -> Reached:
        """What the best way reaches; by whatever clock."""
        broken = [
            f"'{goal}' on {place}"
            for place, score in its.items()
            for goal, one in score.gates.items()
            if one.seen == Outcome.NOT_MET
        ]
        certain = any(one.outcome == Outcome.NOT_MET for one in _gates(its.values()))
        without = [place for place, score in its.items() if all(one.seen != Outcome.NOT_MET for one in _gates([score]))]
        judged = min(
            (sum(one.seen != Outcome.UNDECIDED for one in _gates([its[place]])) for place in without), default=0
        )
        due = len(next(iter(its.values())).gates)  # the goals that are set for it
        everything = f"all {due} goals" if due > 1 else "the only goal"
        what = everything if judged == due else f"the {judged} of {due} goals judged"
        keep, there = ("keep", " on the emulator") if emulated else ("meet", "")
        fails = "breaks" if emulated and not certain else "misses"
        miss = f"{fails} {broken[0]}" + (f" and {len(broken) - 1} more" if len(broken) > 1 else "") if broken else ""
        if not broken:
            verb = f"{keep}s" if len(best) == 1 else keep
            return Reached(judged == due, f"{listed(best)} {verb} {what} on {listed(without)}{there}.")
        if judged:
            return Reached(False, f"{best[0]} {keep}s {what} on {listed(without)}{there}; it {miss}.")
        return Reached(False, f"No way {keep}s every goal{there}. Nearest: {best[0]}, which {miss}.")


def judged(mission: Mission, summaries: Sequence[Summary]) -> Goals:
    """Judge the camera's goals, for every report."""
    ways = camera(mission, summaries)
    places = tuple(GoalPlace(one.place, one.summaries[0].group, one.scores) for one in ways.judged)
    reached = ways.reached if places else Reached(False, "")
    return Goals("camera", "Docking camera", len(ways.goals), tuple(ways.ways), places, reached.whole, reached.text)


def camera(mission: Mission, summaries: Sequence[Summary]) -> CameraWays:
    """Put the ways beside each other: those that a mission chooses between, and the published pipeline's wastes."""
    candidates, loads = [one.name for one in mission.candidates], list(all_loads())
    goals: tuple[Goal, ...] = tuple(mission.brought("goal"))

    def place_of(one: Summary) -> tuple[object, ...]:
        group = one.group
        return (_order(candidates, group.candidate), group.board, group.cpus, _order(loads, group.load))

    def ways(names: Sequence[str]) -> tuple[Ways, ...]:
        places: dict[tuple[object, ...], list[Summary]] = {}
        for one in (one for one in summaries if one.group.instrument in names):
            places.setdefault(place_of(one), []).append(one)
        on = Counter((here[0].group.candidate, here[0].group.load) for here in places.values())
        return tuple(
            Ways(
                here[0].group.candidate,
                here[0].group.load,
                tuple(sorted(here, key=lambda one: names.index(one.group.instrument))),
                goals,
                mission.mission.accept_virtual,
                on[here[0].group.candidate, here[0].group.load] > 1,
            )
            for _, here in sorted(places.items())
        )

    return CameraWays(
        tuple(goal.name for goal in goals),
        ways([way.name for way in LADDER]),
        ways([way.name for way in WASTES]),
    )


def way_name(instrument: str) -> str:
    return instrument.removeprefix(PREFIX)


def _order(names: Sequence[str], name: str) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def _gates(scores: Iterable[Reach]) -> list[Gate]:
    return [one for score in scores for one in score.gates.values()]


def _kept_and_broken(scores: Sequence[Reach]) -> tuple[bool, int, int]:
    """To sort by: every goal kept somewhere, then the more kept the better, then the fewer broken."""
    seen = [one.seen for one in _gates(scores)]
    whole = any(len(one.gates) == one.goals and {g.seen for g in one.gates.values()} == {Outcome.MET} for one in scores)
    return whole, seen.count(Outcome.MET), -seen.count(Outcome.NOT_MET)


def _figure(summary: Summary, name: str) -> Figure | None:
    """Nothing of what a verdict must not rest on."""
    return None if summary.problems else summary.figures.get(name)
