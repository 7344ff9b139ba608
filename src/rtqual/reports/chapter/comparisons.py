# SPDX-License-Identifier: MIT
"""Candidates beside each other, effect sizes first: the ratio with its interval, the difference, the superiority."""

from collections.abc import Callable, Iterator

from rtqual.engine.analysis.difference.compare import is_constant
from rtqual.engine.analysis.difference.model import Comparison
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.reports.chapter.shifts import shifts
from rtqual.reports.material import Material, Place, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import Block, Column, Paragraph, Table, TableCell, bullets, numbers, raised
from rtqual.reports.page.text import clean, load_text, marked, number, place, prose, readable


def comparisons(material: Material) -> Iterator[Block]:
    """Where a board has a best candidate, the others stand beside it: all pairs would fill pages."""
    best = {v.board: v.standings[0].candidate for v in material.evidence.verdicts if v.standings}
    if not material.evidence.comparisons:
        return
    yield Paragraph(
        "Each candidate beside the best of its board; rtqual compare shows any other pair. P(a\u00a0>\u00a0b) is the "
        "chance that a sample of a is larger than one of b; 0.5 means no effect."
    )
    undecided: dict[tuple[str, str], list[str]] = {}
    for spot in material.places():
        found = [
            c
            for c in material.evidence.comparisons
            if (c.a.instrument, c.a.board, c.a.cpus) == (spot.instrument, spot.board, spot.cpus)
            and best.get(spot.board, c.a.candidate) in (c.a.candidate, c.b.candidate)
            and not is_constant(c)
        ]
        if any(c.difference.interval or is_size(c.unit) for c in found):
            yield _table(material, spot, found)
            yield from shifts(material, spot, best.get(spot.board, found[0].a.candidate))
        elif found:
            key = place(found[0].a), found[0].difference.why_no_interval
            undecided.setdefault(key, []).append(spot.instrument)
    yield from bullets(
        "Too few runs to tell candidates apart (their figures stand among the results)",
        (f"{where}: {', '.join(names)}: {why}." for (where, why), names in undecided.items()),
        "open",
    )


def _table(material: Material, where: Place, found: list[Comparison]) -> Table:
    """What is the same in every row (the load, the pair) stands in the caption instead."""
    found.sort(key=lambda c: where.loads.index(c.a.load))
    notes = notes_for(figure for c in found for figure in (c.ratio, c.difference))
    mark = notes.timed(timing_mark(where.summaries))
    names: dict[str, Callable[[Comparison], str]] = {
        "Load": lambda c: load_text(c.a.load),
        "a": lambda c: c.a.candidate,
        "b": lambda c: c.b.candidate,
    }
    kept = {title: read for title, read in names.items() if len({read(c) for c in found}) > 1}
    common = [f"{title.lower()} = {read(found[0])}" for title, read in names.items() if title not in kept]
    rows = []
    for c in found:
        figures = [figure_cell(figure, notes, counted=False) for figure in (c.ratio, c.difference)]
        heading, *figures = raised([TableCell(readable(c.statistic)), *figures])
        rows.append(
            [
                heading,
                *(TableCell(clean(read(c))) for read in kept.values()),
                *figures,
                TableCell("-" if c.superiority is None else number(c.superiority)),
                TableCell(prose(c.outcome), marks=notes.mark(prose(c.why))),
            ]
        )
    columns = [
        *(Column(title, False, name=True) for title in ("Statistic", *kept)),
        *numbers("Ratio a / b", "Difference a - b", "P(a > b)"),
        Column("Statement", False, name=True),
    ]
    caption = clean(", ".join([f"Comparison: {where.title}", *common]))
    return material.numbering.table(marked(caption, mark), columns, rows, notes.listed())
