# SPDX-License-Identifier: MIT
"""Plots of samples (a histogram with logarithmic counts, the share above a value) and stability bars."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from rtqual.engine.analysis.figure.model import Distribution
from rtqual.engine.analysis.verdict.gates import beyond
from rtqual.protocols.record.schema import SeriesKind
from rtqual.reports.draw.canvas import (
    CHARACTER_IN,
    INK,
    LIMIT_DASHES,
    PAPER,
    RC,
    Palette,
    decade_ticks,
    even_ticks,
    frame,
    grid,
    legend_lines,
    log_ticks,
    short,
    titled,
    to_svg,
    upright_label,
)
from rtqual.reports.page.text import number, step

BINS = 48
BINS_OF_BINS = 24  # of samples that their tool has put into bins already
POINTS = 400  # a curve of more steps looks the same
FOOT = 0.5  # of an axis that counts samples: one sample still has a height
LONGEST_ROW = 18  # characters in a line
FOOT_OF_BAR = 0.42  # of a bar's height below its middle: where its interval is drawn
TITLE = 44  # characters over a histogram
OUT = "#d0402a"  # the tint of what no sample should reach
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Limit:
    """A requirement to draw: a value in the distribution's unit."""

    name: str
    value: float
    upper: bool = True  # what lies above breaks it; else what lies below


@dataclass(frozen=True)
class Panel:
    """Distributions of several candidates on one horizontal axis."""

    distributions: Mapping[str, Distribution]
    quantity: str  # "Wake-up latency"
    mark: str  # of the timing
    limits: tuple[Limit, ...] = ()
    span: tuple[float, float] | None = None  # to share an axis with another panel; see span_of

    @property
    def unit(self) -> str:
        return next(iter(self.distributions.values())).unit

    @property
    def ends(self) -> tuple[float, float]:
        """Of the horizontal axis."""
        low, high = self.span or span_of(list(self.distributions.values()), self.limits)
        if high > 10 * low:
            return low / 1.15, high * 1.15
        margin = 0.05 * (high - low) or 0.05 * high
        return max(low - margin, low * 0.5), high + margin

    @property
    def logarithmic(self) -> bool:
        low, high = self.ends
        return high > 10 * low

    @property
    def grain(self) -> float:
        """The step that all values keep to: no bin may be finer, or the gaps come from the binning."""
        values = np.unique(np.concatenate([d.values for d in self.distributions.values()]))
        return float(np.gcd.reduce(np.diff(values))) if values.size > 1 else max(1.0, self.ends[0] * 0.02)

    @property
    def bins(self) -> int:
        return BINS_OF_BINS if all(d.kind == SeriesKind.BINNED for d in self.distributions.values()) else BINS


@dataclass(frozen=True)
class Bar:
    row: str  # bars of one row stand together
    candidate: str
    value: float
    low: float | None = None
    high: float | None = None
    label: str = ""  # beside the bar; else its value
    system: str = ""  # what the legend calls it, where a candidate has several bars in a row; else the candidate
    hatch: str = ""  # what tells it apart in grey, as matplotlib writes it


def span_of(distributions: Sequence[Distribution], limits: Sequence[Limit] = ()) -> tuple[float, float]:
    """The smallest and the largest thing to show; values at or below zero are shown at the axis' start."""
    values = [float(d.values[d.values > 0].min()) for d in distributions if (d.values > 0).any()]
    values += [float(d.values.max()) for d in distributions if d.values.size and d.values.max() > 0]
    values += [float(d.overflow_from) for d in distributions if d.overflow and d.overflow_from]
    values += [limit.value for limit in limits if limit.value > 0]
    return (min(values), max(values)) if values else (1.0, 10.0)


def histogram(panel: Panel, palette: Palette, ident: str, alt: str) -> str:
    """One row a candidate over a shared axis, counts logarithmic, so that a single late sample is seen."""
    names = list(panel.distributions)
    edges = bin_edges(panel)
    counts = {name: binned(distribution, edges) for name, distribution in panel.distributions.items()}
    top = 2 * max(1.0, *(max(counts[n].max(), float(panel.distributions[n].overflow)) for n in names))
    with mpl.rc_context(RC):
        height_in = max(0.55, 1.7 / len(names))
        heights_in = [height_in] * len(names)
        most = 4 if height_in > 0.7 else 3
        figure, rows = frame(heights_in, _limit_handles(panel), title_in=0.2, gap_in=0.12)
        for axes, name in zip(rows, names, strict=True):
            distribution, colour = panel.distributions[name], palette.colour(name)
            x_ticks = _value_axis(axes, panel, labelled=axes is rows[-1])
            axes.set_yscale("log")
            axes.set_ylim(FOOT, top)
            grid(axes, x_ticks, decade_ticks(axes.yaxis, FOOT, top, most=most))
            axes.stairs(np.maximum(counts[name], FOOT), edges, baseline=FOOT, fill=True, color=colour)
            if distribution.overflow and distribution.overflow_from:
                axes.plot(
                    [distribution.overflow_from],
                    [distribution.overflow],
                    ">",
                    color=colour,
                    markersize=5,
                    clip_on=False,
                )
            axes.set_title(short(name), loc="left", fontweight="bold", pad=3)
            axes.set_title(
                broken(distribution, panel.limits, TITLE - len(short(name))), loc="right", fontsize=8.5, pad=3
            )
            _draw_limits(axes, panel)
        upright_label(figure, rows, "Samples per bin")
        return to_svg(figure, ident, alt)


