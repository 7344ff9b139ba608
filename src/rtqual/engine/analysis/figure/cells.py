# SPDX-License-Identifier: MIT
"""What was measured on one board, looked up as a mission names it: by instrument, load and candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.asked import AGAIN, LEVEL, MOST_LOOKS, Asked, ranked_by, usual_cpus
from rtqual.engine.analysis.figure.losses import Losses, by_group, losses, with_reasons
from rtqual.engine.analysis.figure.model import Figure, Group, LeftOut, LostRun, Summary
from rtqual.engine.analysis.figure.summary import Measured, measure
from rtqual.engine.mission import PUBLISHED, Mission, PlannedCell
from rtqual.protocols.board.registry import is_modelled
from rtqual.protocols.record.schema import Record

Plan = Mapping[PlannedCell, int]  # runs that a mission plans
Looked = Mapping[Group, tuple[tuple[int, ...], ...]]  # the looks at each group, in their order (look_of)


@dataclass(frozen=True)
class Cells:
    """The cells of one board. `candidates` are in the mission's order."""

    board: str
    candidates: tuple[str, ...]
    measured: Mapping[Group, Measured]
    failures: Mapping[Group, str]
    planned: frozenset[tuple[str, str, str]]  # (candidate, instrument, load)
    unplanned: frozenset[str] = frozenset()  # requirements that the scale measures of no candidate on any board
    looks: Mapping[Group, tuple[int, ...]] = field(default_factory=dict)  # runs after which each group may stop
    lost: Mapping[Group, tuple[LostRun, ...]] = field(default_factory=dict)  # runs that gave no record, at least once
    left_out: tuple[LeftOut, ...] = ()  # what was measured and the plan has no more
    accept_virtual: bool = False  # the mission takes counted instructions for time

    def cpus(self, instrument: str, load: str) -> int:
        """The number of CPUs that counts: that of most runs, the smaller where they are as many.

        A scale may run a few cells on other numbers of CPUs; they are shown, but a verdict rests on one number.
        """
        runs = [(group, measured.summary.runs) for group, measured in self.measured.items()]
        runs += [(group, 0) for group in self.failures]
        return usual_cpus((group.cpus, n) for group, n in runs if (group.instrument, group.load) == (instrument, load))

    def group(self, asked: Asked, candidate: str) -> Group:
        cpus = self.cpus(asked.instrument, asked.load)
        return Group(asked.instrument, asked.load, self.board, cpus, candidate)

    def find(self, asked: Asked, candidate: str) -> Measured | None:
        return self.measured.get(self.group(asked, candidate))

    def figure(self, asked: Asked, candidate: str) -> Figure | None:
        found = self.find(asked, candidate)
        return found.summary.figures.get(ranked_by(asked, found.summary.series)) if found else None

    def compared(self, asked: Asked) -> str:
        """The figure that candidates are compared by, as the first summary that has it names it."""
        found = next((measured for name in self.candidates if (measured := self.find(asked, name))), None)
        return ranked_by(asked, found.summary.series if found else ())

    def losses(self, group: Group) -> Losses:
        """The runs of a group that gave no record, at least once."""
        summary = self.measured[group].summary if group in self.measured else None
        return losses(self.lost.get(group, ()), summary.seeds if summary else (), summary.planned if summary else None)

    def of(self, candidate: str) -> list[Measured]:
        return [measured for group, measured in self.measured.items() if group.candidate == candidate]


def planned_looks(mission: Mission, scale: str) -> dict[PlannedCell, tuple[int, ...]]:
    """The numbers of runs after which each cell may stop."""
    looks: dict[PlannedCell, tuple[int, ...]] = {}
    for plan in mission.scale(scale).plan:
        for cell in mission.cells_of(plan):
            looks[cell] = max(plan.looks, looks.get(cell, ()), key=lambda some: some[-1:])
    return looks


def planned_runs(mission: Mission, scale: str, grouped: Mapping[Group, Sequence[Record]]) -> Plan:
    """The runs that each cell should have: with runs = "auto", the look that the records of any candidate reach."""
    seeds: dict[tuple[str, str, str, int], int] = {}
    for group, records in grouped.items():
        seeds[group.cell] = max(seeds.get(group.cell, 0), *(record.inputs.seed for record in records))
    runs: dict[PlannedCell, int] = {}
    for cell, looks in planned_looks(mission, scale).items():
        board, _, instrument, load, cpus = cell
        seen = [n for of, n in seeds.items() if of[:3] == (instrument, load, board) and cpus in (0, of[3])]
        runs[cell] = next((look for look in looks if look >= max(seen, default=0)), looks[-1])
    return runs


def looks_of(group: Group, looks: Mapping[PlannedCell, tuple[int, ...]]) -> tuple[int, ...]:
    """Of a group; one look where its plan is not known."""
    place = group.board, group.candidate, group.instrument, group.load
    return looks.get((*place, group.cpus)) or looks.get((*place, 0)) or (0,)


