# SPDX-License-Identifier: MIT
"""Stability as the AAReST study defines it (its figures 21 to 23): max - min and p95 - avg, as bars from zero.

Both are set in proportion, so that all instruments of a board stand on one axis: to the largest of the candidates,
with the figure written beside the bar, which shows who is steadier; and to max and p95, as the study does.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from rtqual.base.words import count
from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.mission import Statistic
from rtqual.reports.draw import plots
from rtqual.reports.material import Material, Place, timing_mark, timing_notes
from rtqual.reports.page.document import Block, Paragraph, Plot, Plots
from rtqual.reports.page.text import clean, figure_value, load_text

ABSOLUTE = (Statistic.RANGE.value, Statistic.P95_AVG.value)
RELATIVE = ("(max-min)/max", "(p95-avg)/p95")
MOST_BARS = 26  # of a set of axes; with more, two sets do not fit on a page
Row = tuple[str, Sequence[Summary]]


def stability(material: Material) -> Iterator[Block]:
    places = [
        place for place in material.places() if any(name in s.figures for s in place.summaries for name in ABSOLUTE)
    ]
    if not places:
        return
    yield Paragraph(
        "Stability as the AAReST study defines it: max - min, and p95 - avg; compared between the candidates, and "
        "relative to max and p95. Shorter bars are steadier; the line along a bar's foot is its 95 % interval."
    )
    drawn: list[Plot] = []
    for (board, cpus), there in groupby(places, key=lambda place: (place.board, place.cpus)):
        where = f"{board} board, {count(cpus, 'CPU')}"
        for rows in _pages([row for place in there for row in _rows(place)]):
            if any(len(summaries) > 1 for _, summaries in rows):
                drawn += _plot(material, rows, ABSOLUTE, _beside_each_other, f"Stability of the candidates, {where}")
            drawn += _plot(material, rows, RELATIVE, _by_itself, f"Relative stability, {where}")
    yield Plots(tuple(drawn), timing_notes(timing_mark([s for place in places for s in place.summaries])))


def _rows(place: Place) -> Iterator[Row]:
    for load in place.loads:
        yield f"{place.instrument} {load_text(load)}" if len(place.loads) > 1 else place.instrument, place.under(load)


def _pages(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    page: list[Row] = []
    for row in rows:
        if page and sum(len(summaries) for _, summaries in (*page, row)) > MOST_BARS:
            yield page
            page = []
        page.append(row)
    yield page


def _plot(
    material: Material,
    rows: Sequence[Row],
    names: Sequence[str],
    bars_of: Callable[[str, Mapping[str, Figure]], list[plots.Bar]],
    title: str,
) -> Iterator[Plot]:
    groups: dict[str, list[plots.Bar]] = {}
    for name in names:
        for row, summaries in rows:
            figures = {s.group.candidate: f for s in summaries if (f := s.figures.get(name)) and math.isfinite(f.value)}
            if figures:
                groups.setdefault(name, []).extend(bars_of(row, figures))
    if not groups:
        return
    mark = timing_mark([s for _, summaries in rows for s in summaries])
    spoken = "; ".join(f"{b.candidate} {b.row}: {name} {b.label}" for name, bars in groups.items() for b in bars)
    shown = {_AXES.get(name, name): bars for name, bars in groups.items()}
    draw = partial(plots.bars, shown, "1", mark, material.palette)
    yield material.numbering.plot(clean(title), clean(f"{title}. {spoken}"), draw, mark)


_AXES = {name: f"{name}, share of the largest in its row" for name in ABSOLUTE}


def _by_itself(row: str, figures: Mapping[str, Figure]) -> list[plots.Bar]:
    return [_bar(row, candidate, figure) for candidate, figure in figures.items()]


def _beside_each_other(row: str, figures: Mapping[str, Figure]) -> list[plots.Bar]:
    """In proportion to the largest. A p95 below the average is negative, and no shorter bar for that."""
    largest = max(abs(figure.value) for figure in figures.values()) or 1.0
    bars = [_bar(row, candidate, figure) for candidate, figure in figures.items()]
    return [
        replace(
            bar,
            value=bar.value / largest,
            low=None if bar.low is None else bar.low / largest,
            high=None if bar.high is None else bar.high / largest,
        )
        for bar in bars
    ]


def _bar(row: str, candidate: str, figure: Figure) -> plots.Bar:
    between = figure.interval
    if between is None or not (math.isfinite(between.low) and math.isfinite(between.high)):
        return plots.Bar(row, candidate, figure.value, label=figure_value(figure))
    return plots.Bar(row, candidate, figure.value, between.low, between.high, figure_value(figure))
