# SPDX-License-Identifier: MIT
"""Instruments that measure many things at once: a row for each, its median with the least and the largest below."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.figure.operation_shares import share
from rtqual.protocols.instrument.output import refused
from rtqual.reports.material import Material, Place, figure_cell, notes_for
from rtqual.reports.page.document import Column, Note, Notes, Table, TableCell
from rtqual.reports.page.text import (
    TIMING_MARK,
    clean,
    figure_interval,
    figure_value,
    load_text,
    number,
    place,
    readable,
)

SEVERAL = 3  # so many series or more stand in one table
_ENDS = ("min", "max")
_SWITCH, _TIME = ": context switch", ": time"  # series of one benchmark, the first a part of the second


def has_several(summaries: Sequence[Summary]) -> bool:
    return any(s.absent or len(s.series) >= SEVERAL for s in summaries)


def battery(material: Material, where: Place, load: str) -> Table:
    """What a system does not offer is marked so; figures that are no samples stand below the samples."""
    summaries = where.under(load)
    sampled = list(dict.fromkeys(name for s in summaries for name in s.series))
    absent = dict.fromkeys(name for s in summaries for name in s.absent)
    names = [*sampled, *(name for name in absent if not any(_belongs(text, name) for text in sampled))]
    notes = notes_for(s.figures.get(figure_name(s, name, "p50")) for s in summaries for name in names)
    rows = heading_rows(summaries, notes)
    for name in names:
        rows.append([TableCell(readable(name)), *(cell_of(s, name, notes) for s in summaries)])
        rows += share_rows(summaries, name, notes)
    printed = dict.fromkeys(name for s in summaries for name in s.figures)
    scalars = [name for name in printed if not any(name in _statistics(s) for s in summaries)]
    for name in scalars:
        found = [s.figures.get(name) for s in summaries]
        rows.append([TableCell(readable(name)), *(TableCell("-" if f is None else figure_value(f)) for f in found)])
    caption = f"{where.instrument} {load_text(load)}, {place(summaries[0].group)}: median, and least to largest"
    columns = [Column("Operation", False), *material.columns([s.group.candidate for s in summaries])]
    listed: tuple[Note, ...] = notes.listed()
    return material.numbering.table(clean(caption), columns, rows, listed)


def heading_rows(
    summaries: Sequence[Summary], notes: Notes, samples: str = "samples n of each", none: str = "0"
) -> list[list[TableCell]]:
    """What the columns of a table rest on."""
    rows = [
        [TableCell(samples), *(TableCell(number(s.samples) if s.samples else none) for s in summaries)],
        [TableCell("runs"), *(TableCell(str(s.runs)) for s in summaries)],
        [TableCell("timing"), *(TableCell(str(s.timing), marks=notes.timed(TIMING_MARK[s.timing])) for s in summaries)],
    ]
    if any(s.problems for s in summaries):
        words = (refused(s.problems) if s.problems else "-" for s in summaries)
        rows.append([TableCell("no verdict rests on it"), *map(TableCell, words)])
    return rows


def cell_of(summary: Summary, name: str, notes: Notes, statistic: str = "p50", *, span: bool = True) -> TableCell:
    """One operation of one system: a statistic, its interval or why there is none, with a span least to largest."""
    why_absent = next((why for absent, why in summary.absent.items() if _belongs(name, absent)), "")
    if why_absent:
        return TableCell("not offered", marks=notes.mark(clean(f"{why_absent}.")))
    found, *ends = (summary.figures.get(figure_name(summary, name, end)) for end in (statistic, *_ENDS))
    if found is None:
        return TableCell("-")
    details = [
        figure_interval(found),
        " to ".join(figure_value(end) for end in ends if end is not None) if span else "",
    ]
    marks = notes.mark("" if found.interval else found.why_no_interval)
    return TableCell(figure_value(found), "; ".join(filter(None, details)), marks)


def figure_name(summary: Summary, series: str, statistic: str) -> str:
    return statistic if summary.series[:1] == (series,) else f"{series} {statistic}"


def share_rows(summaries: Sequence[Summary], name: str, notes: Notes) -> Iterator[list[TableCell]]:
    """Below a context switch what part of its operation it is; nothing below others."""
    if name.endswith(_SWITCH):
        yield [TableCell(f"{readable(name)}, its share"), *(_share(s, name, notes) for s in summaries)]


def _belongs(name: str, benchmark: str) -> bool:
    return name == benchmark or name.startswith(f"{benchmark}: ")


def _share(summary: Summary, name: str, notes: Notes) -> TableCell:
    """How much of an operation's time its context switch is, by the medians; and of its shortest and longest."""
    of = name.removesuffix(_SWITCH) + _TIME
    part, whole = (summary.figures.get(figure_name(summary, text, "p50")) for text in (name, of))
    if not (part and whole):
        return figure_cell(None, notes, counted=False)
    cell = figure_cell(share(part, whole), notes, counted=False)
    ends = (summary.figures.get(figure_name(summary, of, end)) for end in _ENDS)
    shares = [figure_value(found) for end in ends if end and (found := share(part, end))]
    spread = " of the shortest to ".join(shares) + " of the longest" if len(shares) == len(_ENDS) else ""
    return replace(cell, detail="; ".join(filter(None, (cell.detail, spread))))


def _statistics(summary: Summary) -> set[str]:
    """The names of figures that were read from samples."""
    if not summary.series:  # all were absent
        return set()
    first = {name for name in summary.figures if f"{summary.series[-1]} {name}" in summary.figures}
    return first | {f for f in summary.figures for name in summary.series[1:] if f.startswith(f"{name} ")}
