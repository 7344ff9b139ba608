# SPDX-License-Identifier: MIT
"""The docking camera: the ways from frames to ranges beside each other, what each of the published pipeline's wastes
costs, what faults do, and an approach with its errors."""

from collections.abc import Callable, Iterator, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D

from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.verdict.goals import Reach
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.reports.draw.canvas import RC, STYLES, even_ticks, frame, grid, to_svg, upright_label
from rtqual.reports.material import Material, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import (
    TONES,
    Block,
    Column,
    Note,
    Notes,
    Paragraph,
    Plot,
    Plots,
    Table,
    TableCell,
    VerdictBox,
)
from rtqual.reports.page.text import clean, load_text, marked, number, place, prose, readable
from rtqual_docking.approach import APPROACH, HEIGHT, WIDTH, Approach, Sight, within
from rtqual_docking.camera_goals import CameraWays, Ways, camera, way_name
from rtqual_docking.chapter_wifi import sent_by_wifi
from rtqual_docking.faults import DESCRIPTORS, FAULTS, WITH_FAULTS

_FIGURES = (
    "frames_per_s", "frames_per_s_unthrottled", "frames_lost", "min", "p50", "p99", "max", "last transfer to range p50",
    "last transfer to range p99", "pose min", "pose p50", "pose p99", "pose max", "poses_valid", "poses_not_found",
    "pose_cpu", "wake-up p50", "wake-up p99", "wake-up max", "cpu_per_frame", "cpu_program", "cpu_kernel", "cpu_usb",
    "cpu_share", "raw_copies", "range_copies", "memory", "page_faults", "cpu_emulator",
)  # fmt: skip
_RANGES = ("min", "p50", "p99", "max")
_LEGEND = (
    "Frame end to range: from when the camera has handed a frame to the USB host to when its ranges are "
    "there. Pose: from the same end to the target's pose, or to not having found it: the search at "
    "first sight takes up to six frames. Wake-up: how late a 1 kHz task above the stream wakes, while "
    "ranges and poses are made in a stream of its own. CPU is run time by frame; that of the emulated "
    "camera is in no other figure. On the virtual board, 2 ns are one instruction. Raw copies are how a "
    "way is built, all else was measured."
)
_FAULT_COLUMNS = ("frames", "lost", "estimated", "refused", "wrong", "unplugged", "first lost", "replug", "emulated")
_SAID = {Outcome.MET: "met", Outcome.NOT_MET: "missed", Outcome.UNDECIDED: "-"}
_INDICATIVE = {Outcome.MET: "kept", Outcome.NOT_MET: "broken"}
_ON_EMULATOR = (
    "Kept, broken: on the emulator, whose counted instructions are no flight latency; neither met nor missed."
)
_BANDS_M = ((0.15, 0.5), (0.5, 1.0), (1.0, 1.3))


def lidar(material: Material) -> Iterator[Block]:
    """Show the ways, what faults do, and an approach."""
    ways = camera(material.mission, material.evidence.summaries)
    less = [one for one in ways.wastes if len(one.summaries) >= 3]
    tables = [
        *(table for one in ways.ladder for table in _judged(material, ways, one)),
        *(_table(material, "The published pipeline, less of it from column to column", one) for one in less),
    ]
    if tables:
        yield Paragraph(_LEGEND)
        yield from tables
    yield from _faults(material)
    yield from sent_by_wifi(material)
    if approach := APPROACH.of(material.annexes):
        yield from _approach(material, approach)


def goals_box(material: Material) -> tuple[VerdictBox, ...]:
    """Which way meets how many goals, for the first page; nothing where no camera streamed or the mission sets none."""
    ways, notes = camera(material.mission, material.evidence.summaries), Notes()
    if not ways.judged:
        return ()
    rows = [
        [TableCell(clean(one.place)), *(_goals_met(one.scores.get(way), notes) for way in ways.ways)]
        for one in ways.judged
    ]
    titles = [Column("Kernel and load", False), *(Column(clean(name)) for name in ways.ways)]
    caption = f"Goals that each way from frames to ranges meets, of {len(ways.goals)}; their figures stand under LIDAR"
    indicative = any(gate.on_emulator for one in ways.judged for s in one.scores.values() for gate in s.gates.values())
    listed = (*notes.listed(), Note("", _ON_EMULATOR)) if indicative else notes.listed()
    table = material.numbering.table(caption, titles, rows, listed)
    return (VerdictBox("Docking camera", ways.reached.whole, prose(ways.reached.text), (table,)),)


