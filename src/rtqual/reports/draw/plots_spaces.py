# SPDX-License-Identifier: MIT
"""A block diagram: what ran in user space and what in the kernel, a row for each system."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rtqual.reports.draw.canvas import CHARACTER_IN, INK, LIMIT_DASHES, RC, WIDTH_IN, Palette, frame, short, to_svg

USER, KERNEL = "user space", "kernel space"
_ROW_IN, _HEAD_IN, _LEFT_IN, _RIGHT_IN = 0.84, 0.26, 0.04, 0.2
_GAP = 0.02  # between the sides, of the width
_LINES = 4  # in a box


@dataclass(frozen=True)
class SystemSpaces:
    """`programs` by the side they ran on. What is not divided has one address space."""

    name: str
    title: str
    programs: Mapping[str, tuple[str, ...]]
    divided: bool = True


def spaces(systems: Sequence[SystemSpaces], palette: Palette, ident: str, alt: str) -> str:
    with mpl.rc_context(RC):
        figure, (axes,) = frame([_HEAD_IN + _ROW_IN * len(systems)], (), left_in=_LEFT_IN)
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(_HEAD_IN + _ROW_IN * len(systems), 0)
        for middle, name in ((0.25, USER), (0.75, KERNEL)):
            axes.text(middle, 0.1, name, ha="center", va="center", fontsize=9)
        for place, system in enumerate(systems):
            _row(axes, system, _HEAD_IN + _ROW_IN * place, palette.colour(system.name))
        return to_svg(figure, ident, alt)


def _row(axes: Axes, system: SystemSpaces, top: float, colour: str) -> None:
    if not system.divided:
        programs = [name for names in system.programs.values() for name in names]
        _box(axes, 0.0, 1.0, top, colour, [system.name, system.title, f"{', '.join(programs)}, one address space"])
        return
    user, kernel = (", ".join(system.programs.get(side, ())) for side in (USER, KERNEL))
    axes.plot([0.5, 0.5], [top - 0.05, top + _ROW_IN - 0.05], color=INK, linewidth=0.9, linestyle=LIMIT_DASHES)
    half = 0.5 - _GAP / 2
    _box(axes, 0.0, half, top, colour, [system.name, user or "nothing measured"])
    _box(axes, 1 - half, half, top, colour, [system.title, kernel or "nothing measured"])


def _box(axes: Axes, left: float, width: float, top: float, colour: str, texts: Sequence[str]) -> None:
    """Its first text stands out; longer ones are wrapped, and cut to what fits."""
    fits = int(width * (WIDTH_IN - _LEFT_IN - _RIGHT_IN) / CHARACTER_IN) - 2
    lines = [line for text in texts for line in textwrap.wrap(short(text, 2 * fits), fits)[:2]][:_LINES]
    height = _ROW_IN - 0.1
    axes.add_patch(
        Rectangle((left, top), width, height, facecolor="none", edgecolor=colour, linewidth=1.4, clip_on=False)
    )
    axes.text(left + width / 2, top + height / 2, "\n".join(lines), ha="center", va="center", linespacing=1.25)
