# SPDX-License-Identifier: MIT
"""From records to everything a report shows."""

from collections.abc import Iterable, Mapping

from rtqual.analysis.cells import Asked, figure_name
from rtqual.analysis.compare import COMPARED, STANDS_FOR, compare
from rtqual.analysis.model import Evidence, Group
from rtqual.analysis.summary import groups, measure
from rtqual.analysis.verdict import judge
from rtqual.mission import Mission
from rtqual.record.schema import Record


def analyse(
    mission: Mission,
    scale: str,
    records: Iterable[Record],
    configs: Mapping[str, str | None],
    failures: Mapping[Group, str] | None = None,
) -> Evidence:
    """Summaries, comparisons and a verdict a board.

    `configs` holds each candidate's kernel configuration (None: could not be read), `failures` the cells that
    gave no record, each with its reason.
    """
    failures = failures or {}
    measured = [measure(group, members) for group, members in groups(records).items()]
    asked: list[Asked] = [*mission.requirements, *mission.criteria]
    names = [figure_name(one) for one in asked]
    statistics = dict.fromkeys([*COMPARED, *(STANDS_FOR.get(name, name) for name in names)])
    comparisons = compare(measured, tuple(statistics))
    return Evidence(
        summaries=tuple(one.summary for one in measured),
        comparisons=comparisons,
        verdicts=judge(mission, scale, measured, comparisons, configs=configs, failures=failures),
        failures=dict(failures),
        scale=scale,
    )
