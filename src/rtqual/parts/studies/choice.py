# SPDX-License-Identifier: MIT
"""What a study says besides its figures, for a mission that names its systems: of their kernels, and what it chose.

Kernels' configurations are not printed, so a need is met where the text says so, and undecided where it says nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.asked import figure_name
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.summary import Measured
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Outcome, Verdict
from rtqual.engine.analysis.verdict.score import score_table
from rtqual.engine.kernel.needs import NeedCheck
from rtqual.engine.mission import PUBLISHED, Criterion, Mission
from rtqual.parts.studies.audit import Contradiction
from rtqual.parts.studies.beside import findings
from rtqual.parts.studies.catalogue import Study, study, systems
from rtqual.parts.studies.study_records import AS_PRINTED


def stated_needs(mission: Mission) -> dict[str, Mapping[str, NeedCheck]]:
    """Published candidate -> need -> what the study says of it."""
    return {name: dict(_stated(study(key), row)) for name, (key, row) in _published(mission).items()}


def _stated(source: Study, row: str) -> Iterator[tuple[str, NeedCheck]]:
    for said in source.stated:
        if row in said.rows:
            for need in said.needs:
                yield need, NeedCheck(need, said.met, "", f"{said.place}: “{said.text}”")


def _published(mission: Mission) -> dict[str, tuple[str, str]]:
    """Candidate -> study and row."""
    return {candidate.name: systems()[candidate.published] for candidate in mission.candidates if candidate.published}


def with_choice(mission: Mission, evidence: Evidence) -> Evidence:
    """The verdict on published systems beside what their study chose, and what it rests on."""
    rows = _published(mission)
    if not rows:
        return evidence
    source = study(next(key for key, _ in rows.values()))  # the mission model allows only one
    verdicts = [
        _with_study(source, mission, evidence, verdict) if verdict.board == PUBLISHED else verdict
        for verdict in evidence.verdicts
    ]
    return replace(evidence, verdicts=tuple(verdicts))


def _with_study(source: Study, mission: Mission, evidence: Evidence, verdict: Verdict) -> Verdict:
    rows = {name: row for name, (_, row) in _published(mission).items()}
    wrong = [finding for name in rows for finding in misprints(mission, name)]
    first, *others = [*_choice(source, mission, evidence, verdict, rows), ""]
    return replace(
        verdict,
        headline=f"{first} {verdict.headline}".strip(),
        findings=(*filter(None, others), *verdict.findings),
        caveats=(*_caveats(source, wrong), *verdict.caveats),
    )


def misprints(mission: Mission, candidate: str) -> list[Contradiction]:
    """What the audit finds on the figures that a published candidate's records rest on."""
    key, row = _published(mission)[candidate]
    source = study(key)
    tables = [table for table in source.measured.values() if row in source.rows_of(table)]
    return [finding for table in tables for finding in findings(source, row, table)]


def _choice(
    source: Study, mission: Mission, evidence: Evidence, verdict: Verdict, rows: Mapping[str, str]
) -> Iterator[str]:
    fit = (Outcome.MET, Outcome.UNASKED)
    may = [standing for standing in verdict.standings if standing.may_fly in fit and standing.total is not None]
    chosen = next((name for name, row in rows.items() if source.choice and row == source.choice.chosen), None)
    if source.choice is None or chosen is None or not may:
        return
    totals = {standing.candidate: standing.total or 0.0 for standing in may}
    first = may[0].candidate
    verb = "as the study did" if first == chosen else f"where the study chose {chosen}"
    yield f"With correct arithmetic the criteria put {first} first, {verb}: {_scores(totals)}."
    printed = _as_printed(mission, evidence, verdict, tuple(totals))
    if len(printed) > 1:
        same = "too" if _ranked(printed)[0] == first else "instead"
        yield (
            f"From the differences as the study printed them the criteria put {_ranked(printed)[0]} first {same}, "
            f"by {_lead(printed):.3f} where it is {_lead(totals):.3f} with correct arithmetic: {_scores(printed)}."
        )
    yield f"The study's rule ({source.choice.place}): {source.choice.rule}"


def _ranked(totals: Mapping[str, float]) -> list[str]:
    return sorted(totals, key=lambda name: -totals[name])


def _lead(totals: Mapping[str, float]) -> float:
    first, second, *_ = [*sorted(totals.values(), reverse=True), 0.0]
    return first - second


def _scores(totals: Mapping[str, float]) -> str:
    return listed([f"{name} {totals[name]:.3f}" for name in _ranked(totals)])


def _as_printed(
    mission: Mission, evidence: Evidence, verdict: Verdict, candidates: tuple[str, ...]
) -> Mapping[str, float]:
    """The scores that the study's own differences give, misprints included; empty where it printed none."""
    measured = {summary.group: Measured(summary) for summary in evidence.summaries if summary.group.board == PUBLISHED}
    cells = Cells(PUBLISHED, tuple(standing.candidate for standing in verdict.standings), measured, {}, frozenset())
    criteria = [_printed_criterion(criterion, cells) for criterion in mission.criteria]
    if criteria == list(mission.criteria):
        return {}
    table = score_table(criteria, cells, candidates)
    return {name: total for name in candidates if (total := table.total(name)) is not None}


def _printed_criterion(criterion: Criterion, cells: Cells) -> Criterion:
    printed = criterion.model_copy(update={"statistic": None, "scalar": f"{figure_name(criterion)}{AS_PRINTED}"})
    return printed if all(cells.figure(printed, name) for name in cells.candidates) else criterion


def _caveats(source: Study, wrong: list[Contradiction]) -> Iterator[str]:
    about = source.source
    yield f"Rests on figures that a study printed, not on records of rtqual: {about.title} ({about.author})."
    if wrong:
        places = listed(list(dict.fromkeys(finding.place for finding in wrong)))
        does = "does" if len(wrong) == 1 else "do"
        yield (
            f"{count(len(wrong), 'figure')} that the study prints of these systems {does} not follow from the others "
            f"({places}); none is used: differences are computed again (`rtqual published audit {source.key}`)."
        )
