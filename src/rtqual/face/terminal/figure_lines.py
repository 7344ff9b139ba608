# SPDX-License-Identifier: MIT
"""A campaign on the terminal: a line for each group, with its intervals below where the terminal is narrow."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table

from rtqual.base.units import step
from rtqual.base.words import clean, count, listed
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.figure.asked import USUAL
from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.face.terminal.tables import table
from rtqual.protocols.board.registry import this_machine
from rtqual.protocols.instrument.output import refused
from rtqual.stages.show import Shown

_WIDE = 110  # columns that hold a figure and its interval side by side


def print_figures(console: Console, found: Shown) -> None:
    """The verdict first, then a table for each thing measured: median, p99, max, and on how many samples they rest."""
    verdict = found.headline or f"No verdict: {found.why_no_verdict}"
    console.print(verdict, style="bold", highlight=False)
    for cell, reason in found.failures.items():
        console.print(f"failed: {cell}: {reason}", highlight=False)
    ordered = sorted(
        found.summaries,
        key=lambda summary: (summary.group.board == this_machine().name, *summary.group.cell, summary.group.candidate),
    )
    for _, some in groupby(ordered, key=lambda summary: summary.group.cell):
        summaries = list(some)
        sampled = next((clean(summary.series[0]) for summary in summaries if summary.series), "")
        console.print(f"\n{summaries[0].group.title}{f': {sampled}' * bool(sampled)}", style="bold", highlight=False)
        names = _names(summaries, found.asked)
        console.print(_table(summaries, names, narrow=console.width < _WIDE))
        for line in _reasons(summaries, names):
            console.print(f"  {line}", highlight=False)
    for line in found.missing:
        console.print(line, soft_wrap=True, highlight=False)


def _table(summaries: Sequence[Summary], names: Sequence[str], *, narrow: bool) -> Table:
    rows = []
    for summary in summaries:
        figures = [_figure(summary.figures[name], narrow=narrow) if name in summary.figures else "-" for name in names]
        n = f"{summary.samples:,}" if summary.samples else count(summary.runs, "run")
        rows.append(
            (summary.group.candidate, *([refused(summary.problems)] * len(names) if summary.problems else figures), n)
        )
    return table(("candidate", *names, "n"), rows, right=(*names, "n"), whole=names)


def _names(summaries: Sequence[Summary], asked: Sequence[str]) -> list[str]:
    """Of samples the usual figures, else the first that the instrument itself printed; then what the mission asks."""
    printed = [name for summary in summaries for name in summary.figures]
    usual = [name for name in USUAL if name in printed] or list(dict.fromkeys(printed))[: len(USUAL)]
    return list(dict.fromkeys([*usual, *(name for name in asked if name in printed)]))


def _figure(figure: Figure, *, narrow: bool) -> str:
    """'8.65 us [8.49, 8.83]': the interval in the figure's unit, below it where the terminal is narrow."""
    if figure.interval is None:
        return wording.value(figure)
    apart = "\n" if narrow else " "
    scale, _ = step(figure.value, figure.unit)
    low, high = (
        f"{end / scale:.4g}" if math.isfinite(end) else "no end" for end in (figure.interval.low, figure.interval.high)
    )
    return f"{wording.value(figure)}{apart}[{low}, {high}]"


def _reasons(summaries: Sequence[Summary], names: Sequence[str]) -> Iterator[str]:
    """Why figures have no interval, and why a group's are refused: each reason once."""
    reasons: dict[str, list[str]] = {}
    for summary in summaries:
        for problem in summary.problems:
            yield f"{summary.group.candidate} refused: {problem}"
        for name in names:
            figure = summary.figures.get(name)
            if figure is not None and figure.interval is None and not summary.problems:
                reasons.setdefault(figure.why_no_interval, []).append(name)
    for reason, lacking in reasons.items():
        yield f"no interval, {listed(list(dict.fromkeys(lacking)))}: {reason}"
