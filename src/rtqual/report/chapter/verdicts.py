# SPDX-License-Identifier: MIT
"""The verdicts in short, for the first page."""

from collections import Counter
from collections.abc import Iterator

from rtqual.analysis.verdict.headline import result
from rtqual.analysis.verdict.model import Gate, Outcome, Verdict
from rtqual.report.chapter.distributions import decisive
from rtqual.report.chapter.judgement import score_text
from rtqual.report.material import Material, timing_of
from rtqual.report.page.document import (
    SIGNS,
    TONES,
    Beside,
    Block,
    Cell,
    Column,
    Notes,
    Table,
    VerdictBox,
    bullets,
    numbers,
    outcome_cell,
    texts,
)
from rtqual.report.page.text import figure_text, prose

_LEGEND = ", ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())
_MOST_BESIDE = 3  # candidates whose columns fit in half of a box


def verdict_boxes(material: Material) -> tuple[VerdictBox, ...]:
    """The answer, where several boards give it together; then each board's verdict."""
    answer = material.evidence.answer
    boxes = [
        VerdictBox(
            heading,
            verdict.fly is not None,
            prose(verdict.headline),
            tuple(_box(material, verdict)),
        )
        for heading, verdict in material.evidence.headed
    ]
    if answer is not None and len(answer.boards) > 1:
        boxes.insert(0, VerdictBox("Verdict", answer.fly is not None, prose(answer.headline), ()))
    return tuple(boxes)


def _box(material: Material, verdict: Verdict) -> Iterator[Block]:
    ranking = _ranking(material, verdict)
    matrix = [_gate_matrix(material, verdict)] if any(standing.gates for standing in verdict.standings) else []
    plots = decisive(material, verdict)
    narrow = len(verdict.standings) <= _MOST_BESIDE
    beside = (ranking, *matrix) if narrow else (ranking,)
    if plots:
        yield Beside(beside, plots)
    else:
        yield from beside
    yield from () if narrow else matrix
    yield from bullets("Findings", verdict.findings)
    refused = (f"{one.candidate}: {reason}" for one in verdict.standings for reason in one.other_refusals)
    yield from bullets("Refused", refused, "open")
    yield from bullets("What would change this", verdict.would_change)
    yield from bullets("To keep in mind", verdict.caveats)


def _ranking(material: Material, verdict: Verdict) -> Table:
    scored = any(standing.total is not None for standing in verdict.standings)
    rows = []
    for standing in verdict.standings:
        text, outcome = result(verdict, standing)
        counts = Counter(gate.outcome for gate in standing.gates)
        kept = [f"{counts[outcome]}\u00a0{sign}" for outcome, sign in SIGNS.items() if counts[outcome]]
        place = [Cell("-" if standing.rank is None else str(standing.rank)), Cell(score_text(standing.total))]
        rows.append(
            [
                Cell(prose(standing.candidate), prose(material.title(standing.candidate))),
                Cell(text, tone=TONES[outcome]),
                Cell(" · ".join(kept) or "-"),
                *(place if scored else []),
            ]
        )
    columns = [*texts("Candidate"), Column("Result", False, name=True), *numbers("Requirements")]
    columns += numbers("Rank", "Score") if scored else []
    by_score = (
        ". Candidates that meet every requirement come first; the score, a weighted mean over the criteria of which "
        "1 is best, ranks among equals."
    )
    return material.numbering.table(f"Candidates: {_LEGEND}{by_score if scored else ''}", columns, rows)


def _gate_matrix(material: Material, verdict: Verdict) -> Table:
    """Requirements down, candidates across; the needs that every candidate meets share a row."""
    notes = Notes()
    measured = {r.name for r in material.mission.requirements}
    gates = {(g.requirement, g.candidate): g for s in verdict.standings for g in s.gates}
    candidates = [s.candidate for s in verdict.standings]
    names = list(dict.fromkeys(name for name, _ in gates))
    plain = [
        name
        for name in names
        if name not in measured and all(gates[key].outcome == Outcome.MET for key in gates if key[0] == name)
    ]
    rows = []
    for requirement in (name for name in names if name not in plain):
        limit = next(prose(g.limit) for (name, _), g in gates.items() if name == requirement)
        row = [Cell(prose(requirement), limit if requirement in measured else "")]
        for candidate in candidates:
            gate = gates.get((requirement, candidate))
            row.append(_gate_cell(material, verdict, gate, notes) if gate else Cell("-"))
        rows.append(row)
    if plain:
        shown = [outcome_cell(Outcome.MET) if (plain[0], candidate) in gates else Cell("-") for candidate in candidates]
        rows.append([Cell(prose(", ".join(plain).replace(", need ", ", "))), *shown])
    return material.numbering.table(
        f"Requirements: {_LEGEND}", [Column("Requirement", False), *material.columns(candidates)], rows, notes.listed(),
    )  # fmt: skip


def _gate_cell(material: Material, verdict: Verdict, gate: Gate, notes: Notes) -> Cell:
    """The sign and the figure; what is not simply met has its reason as a footnote."""
    mark = notes.timed(timing_of(material, verdict, gate.requirement, gate.candidate)) if gate.measured else ""
    if gate.outcome != Outcome.MET:
        mark += notes.mark(prose(gate.reason))
    detail = figure_text(gate.measured, gate.limit_value) if gate.measured else ""
    return outcome_cell(gate.outcome, detail, mark)
