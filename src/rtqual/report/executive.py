# SPDX-License-Identifier: MIT
"""The verdicts: in short for the first page, in full for the analysis, once more for the conclusion."""

from collections import Counter
from collections.abc import Iterator

from rtqual.analysis.model import Gate, Outcome, Standing, Verdict
from rtqual.report.document import (
    SIGNS,
    TONES,
    Block,
    Bullets,
    Cell,
    Column,
    Notes,
    Paragraph,
    Table,
    VerdictBox,
)
from rtqual.report.material import Material, figure_cell, notes_for, timing_mark
from rtqual.report.text import figure_text, figure_value, number, prose

_LEGEND = ", ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())


def verdict_boxes(material: Material) -> tuple[VerdictBox, ...]:
    return tuple(
        VerdictBox(
            f"{verdict.board} board",
            verdict.fly is not None,
            prose(verdict.headline),
            tuple(_box(material, verdict)),
        )
        for verdict in material.evidence.verdicts
    )


def gates_in_full(material: Material, verdict: Verdict) -> Table | None:
    """Every requirement for every candidate, with its reason."""
    gates = [gate for standing in verdict.standings for gate in standing.gates]
    if not gates:
        return None
    order = list(dict.fromkeys(gate.requirement for gate in gates))
    gates.sort(key=lambda gate: order.index(gate.requirement))
    notes = notes_for(gate.measured for gate in gates)
    rows = [
        [
            Cell(prose(gate.requirement)),
            Cell(prose(gate.candidate)),
            Cell(prose(gate.limit)),
            _measured(material, verdict, gate, notes),
            Cell(f"{SIGNS[gate.outcome]} {gate.outcome}", tone=TONES[gate.outcome]),
            Cell(prose(gate.reason)),
        ]
        for gate in gates
    ]
    titles = (
        ("Requirement", 0),
        ("Candidate", 0),
        ("Limit", 0),
        ("Measured", 1),
        ("Outcome", 0),
        ("Reason", 0),
    )
    columns = [Column(title, bool(numeric)) for title, numeric in titles]
    return material.numbering.table(f"Requirements on the {verdict.board} board", columns, rows, notes.listed())


def conclusion(material: Material) -> Iterator[Block]:
    for verdict in material.evidence.verdicts:
        yield Paragraph(f"On the {verdict.board} board: {prose(verdict.headline)}")
        yield from _bullets("What would change this", verdict.would_change)
    if not material.evidence.verdicts:
        yield Paragraph("The records support no verdict.")


def _box(material: Material, verdict: Verdict) -> Iterator[Block]:
    yield _ranking(material, verdict)
    yield from _bullets("Findings", verdict.findings)
    if any(standing.gates for standing in verdict.standings):
        yield _gate_matrix(material, verdict)
    yield from _scores(material, verdict)
    refusals = [f"{s.candidate}: {reason}" for s in verdict.standings for reason in s.refusals]
    yield from _bullets("Refused", refusals, "open")
    yield from _bullets("What would change this", verdict.would_change)
    yield from _bullets("To keep in mind", verdict.caveats)


def _bullets(title: str, items: tuple[str, ...] | list[str], tone: str = "") -> Iterator[Bullets]:
    if items:
        yield Bullets(tuple(prose(item) for item in items), title, tone)


def _ranking(material: Material, verdict: Verdict) -> Table:
    rows = []
    for standing in verdict.standings:
        result, tone = _result(verdict, standing)
        counts = Counter(gate.outcome for gate in standing.gates)
        kept = [f"{counts[outcome]}\u00a0{sign}" for outcome, sign in SIGNS.items() if counts[outcome]]
        rows.append(
            [
                Cell(prose(standing.candidate), material.title(standing.candidate)),
                Cell("-" if standing.rank is None else str(standing.rank)),
                Cell(_score_text(standing.total)),
                Cell(" · ".join(kept) or "-"),
                Cell(result, tone=tone),
            ]
        )
    columns = [
        Column("Candidate", False), Column("Rank"), Column("Score"), Column("Requirements"), Column("Result", False),
    ]  # fmt: skip
    return material.numbering.table(
        f"Ranking. Requirements: {_LEGEND}. The score is the weighted mean over the criteria; 1 is best.",
        columns, rows,
    )  # fmt: skip