def ccdf(panel: Panel, palette: Palette, ident: str, alt: str) -> str:
    """The share of samples above a value, both axes logarithmic where it helps: the tail at a glance."""
    low = 0.5 / max(2, *(int(d.counts.sum()) + d.overflow for d in panel.distributions.values()))
    with mpl.rc_context(RC):
        handles = [*legend_lines(panel.distributions, palette), *_limit_handles(panel)]
        figure, (axes,) = frame([2.3], handles)
        axes.set_yscale("log")
        axes.set_ylim(low, 1.4)
        grid(axes, _value_axis(axes, panel), decade_ticks(axes.yaxis, low, 1.4, most=6))
        for name, distribution in panel.distributions.items():
            x, y = survival(distribution)
            colour = palette.colour(name)
            axes.plot(x, y, drawstyle="steps-post", color=colour, linestyle=palette.dashes(name), linewidth=1.6)
            if distribution.overflow:
                axes.plot(x[-1:], y[-1:], ">", color=colour, markersize=5, clip_on=False)
        _draw_limits(axes, panel)
        upright_label(figure, [axes], "Share of samples above")
        return to_svg(figure, ident, alt)


def bars(groups: Mapping[str, Sequence[Bar]], unit: str, mark: str, palette: Palette, ident: str, alt: str) -> str:
    """Bars from zero with their values beside them; one set of axes a statistic, one row a load."""
    every = [entry for entries in groups.values() for entry in entries]
    if not any(entry.hatch for entry in every):
        hatched = {name: [replace(bar, hatch=palette.hatch(bar.candidate)) for bar in groups[name]] for name in groups}
        groups, every = hatched, [entry for entries in hatched.values() for entry in entries]
    with mpl.rc_context(RC):
        named = {entry.system or entry.candidate: entry for entry in every}
        handles = [_handle(name, entry, palette) for name, entry in named.items()]
        longest = max(len(line) for entry in every for line in _row_lines(entry.row))
        figure, stack = frame(
            [0.17 * _slots(entries) for entries in groups.values()],
            handles,
            left_in=0.2 + CHARACTER_IN * longest,
            gap_in=0.55,
        )
        for axes, (statistic, entries) in zip(stack, groups.items(), strict=True):
            _bar_axes(axes, entries, palette, label=statistic, unit=unit, mark=mark)
        return to_svg(figure, ident, alt)


def _handle(name: str, entry: Bar, palette: Palette) -> Line2D | Patch:
    colour = palette.colour(entry.candidate)
    if entry.hatch:
        return Patch(label=short(name), facecolor=colour, hatch=entry.hatch, edgecolor=PAPER, linewidth=0)
    return Line2D([], [], label=short(name), color=colour, linewidth=6, solid_capstyle="butt")


def _row_lines(row: str) -> list[str]:
    """A row's name in at most two lines."""
    first, *rest = textwrap.wrap(short(row), LONGEST_ROW)
    return [first, *(short(" ".join(rest), LONGEST_ROW) for _ in rest[:1])]


def _slots(entries: Sequence[Bar]) -> float:
    """The height of a set of bars, in widths of a bar: rows stand apart by 0.6."""
    return len(entries) + 0.6 * len({entry.row for entry in entries}) + 0.2


def _bar_axes(axes: Axes, entries: Sequence[Bar], palette: Palette, *, label: str, unit: str, mark: str) -> None:
    most = max(0.0, *(max(e.value, e.high or 0.0) for e in entries))
    least = min(0.0, *(min(e.value, e.low or 0.0) for e in entries))
    length = (most - least) or 1.0
    scale, name = step(max(most, -least), unit)
    widest = max(len(entry.label) for entry in entries)
    ends = (least - (0.03 * length if least < 0 else 0.0), most + max(0.2, 0.042 * widest) * length)
    places: dict[str, list[float]] = {}
    y = 0.0
    for entry in entries:
        y += 1.0 if entry.row in places else 1.6
        places.setdefault(entry.row, []).append(y)
        colour = palette.colour(entry.candidate)
        axes.barh(y, entry.value, 0.8, facecolor=colour, edgecolor=PAPER, hatch=entry.hatch or None, linewidth=0)
        if entry.low is not None and entry.high is not None:  # along the bar's foot, clear of the label at the value
            axes.plot([entry.low, entry.high], [y + FOOT_OF_BAR] * 2, color=INK, linewidth=1.1, solid_capstyle="butt")
            ends_of = [entry.low, entry.high]
            axes.plot(ends_of, [y + FOOT_OF_BAR - 0.08] * 2, "|", color=INK, markersize=3.5, markeredgewidth=1.1)
        said = entry.label or number(entry.value / scale)
        axes.text(max(entry.value, 0.0) + 0.015 * length, y - 0.06, said, va="center_baseline")
    axes.yaxis.set_major_locator(FixedLocator([sum(p) / len(p) for p in places.values()]))
    axes.yaxis.set_major_formatter(FixedFormatter(["\n".join(_row_lines(row)) for row in places]))
    axes.set_ylim(y + 0.7, 0.9)
    axes.set_xlim(*ends)
    grid(axes, even_ticks(axes.xaxis, *ends, most=5, scale=scale))
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(titled(label, name, mark))


