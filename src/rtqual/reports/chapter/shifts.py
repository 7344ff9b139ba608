# SPDX-License-Identifier: MIT
"""Shift functions of a board's candidates against its best: where in their samples they differ."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from rtqual.engine.analysis.difference.model import ShiftFunction
from rtqual.engine.analysis.difference.shift import turned
from rtqual.engine.analysis.figure.wording import value
from rtqual.reports.draw.plots_shift import shift_plot
from rtqual.reports.material import Material, Place, timing_mark, timing_notes
from rtqual.reports.page.document import Plot, Plots
from rtqual.reports.page.text import clean, load_text, place, prose


def shifts(material: Material, where: Place, best: str) -> Iterator[Plots]:
    """A plot for each load under which an interval can be given."""
    drawn = [plot for load in where.loads for plot in _plot(material, where, load, best)]
    if drawn:
        yield Plots(tuple(drawn), timing_notes(timing_mark(where.summaries)))


def _plot(material: Material, where: Place, load: str, best: str) -> Iterator[Plot]:
    found = [
        shift if shift.b.candidate == best else turned(shift)
        for shift in material.evidence.shifts
        if (shift.a.instrument, shift.a.board, shift.a.cpus, shift.a.load)
        == (where.instrument, where.board, where.cpus, load)
        and best in (shift.a.candidate, shift.b.candidate)
    ]
    found.sort(key=lambda shift: material.candidates.index(shift.a.candidate))
    known = [shift for shift in map(_sure, found) if shift.differences]
    if not known:
        return
    what = f"Difference from {best} at each quantile, {where.instrument} {load_text(load)}, {place(known[0].a)}"
    caption = prose(f"{what}: {'; '.join(shift.statement for shift in known)}")
    alt = clean(f"{caption}. {'. '.join(_spoken(shift) for shift in known)}")
    mark = timing_mark(where.under(load))
    yield material.numbering.plot(caption, alt, partial(shift_plot, known, material.palette, mark=mark), mark)


def _sure(shift: ShiftFunction) -> ShiftFunction:
    """Without the quantiles that have no interval."""
    kept = {name: figure for name, figure in shift.differences.items() if figure.interval}
    return replace(shift, differences=kept, margins={name: shift.margins[name] for name in kept if shift.margins})


def _spoken(shift: ShiftFunction) -> str:
    """What a plot shows, in words."""
    values = ", ".join(f"{name} {value(figure)}" for name, figure in shift.differences.items())
    return f"{shift.a.candidate} minus {shift.b.candidate}: {values}"
