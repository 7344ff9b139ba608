# SPDX-License-Identifier: MIT
"""The report's plots as inline SVG: same data, same bytes. Text stays text; ink takes the page's colour.

Each plot is drawn for one phone-wide column (4.4 in) so that its text is never scaled down on a screen.
"""

import html
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from rtqual.analysis.model import Distribution
from rtqual.report.text import clean, number, step

INK = "#010203"  # replaced by currentColor
WIDTH_IN = 4.4
BINS = 48
FOOT = 0.5  # of a logarithmic count axis, so that one sample is seen
POINTS = 400  # a curve of more steps than this cannot be told from one of fewer
FloatArray = npt.NDArray[np.float64]

# Okabe & Ito 2008 with the light hues darkened, so that each stands out 3:1 from white and from near-black;
# the dash pattern says the same again for readers and printers without colour.
STYLES = (
    ("#0072b2", "solid"),
    ("#d55e00", (0, (5, 1.5))),
    ("#009e73", (0, (1.2, 1.2))),
    ("#b8639b", (0, (6, 1.5, 1.2, 1.5))),
    ("#a97b00", (0, (3, 1, 1, 1, 1, 1))),
    ("#5f7fbf", (0, (9, 2))),
)
RC: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rtqual",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.22,
    "legend.frameon": False,
    "legend.borderaxespad": 0.2,
    "legend.handlelength": 2.4,
    **dict.fromkeys(
        (
            "text.color",
            "axes.edgecolor",
            "axes.labelcolor",
            "xtick.color",
            "ytick.color",
            "grid.color",
        ),
        INK,
    ),
}


@dataclass(frozen=True)
class Limit:
    """A requirement to draw: a value in the distribution's unit."""

    name: str
    value: float


@dataclass(frozen=True)
class Palette:
    """One style a candidate, the same in every plot of a report."""

    candidates: tuple[str, ...]

    def colour(self, candidate: str) -> str:
        return STYLES[self.candidates.index(candidate) % len(STYLES)][0]

    def dashes(self, candidate: str) -> Any:
        turn, index = divmod(self.candidates.index(candidate), len(STYLES))
        return STYLES[(index + turn) % len(STYLES)][1]


@dataclass(frozen=True)
class Panel:
    """Distributions of several candidates on one horizontal axis."""

    distributions: Mapping[str, Distribution]
    quantity: str  # "Wake-up latency"
    mark: str  # of the timing
    limits: tuple[Limit, ...] = ()
    span: tuple[float, float] | None = None  # to share an axis with another panel; see span_of