def _value_axis(axes: Axes, panel: Panel, *, labelled: bool = True) -> list[float]:
    """The horizontal axis: logarithmic when the data span more than a factor of ten. Returns its ticks."""
    low, high = panel.ends
    scale, name = step(math.sqrt(low * high) if panel.logarithmic else high, panel.unit)
    if panel.logarithmic:
        axes.set_xscale("log")
        ticks = log_ticks(axes.xaxis, low, high, most=7, scale=scale)
    else:
        ticks = even_ticks(axes.xaxis, low, high, most=6, scale=scale)
    axes.set_xlim(low, high)
    if labelled:
        axes.set_xlabel(titled(panel.quantity, name, panel.mark))
    else:
        axes.tick_params(labelbottom=False)
    return ticks


def bin_edges(panel: Panel) -> FloatArray:
    """Bin edges no finer than the data's own grain, so that no gap comes from the binning."""
    low, high = panel.ends
    grain, count = panel.grain, panel.bins
    even = np.geomspace(low, high, count + 1) if panel.logarithmic else np.linspace(low, high, count + 1)
    edges = np.unique(np.round(even / grain)) * grain + grain / 2 if grain > 1 else even
    edges = np.append(edges, max(edges[-1] + grain, high))
    return np.unique(np.maximum(np.insert(edges, 0, max(edges[0] - grain, low * 0.5)), low * 0.5))


def binned(distribution: Distribution, edges: FloatArray) -> FloatArray:
    """Samples in each bin; what lies outside is counted in the first or last."""
    inside = np.clip(distribution.values.astype(np.float64), edges[0], np.nextafter(edges[-1], 0))
    return np.histogram(inside, edges, weights=distribution.counts.astype(np.float64))[0]


def survival(distribution: Distribution) -> tuple[FloatArray, FloatArray]:
    """Value and share of samples above it, thinned by rank so that the tail keeps every step."""
    total = float(distribution.counts.sum() + distribution.overflow)
    values, where = np.unique(distribution.values, return_inverse=True)
    counts = np.bincount(where, weights=distribution.counts.astype(np.float64), minlength=values.size)
    above = (total - np.cumsum(counts)) / total
    x = np.insert(values.astype(np.float64), 0, values[0] if values.size else 1.0)
    y = np.insert(above, 0, 1.0)
    if distribution.overflow and distribution.overflow_from:
        x, y = np.append(x, float(distribution.overflow_from)), np.append(y, distribution.overflow / total)
    elif y.size > 1:
        y[-1] = 0.5 / total  # nothing lies above the largest sample; end the step at the plot's foot
    if x.size > POINTS:
        level = np.log(np.maximum(y, 0.5 / total))
        wanted = np.linspace(level[0], level[-1], POINTS)
        keep = np.unique(np.append(np.searchsorted(-level, -wanted), [0, x.size - 1]).clip(0, x.size - 1))
        x, y = x[keep], y[keep]
    return x, y


def broken(distribution: Distribution, limits: Sequence[Limit], room: int) -> str:
    """How many samples break the limit, in as many words as fit; nothing where there is not exactly one limit."""
    if len(limits) != 1 or (distribution.overflow and (distribution.overflow_from or 0) <= limits[0].value):
        return ""
    (limit,) = limits
    total = int(distribution.counts.sum()) + distribution.overflow
    above = beyond(distribution, limit.value)
    broken = (
        above if limit.upper else total - above - int(distribution.counts[distribution.values == limit.value].sum())
    )
    where = "above" if limit.upper else "below"
    of = f"{broken:,} of {total:,}"
    wordings = (f"{of} samples {where} the limit", f"{of} {where}", f"{broken:,} {where}")
    return next((text for text in wordings if len(text) <= room), "")


def _draw_limits(axes: Axes, panel: Panel) -> None:
    for limit in panel.limits:
        low, high = axes.get_xlim()
        out = (limit.value, high) if limit.upper else (low, limit.value)
        axes.axvspan(*out, facecolor=OUT, alpha=0.12, linewidth=0, zorder=0)
        axes.axvline(limit.value, color=INK, linewidth=1.1, linestyle=LIMIT_DASHES)


def _limit_handles(panel: Panel) -> list[Line2D]:
    handles = []
    for limit in panel.limits:
        scale, name = step(limit.value, panel.unit)
        label = short(f"limit: {limit.name} {number(limit.value / scale)} {name}")
        handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=LIMIT_DASHES, label=label))
    return handles
