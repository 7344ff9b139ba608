# SPDX-License-Identifier: MIT
"""What every plot is drawn on: paper, ink, colours, ticks, legend, and the way to SVG.

A plot is as wide as a phone's column (4.4 in), so that its text is never scaled down on a screen. Places are set in
inches and not found by a layout engine, and a grid is one path: that halves the time of a report.
"""

import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from rtqual.reports.page.text import clean, number

INK = "#010203"  # replaced by currentColor
PAPER = "#ffffff"  # of lines across a colour of STYLES
WIDTH_IN = 4.4
LEGEND_ROW_IN = 0.19
CHARACTER_IN = 0.078  # of DejaVu Sans at 8.5 pt, on average
LONGEST = 46  # characters that fit beside a legend's handle
FONTS = "DejaVu Sans, Verdana, sans-serif"  # none wider than the first, by which text was placed
LIMIT_DASHES = (0, (2, 2))

Dashes = Literal["solid"] | tuple[float, tuple[float, ...]]
# Okabe & Ito 2008 with the light hues darkened, so that each stands out 3:1 from white and from near-black;
# the dash pattern repeats it for readers and printers without colour.
STYLES: tuple[tuple[str, Dashes], ...] = (
    ("#0072b2", "solid"),
    ("#d55e00", (0, (5, 1.5))),
    ("#009e73", (0, (1.2, 1.2))),
    ("#b8639b", (0, (6, 1.5, 1.2, 1.5))),
    ("#a97b00", (0, (3, 1, 1, 1, 1, 1))),
    ("#5f7fbf", (0, (9, 2))),
    ("#6e7781", (0, (3, 1.5, 3, 1.5, 1, 1.5))),
)
_HATCHES = ("", "////", "....", "xxxx", "----", "++++", "\\\\\\\\")  # of bars, likewise; one a style
_INKED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
RC: Any = {  # the type of its keys differs between releases of matplotlib
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "rtqual",  # equal plots have equal ids
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.major.pad": 5,
    "ytick.major.pad": 4,
    "legend.frameon": False,
    "legend.borderaxespad": 0,
    "legend.borderpad": 0,
    "legend.labelspacing": 0.35,
    "legend.handlelength": 2.6,
    **dict.fromkeys(_INKED, INK),
}


@dataclass(frozen=True)
class Palette:
    """One style a candidate, the same in every plot of a report."""

    candidates: tuple[str, ...]

    def colour(self, candidate: str) -> str:
        return STYLES[self.candidates.index(candidate) % len(STYLES)][0]

    def dashes(self, candidate: str) -> Dashes:
        turn, index = divmod(self.candidates.index(candidate), len(STYLES))
        return STYLES[(index + turn) % len(STYLES)][1]

    def hatch(self, candidate: str) -> str:
        """What fills its bars, as matplotlib writes it."""
        turn, index = divmod(self.candidates.index(candidate), len(_HATCHES))
        return _HATCHES[(index + turn) % len(_HATCHES)]

    def pattern(self, candidate: str) -> tuple[float, ...]:
        """The dashes as lengths in line widths, on and off in turn; none for a solid line."""
        dashes = self.dashes(candidate)
        return () if dashes == "solid" else dashes[1]


def legend_lines(candidates: Iterable[str], palette: Palette) -> list[Line2D]:
    """What a legend shows of each candidate's line."""
    return [
        Line2D([], [], label=short(n), color=palette.colour(n), linestyle=palette.dashes(n), linewidth=1.6)
        for n in candidates
    ]


def short(text: str, longest: int = LONGEST) -> str:
    """Cleaned and cut to what fits."""
    name = " ".join(clean(text).split())
    return name if len(name) <= longest else name[: longest - 1] + "…"


def frame(
    heights_in: Sequence[float],
    handles: Sequence[Line2D | Patch],
    *,
    left_in: float = 0.62,
    gap_in: float = 0.0,
    title_in: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """Axes below each other under a legend. `gap_in` lies between them, `title_in` above each one."""
    columns = 2 if handles and max(len(str(h.get_label())) for h in handles) <= 20 else 1
    top_in = 0.1 + LEGEND_ROW_IN * math.ceil(len(handles) / columns)
    below_in, right_in = 0.46, 0.2
    height_in = top_in + sum(heights_in) + title_in * len(heights_in) + gap_in * (len(heights_in) - 1) + below_in
    figure = Figure(figsize=(WIDTH_IN, height_in))
    rows, y_in = [], height_in - top_in
    for axes_in in heights_in:
        y_in -= title_in + axes_in
        place = (left_in / WIDTH_IN, y_in / height_in, 1 - (left_in + right_in) / WIDTH_IN, axes_in / height_in)
        rows.append(figure.add_axes(place))
        y_in -= gap_in
    if handles:
        corner = (0.04 / WIDTH_IN, 1 - 0.04 / height_in)
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=corner, ncols=columns)
    return figure, rows


