# SPDX-License-Identifier: MIT
"""A table of a mission, [[wish]], and what becomes of it: how long a line's worst pause should be at most."""

from collections.abc import Sequence

from rtqual.base.units import DurationNs, format_value
from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.verdict.goals import GoalPlace, Goals, Reach
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Mission
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Text


class Wish(Table):
    """What somebody wishes."""

    name: Text
    """What reports call it."""
    longest: DurationNs
    """How long a pause may be."""


def wished(mission: Mission, summaries: Sequence[Summary]) -> Goals:
    """Judge the wishes by each summary of the line."""
    wishes = mission.brought("wish")
    measured = [one for one in summaries if one.group.instrument == "elsewhere-pauses"] if wishes else []
    places = []
    for summary in measured:
        most, group = summary.figures["max"], summary.group
        outcomes = {wish: Outcome.MET if most.value <= wish.longest else Outcome.NOT_MET for wish in wishes}
        gates = {
            wish.name: Gate(wish.name, group.candidate, outcome, most, format_value(wish.longest, "ns"), "wished")
            for wish, outcome in outcomes.items()
        }
        places.append(GoalPlace(f"{group.candidate}, {group.load}", group, {"line": Reach(gates, len(wishes))}))
    met = all(one.outcome == Outcome.MET for place in places for one in place.reaches.values())
    text = "Every wish came true." if met else "Not every wish came true."
    return Goals("wishes", "Wishes", len(wishes), ("line",) if places else (), tuple(places), met, text)