@dataclass(frozen=True)
class Bar:
    row: str  # bars of one row stand together
    candidate: str
    value: float
    low: float | None = None
    high: float | None = None


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
    with mpl.rc_context(RC):
        figure = Figure(figsize=(WIDTH_IN, 0.8 + max(1.3, 0.82 * len(names))), layout="constrained")
        rows = figure.subplots(len(names), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        edges = _bins(panel)
        for axes, name in zip(rows, names, strict=True):
            one = panel.distributions[name]
            counts = _binned(one, edges)
            axes.set_yscale("log")
            axes.stairs(np.maximum(counts, FOOT), edges, baseline=FOOT, fill=True, color=palette.colour(name))
            if one.overflow and one.overflow_from:
                axes.plot([one.overflow_from], [one.overflow], ">", color=palette.colour(name), clip_on=False)
            axes.set_title(clean(name), loc="left", color=palette.colour(name), fontweight="bold", pad=3)
            _limits(axes, panel)
        _value_axis(rows[-1], panel)
        top = max(1.0, *(float(_binned(d, edges).max(initial=1)) for d in panel.distributions.values()))
        top = max(top, *(float(d.overflow) for d in panel.distributions.values()))
        rows[0].set_ylim(FOOT, top * 2)
        _log_ticks(rows[0].yaxis, FOOT, top * 2, count=4, decades=True)
        figure.supylabel("Samples per bin (1)", fontsize=9)
        _limit_legend(figure, panel, [])
        return _svg(figure, ident, alt)


def ccdf(panel: Panel, palette: Palette, ident: str, alt: str) -> str:
    """The share of samples above a value, both axes logarithmic: the tail at a glance."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(WIDTH_IN, 3.1), layout="constrained")
        axes = figure.subplots()
        axes.set_yscale("log")
        handles = []
        for name, one in panel.distributions.items():
            style = {"color": palette.colour(name), "linestyle": palette.dashes(name), "linewidth": 1.6}
            x, y = _survival(one)
            axes.plot(x, y, drawstyle="steps-post", **style)
            axes.plot(x[-1:], y[-1:], ">" if one.overflow else "|", color=palette.colour(name), markersize=5)
            handles.append(Line2D([], [], label=clean(name), **style))
        low = 0.5 / max(2, *(int(d.counts.sum()) + d.overflow for d in panel.distributions.values()))
        axes.set_ylim(low, 1.4)
        _log_ticks(axes.yaxis, low, 1.4, count=6, decades=True)
        axes.set_ylabel("Share of samples above (1)")
        _limits(axes, panel)
        _value_axis(axes, panel)
        _limit_legend(figure, panel, handles)
        return _svg(figure, ident, alt)


def bars(
    groups: Mapping[str, Sequence[Bar]], unit: str, mark: str, palette: Palette, *, ident: str, alt: str
) -> str:
    """Bars from zero with their values beside them; one set of axes a statistic, one row a load."""
    with mpl.rc_context(RC):
        lengths = [len(entries) + len({e.row for e in entries}) for entries in groups.values()]
        figure = Figure(figsize=(WIDTH_IN, 0.5 + sum(0.45 + 0.2 * n for n in lengths)), layout="constrained")
        stack = figure.subplots(len(groups), 1, squeeze=False, height_ratios=lengths)[:, 0]
        for axes, (statistic, entries) in zip(stack, groups.items(), strict=True):
            _bar_axes(axes, entries, palette, label=statistic, unit=unit, mark=mark)
        names = dict.fromkeys(e.candidate for entries in groups.values() for e in entries)
        handles = [
            Line2D([], [], label=clean(n), color=palette.colour(n), linewidth=6, solid_capstyle="butt")
            for n in names
        ]
        _legend(figure, handles)
        return _svg(figure, ident, alt)


def _bar_axes(
    axes: Axes, entries: Sequence[Bar], palette: Palette, *, label: str, unit: str, mark: str
) -> None:
    largest = max((max(e.value, e.high or 0.0) for e in entries), default=0.0)
    least = min((min(e.value, e.low or 0.0) for e in entries), default=0.0)
    scale, name = step(max(largest, -least), unit)
    position, ticks, previous = 0.0, [], None
    for entry in entries:
        position += 1.0 if entry.row == previous else 1.6
        ticks.append((position, entry.row))
        previous = entry.row
        value = entry.value / scale
        axes.barh(position, value, 0.8, color=palette.colour(entry.candidate), linewidth=0)
        end = max(value, 0.0)
        if entry.low is not None and entry.high is not None:
            axes.plot([entry.low / scale, entry.high / scale], [position] * 2, color=INK, linewidth=1.1)
            end = max(end, entry.high / scale)
        axes.annotate(
            number(value),
            (end, position),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    centres = {row: [p for p, r in ticks if r == row] for _, row in ticks}
    axes.yaxis.set_major_locator(FixedLocator([sum(p) / len(p) for p in centres.values()]))
    axes.set_yticklabels([clean(row) for row in centres])
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.set_ylim(position + 0.8, 0.8)
    length = max(largest, 0.0) - min(least, 0.0) or 1.0
    axes.set_xlim(
        (min(least, 0.0) - 0.03 * length * (least < 0)) / scale, (max(largest, 0.0) + 0.2 * length) / scale
    )
    axes.axvline(0, color=INK, linewidth=0.7)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.set_xlabel(f"{label} ({name or '1'}) {mark}".rstrip())


def _value_axis(axes: Axes, panel: Panel) -> None:
    """The horizontal axis: logarithmic when the data span more than a factor of ten."""
    low, high = _span(panel)
    unit = next(iter(panel.distributions.values())).unit
    scale, name = step(math.sqrt(low * high) if high > 10 * low else high, unit)
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value / scale)))
    if high > 10 * low:
        axes.set_xscale("log")
        _log_ticks(axes.xaxis, low, high, count=7, scale=scale)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlabel(f"{panel.quantity} ({name or '1'}) {panel.mark}".rstrip())


def _span(panel: Panel) -> tuple[float, float]:
    low, high = panel.span or span_of(list(panel.distributions.values()), panel.limits)
    if high > 10 * low:
        return low / 1.15, high * 1.15
    margin = 0.05 * (high - low) or 0.05 * high
    return max(low - margin, low * 0.5), high + margin


def _log_ticks(
    axis: Axis, low: float, high: float, *, count: int, decades: bool = False, scale: float = 1.0
) -> None:
    """At most `count` round ticks; 1-2-5 when there is room, every n-th decade when there is not."""
    exponents = range(math.floor(math.log10(low / scale)), math.ceil(math.log10(high / scale)) + 1)
    ticks: list[float] = []
    for mantissas in ((1, 2, 5), (1, 3), (1,)) if not decades else ((1,),):
        ticks = [m * 10.0**e * scale for e in exponents for m in mantissas]
        ticks = [t for t in ticks if low <= t <= high]
        if len(ticks) <= count:
            break
    axis.set_major_locator(FixedLocator(ticks[:: math.ceil(len(ticks) / count) or 1]))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(
        FuncFormatter(lambda value, _: _power(value) if decades else number(value / scale))
    )


def _power(value: float) -> str:
    exponent = round(math.log10(value))
    if 0 <= exponent <= 2:
        return str(10**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _bins(panel: Panel) -> FloatArray:
    """Bin edges no finer than the data's own grain, so that no gap comes from the binning."""
    low, high = _span(panel)
    values = np.unique(np.concatenate([d.values for d in panel.distributions.values()]))
    grain = float(np.gcd.reduce(np.diff(values))) if values.size > 1 else max(1.0, low * 0.02)
    even = np.geomspace(low, high, BINS + 1) if high > 10 * low else np.linspace(low, high, BINS + 1)
    edges = np.unique(np.round(even / grain)) * grain + grain / 2 if grain > 1 else even
    edges = np.append(edges, max(edges[-1] + grain, high))
    return np.unique(np.maximum(np.insert(edges, 0, max(edges[0] - grain, low * 0.5)), low * 0.5))


def _binned(one: Distribution, edges: FloatArray) -> FloatArray:
    inside = np.clip(one.values.astype(np.float64), edges[0], np.nextafter(edges[-1], 0))
    return np.histogram(inside, edges, weights=one.counts.astype(np.float64))[0]


def _survival(one: Distribution) -> tuple[FloatArray, FloatArray]:
    """Value and share of samples above it, thinned by rank so that the tail keeps every step."""
    total = float(one.counts.sum() + one.overflow)
    values, where = np.unique(one.values, return_inverse=True)
    counts = np.bincount(where, weights=one.counts.astype(np.float64), minlength=values.size)
    above = (total - np.cumsum(counts)) / total
    x = np.insert(values.astype(np.float64), 0, values[0] if values.size else 1.0)
    y = np.insert(above, 0, 1.0)
    if one.overflow and one.overflow_from:
        x, y = np.append(x, float(one.overflow_from)), np.append(y, one.overflow / total)
    elif y.size > 1:
        y[-1] = 0.5 / total  # nothing lies above the largest sample; end the step at the plot's foot
    if x.size > POINTS:
        level = np.log(np.maximum(y, 0.5 / total))
        wanted = np.linspace(level[0], level[-1], POINTS)
        keep = np.unique(np.append(np.searchsorted(-level, -wanted), [0, x.size - 1]).clip(0, x.size - 1))
        x, y = x[keep], y[keep]
    return x, y


def _limits(axes: Axes, panel: Panel) -> None:
    for limit in panel.limits:
        axes.axvline(limit.value, color=INK, linewidth=1.1, linestyle=(0, (2, 2)))


def _limit_legend(figure: Figure, panel: Panel, handles: list[Line2D]) -> None:
    for limit in panel.limits:
        scale, name = step(limit.value, next(iter(panel.distributions.values())).unit)
        label = clean(f"{limit.name}: {number(limit.value / scale)} {name}")
        handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=(0, (2, 2)), label=label))
    _legend(figure, handles)


def _legend(figure: Figure, handles: Sequence[Line2D]) -> None:
    """Above the plot, in two columns when the names are short enough to fit."""
    if handles:
        columns = 2 if max(len(str(h.get_label())) for h in handles) <= 22 else 1
        figure.legend(handles=handles, loc="outside upper left", ncols=columns)


def _svg(figure: Figure, ident: str, alt: str) -> str:
    """An <svg> element: ids made unique on the page, no metadata, ink as the page's own colour."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    body = text[text.index("<svg") :].replace(INK, "currentColor")
    body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{ident}-', body)
    body = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{ident}-", body)
    body = re.sub(r' (?:width|height)="[0-9.]+pt"', "", body, count=2)
    label = html.escape(clean(alt))
    return body.replace("<svg ", f'<svg role="img" aria-label="{label}" stroke-linejoin="round" ', 1).strip()


def standalone(svg: str) -> str:
    """The same plot as a file of its own, on white paper."""
    return svg.replace("<svg ", '<svg style="color:#1b1f24;background:#fff" ', 1) + "\n"
