# SPDX-License-Identifier: MIT
"""`rtqual compare`: two records, or two campaigns, beside each other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.difference.compare import compare_pair
from rtqual.engine.analysis.difference.model import Comparison
from rtqual.engine.analysis.difference.statement import Margins, margins_of
from rtqual.engine.analysis.figure.asked import asked_of
from rtqual.engine.analysis.figure.cells import Plan, measured_of, planned_runs
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import Measured, groups, measure
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.looked import looked_in
from rtqual.engine.mission import Quantity, load_mission
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read


def margins_in(*whats: Path) -> dict[tuple[str, str, str], tuple[Quantity, ...]]:
    """The margins that the missions of campaigns state; a record has no mission."""
    missions = [load_mission(what / kept.MISSION, kept=True) for what in whats if (what / kept.MISSION).is_file()]
    return margins_of(asked_of(missions))


def compare_paths(
    a: Sequence[Path], b: Sequence[Path], margins: Margins | None = None, folders: Sequence[Path] = ()
) -> list[Comparison]:
    """Groups of `a` beside those of `b` that measure the same; `folders` are those of both, for their plans.

    Raises BadInput where nothing matches.
    """
    grouped = [groups([r for r in map(read, paths) if r.manifest.repeat == 0]) for paths in (a, b)]
    where: Sequence[Path | None] = folders or (None, None)
    of_a, of_b = (
        {measurement.group: measurement for measurement in measured_in(folder, some)[0]}
        for folder, some in zip(where, grouped, strict=True)
    )
    # Then they are what is compared, whatever their names.
    alone = len(of_a) == 1 or all(len({group.candidate for group in some}) == 1 for some in (of_a, of_b))
    comparisons: list[Comparison] = []
    for group_a, measured in of_a.items():
        for group_b, other in of_b.items():
            same = (group_a.instrument, group_a.load, group_a.board) == (
                group_b.instrument,
                group_b.load,
                group_b.board,
            )
            if same and group_a.cpus == group_b.cpus and (group_a.candidate == group_b.candidate or alone):
                comparisons += compare_pair(measured, _named_apart(other, group_a), margins=margins)
    if not comparisons:
        raise BadInput(f"{a[0]} and {b[0]}: nothing to compare: instrument, load, board and CPUs must be the same")
    return comparisons


def measured_in(folder: Path | None, grouped: Mapping[Group, Sequence[Record]]) -> tuple[list[Measured], Plan]:
    """The groups, and the runs that they should have by the plan of a finished campaign; none for records alone."""
    if folder is None or not (folder / kept.CAMPAIGN).is_file():
        return [measure(*pair) for pair in grouped.items()], {}
    mission, scale = kept.planned_in(folder)
    return measured_of(mission, scale, grouped, looked=looked_in(folder)), planned_runs(mission, scale, grouped)


def _named_apart(measured: Measured, other: Group) -> Measured:
    """Two campaigns measure the same candidate: call the second one so."""
    if measured.group != other:
        return measured
    group = replace(measured.group, candidate=f"{measured.group.candidate} (second)")
    return replace(measured, summary=replace(measured.summary, group=group))
