# SPDX-License-Identifier: MIT
"""`rtqual show` of a folder: the figures of each group, and the headline; no comparison, no estimate, no report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import count, under
from rtqual.engine.analysis.figure.asked import asked_of, figure_name
from rtqual.engine.analysis.figure.cells import Plan, measured_of, planned_runs
from rtqual.engine.analysis.figure.model import Group, Summary
from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.analysis.verdict.headline import answer
from rtqual.engine.analysis.verdict.judge import judge
from rtqual.engine.campaign import folder as kept
from rtqual.engine.mission import PUBLISHED
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read
from rtqual.stages.side_by_side import measured_in


@dataclass(frozen=True)
class Shown:
    """What a folder has. `why_no_verdict` is empty where there is a headline."""

    records: tuple[Record, ...]
    summaries: tuple[Summary, ...]
    headline: str
    why_no_verdict: str
    failures: Mapping[str, str]
    missing: tuple[str, ...]  # cells with fewer records than the mission plans, a sentence each
    asked: tuple[str, ...] = ()  # figures that the mission asks for by name


def shown(folder: Path, paths: Sequence[Path]) -> Shown:
    """A campaign's folder, also one that has not ended or lacks records; `paths` are the records in it.

    Raises BadInput for a damaged record.
    """
    try:
        campaign = kept.load(folder)
    except BadInput as error:
        records = tuple(map(read, paths))
        grouped = groups(records)
        measured, plan = measured_in(folder, grouped)
        summaries = tuple(measurement.summary for measurement in measured)
        why = str(error) if folder.is_dir() else "it goes over all candidates: name the folder alone"
        return Shown(records, summaries, "", why, {}, missing(records, plan))
    mission, scale, result = campaign.mission, campaign.scale, campaign.result
    grouped = groups(result.records)
    lost = result.runs_lost
    measured = measured_of(mission, scale, grouped, lost, result.looked)
    plan = planned_runs(mission, scale, grouped)
    verdicts = judge(
        mission,
        scale,
        measured,
        (),
        (),
        configs=result.configs,
        failures=result.failures,
        lost=lost,
        left_out=result.left_out,
    )
    said = answer(
        [verdict for verdict in verdicts if verdict.board != PUBLISHED]
    )  # what a study chose stands in the report
    return Shown(
        records=result.records,
        summaries=tuple(measurement.summary for measurement in measured),
        headline=said.headline if said else "",
        why_no_verdict="" if said else "nothing was measured here; the report says what the study's figures support",
        failures={str(group): reason for group, reason in result.failures.items()},
        missing=missing(result.records, plan),
        asked=tuple(dict.fromkeys(figure_name(asked) for asked in asked_of([mission]))),
    )


def missing(records: Sequence[Record], plan: Plan) -> tuple[str, ...]:
    """What there are fewer records of than the mission plans: a sentence for each cell."""
    runs: dict[tuple[str, str, str, str, int], int] = {}
    found: dict[Group, int] = {group: len(of) for group, of in groups(records).items()}
    for group, n in found.items():
        own = (group.board, group.candidate, group.instrument, group.load, 0)
        runs[own if own in plan else (*own[:4], group.cpus)] = n
    return tuple(
        f"{cell[1]}: {cell[2]} {under(cell[3])}: {runs.get(cell, 0)} of {count(planned, 'run')}"
        for cell, planned in plan.items()
        if runs.get(cell, 0) < planned
    )
