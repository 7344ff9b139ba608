# SPDX-License-Identifier: MIT
"""Plots of causes: the timeline of a late sample, and from one candidate's mean to another's, step by step."""

from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator

from rtqual.parts.explain.cause_tally import Waterfall
from rtqual.parts.explain.stretch_words import calls
from rtqual.parts.explain.timeline import Stretch, TimeKind, Timeline
from rtqual.reports.draw.canvas import CHARACTER_IN, INK, RC, WIDTH_IN, Palette, even_ticks, frame, grid, short, to_svg
from rtqual.reports.page.text import step

_LANE_IN = 0.2
_SMALL = 0.02  # of the largest step: smaller ones are drawn together
_LEAST_NS = 1.0
_NAMED = 0.08  # of a sample: from there on a part is named in the plot
_LETTER_IN = 0.066  # of a part's name
_HELD, _TAKEN = "#a4262c", "#7b5aa6"  # colours of no candidate's
_COLOURS = {
    **dict.fromkeys((TimeKind.IRQS_OFF, TimeKind.PREEMPT_OFF, TimeKind.LOCK), _HELD),
    **dict.fromkeys((TimeKind.INTERRUPT, TimeKind.SOFTIRQ, TimeKind.OTHER, TimeKind.FAULT), _TAKEN),
}
_REST = "#6e7781"


def timeline_plot(line: Timeline, ident: str, alt: str) -> str:
    """A lane a kind, in the order in which they come; from the timer's expiry to the reading."""
    value_ns = line.sample.value_ns
    lanes = list(dict.fromkeys(part.kind for part in line.parts))
    scale, unit = step(value_ns, "ns")
    with mpl.rc_context(RC):
        left_in = 0.2 + CHARACTER_IN * max(len(lane.value) for lane in lanes)
        figure, (axes,) = frame([_LANE_IN * len(lanes) + 0.1], [], left_in=left_in)
        axes.set_xlim(0, value_ns)
        axes.set_ylim(len(lanes) - 0.4, -0.6)
        axes.yaxis.set_major_locator(FixedLocator(range(len(lanes))))
        axes.yaxis.set_major_formatter(FixedFormatter([lane.value for lane in lanes]))
        grid(axes, even_ticks(axes.xaxis, 0, value_ns, most=6, scale=scale))
        for place, lane in enumerate(lanes):
            spans = _joined([part for part in line.parts if part.kind == lane], value_ns)
            axes.broken_barh(spans, (place - 0.36, 0.72), facecolor=_COLOURS.get(lane, _REST), linewidth=0)
            _name(axes, place, [part for part in line.parts if part.kind == lane], value_ns, WIDTH_IN - left_in - 0.2)
        axes.set_xlabel(f"Since the timer's expiry ({unit})")
        return to_svg(figure, ident, alt)


def _joined(parts: Sequence[Stretch], value_ns: int) -> list[tuple[int, int]]:
    """(begin, length) in ns, wide enough to be seen; neighbours that cannot be told apart are one."""
    near_ns, found = max(1, value_ns // 2000), list[tuple[int, int]]()
    for part in parts:
        if found and part.begin_ns - sum(found[-1]) <= near_ns:
            found[-1] = found[-1][0], part.begin_ns + part.duration_ns - found[-1][0]
        else:
            found.append((part.begin_ns, max(part.duration_ns, near_ns)))
    return found


def _name(axes: Axes, place: int, parts: Sequence[Stretch], value_ns: int, width_in: float) -> None:
    """The function of a lane's longest part: in its bar, or beside it where there is more room."""
    longest = max(parts, key=lambda part: part.duration_ns)
    text = calls(longest.chain[-1:]) or ("user space" if longest.user else "")
    if longest.duration_ns < _NAMED * value_ns or not text:
        return
    begin_ns, end_ns, gap_ns = longest.begin_ns, longest.begin_ns + longest.duration_ns, 0.012 * value_ns
    room_ns = {"center": longest.duration_ns, "left": value_ns - end_ns, "right": begin_ns}
    letter_ns = _LETTER_IN / width_in * value_ns
    fits = [side for side, ns in room_ns.items() if ns - gap_ns >= len(text) * letter_ns]
    side = fits[0] if fits else max(room_ns, key=room_ns.__getitem__)
    at = {"center": (begin_ns + end_ns) / 2, "left": end_ns + gap_ns, "right": begin_ns - gap_ns}[side]
    shown = short(text, max(3, int((room_ns[side] - gap_ns) / letter_ns)))
    colour = "#ffffff" if side == "center" else INK
    axes.text(at, place, shown, va="center_baseline", fontsize=7.5, ha=side, color=colour)


def waterfall_plot(fall: Waterfall, palette: Palette, ident: str, alt: str) -> str:
    """From the mean of the candidate that is sooner to that of the one that is later."""
    least_ns = _SMALL * max(abs(stage.ns) for stage in fall.steps)
    steps = [stage for stage in fall.steps if abs(stage.ns) >= least_ns]
    rest_ns = fall.difference_ns - sum(stage.ns for stage in steps)
    rows = [(stage.kind.value, stage.ns, _COLOURS.get(stage.kind, _REST)) for stage in steps]
    rows += [("others", rest_ns, _REST)] if abs(rest_ns) >= _LEAST_NS else []
    names = [short(fall.sooner.candidate, 26), *(name for name, _, _ in rows), short(fall.later.candidate, 26)]
    with mpl.rc_context(RC):
        left_in = 0.2 + CHARACTER_IN * max(map(len, names))
        figure, (axes,) = frame([_LANE_IN * len(names) + 0.1], [], left_in=left_in)
        at_ns = fall.sooner.mean_ns
        bars = [(0.0, at_ns, palette.colour(fall.sooner.candidate), "")]
        for _, ns, colour in rows:
            bars.append((min(at_ns, at_ns + ns), abs(ns), colour, "+" if ns >= 0 else "\u2212"))
            at_ns += ns
        bars.append((0.0, fall.later.mean_ns, palette.colour(fall.later.candidate), ""))
        low = min(0.0, *(begin for begin, _, _, _ in bars))
        high = max(begin + length for begin, length, _, _ in bars)
        scale, unit = step(high, "ns")
        axes.set_xlim(low, high + 0.2 * (high - low))
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.yaxis.set_major_locator(FixedLocator(range(len(names))))
        axes.yaxis.set_major_formatter(FixedFormatter(names))
        grid(axes, even_ticks(axes.xaxis, low, high, most=6, scale=scale))
        for place, (begin, length, colour, sign) in enumerate(bars):
            axes.barh(place, length, 0.72, begin, color=colour, linewidth=0)
            text = f"{sign}{length / scale:.2f}"
            axes.text(begin + length + 0.012 * (high - low), place, text, va="center_baseline", fontsize=7.5)
        axes.set_xlabel(f"Mean of the worst samples ({unit})")
        return to_svg(figure, ident, alt)
