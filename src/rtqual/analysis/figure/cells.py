# SPDX-License-Identifier: MIT
"""What was measured on one board, looked up as a mission names it: by instrument, load and candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rtqual.analysis.figure.asked import Asked, figure_name, usual_cpus
from rtqual.analysis.figure.comparable import fewer_runs
from rtqual.analysis.figure.model import Figure, Group
from rtqual.analysis.figure.summary import Measured
from rtqual.mission import PUBLISHED, Mission

# (candidate, instrument, load, CPUs; 0 where the machine decides on them) -> runs that a mission plans
Plan = Mapping[tuple[str, str, str, str, int], int]


@dataclass(frozen=True)
class Cells:
    """The cells of one board. `candidates` are in the mission's order."""

    board: str
    candidates: tuple[str, ...]
    measured: Mapping[Group, Measured]
    failures: Mapping[Group, str]
    planned: frozenset[tuple[str, str, str]]  # (candidate, instrument, load)
    unplanned: frozenset[str] = frozenset()  # requirements that the scale measures of no candidate on any board
    accept_virtual: bool = False  # the mission takes counted instructions for time

    def cpus(self, instrument: str, load: str) -> int:
        """The number of CPUs that counts: that of most runs, the smaller where they are as many.

        A scale may run a few cells on other numbers of CPUs; they are shown, but a verdict rests on one number.
        """
        runs = [(group, one.summary.runs) for group, one in self.measured.items()]
        runs += [(group, 0) for group in self.failures]
        return usual_cpus((group.cpus, n) for group, n in runs if (group.instrument, group.load) == (instrument, load))

    def group(self, asked: Asked, candidate: str) -> Group:
        cpus = self.cpus(asked.instrument, asked.load)
        return Group(asked.instrument, asked.load, self.board, cpus, candidate)

    def find(self, asked: Asked, candidate: str) -> Measured | None:
        return self.measured.get(self.group(asked, candidate))

    def figure(self, asked: Asked, candidate: str) -> Figure | None:
        found = self.find(asked, candidate)
        return found.summary.figures.get(figure_name(asked)) if found else None

    def of(self, candidate: str) -> list[Measured]:
        return [one for group, one in self.measured.items() if group.candidate == candidate]


def planned_runs(mission: Mission, scale: str) -> Plan:
    runs: dict[tuple[str, str, str, str, int], int] = {}
    for plan in mission.scale(scale).plan:
        for candidate, instrument, load in product(mission.candidates_of(plan), plan.instruments, plan.loads):
            for place in mission.places_of(plan, candidate):
                for cpus in (0,) if place.cpus else plan.cpus:
                    cell = place.name, candidate.name, instrument, load, cpus
                    runs[cell] = max(plan.runs, runs.get(cell, 0))
    return runs


def planned_of(group: Group, plan: Plan) -> int | None:
    place = group.board, group.candidate, group.instrument, group.load
    return plan.get((*place, group.cpus)) or plan.get((*place, 0))


def with_plan(one: Measured, plan: Plan) -> Measured:
    """With the number of runs that the mission plans of it, and what is missing among its caveats."""
    summary = replace(one.summary, planned=planned_of(one.group, plan))
    fewer = fewer_runs(summary)
    caveats = (*summary.caveats, f"{fewer}, the others are missing") if fewer else summary.caveats
    return replace(one, summary=replace(summary, caveats=caveats))


def by_board(mission: Mission, scale: str, measured: Sequence[Measured], failures: Mapping[Group, str]) -> list[Cells]:
    """The cells of each board that has any, or should have by the mission's plans."""
    names = [candidate.name for candidate in mission.candidates]
    planned = frozenset(
        (place.name, candidate.name, instrument, load)
        for plan in mission.scale(scale).plan
        for candidate in mission.candidates_of(plan)
        for place in mission.places_of(plan, candidate)
        for instrument in plan.instruments
        for load in plan.loads
    )
    groups = {one.group: one for one in measured}
    wanted = {(board, name) for board, name, _, _ in planned}
    taken = {(one.instrument, one.load) for one in (*groups, *failures)} | {cell[2:] for cell in planned}
    unplanned = frozenset(one.name for one in mission.requirements if (one.instrument, one.load) not in taken)
    present = wanted | {(group.board, group.candidate) for group in (*groups, *failures)}
    return [
        Cells(
            board=board,
            candidates=tuple(name for name in names if (board, name) in present),
            measured={group: one for group, one in groups.items() if group.board == board},
            failures={group: why for group, why in failures.items() if group.board == board},
            planned=frozenset(cell[1:] for cell in planned if cell[0] == board),
            unplanned=frozenset() if board == PUBLISHED else unplanned,
            accept_virtual=mission.mission.accept_virtual,
        )
        for board in sorted({board for board, name in present if name in names}, reverse=True)
    ]
