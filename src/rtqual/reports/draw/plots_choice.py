# SPDX-License-Identifier: MIT
"""Latency against memory, a mark a system, and below each mark's row: what the system brings and lacks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes

from rtqual.base.units import step
from rtqual.reports.draw.canvas import INK, RC, WIDTH_IN, Palette, frame, grid, log_ticks, short, titled, to_svg

FULL, HALF, NONE = "full", "left", "none"  # how matplotlib fills a mark
UNTOLD = "?"
_MARKS = "os^vPXp"  # no diamond: beside an axis that means counted instructions
_HEAD_IN, _ROW_IN, _GAP_IN = 0.42, 0.22, 0.08
_NAME_IN, _COLUMNS_IN, _LAST_IN = 0.3, (2.02, 2.5, 3.02), 3.46
_NAME = 20  # characters


@dataclass(frozen=True)
class Choice:
    """`between_ns`: its interval, an end that is open at infinity. `brings`: how each column's mark is filled."""

    name: str
    latency_ns: float
    between_ns: tuple[float, float] | None
    memory_b: float
    brings: tuple[str, ...]
    licence: str


def choice(
    systems: Sequence[Choice],
    columns: Sequence[str],
    meanings: Sequence[tuple[str, str]],
    axis: str,
    mark: str,
    palette: Palette,
    ident: str,
    alt: str,
) -> str:
    """`meanings`: of each filling, in words."""
    rows_in = _HEAD_IN + _ROW_IN * (len(systems) + len(meanings)) + 0.1
    with mpl.rc_context(RC):
        figure, (above, below) = frame([2.1, rows_in], (), gap_in=_GAP_IN)
        _scatter(above, systems, axis, mark, palette)
        height_in = float(figure.get_size_inches()[1])
        below.set_position((0, 0.04 / height_in, 1, rows_in / height_in))
        below.set_axis_off()
        below.set_xlim(0, WIDTH_IN)
        below.set_ylim(rows_in, 0)
        _rows(below, systems, columns, meanings, palette)
        figure.set_size_inches(WIDTH_IN, height_in)
        return to_svg(figure, ident, alt)


def _scatter(axes: Axes, systems: Sequence[Choice], label: str, mark: str, palette: Palette) -> None:
    ends_ns = [v for s in systems for v in (s.latency_ns, *(s.between_ns or ())) if v > 0 and math.isfinite(v)]
    spans = (ends_ns, [s.memory_b for s in systems])
    (low_ns, high_ns), (low_b, high_b) = ((min(span) / 1.6, max(span) * 1.6) for span in spans)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low_b, high_b)
    axes.set_ylim(low_ns, high_ns)
    time, time_name = step(math.sqrt(low_ns * high_ns), "ns")
    size, size_name = step(math.sqrt(low_b * high_b), "B")
    x_ticks = log_ticks(axes.xaxis, low_b, high_b, most=6, scale=size)
    grid(axes, x_ticks, log_ticks(axes.yaxis, low_ns, high_ns, most=6, scale=time))
    axes.set_xlabel(titled("Memory taken", size_name))
    axes.set_ylabel(titled(label, time_name, mark))
    for place, system in enumerate(systems):
        colour = palette.colour(system.name)
        if system.between_ns:
            low, high = system.between_ns
            axes.plot([system.memory_b] * 2, [max(low, low_ns), min(high, high_ns)], "-", color=colour, linewidth=1.4)
        axes.plot(system.memory_b, system.latency_ns, **_mark(place), color=colour)


def _mark(place: int) -> dict[str, Any]:
    return {
        "marker": _MARKS[place % len(_MARKS)], "fillstyle": "none", "markersize": 8.0, "markeredgewidth": 1.8,
        "linestyle": "none",
    }  # fmt: skip


def _rows(
    axes: Axes,
    systems: Sequence[Choice],
    columns: Sequence[str],
    meanings: Sequence[tuple[str, str]],
    palette: Palette,
) -> None:
    for x, title in zip((*_COLUMNS_IN, _LAST_IN), (*columns, "licence"), strict=True):
        centred = title != "licence"
        axes.text(x, _HEAD_IN - 0.14, title, ha="center" if centred else "left", va="bottom", linespacing=1.1)
    y = _HEAD_IN
    for place, system in enumerate(systems):
        axes.plot(_NAME_IN - 0.16, y, **_mark(place), color=palette.colour(system.name), clip_on=False)
        axes.text(_NAME_IN, y, short(system.name, _NAME), va="center_baseline")
        for x, filling in zip(_COLUMNS_IN, system.brings, strict=True):
            _filled(axes, x, y, filling)
        axes.text(_LAST_IN, y, short(system.licence, 11), va="center_baseline")
        y += _ROW_IN
    y += 0.08
    for filling, meaning in meanings:
        _filled(axes, _NAME_IN - 0.16, y, filling)
        axes.text(_NAME_IN, y, meaning, va="center_baseline")
        y += _ROW_IN


def _filled(axes: Axes, x: float, y: float, filling: str) -> None:
    if filling == UNTOLD:
        axes.text(x, y, filling, ha="center", va="center_baseline")
        return
    style: dict[str, Any] = {"marker": "o", "markersize": 7.0, "markeredgewidth": 1.0, "linestyle": "none"}
    axes.plot(x, y, color=INK, fillstyle=filling, markerfacecoloralt="none", clip_on=False, **style)
