# SPDX-License-Identifier: MIT
"""The studies that a mission repeats: what of their order was found again, and what was not."""

from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.engine.mission import PUBLISHED
from rtqual.parts.studies.catalogue import studies
from rtqual.parts.studies.repetition import LargerOf, Pair, Repeated, agreement, compare
from rtqual.reports.material import Material, timing_mark, timing_notes
from rtqual.reports.page.document import Block, Paragraph, Table, TableCell, bullets, numbers, texts
from rtqual.reports.page.text import clean, marked, number

_READ = (
    "Systems of this mission beside those of a study that they stand for. The machines differ, so no figure is "
    "expected to be equal; what can agree is the order of a system's durations (Spearman's rank correlation, 1: the "
    "same order; of one statistic, since a series' least, average and largest are in order anyway), and which of two "
    "systems has the larger figure. All figures that both have are taken, no sample of others, so neither has an "
    "interval. `rtqual published compare` prints each beside the measured one."
)
_MOST_ORDERS = 12


def repeated(material: Material) -> Iterator[Block]:
    """Nothing where nothing that was measured stands for a system of a study."""
    summaries = material.evidence.summaries
    found = [compare(study.key, material.mission, summaries) for study in studies()]
    found = [repetition for repetition in found if repetition.pairs]
    if found:
        yield Paragraph(_READ)
    mark = timing_mark([s for s in summaries if s.group.board != PUBLISHED])
    for repetition in found:
        yield _table(material, repetition, mark)
        yield from bullets("To know of these figures", repetition.notes)
        yield from _orders(repetition)
        yield from bullets(f"Not set beside study {repetition.study}", repetition.apart)


def _table(material: Material, repetition: Repeated, mark: str) -> Table:
    caption = marked(clean(f"Study {repetition.study} repeated: {repetition.title}"), mark)
    columns = [*texts("Measured", "Beside", "Figures"), *numbers("Rank correlation", "Median ratio")]
    return material.numbering.table(caption, columns, map(_row, repetition.pairs), timing_notes(mark))


def _row(pair: Pair) -> list[TableCell]:
    statistics = dict.fromkeys(what.rpartition(": ")[2] for what in pair.figures)
    figures = TableCell(number(len(pair.figures)), clean(", ".join(statistics)))
    rank = TableCell(f"{pair.rank[0]:.2f}", f"of {count(pair.rank[1], 'duration')}") if pair.rank else TableCell("-")
    ratio = TableCell("-" if pair.ratio is None else number(pair.ratio))
    return [TableCell(clean(pair.measured)), TableCell(clean(pair.printed)), figures, rank, ratio]


def _orders(repetition: Repeated) -> Iterator[Block]:
    if not repetition.orders:
        return
    against = [order for order in repetition.orders if not order.agrees]
    yield Paragraph(f"Which of two systems has the larger figure: {agreement(repetition.orders)}")
    left = len(against) - _MOST_ORDERS
    more = [f"and {left} more, which `rtqual published compare {repetition.study}` lists"] if left > 0 else []
    yield from bullets("Not as printed", [*map(_order, against[:_MOST_ORDERS]), *more])


def _order(order: LargerOf) -> str:
    first, second = order.pairs
    printed, other = (first, second) if order.printed < 0 else (second, first)
    measured = {-1: f"larger of {first.measured}", 0: "equal", 1: f"larger of {second.measured}"}[order.measured]
    beside = f"{first.measured} and {second.measured}"
    said = f"printed larger of {printed.printed} than of {other.printed}, measured {measured}"
    return f"{order.what}, {beside}: {said}" + (f" ({order.doubt})" if order.doubt else "")