def look_of(planned: tuple[int, ...], runs: int) -> tuple[int, ...]:
    """Which look this is at a group with so many runs: all that its plan says beforehand are one."""
    return planned if len(planned) > 1 else (runs,)


def number_of(planned: tuple[int, ...], runs: int, looked: Sequence[tuple[int, ...]]) -> int:
    """Of the look, from 1 to MOST_LOOKS; of what was never judged the next."""
    look = look_of(planned, runs)
    return min(looked.index(look) + 1 if look in looked else len(looked) + 1, MOST_LOOKS)


def planned_of(group: Group, plan: Plan) -> int | None:
    place = group.board, group.candidate, group.instrument, group.load
    return plan.get((*place, group.cpus)) or plan.get((*place, 0))


def with_plan(measured: Measured, plan: Plan) -> Measured:
    """With the number of runs that the mission plans of it, and what is missing among its caveats."""
    summary = replace(measured.summary, planned=planned_of(measured.group, plan))
    lacking = losses_of(summary).text
    caveats = (*summary.caveats, lacking) if lacking else summary.caveats
    return replace(measured, summary=replace(summary, caveats=caveats))


def losses_of(summary: Summary) -> Losses:
    return losses(summary.lost, summary.seeds, summary.planned)


def measured_of(
    mission: Mission,
    scale: str,
    grouped: Mapping[Group, Sequence[Record]],
    lost: Sequence[LostRun] = (),
    looked: Looked = MappingProxyType({}),
) -> list[Measured]:
    """All groups of a campaign, with what its mission plans of them and the runs that gave no record. `looked`: after
    which numbers of runs they were judged; each further one has AGAIN times less error left."""
    plan, looks = planned_runs(mission, scale, grouped), planned_looks(mission, scale)
    every = []
    for group, members in grouped.items():
        planned, of_group = looks_of(group, looks), looked.get(group, ())
        number = number_of(planned, len(members), of_group)
        measured = measure(group, members, len(planned) * AGAIN ** (number - 1))
        every.append(_with_looks(measured, of_group[: number - 1]))
    return [with_plan(with_lost(measurement, lost), plan) for measurement in every]


def _with_looks(measured: Measured, before: Sequence[tuple[int, ...]]) -> Measured:
    """With the looks before this one, which a reader must know of."""
    if not before:
        return measured
    after = listed([f"{'up to ' if len(look) > 1 else ''}{look[-1]}" for look in before])
    level = 100 * (1 - (1 - LEVEL) / AGAIN ** len(before))
    caveat = (
        f"judged before, after {after} runs; this further look after {count(measured.summary.runs, 'run')} is by "
        f"intervals of {level:.5g} %"
    )
    return replace(measured, summary=replace(measured.summary, caveats=(*measured.summary.caveats, caveat)))


def with_lost(measured: Measured, lost: Sequence[LostRun]) -> Measured:
    own = tuple(run for run in lost if run.group == measured.group)
    return replace(measured, summary=replace(measured.summary, lost=own)) if own else measured


def by_board(
    mission: Mission,
    scale: str,
    measured: Sequence[Measured],
    failures: Mapping[Group, str],
    lost: Sequence[LostRun] = (),
    left_out: Sequence[LeftOut] = (),
) -> list[Cells]:
    """The cells of each board that has any, or should have by the mission's plans."""
    names = [candidate.name for candidate in mission.candidates]
    planned = frozenset(cell[:4] for plan in mission.scale(scale).plan for cell in mission.cells_of(plan))
    groups, looks = {measurement.group: measurement for measurement in measured}, planned_looks(mission, scale)
    every = with_reasons(lost, failures)
    wanted = {(board, name) for board, name, _, _ in planned}
    taken = {(group.instrument, group.load) for group in (*groups, *failures)} | {cell[2:] for cell in planned}
    unplanned = frozenset(
        requirement.name
        for requirement in mission.requirements
        if (requirement.instrument, requirement.load) not in taken
    )
    present = wanted | {(group.board, group.candidate) for group in (*groups, *failures)}
    return [
        Cells(
            board=board,
            candidates=tuple(name for name in names if (board, name) in present),
            measured={group: measured for group, measured in groups.items() if group.board == board},
            failures={group: why for group, why in failures.items() if group.board == board},
            planned=frozenset(cell[1:] for cell in planned if cell[0] == board),
            unplanned=frozenset() if board == PUBLISHED else unplanned,
            looks={group: looks_of(group, looks) for group in groups if group.board == board},
            lost={group: runs for group, runs in by_group(every).items() if group.board == board},
            left_out=tuple(out for out in left_out if out.group.board == board),
            accept_virtual=mission.mission.accept_virtual and not is_modelled(board),
        )
        for board in sorted({board for board, name in present if name in names}, reverse=True)
    ]
