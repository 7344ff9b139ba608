# SPDX-License-Identifier: MIT
"""How the verdicts came about: every requirement with its reason, every criterion with its score."""

from collections.abc import Iterator
from dataclasses import replace

from rtqual.engine.analysis.difference.statement import STANDS_FOR
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL, figure_name
from rtqual.engine.analysis.verdict.gates import EVERY_RUN_ENDS
from rtqual.engine.analysis.verdict.model import Gate, Score, Verdict
from rtqual.engine.mission import PUBLISHED
from rtqual.reports.material import Material, figure_cell, notes_for, timing_of
from rtqual.reports.page.document import Column, Notes, Table, TableCell, numbers, outcome_cell, raised, texts
from rtqual.reports.page.text import figure_value, number, prose

_LOOSE = f"No interval from {RUNS_FOR_INTERVAL} or more runs: it enters the score as measured."
_OF_RUNS = "Of the samples of each run; the figure is the median over the runs."
_LEFT_OUT = "Not in the score: not every candidate has a usable figure."


def requirements(material: Material) -> Iterator[Table]:
    """Every requirement for every candidate: the measured ones, then the needs read from the configurations."""
    for verdict in material.evidence.verdicts:
        yield from _requirements(material, verdict)


def _requirements(material: Material, verdict: Verdict) -> Iterator[Table]:
    measured = [*(r.name for r in material.mission.requirements), EVERY_RUN_ENDS]
    gates = [gate for standing in verdict.standings for gate in standing.gates]
    judged = sorted((g for g in gates if g.requirement in measured), key=lambda g: measured.index(g.requirement))
    if judged:
        yield _measured(material, verdict, judged)
    needs = [gate for gate in gates if gate.requirement not in measured]
    if needs:
        yield _needs(material, verdict, needs)


def _measured(material: Material, verdict: Verdict, gates: list[Gate]) -> Table:
    notes = notes_for(gate.measured for gate in gates)
    rows = []
    for gate in gates:
        timing = timing_of(material, verdict, gate.requirement, gate.candidate) if gate.measured else ""
        rows.append(
            [
                TableCell(prose(gate.requirement), prose(gate.limit)),
                TableCell(prose(gate.candidate)),
                figure_cell(gate.measured, notes, timing=notes.timed(timing), counted=False),
                outcome_cell(gate.outcome),
                TableCell(prose(gate.reason)),
            ]
        )
    outcome = Column("Outcome", False, name=True)
    candidate = Column("Candidate", False, name=True)
    columns = [*texts("Requirement"), candidate, *numbers("Measured"), outcome, *texts("Reason")]
    return material.numbering.table(f"Requirements on the {verdict.board} board", columns, rows, notes.listed())


def _needs(material: Material, verdict: Verdict, gates: list[Gate]) -> Table:
    """A row for all candidates that share an outcome and its reason."""
    alike: dict[tuple[str, str, str], list[Gate]] = {}
    for gate in gates:
        alike.setdefault((gate.requirement, gate.outcome, gate.reason), []).append(gate)
    order = list(dict.fromkeys(gate.requirement for gate in gates))
    rows = []
    for some in sorted(alike.values(), key=lambda some: order.index(some[0].requirement)):
        gate = some[0]
        need, reason = TableCell(prose(gate.requirement)), TableCell(prose(gate.reason))
        candidates = TableCell(", ".join(prose(gate.candidate) for gate in some))
        rows.append([need, candidates, outcome_cell(gate.outcome), reason])
    source = "What the study says" if verdict.board == PUBLISHED else "In the kernel's configuration"
    need_column, outcome = (Column(title, False, name=True) for title in ("Need", "Outcome"))
    columns = [need_column, *texts("Candidates"), outcome, *texts(source)]
    legend = "" if verdict.board == PUBLISHED else " (y: built in, m: module)"
    return material.numbering.table(f"Needs on the {verdict.board} board{legend}", columns, rows)


def scores(material: Material) -> Iterator[Table]:
    """Criteria down, candidates across; nothing where there is no score at all."""
    for verdict in material.evidence.verdicts:
        yield from _scores(material, verdict)


def _scores(material: Material, verdict: Verdict) -> Iterator[Table]:
    found = {(s.criterion, s.candidate): s for standing in verdict.standings for s in standing.scores}
    if not any(score.score is not None for score in found.values()):
        return
    candidates = [s.candidate for s in verdict.standings]
    notes = Notes()
    rows = []
    of_runs = {criterion.name for criterion in material.mission.criteria if figure_name(criterion) in STANDS_FOR}
    for criterion in dict.fromkeys(name for name, _ in found):
        row = [found[criterion, candidate] for candidate in candidates if (criterion, candidate) in found]
        cells = [_score_cell(material, verdict, score, notes) for score in row]
        rows.append([*raised([TableCell(prose(criterion)), *cells])])
        if criterion in of_runs:
            rows[-1][0] = replace(rows[-1][0], marks=rows[-1][0].marks + notes.mark(_OF_RUNS))
        rows[-1].insert(1, TableCell(number(row[0].weight)))
    yield material.numbering.table(
        f"Scores on the {verdict.board} board: the best candidate's figure over the candidate's own, and the figure; "
        "one below a step of the measurement counts as that step, and one within the criterion's margin of the best "
        f"as the best. They rest on {100 * (verdict.scored or 0):.0f} % of the criteria's weight",
        [Column("Criterion", False), Column("Weight"), *material.columns(candidates)],
        rows, notes.listed(), compact=True,
    )  # fmt: skip


def _score_cell(material: Material, verdict: Verdict, score: Score, notes: Notes) -> TableCell:
    if score.figure is None:
        return TableCell("-")
    marks = [notes.timed(timing_of(material, verdict, score.criterion, score.candidate))]
    if score.score is None:
        marks.append(notes.mark(_LEFT_OUT))
    elif not score.firm:
        marks.append(notes.mark(_LOOSE))
    return TableCell(score_text(score.score), figure_value(score.figure), "".join(marks))


def score_text(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
