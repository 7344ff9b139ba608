# SPDX-License-Identifier: MIT
"""From records to everything a report shows."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from rtqual.engine.analysis.difference.boards import between_boards
from rtqual.engine.analysis.difference.compare import COMPARED, compare
from rtqual.engine.analysis.difference.shift import shift_functions
from rtqual.engine.analysis.difference.statement import margins_of, stands_for
from rtqual.engine.analysis.figure.asked import Asked, figure_name, named
from rtqual.engine.analysis.figure.cells import Looked, measured_of
from rtqual.engine.analysis.figure.losses import with_reasons
from rtqual.engine.analysis.figure.model import Group, LeftOut, LostRun
from rtqual.engine.analysis.figure.summary import groups, with_dependence
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.tails.group import tails
from rtqual.engine.analysis.verdict.differing import differing
from rtqual.engine.analysis.verdict.judge import judge
from rtqual.engine.analysis.verdict.model import Verdict
from rtqual.engine.kernel.needs import Known
from rtqual.engine.mission import Mission
from rtqual.protocols.part import brought
from rtqual.protocols.record.schema import Record


def verdicts_of(
    mission: Mission,
    scale: str,
    records: Iterable[Record],
    configs: Mapping[str, Known],
    failures: Mapping[Group, str],
    lost: Sequence[LostRun] = (),
    looked: Looked = MappingProxyType({}),
) -> tuple[Verdict, ...]:
    """The verdicts alone, without what a report shows beside them."""
    measured = measured_of(mission, scale, groups(records), lost, looked)
    asked: list[Asked] = [*mission.requirements, *mission.criteria]
    comparisons = compare(measured, _compared(asked), margins_of(asked))
    return judge(mission, scale, measured, comparisons, (), configs=configs, failures=failures, lost=lost)


def _compared(asked: Iterable[Asked], others: Iterable[str] = ()) -> tuple[str, ...]:
    names = [name for requirement in asked for name in (figure_name(requirement), named(requirement))]
    return tuple(dict.fromkeys([*COMPARED, *map(stands_for, names), *others]))


def analyse(
    mission: Mission,
    scale: str,
    records: Iterable[Record],
    configs: Mapping[str, Known],
    failures: Mapping[Group, str] | None = None,
    lost: Sequence[LostRun] = (),
    left_out: Sequence[LeftOut] = (),
    looked: Looked = MappingProxyType({}),
) -> Evidence:
    """Summaries, comparisons and a verdict a board.

    `configs` holds each candidate's kernel configuration (None: could not be read; or what a study states of it),
    `failures` the cells of which a run gave no record, each with its reason, `lost` such runs one by one,
    `left_out` what was measured beside the plan, `looked` after which numbers of runs the folder was judged.
    """
    failures = failures or {}
    lost = with_reasons(lost, failures)
    grouped = groups(records)
    measured = [
        with_dependence(measured, grouped[measured.group])
        for measured in measured_of(mission, scale, grouped, lost, looked)
    ]
    asked: list[Asked] = [*mission.requirements, *mission.criteria]
    others = [f"{name} p50" for measurement in measured for name in measurement.summary.series[1:]]
    margins = margins_of(asked)
    comparisons = compare(measured, _compared(asked, others), margins)
    shifts = shift_functions(measured, margins)
    far = {
        measurement.group: tails(measurement.summary, grouped[measurement.group], mission) for measurement in measured
    }
    return Evidence(
        summaries=tuple(measurement.summary for measurement in measured),
        comparisons=comparisons,
        verdicts=judge(
            mission,
            scale,
            measured,
            comparisons,
            shifts,
            configs=configs,
            failures=failures,
            lost=lost,
            left_out=left_out,
            apart=between_boards(grouped),
            besides=differing(grouped, lost),
        ),
        failures=dict(failures),
        lost=tuple(lost),
        left_out=tuple(left_out),
        scale=scale,
        shifts=shifts,
        tails={group: found for group, found in far.items() if found},
        goals=tuple(
            judged(mission, [measurement.summary for measurement in measured]) for judged in brought("judgements")
        ),
    )
