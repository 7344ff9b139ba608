# SPDX-License-Identifier: MIT
"""Figures over versions, on the terminal and for machines."""

from rich.console import Console
from rich.table import Table

from rtqual.base.units import format_value
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.regression.changes import CONFIRMED, Change
from rtqual.face.terminal.plain import plain
from rtqual.face.terminal.tables import table
from rtqual.stages.history import FigureHistory, History


def print_history(console: Console, found: History) -> None:
    """A table for each figure; a version that changed it says from what to what, by how much, and how sure it is."""
    for series in found.series:
        title = f"{series.group.candidate}, {series.name}: {series.group.title}"
        console.print(title, style="bold", highlight=False)
        console.print(_table(series))
        if series.why_none:
            console.print(f"  no change looked for: {series.why_none}", highlight=False)
        if series.drift:
            unit = _unit(series)
            ends = " to ".join(format_value(end, unit) for end in (series.drift.before, series.drift.after))
            console.print(f"  drifts, in no step: a line from {ends} fits better than levels", highlight=False)
        console.print()
    for shift in found.together:
        its = shift.shift
        console.print(
            f"{shift.label} moved {shift.name} of {shift.candidate} on {its.boards} boards together: "
            f"{its.times - 1:+.1%} (median; {shift.cell})",
            highlight=False,
        )
    looked = [trend for trend in found.series if not trend.why_none]
    states = [{trend.state(change) for change in trend.changes} for trend in looked]
    changed, new, gone = (sum(state in its for its in states) for state in ("stands", "new", "gone"))
    drifting = sum(trend.drift is not None for trend in looked)
    console.print(
        f"{changed} of {len(looked)} series changed; {new} may have, {drifting} drift, {gone} no longer show a change "
        "that they did.",
        highlight=False,
    )


def _table(series: FigureHistory) -> Table:
    rows = []
    marks = {change.at: change for change in series.changes}
    for n, version in enumerate(series.versions):
        figure = version.figure
        interval = wording.span(figure.interval, figure.unit).strip() if figure else ""
        mark = _mark(series, marks[n]) if n in marks else ""
        rows.append((version.label, wording.value(figure) if figure else "-", interval, mark))
    return table(("version", "value", "95 % interval", ""), rows, right=("value",))


def _mark(series: FigureHistory, change: Change) -> str:
    before, after = (format_value(value, _unit(series)) for value in (change.before, change.after))
    part = f" ({(change.after - change.before) / change.before:+.1%})" if change.before else ""
    if change.gone is not None:
        since, gone = _label(series, change.since), _label(series, change.gone)
        return f"<- gone: {before} became {after}{part} from {since} to {gone}"
    new = series.state(change) == "new"
    return f"<- {before} became {after}{part}{f'; new: {CONFIRMED} further versions confirm it' if new else ''}"


def _label(series: FigureHistory, version: int) -> str:
    return series.versions[version].label


def _unit(series: FigureHistory) -> str:
    return next((version.figure.unit for version in series.versions if version.figure), "1")


def as_dict(found: History) -> dict[str, object]:
    return {
        "series": [
            {
                "group": plain(series.group),
                "figure": series.name,
                "versions": [plain(version) for version in series.versions],
                "changes": [_as_dict(series, change) for change in series.changes],
                "drift": None if series.drift is None else vars(series.drift),
                "why_none": series.why_none,
            }
            for series in found.series
        ],
        "together": [plain(together) for together in found.together],
    }


def _as_dict(series: FigureHistory, change: Change) -> dict[str, object]:
    gone = None if change.gone is None else _label(series, change.gone)
    return {
        **vars(change),
        "version": _label(series, change.at),
        "state": series.state(change),
        "since": _label(series, change.since),
        "gone": gone,
    }