def titled(quantity: str, unit: str, mark: str = "") -> str:
    """What stands along an axis: "Latency (µs) ◇"; a share or a count has no unit to name."""
    return " ".join(filter(None, (quantity, f"({unit})" if unit else "", mark)))


def upright_label(figure: Figure, rows: Sequence[Axes], text: str) -> None:
    """One label for the vertical axes of all rows."""
    middle = (rows[0].get_position().y1 + rows[-1].get_position().y0) / 2
    figure.text(0.04 / WIDTH_IN, middle, text, rotation=90, ha="left", va="center", fontsize=9)


def log_ticks(axis: Axis, low: float, high: float, *, most: int, scale: float = 1.0) -> list[float]:
    """Round ticks of a logarithmic axis, at most so many: 1-2-5 when there is room, else 1-3, decades, fewer."""
    exponents = range(math.floor(math.log10(low / scale)), math.ceil(math.log10(high / scale)) + 1)
    ticks: list[float] = []
    for mantissas in ((1, 2, 5), (1, 3), (1,)):
        ticks = [m * 10.0**e * scale for e in exponents for m in mantissas]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= most:
            break
    ticks = ticks[:: math.ceil(len(ticks) / most) or 1]
    return _set_ticks(axis, ticks, [number(tick / scale) for tick in ticks])


def decade_ticks(axis: Axis, low: float, high: float, *, most: int) -> list[float]:
    """Powers of ten, at most so many, the largest always among them."""
    exponents = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)[::-1]
    chosen = exponents[:: math.ceil(len(exponents) / most) or 1]
    return _set_ticks(axis, [10.0**e for e in chosen], [_power(e) for e in chosen])


def even_ticks(axis: Axis, low: float, high: float, *, most: int, scale: float = 1.0) -> list[float]:
    ticks = [
        float(t) * scale for t in MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low / scale, high / scale)
    ]
    ticks = [tick for tick in ticks if low <= tick <= high]
    return _set_ticks(axis, ticks, [number(tick / scale) for tick in ticks])


def _set_ticks(axis: Axis, ticks: list[float], labels: list[str]) -> list[float]:
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())
    return ticks


def _power(exponent: int) -> str:
    if 0 <= exponent <= 2:
        return str(10**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def grid(axes: Axes, x_ticks: Sequence[float], y_ticks: Sequence[float] = ()) -> None:
    """All lines of a direction as one path with gaps."""
    line = partial(axes.plot, color=INK, alpha=0.2, linewidth=0.5, zorder=0.5)
    for ticks, upright in ((x_ticks, True), (y_ticks, False)):
        if len(ticks):
            at = np.repeat(np.asarray(ticks, np.float64), 3)
            across = np.tile([0.0, 1.0, np.nan], len(ticks))
            if upright:
                line(at, across, transform=axes.get_xaxis_transform())
            else:
                line(across, at, transform=axes.get_yaxis_transform())


def to_svg(figure: Figure, ident: str, alt: str) -> str:
    """An <svg> element: ids made unique on the page, no metadata, ink as the page's own colour."""
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context(RC):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    body = text[text.index("<svg") :].replace(INK, "currentColor")
    body = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r'\bid="', f'id="{ident}-', body)
    body = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{ident}-", body)
    body = re.sub(r' (?:width|height)="[0-9.]+pt"', "", body, count=2)
    body = re.sub(r" font-family: [^;\"]*;", "", body)  # once for all, on the root
    root = f'<svg role="img" aria-label="{html.escape(clean(alt))}" font-family="{FONTS}" stroke-linejoin="round" '
    return body.replace("<svg ", root, 1).strip()


def standalone(svg: str) -> str:
    """The same plot as a file of its own, on white paper."""
    return svg.replace("<svg ", '<svg style="color:#1b1f24;background:#fff" ', 1) + "\n"
