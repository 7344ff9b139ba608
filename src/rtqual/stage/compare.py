# SPDX-License-Identifier: MIT
"""`rtqual compare`: two records, or two campaigns, beside each other."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtqual.analysis.difference.compare import compare_pair
from rtqual.analysis.difference.model import Comparison
from rtqual.analysis.difference.statement import Margins, margins_of
from rtqual.analysis.figure.asked import asked_of
from rtqual.analysis.figure.cells import Plan, planned_runs, with_plan
from rtqual.analysis.figure.model import Group
from rtqual.analysis.figure.summary import Measured, groups, measure
from rtqual.base.errors import BadInput
from rtqual.campaign import folder as kept
from rtqual.mission import Quantity, load_mission
from rtqual.record.store import read


def margins_in(*whats: Path) -> dict[tuple[str, str, str], tuple[Quantity, ...]]:
    """The margins that the missions of campaigns state; a record has no mission."""
    missions = [load_mission(what / kept.MISSION) for what in whats if (what / kept.MISSION).is_file()]
    return margins_of(asked_of(missions))


def compare_paths(
    a: Sequence[Path], b: Sequence[Path], margins: Margins | None = None, folders: Sequence[Path] = ()
) -> list[Comparison]:
    """Groups of `a` beside those of `b` that measure the same; `folders` are those of both, for their plans.

    Raises BadInput where nothing matches.
    """
    plans = [plan_in(folder) for folder in folders] or [{}, {}]
    of_a, of_b = (groups([r for r in map(read, paths) if r.manifest.repeat == 0]) for paths in (a, b))
    comparisons: list[Comparison] = []
    for group_a, records_a in of_a.items():
        for group_b, records_b in of_b.items():
            same = (group_a.instrument, group_a.load, group_a.board) == (
                group_b.instrument,
                group_b.load,
                group_b.board,
            )
            if same and group_a.cpus == group_b.cpus and (group_a.candidate == group_b.candidate or len(of_a) == 1):
                one = with_plan(measure(group_a, records_a), plans[0])
                other = _named_apart(with_plan(measure(group_b, records_b), plans[1]), group_a)
                comparisons += compare_pair(one, other, margins=margins)
    if not comparisons:
        raise BadInput(f"{a[0]} and {b[0]}: nothing to compare: instrument, load, board and CPUs must be the same")
    return comparisons


def plan_in(folder: Path) -> Plan:
    """The runs that a finished campaign should have; empty for records alone."""
    if not (folder / kept.CAMPAIGN).is_file():
        return {}
    return planned_runs(*kept.planned_in(folder))


def _named_apart(measured: Measured, other: Group) -> Measured:
    """Two campaigns measure the same candidate: call the second one so."""
    if measured.group != other:
        return measured
    group = replace(measured.group, candidate=f"{measured.group.candidate} (second)")
    return replace(measured, summary=replace(measured.summary, group=group))
