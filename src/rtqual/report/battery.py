# SPDX-License-Identifier: MIT
"""Instruments that measure many things at once: a row for each, its median with the least and the largest below."""

from collections.abc import Sequence

from rtqual.analysis.model import Figure, Summary
from rtqual.report.document import Cell, Column, Note, Table
from rtqual.report.material import Material, Place, notes_for
from rtqual.report.text import TIMING_MARK, clean, figure_interval, figure_value, load_text, number, place, readable

SEVERAL = 3  # as many series or more stand in one table
_ENDS = ("min", "max")


def has_several(summaries: Sequence[Summary]) -> bool:
    return max(len(s.series) for s in summaries) >= SEVERAL


def battery(material: Material, one: Place, load: str) -> Table:
    """What a system does not offer says so; the figures beside the samples stand below them."""
    summaries = one.under(load)
    names = list(dict.fromkeys(name for s in summaries for name in (*s.series, *s.absent)))
    notes = notes_for(s.figures.get(_figure_name(s, name, "p50")) for s in summaries for name in names)
    rows = [
        [Cell("samples n of each"), *(Cell(number(s.samples)) for s in summaries)],
        [Cell("runs"), *(Cell(str(s.runs)) for s in summaries)],
        [Cell("timing"), *(Cell(str(s.timing), marks=notes.timed(TIMING_MARK[s.timing])) for s in summaries)],
    ]
    for name in names:
        cells = []
        for s in summaries:
            if name in s.absent:
                cells.append(Cell("not offered", marks=notes.mark(clean(f"{s.absent[name]}."))))
                continue
            median, *ends = (s.figures.get(_figure_name(s, name, statistic)) for statistic in ("p50", *_ENDS))
            remark = "" if median is None or median.interval else median.why_no_interval
            cells.append(_cell(median, ends, notes.mark(remark)))
        rows.append([Cell(readable(name)), *cells])
    scalars = [name for name in _names(summaries) if not any(name in _statistics(s) for s in summaries)]
    for name in scalars:
        found = [s.figures.get(name) for s in summaries]
        rows.append([Cell(readable(name)), *(Cell("-" if f is None else figure_value(f)) for f in found)])
    caption = f"{one.instrument} {load_text(load)}, {place(summaries[0].group)}: median, and least to largest"
    columns = [Column("Operation", False), *material.columns([s.group.candidate for s in summaries])]
    listed: tuple[Note, ...] = notes.listed()
    return material.numbering.table(clean(caption), columns, rows, listed)


def _cell(median: Figure | None, ends: Sequence[Figure | None], marks: str) -> Cell:
    if median is None:
        return Cell("-")
    span = " to ".join(figure_value(end) for end in ends if end is not None)
    interval = figure_interval(median)
    return Cell(figure_value(median), f"{interval}; {span}" if interval else span, marks)


def _figure_name(summary: Summary, series: str, statistic: str) -> str:
    return statistic if summary.series[:1] == (series,) else f"{series} {statistic}"


def _names(summaries: Sequence[Summary]) -> list[str]:
    return list(dict.fromkeys(name for s in summaries for name in s.figures))


def _statistics(summary: Summary) -> set[str]:
    """The names of figures that were read from samples."""
    first = {name for name in summary.figures if f"{summary.series[-1]} {name}" in summary.figures}
    return first | {f for f in summary.figures for name in summary.series[1:] if f.startswith(f"{name} ")}
