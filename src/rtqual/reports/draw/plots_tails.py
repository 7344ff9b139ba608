# SPDX-License-Identifier: MIT
"""Plots of tails and of dependence: stability against the threshold, return levels, rank correlation against lag."""

import math
from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from rtqual.engine.analysis.tails.model import Estimate, Estimated, Fitted
from rtqual.reports.draw.canvas import (
    INK,
    LIMIT_DASHES,
    RC,
    Palette,
    even_ticks,
    frame,
    grid,
    legend_lines,
    log_ticks,
    to_svg,
    upright_label,
)
from rtqual.reports.page.text import step

_S = 1e9  # ns
_WIDE = 8.0  # largest over smallest level, from which on its axis is logarithmic


def correlation_plot(lags: Mapping[str, Sequence[float]], palette: Palette, ident: str, alt: str) -> str:
    """Rank correlation of a sample with a later sample, by the distance; a line a candidate."""
    every = [value for values in lags.values() for value in values]
    low, high = min(-0.1, *every) - 0.03, max(0.3, *every) + 0.05
    with mpl.rc_context(RC):
        figure, (axes,) = frame([1.5], legend_lines(lags, palette))
        most = max(len(values) for values in lags.values())
        axes.set_xlim(0, most + 1)
        axes.set_ylim(low, high)
        x_ticks = even_ticks(axes.xaxis, 0, most + 1, most=6)
        grid(axes, x_ticks, even_ticks(axes.yaxis, low, high, most=5))
        axes.axhline(0, color=INK, linewidth=0.9)
        for name, values in lags.items():
            at = range(1, len(values) + 1)
            axes.plot(at, values, color=palette.colour(name), linestyle=palette.dashes(name), linewidth=1.4)
        axes.set_xlabel("Lag (samples)")
        upright_label(figure, [axes], "Correlation")
        return to_svg(figure, ident, alt)


def stability_plot(table: Sequence[Fitted], chosen: Fitted | None, colour: str, ident: str, alt: str) -> str:
    """Shape and return level against the threshold; what is chosen is filled."""
    thresholds = [row.threshold for row in table]
    scale, unit = step(thresholds[-1], "ns")
    low, high = thresholds[0], thresholds[-1]
    margin = 0.06 * (high - low) or 0.1 * high
    with mpl.rc_context(RC):
        handles = [Line2D([], [], marker="o", color=colour, markersize=5, linewidth=1.6, label="the one used")]
        figure, rows = frame([1.1, 1.1], handles if chosen else [], title_in=0.2, gap_in=0.12)
        for axes, what in zip(rows, ("shape", "level"), strict=True):
            axes.set_xlim(low - margin, high + margin)
            ticks = even_ticks(axes.xaxis, low - margin, high + margin, most=6, scale=scale)
            found: list[Estimated] = [getattr(row, what) for row in table]
            name = "Shape" if what == "shape" else f"Level ({_level_axis(axes, found)})"
            if what == "shape":
                _even_axis(
                    axes, min(estimate.low for estimate in found), max(estimate.high for estimate in found), most=5
                )
            grid(axes, ticks, list(axes.yaxis.get_ticklocs()))
            axes.set_title(name, loc="left", pad=3)
            for row, estimated in zip(table, found, strict=True):
                _bar(axes, row.threshold, estimated, colour)
                axes.plot(
                    [row.threshold], [estimated.value], "o", color=colour, markersize=5,
                    markerfacecolor=colour if row is chosen else "none", zorder=3,
                )  # fmt: skip
            if axes is not rows[-1]:
                axes.tick_params(labelbottom=False)
        rows[-1].set_xlabel(f"Threshold ({unit})")
        return to_svg(figure, ident, alt)


def return_level_plot(made: Estimate, asked_ns: float, colour: str, ident: str, alt: str) -> str:
    """What is passed once in a time, with its interval, and the largest samples where they came."""
    horizons = [level.horizon_ns for level in made.curve]
    ends = [Estimated(value, value, value) for _, value in made.points]
    low, high = min(horizons[0], made.points[-1][0]) / 1.3, horizons[-1] * 1.3
    with mpl.rc_context(RC):
        handles = [
            Line2D([], [], color=colour, linewidth=1.8, label="estimate with 95 %"),
            Line2D([], [], color=INK, marker=".", linewidth=0, label="measured"),
            Line2D([], [], color=INK, linewidth=0.9, label="time measured"),
        ]
        if asked_ns <= high:
            handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=LIMIT_DASHES, label="time asked for"))
        figure, (axes,) = frame([2.1], handles)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        unit = _level_axis(axes, [*(level.at for level in made.curve), *ends])
        grid(axes, log_ticks(axes.xaxis, low, high, most=7, scale=_S), list(axes.yaxis.get_ticklocs()))
        top = axes.get_ylim()[1]
        lows, highs = [level.at.low for level in made.curve], [min(level.at.high, top) for level in made.curve]
        axes.fill_between(horizons, lows, highs, color=colour, alpha=0.22, linewidth=0)
        axes.plot(horizons, [level.at.value for level in made.curve], color=colour, linewidth=1.8)
        axes.plot(*zip(*made.points, strict=True), ".", color=INK, markersize=3.5)
        axes.axvline(made.observed.exposure_ns, color=INK, linewidth=0.9)
        if asked_ns <= high:
            axes.axvline(asked_ns, color=INK, linewidth=1.1, linestyle=LIMIT_DASHES)
        axes.set_xlabel("Passed once in (s)")
        upright_label(figure, [axes], f"Level ({unit})")
        return to_svg(figure, ident, alt)


def _bar(axes: Axes, x: float, estimated: Estimated, colour: str) -> None:
    """An end that is open, or far, runs to the edge, with an arrow there."""
    top = axes.get_ylim()[1]
    axes.plot([x, x], [estimated.low, min(estimated.high, top)], color=colour, linewidth=1.8, alpha=0.55)
    if estimated.high > top:
        axes.plot([x], [top], "^", color=colour, markersize=4, clip_on=False)


def _even_axis(axes: Axes, low: float, high: float, *, most: int, scale: float = 1.0) -> None:
    margin = 0.06 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    even_ticks(axes.yaxis, low - margin, high + margin, most=most, scale=scale)


def _level_axis(axes: Axes, found: Sequence[Estimated]) -> str:
    """Sets the vertical axis of levels, logarithmic where they span much; returns its unit."""
    values = [estimated.value for estimated in found]
    low = min(*values, *(max(estimated.low, 1.0) for estimated in found))
    most = max(values)
    high = min(max(min(estimated.high, 30 * most) for estimated in found), 30 * most)
    scale, unit = step(math.sqrt(low * high) if high > _WIDE * low else high, "ns")
    if high > _WIDE * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.15, high * 1.15)
        log_ticks(axes.yaxis, low / 1.15, high * 1.15, most=6, scale=scale)
    else:
        _even_axis(axes, low, high, most=6, scale=scale)
    return unit
