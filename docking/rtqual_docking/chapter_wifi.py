# SPDX-License-Identifier: MIT
"""Poses at another spacecraft, over a way that loses nothing and one that loses packets: their ages, kernel by load."""

from collections.abc import Iterator

from rtqual.reports.material import Material, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import Block, Column, Paragraph, Table, TableCell
from rtqual.reports.page.text import clean, load_text, marked, place
from rtqual_docking.radios import SENT_BY_WIFI

_LEGEND = (
    "Poses at another spacecraft: the flight program's go over a simulated Wi-Fi link, 60 a second, and count from the "
    "end of their frame. Jitter: how much the ages of two that came in succession differ. Stalest: the oldest that the "
    "newest pose there has become before another came."
)
_FIGURES = {
    "poses_sent": "sent",
    "poses_lost": "lost",
    "p50": "age, p50",
    "p99": "age, p99",
    "max": "age, max",
    "jitter p50": "jitter, p50",
    "jitter p99": "jitter, p99",
    "jitter max": "jitter, max",
    "stalest": "stalest",
}


def sent_by_wifi(material: Material) -> Iterator[Block]:
    tables = [table for one in SENT_BY_WIFI for table in _tables(material, one.name, one.title)]
    if tables:
        yield Paragraph(_LEGEND)
        yield from tables


def _tables(material: Material, name: str, title: str) -> Iterator[Table]:
    """One of each board, with a row for each kernel and load."""
    for one in material.places():
        found = one.summaries if one.instrument == name else ()
        if not found:
            continue
        notes = notes_for(s.figures.get(figure) for s in found for figure in _FIGURES)
        mark = "".join(notes.timed(m) for m in timing_mark(found))
        rows = [
            [
                TableCell(clean(f"{s.group.candidate}, {load_text(s.group.load)}")),
                *(figure_cell(s.figures.get(figure), notes, of=s) for figure in _FIGURES),
            ]
            for s in found
        ]
        columns = [Column("Kernel and load", False), *(Column(text) for text in _FIGURES.values())]
        caption = marked(clean(f"{title}: {place(found[0].group)}"), mark)
        yield material.numbering.table(caption, columns, rows, notes.listed())
