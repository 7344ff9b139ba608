# SPDX-License-Identifier: MIT
"""Kernels under the root systems of images: what uninstalling software gains, and what flies in the end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.mission import Quantity
from rtqual.reports.chapter.reached import goal_cell
from rtqual.reports.material import FOOTPRINT, Material, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import Block, Paragraph, Table, TableCell, texts
from rtqual.reports.page.text import clean, load_text, marked, number, place, readable

LATENCY = "cyclictest"
STATISTICS = ("p50", "p99", "p99.9", "max")
_FIGURES = (  # in this order; the rest of the footprint stands in the results
    *("installed_size", "installed_with_minbase", "image_size", "root_size", "modules_available"),
    *("ram_used", "kernel_memory", "boot_to_user_space", "start_up", "boot_until_ready"),
)
_Cells = Mapping[tuple[str, str, str, int], Mapping[str, Summary]]  # Group.cell -> candidate -> summary


def root_systems(material: Material) -> Iterator[Block]:
    """Whole systems beside each other, in the mission's order: the first is what the others are set against."""
    rooted = {candidate.name: candidate for candidate in material.mission.candidates if candidate.root}
    footprints, latencies = (cells_of(material, list(rooted), name) for name in (FOOTPRINT, LATENCY))
    if not footprints:
        return
    yield Paragraph(
        "Whole systems, root and kernel, as they would be installed: a Debian root (mmdebstrap's minbase, systemd, the "
        "packages of the mission's needs) or the minimal root (busybox). Each was unpacked into memory and started as "
        "on board; jobs begin where its start-up ends. Sizes are without what measuring adds. "
        "A root in memory is unpacked before the first process, which one on a disk is not: of the Debian root "
        "that is most of the time until then. Under a figure stands its part of the first system's."
    )
    goals = {
        name: goal for candidate in rooted.values() if candidate.tailor for name, goal in candidate.tailor.goals.items()
    }
    aim = next((candidate.name for candidate in rooted.values() if candidate.tailor and candidate.tailor.goals), "")
    for found in footprints.values():
        if len(found) > 1:
            names = [name for name in _FIGURES if any(name in summary.figures for summary in found.values())]
            yield _table(material, "Whole systems", found, names, goals=goals, aim=aim)
    for (_, load, *_), found in latencies.items():
        if len(found) > 1:
            yield _table(material, f"Wake-up latency of whole systems, {load_text(load)}", found, STATISTICS)


def cells_of(material: Material, names: Sequence[str], instrument: str) -> _Cells:
    """What an instrument measured of these candidates, load by load and board by board."""
    found: dict[tuple[str, str, str, int], dict[str, Summary]] = {}
    for name in names:
        for summary in material.evidence.summaries:
            if (summary.group.candidate, summary.group.instrument) == (name, instrument):
                found.setdefault(summary.group.cell, {})[name] = summary
    return found


def _table(
    material: Material,
    title: str,
    found: Mapping[str, Summary],
    names: Sequence[str],
    *,
    goals: Mapping[str, Quantity] | None = None,
    aim: str = "",
) -> Table:
    summaries = list(found.values())
    first = summaries[0]
    notes = notes_for([summary.figures.get(name) for summary in summaries for name in names])
    rows = []
    for name in names:
        if not any(name in summary.figures for summary in summaries):
            continue
        row = [TableCell(readable(name))]
        for summary in summaries:
            cell = figure_cell(summary.figures.get(name), notes, of=summary)
            row.append(
                cell if summary is first else _with_part(cell, summary.figures.get(name), first.figures.get(name))
            )
        if goals:
            accept_virtual = material.mission.mission.accept_virtual
            row.append(goal_cell(goals.get(name), name, first, found.get(aim), accept_virtual=accept_virtual))
        rows.append(row)
    mark = notes.timed(timing_mark(summaries))
    columns = [*texts("Figure"), *material.columns(list(found)), *(texts("Goal") if goals else [])]
    return material.numbering.table(
        marked(clean(f"{title}, {place(first.group)}"), mark), columns, rows, notes.listed()
    )


def _with_part(cell: TableCell, figure: Figure | None, first: Figure | None) -> TableCell:
    if figure is None or first is None or first.value <= 0:
        return cell
    part = f"{number(100 * figure.value / first.value)}\u00a0%"
    return replace(cell, detail="; ".join(filter(None, (part, cell.detail))))
