# SPDX-License-Identifier: MIT
"""The plot of shift functions: the difference from one candidate at each quantile, with its interval."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from rtqual.engine.analysis.difference.model import ShiftFunction
from rtqual.engine.analysis.figure.model import Figure
from rtqual.engine.analysis.figure.summary import SHIFTED
from rtqual.reports.draw.canvas import (
    INK,
    LIMIT_DASHES,
    RC,
    Palette,
    even_ticks,
    frame,
    grid,
    short,
    titled,
    to_svg,
    upright_label,
)
from rtqual.reports.page.text import number, step

HEIGHT_IN = 2.1
APART = 0.16  # of the distance of two quantiles, between candidates
WIDE = 20.0  # the largest difference over the smallest, from which on the axis is logarithmic on both sides of zero
MARGIN_ALPHA = 0.13


@dataclass(frozen=True)
class Axis:
    """The vertical axis: differences in the samples' unit."""

    low: float
    high: float
    linear: float | None  # up to which size it is linear; None: all of it

    def ticks(self, scale: float) -> list[float]:
        """Zero and powers of ten on both sides, at most seven, the largest always among them; with their threefold
        where these are few."""
        assert self.linear is not None  # noqa: S101 - of a logarithmic axis
        first = math.ceil(math.log10(self.linear / scale))
        last = math.floor(math.log10(max(self.high, -self.low) / scale))
        every = range(last, first - 1, -max(1, math.ceil((last + 1 - first) / 3)))
        steps = (1, 3) if len(every) < 3 else (1,)
        sizes = [step * 10.0**exponent * scale for exponent in every[::-1] for step in steps]
        return [tick for tick in (*(-size for size in sizes[::-1]), 0.0, *sizes) if self.low <= tick <= self.high]


def shift_plot(shifts: Sequence[ShiftFunction], palette: Palette, ident: str, alt: str, mark: str) -> str:
    """All of one unit and from the same candidate, `b`; above zero `a` is the larger one."""
    axis = axis_of(shifts)
    names = [name for name in SHIFTED if any(name in shift.differences for shift in shifts)]
    margins = _margins(shifts)
    with mpl.rc_context(RC):
        handles = [
            Line2D([], [], label=short(f"{shift.a.candidate} minus {shift.b.candidate}"), marker="o", markersize=4,
                   color=palette.colour(shift.a.candidate), linestyle=palette.dashes(shift.a.candidate), linewidth=1.2)
            for shift in shifts
        ]  # fmt: skip
        if margins:
            handles.append(Line2D([], [], label="does not matter", color=INK, alpha=MARGIN_ALPHA, linewidth=7))
        scale, unit = step(max(axis.high, -axis.low), shifts[0].unit)
        if axis.linear is not None:
            label = f"logarithmic beyond ±{number(axis.linear / scale)} {unit}"
            handles.append(Line2D([], [], label=label, color=INK, alpha=0.6, linewidth=0.7, linestyle=LIMIT_DASHES))
        figure, (axes,) = frame([HEIGHT_IN], handles)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.xaxis.set_major_locator(FixedLocator(range(len(names))))
        axes.xaxis.set_major_formatter(FixedFormatter(names))
        if axis.linear is None:
            axes.set_ylim(axis.low, axis.high)
            ticks = even_ticks(axes.yaxis, axis.low, axis.high, most=6, scale=scale)
        else:
            axes.set_yscale("symlog", linthresh=axis.linear, linscale=0.6)
            axes.set_ylim(axis.low, axis.high)
            ticks = axis.ticks(scale)
            axes.yaxis.set_major_locator(FixedLocator(ticks))
            axes.yaxis.set_major_formatter(FixedFormatter([number(tick / scale) for tick in ticks]))
            axes.yaxis.set_minor_locator(NullLocator())
            for end in (-axis.linear, axis.linear):
                axes.axhline(end, color=INK, linewidth=0.7, alpha=0.6, linestyle=LIMIT_DASHES)
        grid(axes, (), ticks)
        axes.axhline(0, color=INK, linewidth=0.9)
        if margins:
            edges = [names.index(name) - 0.5 for name in margins]
            sizes = np.array([*margins.values(), list(margins.values())[-1]])
            edges.append(edges[-1] + 1)
            axes.fill_between(edges, -sizes, sizes, step="post", color=INK, alpha=MARGIN_ALPHA, linewidth=0)
        for place, shift_function in enumerate(shifts):
            _draw(axes, axis, shift_function, names, palette, offset=APART * (place - (len(shifts) - 1) / 2))
        axes.set_xlabel(f"Quantile of the samples {mark}".rstrip())
        upright_label(figure, [axes], titled("Difference", unit))
        return to_svg(figure, ident, alt)


def axis_of(shifts: Sequence[ShiftFunction]) -> Axis:
    """What there is to show: differences, the finite ends of their intervals, and the margins."""
    ends = [end for shift in shifts for figure in shift.differences.values() for end in _ends(figure)]
    margins = list(_margins(shifts).values())
    ends += [end for margin in margins for end in (-margin, margin)]
    sizes = [abs(figure.value) for shift in shifts for figure in shift.differences.values() if figure.value]
    low, high = min(0.0, *ends), max(0.0, *ends)
    most = max(high, -low) or 1.0
    low, high = low - 0.05 * most, high + 0.05 * most
    small = max(min(sizes, default=most), *margins, most / 1e3)  # within a margin no more is to be seen
    if most <= WIDE * small:
        return Axis(low, high, None)
    least = 10.0 ** math.floor(math.log10(small))
    spread = 1.25  # a logarithmic axis needs more than 5 %
    return Axis(min(low * spread, -least), max(high * spread, least), least)


def _ends(figure: Figure) -> Iterator[float]:
    yield figure.value
    if figure.interval is not None:
        yield from (end for end in (figure.interval.low, figure.interval.high) if math.isfinite(end))


def _margins(shifts: Sequence[ShiftFunction]) -> Mapping[str, float]:
    """Of each quantile the smallest; of several candidates each has its own where it is a part of the figure."""
    names = [name for name in SHIFTED if any(name in shift.margins for shift in shifts)]
    return {name: min(shift.margins.get(name, math.inf) for shift in shifts) for name in names}


def _draw(
    axes: Axes, axis: Axis, shift_function: ShiftFunction, names: Sequence[str], palette: Palette, *, offset: float
) -> None:
    """An end that is open runs to the edge, with an arrow there."""
    colour, dashes = palette.colour(shift_function.a.candidate), palette.dashes(shift_function.a.candidate)
    at = {name: names.index(name) + offset for name in shift_function.differences}
    values = [figure.value for figure in shift_function.differences.values()]
    axes.plot(list(at.values()), values, color=colour, linestyle=dashes, linewidth=1.0, zorder=2)
    for name, figure in shift_function.differences.items():
        x, between = at[name], figure.interval
        axes.plot([x], [figure.value], "o", color=colour, markersize=4, zorder=3)
        if between is not None:
            low, high = max(between.low, axis.low), min(between.high, axis.high)
            axes.plot([x, x], [low, high], color=colour, linewidth=2.0, alpha=0.55, zorder=2.5)
            for end, edge, arrow in ((between.low, axis.low, "v"), (between.high, axis.high, "^")):
                if math.isinf(end):
                    axes.plot([x], [edge], arrow, color=colour, markersize=4, clip_on=False)