def _goals_met(score: Reach | None, notes: Notes) -> TableCell:
    """The count; what is missed, and what could not be judged, in a footnote."""
    if score is None:
        return TableCell("-")
    return TableCell(score.count, marks=notes.mark(prose(score.remark)), tone=TONES[score.outcome])


def _judged(material: Material, ways: CameraWays, one: Ways) -> Iterator[Table]:
    yield _table(material, "From frames to ranges", one)
    yield from _goals(material, ways, one)


def _goals(material: Material, ways: CameraWays, one: Ways) -> Iterator[Table]:
    """Which way meets which goal; a dash where a figure for it is missing, nothing where it is not set for the way."""
    its = [score.gates for score in one.scores.values()]
    cells = [[TableCell(clean(goal)), *(_goal_cell(gates.get(goal)) for gates in its)] for goal in ways.goals]
    if cells:
        indicative = any(gate.on_emulator for gates in its for gate in gates.values())
        notes = [Note("", _ON_EMULATOR)] if indicative else []
        caption = clean(f"Goals: {one.candidate}, {load_text(one.load)}, {place(one.summaries[0].group)}")
        yield material.numbering.table(caption, _titles("Goal", one.summaries), cells, notes)


def _goal_cell(gate: Gate | None) -> TableCell:
    if gate is None:
        return TableCell("")
    if gate.on_emulator:
        return TableCell(_INDICATIVE[gate.on_emulator], tone=TONES[gate.outcome])
    return TableCell(_SAID[gate.outcome], tone=TONES[gate.outcome])


def _titles(first: str, columns: Sequence[Summary]) -> list[Column]:
    return [Column(first, False), *(Column(clean(way_name(s.group.instrument))) for s in columns)]


def _table(material: Material, title: str, ways: Ways) -> Table:
    columns, load = ways.summaries, load_text(ways.load)
    caption = f"{title}: {ways.candidate}, {load}, {place(columns[0].group)}"
    names = [name for name in _FIGURES if any(name in s.figures for s in columns)]
    notes = notes_for(s.figures.get(name) for s in columns for name in names)
    mark = "".join(notes.timed(m) for m in timing_mark(columns))
    rows = [
        [
            TableCell(f"frame end to range, {name}" if name in _RANGES else readable(name)),
            *(figure_cell(s.figures.get(name), notes, of=s) for s in columns),
        ]
        for name in names
    ]
    return material.numbering.table(marked(clean(caption), mark), _titles("Figure", columns), rows, notes.listed())


def _faults(material: Material) -> Iterator[Block]:
    for s in material.evidence.summaries:
        if s.group.instrument not in [one.name for one in WITH_FAULTS]:
            continue
        where = f"{s.group.candidate}, {s.group.instrument}, {load_text(s.group.load)}"
        notes = notes_for(s.figures.values())
        rows = [
            [
                TableCell(clean(fault)),
                *(figure_cell(s.figures.get(f"{fault}: {what}"), notes, of=s) for what in _FAULT_COLUMNS),
            ]
            for fault in FAULTS
        ]
        titles = [Column("Fault", False), *(Column(readable(what)) for what in _FAULT_COLUMNS)]
        yield material.numbering.table(
            clean(f"What each fault of the camera costs: {where}"), titles, rows, notes.listed()
        )
        described = [(kind, s.figures.get(f"descriptors {kind}: frames")) for kind in (*DESCRIPTORS, "none")]
        yield material.numbering.table(
            clean(f"Wrong descriptors, frames that came: {where}"),
            [Column("What is wrong", False), Column("Frames")],
            [
                [TableCell(kind), TableCell("-" if figure is None else number(figure.value))]
                for kind, figure in described
            ],
        )


def _approach(material: Material, flown: Approach) -> Iterator[Block]:
    yield Paragraph(
        f"The target comes from {number(flown.sights[0].distance_m)} m to {number(flown.sights[-1].distance_m)} m; the "
        f"camera's model of noise is that of its documentation. {len(flown.sights)} frames, one approach: errors of "
        "frames that follow each other depend on each other, so no interval is given."
    )
    yield _bands(material, flown)
    yield Plots((_errors(material, flown), _picture(material, flown)))


