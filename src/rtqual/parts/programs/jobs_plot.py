# SPDX-License-Identifier: MIT
"""Jobs on a time line: the worst of each candidate, from the moment it was due."""

from collections.abc import Mapping

import matplotlib as mpl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator

from rtqual.protocols.record.schema import LateSample
from rtqual.reports.draw.canvas import (
    CHARACTER_IN,
    INK,
    LIMIT_DASHES,
    PAPER,
    RC,
    even_ticks,
    frame,
    grid,
    short,
    to_svg,
)
from rtqual.reports.page.text import number, step

# What a part of a job is called in a report; the parts of records stand in protocols/record/schema.py.
KINDS = {
    "own": "its own work",
    "before": "timer late",
    "timer": "timer's thread waits",
    "thread": "another thread",
    "sibling": "another thread of the program",
    "held": "preemption off",
    "wait": "waits",
    "switch": "switch",
    "irq": "interrupt",
    "nmi": "interrupt",
    "softirq": "softirq",
    "untold": "further parts",
}
_COLOURS = {  # of no candidate
    "its own work": ("#6e7781", ""),
    "waits": ("#6e7781", "////"),
    "another thread": ("#7b5aa6", ""),
    "another thread of the program": ("#7b5aa6", "////"),
    "timer late": ("#a4262c", ""),
    "timer's thread waits": ("#a4262c", "////"),
    "preemption off": ("#a4262c", "...."),
}
_REST = ("#6e7781", "....")
_LANE_IN = 0.24
_SEEN = 0.002  # of the axis: a shorter part cannot be seen
_LONGEST = 26  # characters of a candidate's name


def jobs_plot(worst: Mapping[str, LateSample], deadline_ns: int | None, ident: str, alt: str) -> str:
    """A lane a candidate."""
    end_ns = 1.04 * max(deadline_ns or 0, *(late_sample.value_ns for late_sample in worst.values()))
    scale, unit = step(end_ns, "ns")
    seen = [part for late_sample in worst.values() for part in late_sample.parts if part.duration_ns >= _SEEN * end_ns]
    kinds = list(dict.fromkeys(KINDS[part.source] for part in seen))
    handles: list[Line2D | Patch] = []
    for kind in kinds:
        colour, hatch = _COLOURS.get(kind, _REST)
        handles.append(Patch(label=kind, facecolor=colour, hatch=hatch, edgecolor=PAPER, linewidth=0))
    if deadline_ns:
        label = f"deadline {number(deadline_ns / scale)} {unit}"
        handles.append(Line2D([], [], color=INK, linewidth=1.1, linestyle=LIMIT_DASHES, label=label))
    names = [short(name, _LONGEST) for name in worst]
    with mpl.rc_context(RC):
        left_in = 0.2 + CHARACTER_IN * max(map(len, names))
        figure, (axes,) = frame([_LANE_IN * len(names) + 0.1], handles, left_in=left_in)
        axes.set_xlim(0, end_ns)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.yaxis.set_major_locator(FixedLocator(range(len(names))))
        axes.yaxis.set_major_formatter(FixedFormatter(names))
        grid(axes, even_ticks(axes.xaxis, 0, end_ns, most=6, scale=scale))
        for place, sample in enumerate(worst.values()):
            for kind in kinds:
                colour, hatch = _COLOURS.get(kind, _REST)
                spans = [(part.begin_ns, part.duration_ns) for part in sample.parts if KINDS[part.source] == kind]
                axes.broken_barh(
                    spans, (place - 0.36, 0.72), facecolor=colour, hatch=hatch or None, edgecolor=PAPER, linewidth=0
                )
        if deadline_ns:
            axes.axvline(deadline_ns, color=INK, linewidth=1.1, linestyle=LIMIT_DASHES)
        axes.set_xlabel(f"Since it was due ({unit})")
        return to_svg(figure, ident, alt)
