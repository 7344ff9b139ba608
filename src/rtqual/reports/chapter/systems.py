# SPDX-License-Identifier: MIT
"""The systems under test, what each takes and lacks, and their footprint."""

from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.reports.chapter.choosing import choice
from rtqual.reports.chapter.items import items
from rtqual.reports.material import FOOTPRINT, Material, figure_cell, notes_for
from rtqual.reports.page.document import Block, Column, TableCell, raised, texts
from rtqual.reports.page.text import clean, prose, readable


def systems(material: Material) -> Iterator[Block]:
    rows = []
    for candidate in material.mission.candidates:
        boot = " ".join((*([f"preempt={candidate.preempt}"] if candidate.preempt else []), *candidate.boot))
        rows.append(
            [
                TableCell(candidate.name),
                TableCell(prose(candidate.title)),
                TableCell(candidate.source),
                TableCell(clean(boot) or "-", code=bool(boot)),
                TableCell(str(sum(r.inputs.candidate == candidate.name for r in material.records) or "none")),
            ]
        )
    titles = texts("Name", "System", "Source", "Boot parameters")
    yield material.numbering.table("Systems under test", [*titles, Column("Runs")], rows)
    yield from items(material)
    yield from choice(material)
    for place in material.places():
        if place.instrument != FOOTPRINT:
            continue
        notes = notes_for(figure for s in place.summaries for figure in s.figures.values())
        names = dict.fromkeys(name for s in place.summaries for name in s.figures)
        yield material.numbering.table(
            clean(f"Footprint, {place.board} board, {count(place.cpus, 'CPU')}"),
            [Column("Figure", False), *material.columns([s.group.candidate for s in place.summaries])],
            [
                raised(
                    [
                        TableCell(readable(name)),
                        *(figure_cell(s.figures.get(name), notes, of=s) for s in place.summaries),
                    ]
                )
                for name in names
            ],
            notes.listed(),
        )
