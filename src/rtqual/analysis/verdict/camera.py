# SPDX-License-Identifier: MIT
"""The docking camera's goals (docs/lidar.md): which way from frames to ranges meets which, on each kernel and load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from rtqual.analysis.figure.model import Summary
from rtqual.base.words import listed, under
from rtqual.instrument.lidar.ways import LADDER, PREFIX, WASTES
from rtqual.load.registry import LOADS
from rtqual.mission import Goal, Mission


class Tone(StrEnum):
    """How well a way does, by the worst of its goals."""

    MET = "met"
    OPEN = "open"  # a figure is missing
    FAILED = "failed"


@dataclass(frozen=True)
class Score:
    """Goal -> whether a way meets it; None where a figure for it is missing, be it that of another way."""

    met: Mapping[str, bool | None]
    goals: int  # of the mission, also those that are not set for this way

    @property
    def count(self) -> str:
        """How many are met: "3"; "3 of 5" where fewer than all are set for the way, "-" where none is."""
        met = str(list(self.met.values()).count(True)) if self.met else "-"
        return met if len(self.met) in (0, self.goals) else f"{met} of {len(self.met)}"

    @property
    def tone(self) -> Tone:
        outcomes = self.met.values()
        return Tone.FAILED if False in outcomes else Tone.OPEN if None in outcomes else Tone.MET

    @property
    def remark(self) -> str:
        """Which are missed or could not be judged."""
        lists = {
            "Missed": [goal for goal, met in self.met.items() if met is False],
            "Not judged": [goal for goal, met in self.met.items() if met is None],
        }
        return ". ".join(f"{what}: {'; '.join(goals)}" for what, goals in lists.items() if goals)


@dataclass(frozen=True)
class Ways:
    """The ways from frames to ranges beside each other, on one kernel under one load."""

    candidate: str
    load: str
    summaries: tuple[Summary, ...]  # one a way
    goals: tuple[Goal, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.candidate} {under(self.load)}"

    @property
    def names(self) -> list[str]:
        return [way_name(one.group.instrument) for one in self.summaries]

    @cached_property
    def scores(self) -> dict[str, Score]:
        """By the names of the ways."""
        return {way_name(one.group.instrument): self._score(one) for one in self.summaries}

    def _score(self, of: Summary) -> Score:
        asked = [goal for goal in self.goals if of.group.instrument in goal.ways or not goal.ways]
        return Score({goal.name: self._judge(goal, of) for goal in asked}, len(self.goals))

    def _judge(self, goal: Goal, of: Summary) -> bool | None:
        found, beside = _value(of, goal.figure), 0.0
        if way := goal.of or goal.over:
            other = _value(next((one for one in self.summaries if one.group.instrument == way), None), goal.figure)
            if other is None:
                return None
            beside = other
        return None if found is None else goal.met(found, beside)


@dataclass(frozen=True)
class Reached:
    """What a campaign says of the goals, in a sentence."""

    whole: bool  # a way meets all of them, everywhere
    text: str


@dataclass(frozen=True)
class Camera:
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
        met = {way: {one.place: one.scores[way].met for one in self.judged if way in one.names} for way in self.ways}
        order = {way: _met_and_missed(list(its.values())) for way, its in met.items()}
        best = [way for way in order if order[way] == max(order.values())]
        its = met[best[0]]
        missed = [f"'{goal}' on {place}" for place, goals in its.items() for goal in goals if goals[goal] is False]
        without = [place for place, goals in its.items() if False not in goals.values()]
        judged = min((sum(kept is not None for kept in its[place].values()) for place in without), default=0)
        due = len(next(iter(its.values())))  # the goals that are set for it
        everything = f"all {due} goals" if due > 1 else "the only goal"
        what = everything if judged == due else f"the {judged} of {due} goals judged"
        miss = f"misses {missed[0]}" + (f" and {len(missed) - 1} more" if len(missed) > 1 else "") if missed else ""
        if not any(order[best[0]]):
            return Reached(False, "No goal could be judged.")
        if not missed:
            verb = "meets" if len(best) == 1 else "meet"
            return Reached(judged == due, f"{listed(best)} {verb} {what} on {listed(without)}.")
        if judged:
            return Reached(False, f"{best[0]} meets {what} on {listed(without)}; it {miss}.")
        return Reached(False, f"No way meets every goal. Nearest: {best[0]}, which {miss}.")


def camera(mission: Mission, summaries: Sequence[Summary]) -> Camera:
    candidates, loads = [one.name for one in mission.candidates], list(LOADS)

    def place_of(one: Summary) -> tuple[object, ...]:
        group = one.group
        return (_order(candidates, group.candidate), group.board, group.cpus, _order(loads, group.load))

    def ways(names: Sequence[str]) -> tuple[Ways, ...]:
        places: dict[tuple[object, ...], list[Summary]] = {}
        for one in (one for one in summaries if one.group.instrument in names):
            places.setdefault(place_of(one), []).append(one)
        return tuple(
            Ways(
                here[0].group.candidate,
                here[0].group.load,
                tuple(sorted(here, key=lambda one: names.index(one.group.instrument))),
                mission.goals,
            )
            for _, here in sorted(places.items())
        )

    return Camera(
        tuple(goal.name for goal in mission.goals),
        ways([way.name for way in LADDER]),
        ways([way.name for way in WASTES]),
    )


def way_name(instrument: str) -> str:
    return instrument.removeprefix(PREFIX)


def _order(names: Sequence[str], name: str) -> tuple[int, str]:
    return (names.index(name) if name in names else len(names), name)


def _met_and_missed(goals: Sequence[Mapping[str, bool | None]]) -> tuple[int, int]:
    """To sort by: the more met the better, then the fewer missed."""
    return sum(list(one.values()).count(True) for one in goals), -sum(list(one.values()).count(False) for one in goals)


def _value(summary: Summary | None, name: str) -> float | None:
    """Nothing of what a verdict must not rest on."""
    figure = summary.figures.get(name) if summary and not summary.problems else None
    return None if figure is None else figure.value