def _score_text(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


def _result(verdict: Verdict, standing: Standing) -> tuple[str, str]:
    if standing.candidate == verdict.fly:
        return "fly", "met"
    if standing.refusals:
        return "refused", "open"
    if standing.may_fly == Outcome.MET:
        return "meets the mission", "met"
    return ("out", "failed") if standing.may_fly == Outcome.NOT_MET else ("undecided", "open")


def _gate_matrix(material: Material, verdict: Verdict) -> Table:
    """Requirements down, candidates across; the limits of measured ones, and reasons that stand nowhere else."""
    notes = Notes()
    measured = {r.name for r in material.mission.requirements}
    refusals = "\n".join(reason for s in verdict.standings for reason in s.refusals)
    gates = {(g.requirement, g.candidate): g for s in verdict.standings for g in s.gates}
    candidates = [s.candidate for s in verdict.standings]
    rows = []
    for requirement in dict.fromkeys(name for name, _ in gates):
        limit = next(prose(g.limit) for (name, _), g in gates.items() if name == requirement)
        row = [Cell(prose(requirement), limit if requirement in measured else "")]
        for candidate in candidates:
            gate = gates.get((requirement, candidate))
            row.append(_gate_cell(material, verdict, gate, notes, refusals) if gate else Cell("-"))
        rows.append(row)
    return material.numbering.table(
        f"Requirements: {_LEGEND}", [Column("Requirement", False), *material.columns(candidates)], rows, notes.listed(),
    )  # fmt: skip


def _gate_cell(material: Material, verdict: Verdict, gate: Gate, notes: Notes, refusals: str) -> Cell:
    """The sign and the figure; what is not met or undecided has its reason as a footnote."""
    mark = notes.timed(_timing(material, verdict, gate.requirement, gate.candidate)) if gate.measured else ""
    if gate.outcome != Outcome.MET and gate.reason not in refusals:
        mark += notes.mark(prose(gate.reason))
    detail = figure_text(gate.measured) if gate.measured else ""
    return Cell(f"{SIGNS[gate.outcome]} {gate.outcome}", detail, mark, TONES[gate.outcome])


def _measured(material: Material, verdict: Verdict, gate: Gate, notes: Notes) -> Cell:
    timing = notes.timed(_timing(material, verdict, gate.requirement, gate.candidate)) if gate.measured else ""
    return figure_cell(gate.measured, notes, timing=timing)


def _scores(material: Material, verdict: Verdict) -> Iterator[Table]:
    """Criteria down, candidates across; without those that nobody has a score in (the caveats name them)."""
    notes = Notes()
    scores = {(s.criterion, s.candidate): s for one in verdict.standings for s in one.scores if s.score is not None}
    candidates = [s.candidate for s in verdict.standings]
    rows = []
    for criterion in dict.fromkeys(name for name, _ in scores):
        weight = next(s.weight for (name, _), s in scores.items() if name == criterion)
        row = [Cell(prose(criterion)), Cell(number(weight))]
        for candidate in candidates:
            score = scores.get((criterion, candidate))
            figure = score.figure if score else None
            mark = notes.timed(_timing(material, verdict, criterion, candidate)) if figure else ""
            row.append(Cell(_score_text(score.score if score else None), figure_value(figure) if figure else "", mark))
        rows.append(row)
    if rows:
        yield material.numbering.table(
            "Scores: the best candidate's figure over the candidate's own; the figure beside it",
            [Column("Criterion", False), Column("Weight"), *material.columns(candidates)], rows, notes.listed(),
            compact=True,
        )  # fmt: skip


def _timing(material: Material, verdict: Verdict, name: str, candidate: str) -> str:
    """The timing mark of the figure that a requirement or criterion of this name rests on."""
    asked = [f for f in (*material.mission.requirements, *material.mission.criteria) if f.name == name]
    return timing_mark(
        [
            s
            for s in material.evidence.summaries
            for f in asked
            if (s.group.instrument, s.group.load, s.group.board, s.group.candidate)
            == (f.instrument, f.load, verdict.board, candidate)
        ]
    )
