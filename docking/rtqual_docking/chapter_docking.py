# SPDX-License-Identifier: MIT
"""Docking in a closed loop: how accurate it is against how late poses are, candidate against candidate."""

import math
from collections.abc import Iterator, Mapping

import matplotlib as mpl

from rtqual.engine.analysis.figure.model import Summary
from rtqual.reports.draw.canvas import RC, even_ticks, frame, grid, legend_lines, to_svg, upright_label
from rtqual.reports.material import Material, figure_cell, notes_for
from rtqual.reports.page.document import Block, Column, Paragraph, Plot, Plots, Table, TableCell
from rtqual.reports.page.text import clean, load_text, place, quantity
from rtqual_docking.docking import DOCKINGS

_LEGEND = (
    "A chaser is steered to the docking port by the poses that the flight program gives, and the camera sees where it "
    "is by then. Poses are held back besides, to tell what latency costs. Chaser, target and thrusters are assumed "
    "(docs/docking/closed-loop.md): this ranks candidates, and closes no requirement."
)
_DELAYS = {one.name: one.delay_ms for one in DOCKINGS}
_FIGURES = {  # the record's names
    "p50": "age of the pose in use, median",
    "lateral_last": "off the axis in the last second, RMS",
    "lateral": "off the axis at the contact",
    "closing": "closing speed",
}
_DRAWN = "lateral_last"
_MS = 1e6  # ns

Flown = Mapping[int, Mapping[str, Summary]]  # delay in ms -> candidate -> its runs


def docking(material: Material) -> Iterator[Block]:
    found: dict[tuple[str, int, str], dict[int, dict[str, Summary]]] = {}
    for one in material.places():
        for s in one.summaries if one.instrument in _DELAYS else ():
            key = (one.board, one.cpus, s.group.load)
            found.setdefault(key, {}).setdefault(_DELAYS[one.instrument], {})[s.group.candidate] = s
    if found:
        yield Paragraph(_LEGEND)
    for (_, _, load), flown in found.items():
        any_of = next(iter(next(iter(flown.values())).values()))
        where = f"{load_text(load)}, {place(any_of.group)}"
        names = [n for n in material.candidates if any(n in of for of in flown.values())]
        yield _table(material, where, names, flown)
        if len(flown) > 1 and any(_points(n, flown) for n in names):
            yield Plots((_plot(material, where, names, flown),))


def _table(material: Material, where: str, names: list[str], flown: Flown) -> Table:
    every = [s for of in flown.values() for s in of.values()]
    notes = notes_for(s.figures.get(name) for s in every for name in _FIGURES)
    rows = []
    for delay_ms, of in sorted(flown.items()):
        held = f"held back by {delay_ms} ms" if delay_ms else "as they come"
        rows.append(
            [TableCell(f"poses {held}: runs"), *(TableCell(str(of[n].runs) if n in of else "-") for n in names)]
        )
        for name, title in _FIGURES.items():
            cells = (
                figure_cell(of[n].figures.get(name), notes, of=of[n]) if n in of else TableCell("-") for n in names
            )
            rows.append([TableCell(title), *cells])
    columns = [Column("Figure", False), *material.columns(names)]
    return material.numbering.table(clean(f"Docking {where}"), columns, rows, notes.listed())


def _plot(material: Material, where: str, names: list[str], flown: Flown) -> Plot:
    """Against what a pose's age is in the middle, so that what the system itself takes shows too."""
    figure_number = material.numbering.figure()
    lines = {n: _points(n, flown) for n in names}
    every = [point for points in lines.values() for point in points]
    told = "; ".join(
        f"{n}: " + ", ".join(f"{quantity(y, 'mm')} at {quantity(x * _MS, 'ns')}" for x, y, _, _ in points)
        for n, points in lines.items()
    )
    caption = clean(f"Off the axis in the last second against the age of poses, {where}")
    with mpl.rc_context(RC):
        figure, (axes,) = frame([2.0], legend_lines(names, material.palette))
        right, top = 1.05 * max(x for x, *_ in every) or 1.0, 1.1 * max(high for *_, high in every) or 1.0
        axes.set_xlim(0, right)
        axes.set_ylim(0, top)
        grid(axes, even_ticks(axes.xaxis, 0, right, most=6), even_ticks(axes.yaxis, 0, top, most=5))
        for n, points in lines.items():
            at, values = [x for x, *_ in points], [y for _, y, _, _ in points]
            ends = [[y - low for _, y, low, _ in points], [high - y for _, y, _, high in points]]
            axes.errorbar(
                at, values, ends, color=material.palette.colour(n), linestyle=material.palette.dashes(n), capsize=3
            )
        axes.set_xlabel("Age of the pose in use, median (ms)")
        upright_label(figure, [axes], "Off the axis (mm)")
        alt = clean(f"{caption}. {told}")
        return Plot(figure_number, caption, alt, to_svg(figure, f"f{figure_number}", alt))


def _points(name: str, flown: Flown) -> list[tuple[float, float, float, float]]:
    """Age in ms; mm, and the ends of its interval, which are the value itself where there is none."""
    points = []
    for of in flown.values():
        age, off = (of[name].figures.get(one) if name in of else None for one in ("p50", _DRAWN))
        if age is None or off is None:
            continue
        low, high = (off.interval.low, off.interval.high) if off.interval else (off.value, off.value)
        ends = (low if math.isfinite(low) else 0.0, high if math.isfinite(high) else off.value)
        points.append((age.value / _MS, off.value, *ends))
    return sorted(points)
