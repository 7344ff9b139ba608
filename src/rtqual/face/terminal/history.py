# SPDX-License-Identifier: MIT
"""Figures over versions, on the terminal and for machines."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from rtqual.base.units import format_value
from rtqual.engine.analysis.figure import wording
from rtqual.face.terminal.plain import plain
from rtqual.stages.history import Series


def print_history(console: Console, found: Sequence[Series]) -> None:
    """A table for each figure; a version that changed it says from what to what, and by how much."""
    for one in found:
        title = f"{one.group.candidate}, {one.name}: {one.group.title}"
        console.print(title, style="bold", highlight=False)
        console.print(_table(one))
        if one.why_none:
            console.print(f"  no change looked for: {one.why_none}", highlight=False)
        console.print()
    changed = [one for one in found if one.changes]
    looked = sum(not one.why_none for one in found)
    console.print(f"{len(changed)} of {looked} series changed.", highlight=False)


def _table(one: Series) -> Table:
    table = Table("version", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("value", justify="right")
    table.add_column("95 % interval")
    table.add_column("")
    marks = {change.at: change for change in one.changes}
    for n, version in enumerate(one.versions):
        figure, mark = version.figure, ""
        if change := marks.get(n):
            unit = figure.unit if figure else "1"
            part = f" ({(change.after - change.before) / change.before:+.1%})" if change.before else ""
            mark = f"<- {format_value(change.before, unit)} became {format_value(change.after, unit)}{part}"
        interval = wording.span(figure.interval, figure.unit).strip() if figure else ""
        table.add_row(version.label, wording.value(figure) if figure else "-", interval, mark)
    return table


def as_dict(found: Sequence[Series]) -> list[dict[str, object]]:
    return [
        {
            "group": plain(one.group),
            "figure": one.name,
            "versions": [plain(version) for version in one.versions],
            "changes": [{"version": one.versions[change.at].label, **vars(change)} for change in one.changes],
            "why_none": one.why_none,
        }
        for one in found
    ]
