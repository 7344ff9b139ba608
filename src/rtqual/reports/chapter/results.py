# SPDX-License-Identifier: MIT
"""The measured figures: plots and tables of every instrument under every load."""

from collections.abc import Iterator, Mapping, Sequence

from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.mission import PUBLISHED
from rtqual.protocols.record.facts import COMMAND, PRINTED_IN
from rtqual.reports.chapter.battery import battery, has_several, heading_rows
from rtqual.reports.chapter.distributions import distributions
from rtqual.reports.chapter.explore import explorer
from rtqual.reports.chapter.paths import paths
from rtqual.reports.material import FOOTPRINT, Material, Place, facts_of, figure_cell, group_of, notes_for
from rtqual.reports.page.document import (
    Block,
    Column,
    Heading,
    Paragraph,
    Table,
    TableCell,
    bullets,
    numbers,
    raised,
    texts,
)
from rtqual.reports.page.text import TIMING_MARK, clean, load_text, marked, place, prose, readable

_OVER_RUNS = "median run"  # how figures begin that say nothing new of a single run


def results(material: Material) -> Iterator[Block]:
    measured = [where for where in material.places() if where.instrument != FOOTPRINT]
    yield from explorer(material)
    for where in measured:
        yield Heading(clean(where.title))
        if (about := material.about(where.instrument)).title:
            remarks = _printed_in(material, where) if where.board == PUBLISHED else about.caveats
            yield Paragraph(prose(" ".join((f"{about.title}.", *remarks))))
        yield from distributions(material, where)
        for load in where.loads:
            yield from paths(material, where, load)
            yield (
                battery(material, where, load) if has_several(where.under(load)) else _statistics(material, where, load)
            )
            yield from _remarks(where.under(load))
            yield from _per_cpu(material, where, load)


def _statistics(material: Material, where: Place, load: str) -> Table:
    """Statistics down, candidates across."""
    summaries = where.under(load)
    notes = notes_for(figure for s in summaries for figure in s.figures.values())
    names = _names([s.figures for s in summaries], several=any(s.runs > 1 for s in summaries))
    rows = heading_rows(summaries, notes, "samples n", "not told")
    for name in names:
        cells = [figure_cell(s.figures.get(name), notes, of=s) for s in summaries]
        rows.append(raised([TableCell(readable(name)), *cells]))
    caption = f"{where.instrument} {load_text(load)}, {place(summaries[0].group)}"
    columns = [Column("Statistic", False), *material.columns([s.group.candidate for s in summaries])]
    return material.numbering.table(clean(caption), columns, rows, notes.listed())


def _names(found: Sequence[Mapping[str, Figure]], *, several: bool) -> list[str]:
    """Of all figures, without those over the runs where there are not `several`."""
    names = dict.fromkeys(name for figures in found for name in figures)
    return [name for name in names if several or not name.startswith(_OVER_RUNS)]


def _remarks(summaries: Sequence[Summary]) -> Iterator[Block]:
    problems = (f"{s.group.candidate}: {problem}" for s in summaries for problem in s.problems)
    yield from bullets("Problems: no verdict rests on these", problems, "open")
    yield from bullets("To keep in mind", (f"{s.group.candidate}: {caveat}" for s in summaries for caveat in s.caveats))


def _per_cpu(material: Material, where: Place, load: str) -> Iterator[Table]:
    for s in where.under(load):
        if len(s.per_cpu) < 2:
            continue
        notes = notes_for(figure for figures in s.per_cpu.values() for figure in figures.values())
        cpus = dict(sorted(s.per_cpu.items()))
        rows = [
            raised(
                [TableCell(readable(name)), *(figure_cell(of.get(name), notes, counted=False) for of in cpus.values())]
            )
            for name in _names([*s.per_cpu.values()], several=s.runs > 1)
        ]
        mark = notes.timed(TIMING_MARK[s.timing])
        caption = clean(f"Per CPU: {s.group.candidate}, {where.instrument} {load_text(load)}")
        columns = [*texts("Statistic"), *numbers(*(f"CPU {cpu}" for cpu in cpus))]
        yield material.numbering.table(marked(caption, mark), columns, rows, notes.listed())


def _printed_in(material: Material, where: Place) -> tuple[str, ...]:
    """Where the figures of a published place are printed, and how the study measured them."""
    records = [r for r in material.of_board(where.board) if group_of(r) in {s.group for s in where.summaries}]
    return tuple(
        f"{title}: {'; '.join(facts_of(records, fact))}."
        for title, fact in (("Printed in", PRINTED_IN), ("The study's command", COMMAND))
    )
