# SPDX-License-Identifier: MIT
"""The verdicts in short, board by board."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rtqual.base.words import count
from rtqual.engine.analysis.verdict.headline import result
from rtqual.engine.analysis.verdict.model import Gate, Outcome, Verdict
from rtqual.reports.chapter.distributions import decisive
from rtqual.reports.chapter.judgement import score_text
from rtqual.reports.material import Material, timing_of
from rtqual.reports.page.document import (
    SIGNS,
    TONES,
    Block,
    Column,
    Note,
    Notes,
    Table,
    TableCell,
    VerdictBox,
    bullets,
    numbers,
    outcome_cell,
    texts,
)
from rtqual.reports.page.text import figure_text, prose

_MOST_REASONS = 6  # in footnotes of the first page
_LEGEND = ", ".join(f"{sign} {outcome}" for outcome, sign in SIGNS.items())


def verdict_boxes(material: Material) -> tuple[VerdictBox, ...]:
    """What every board gives; of the first, which decides, headline, requirements and plot stand on the first page."""
    answer = material.evidence.answer
    deciding = answer.boards if answer else ()
    return tuple(
        VerdictBox(
            heading,
            verdict.fly is not None,
            "" if answer and verdict.headline == answer.headline else prose(verdict.headline),
            tuple(_box(material, verdict, decides=verdict.board in deciding)),
        )
        for heading, verdict in material.evidence.headed
    )


def _box(material: Material, verdict: Verdict, *, decides: bool) -> Iterator[Block]:
    yield _ranking(material, verdict)
    if not decides and any(standing.gates for standing in verdict.standings):
        yield gate_matrix(material, verdict)
        plots = decisive(material, verdict)
        yield from [plots] if plots else []
    yield from bullets("Findings", verdict.findings)
    refused = (
        f"{standing.candidate}: {reason}" for standing in verdict.standings for reason in standing.other_refusals
    )
    yield from bullets("Refused", refused, "open")
    if not decides:
        yield from bullets("What would change this", verdict.would_change)
        yield from bullets("To keep in mind", verdict.caveats)


def _ranking(material: Material, verdict: Verdict) -> Table:
    scored = any(standing.total is not None for standing in verdict.standings)
    rows = []
    for standing in verdict.standings:
        text, outcome = result(verdict, standing)
        counts = Counter(gate.outcome for gate in standing.gates)
        kept = [f"{counts[outcome]}\u00a0{sign}" for outcome, sign in SIGNS.items() if counts[outcome]]
        place = [TableCell("-" if standing.rank is None else str(standing.rank)), TableCell(score_text(standing.total))]
        rows.append(
            [
                TableCell(prose(standing.candidate), prose(material.title(standing.candidate))),
                TableCell(text, tone=TONES[outcome]),
                TableCell(" · ".join(kept) or "-"),
                *(place if scored else []),
            ]
        )
    columns = [*texts("Candidate"), Column("Result", False, name=True), *numbers("Requirements")]
    columns += numbers("Rank", "Score") if scored else []
    share = f", here over {100 * verdict.scored:.0f} % of their weight" if verdict.scored is not None else ""
    by_score = (
        ". Candidates that meet every requirement come first; the score, a weighted mean over the criteria of which "
        f"1 is best{share}, ranks among equals."
    )
    return material.numbering.table(f"Candidates: {_LEGEND}{by_score if scored else ''}", columns, rows)


def gate_matrix(material: Material, verdict: Verdict, most: int | None = None, rows: int | None = None) -> Table:
    """Requirements down, candidates across, `most` of them and so many `rows`; the needs that every candidate meets
    share a row."""
    notes = Notes()
    measured = {r.name for r in material.mission.requirements}
    standings = verdict.standings[:most]
    gates = {(g.requirement, g.candidate): g for s in standings for g in s.gates}
    candidates = [s.candidate for s in standings]
    names = list(dict.fromkeys(name for name, _ in gates))
    plain = [
        name
        for name in names
        if name not in measured and all(gates[key].outcome == Outcome.MET for key in gates if key[0] == name)
    ]
    asked = [name for name in names if name not in plain]
    shown = sorted(
        asked, key=lambda name: all(gate.outcome == Outcome.MET for (of, _), gate in gates.items() if of == name)
    )
    shown = asked if rows is None or len(asked) <= rows else shown[:rows]
    told, all_told = _reasons([gate for (name, _), gate in gates.items() if name in shown], rows and _MOST_REASONS)
    results = (result(verdict, standing) for standing in standings)
    matrix = [[TableCell("Result"), *(TableCell(text, tone=TONES[outcome]) for text, outcome in results)]]
    for requirement in shown:
        limit = next(prose(g.limit) for (name, _), g in gates.items() if name == requirement)
        row = [TableCell(prose(requirement), limit if requirement in measured else "")]
        for candidate in candidates:
            gate = gates.get((requirement, candidate))
            row.append(_gate_cell(material, verdict, gate, notes, told) if gate else TableCell("-"))
        matrix.append(row)
    if plain:
        met = [
            outcome_cell(Outcome.MET) if (plain[0], candidate) in gates else TableCell("-") for candidate in candidates
        ]
        matrix.append([TableCell(prose(", ".join(plain).replace(", need ", ", "))), *met])
    left = len(verdict.standings) - len(standings)
    more = f"; {count(left, 'more candidate')} below" if left else ""
    more += f"; {count(len(asked) - len(shown), 'more requirement')} in chapter 4" if len(shown) < len(asked) else ""
    columns = [Column("Requirement", False), *material.columns(candidates)]
    caption = f"Requirements, {verdict.board} board: {_LEGEND}{more}"
    beside = notes.listed() if all_told else (*notes.listed(), Note("", "All reasons stand in chapter 4."))
    return material.numbering.table(caption, columns, matrix, beside, stacks=True)


def _reasons(gates: Sequence[Gate], most: int | None) -> tuple[set[str], bool]:
    """Those that footnotes tell, and whether that is all: where they are too many, those that no figure tells."""
    every = [gate for gate in gates if gate.outcome != Outcome.MET]
    hidden = [gate for gate in every if gate.outcome == Outcome.UNDECIDED or gate.lost or not gate.measured]
    agreed = [gate for gate in every if gate.origin.keys() & {"deviation", "waiver"}]
    for some in (every, [*hidden, *agreed], agreed):
        told = {gate.reason for gate in some}
        if most is None or len(told) <= most:
            return told, some is every
    return set(), False


def _gate_cell(material: Material, verdict: Verdict, gate: Gate, notes: Notes, told: Collection[str]) -> TableCell:
    """The sign and the figure; what is not simply met has its reason as a footnote."""
    mark = notes.timed(timing_of(material, verdict, gate.requirement, gate.candidate)) if gate.measured else ""
    if gate.reason in told and gate.outcome != Outcome.MET:
        mark += notes.mark(prose(gate.reason))
    detail = figure_text(gate.measured, gate.limit_value) if gate.measured else ""
    if gate.lost and detail:  # that of a run which hung is not known
        detail = f"other runs {detail}"
    return outcome_cell(gate.outcome, detail, mark)
