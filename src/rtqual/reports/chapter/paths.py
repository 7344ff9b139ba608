# SPDX-License-Identifier: MIT
"""The probe's control loop in short: for each way of waking it how late it began, when it was done, what it missed."""

from collections.abc import Iterator

from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.instruments.probe.families import MEMORY_PROBE
from rtqual.reports.chapter.battery import cell_of, figure_name
from rtqual.reports.material import Material, Place, figure_cell, notes_for
from rtqual.reports.page.document import Column, Notes, Table, TableCell
from rtqual.reports.page.text import TIMING_MARK, clean, load_text, number, place

_WHOLE = ": end to end"  # ends the name of the series that every loop has
_START, _DONE = "sensor start", "end to end"
_SHOWN = ((_START, "p50"), (_START, "p99"), (_START, "max"), (_DONE, "p50"), (_DONE, "max"))


def paths(material: Material, where: Place, load: str) -> Iterator[Table]:
    """Nothing of an instrument that runs no loop."""
    summaries = where.under(load)
    loops = dict.fromkeys(name.removesuffix(_WHOLE) for s in summaries for name in s.series if name.endswith(_WHOLE))
    if not loops:
        return
    names = [(s, figure_name(s, f"{loop}: {series}", statistic)) for loop in loops for s in summaries
             for series, statistic in _SHOWN]  # fmt: skip
    notes = notes_for(s.figures.get(name) for s, name in names)
    rows = [_row(s, loop, notes) for loop in loops for s in summaries]
    what = "while other CPUs stream memory" if where.instrument == MEMORY_PROBE.name else "by what wakes it"
    caption = f"The loop {what}, {where.instrument} {load_text(load)}, {place(summaries[0].group)}"
    columns = [
        Column("Loop", False),
        Column("System", False, name=True),
        *(Column(f"{series}, {'median' if statistic == 'p50' else statistic}") for series, statistic in _SHOWN),
        Column("Deadline misses"),
    ]
    yield material.numbering.table(clean(caption), columns, rows, notes.listed())


def _row(s: Summary, loop: str, notes: Notes) -> list[TableCell]:
    system = TableCell(clean(s.group.candidate), marks=notes.timed(TIMING_MARK[s.timing]))
    absent = cell_of(s, f"{loop}{_WHOLE}", notes) if loop in s.absent else None
    if absent:
        return [TableCell(loop), system, *([absent] * (len(_SHOWN) + 1))]
    figures = [s.figures.get(figure_name(s, f"{loop}: {series}", statistic)) for series, statistic in _SHOWN]
    return [TableCell(loop), system, *(figure_cell(figure, notes, of=s) for figure in figures), _misses(s, loop)]


def _misses(s: Summary, loop: str) -> TableCell:
    """All runs together; the figure is a run's average."""
    found, taken = s.figures.get(f"{loop}: deadline misses"), s.figures.get(figure_name(s, f"{loop}{_WHOLE}", "max"))
    if found is None or taken is None:
        return TableCell("-")
    return TableCell(number(round(found.value * found.runs)), f"of {number(taken.n)}")