def _bands(material: Material, flown: Approach) -> Table:
    rows = []
    for low_m, high_m in _BANDS_M:
        some = within(flown.sights, low_m, high_m)
        if not some:
            continue
        rms_mm = float(np.sqrt(np.mean([(s.range_error_mm or 0.0) ** 2 for s in some])))
        rows.append(
            [
                TableCell(f"{number(low_m)} to {number(high_m)} m"),
                TableCell(number(len(some))),
                TableCell(f"{number(round(rms_mm, 3))} mm"),
                TableCell(f"{number(round(_p95(some, lambda s: s.position_error_mm), 3))} mm"),
                TableCell(f"{number(round(_p95(some, lambda s: s.rotation_error_deg), 3))}°"),
                TableCell(number(sum(s.status != "ok" for s in some))),
            ]
        )
    titles = [Column("Distance", False), Column("Frames"), Column("Range, RMS"), Column("Position, 95 %")]
    titles += [Column("Rotation, 95 %"), Column("Not ok")]
    lost = sum(s.status == "not found" for s in flown.sights)
    return material.numbering.table(
        f"Errors along the approach; the target was not found in {lost} frames", titles, rows
    )


def _p95(some: Sequence[Sight], of: Callable[[Sight], float | None]) -> float:
    return float(np.quantile([of(s) or 0.0 for s in some], 0.95, method="inverted_cdf"))


def _errors(material: Material, flown: Approach) -> Plot:
    figure_number = material.numbering.figure()
    caption = "Errors of range, position and rotation along the approach"
    found = [s for s in flown.sights if s.position_error_mm is not None]
    at = [s.distance_m for s in found]
    parts: tuple[tuple[str, list[float]], ...] = (
        ("Range (mm)", [s.range_error_mm or 0.0 for s in found]),
        ("Position (mm)", [s.position_error_mm or 0.0 for s in found]),
        ("Rotation (°)", [s.rotation_error_deg or 0.0 for s in found]),
    )
    with mpl.rc_context(RC):
        colours = [colour for colour, _ in STYLES]
        handles = [
            Line2D([], [], color=c, marker=".", linewidth=0, label=n) for c, (n, _) in zip(colours, parts, strict=False)
        ]
        figure, rows = frame([0.9] * len(parts), handles, gap_in=0.12)
        for axes, (_, values), colour in zip(rows, parts, colours, strict=False):
            low, high = min(0.0, *values), max(values) * 1.1 or 1.0
            axes.set_xlim(max(at) * 1.02, 0)
            axes.set_ylim(low * 1.1, high)
            grid(axes, even_ticks(axes.xaxis, 0, max(at), most=6), even_ticks(axes.yaxis, low * 1.1, high, most=4))
            axes.plot(at, values, ".", color=colour, markersize=3)
            if axes is not rows[-1]:
                axes.tick_params(labelbottom=False)
        rows[-1].set_xlabel("Distance of the target (m)")
        upright_label(figure, rows, "Error")
        return Plot(figure_number, caption, caption, to_svg(figure, f"f{figure_number}", caption))


def _picture(material: Material, flown: Approach) -> Plot:
    figure_number = material.numbering.figure()
    shown = flown.sights[flown.pictured]
    caption = f"A depth frame, the target at {number(round(shown.distance_m, 3))} m: ranges, nothing where not valid"
    ranges = np.array(flown.picture, float).reshape(HEIGHT, WIDTH)
    valid = np.ma.masked_equal(ranges, 0)
    with mpl.rc_context(RC):
        figure, (axes,) = frame([2.2], [])
        place = axes.get_position()
        axes.set_position((place.x0, place.y0, 0.7 * place.width, place.height))
        low, high = (float(edge) for edge in np.percentile(valid.compressed(), (1, 99)))
        image = axes.imshow(valid, cmap="viridis_r", vmin=low, vmax=high, interpolation="nearest", aspect="auto")
        axes.set_xlabel("Column (pixels)")
        upright_label(figure, [axes], "Row (pixels)")
        scale = figure.add_axes((place.x0 + 0.74 * place.width, place.y0, 0.04 * place.width, place.height))
        figure.colorbar(image, cax=scale, label="Range (mm)")
        return Plot(figure_number, caption, caption, to_svg(figure, f"f{figure_number}", caption))
