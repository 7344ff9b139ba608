# SPDX-License-Identifier: MIT
"""Two records, or two campaigns, beside each other."""

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console

from rtqual.base import words
from rtqual.engine.analysis.difference.compare import is_constant
from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.figure.model import Figure
from rtqual.face.terminal.plain import fields_of
from rtqual.face.terminal.tables import table


def comparison_dict(comparison: Comparison) -> dict[str, object]:
    return fields_of(comparison)


def print_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """A table for each pair, the reasons for what is undecided below it."""
    for (a, b), pair in groupby(comparisons, key=lambda compared: (compared.a, compared.b)):
        where, rows = a.title, list(pair)
        where += "; counted instructions: they rank, they are no latencies for flight" if rows[0].emulated else ""
        lines: list[tuple[str, ...]] = []
        reasons: dict[str, list[str]] = {}
        for comparison in (row for row in rows if not is_constant(row)):
            if comparison.relation == Relation.UNDECIDED:
                statement = str(comparison.relation)
                reasons.setdefault(comparison.why, []).append(comparison.statistic)
            else:
                note = f", {comparison.note}" if comparison.note else ""
                statement = f"a {comparison.relation} b{note}"
            superior = "-" if comparison.superiority is None else f"{comparison.superiority:.3f}"
            between = _lines(comparison.ratio), _lines(comparison.difference)
            lines.append((comparison.statistic, *between, superior, statement))
        numbers = ("a / b", "a - b", "P(a > b)")
        title = f"{where}\na = {a.candidate}, b = {b.candidate}"
        console.print(table(("statistic", *numbers, "statement"), lines, title, right=numbers))
        for reason, statistics in reasons.items():
            console.print(f"  undecided, {words.listed(statistics)}: {reason}", highlight=False)
        console.print()


def _lines(figure: Figure | None) -> str:
    """A figure, its interval below it."""
    return "-" if figure is None else wording.figure(figure).replace(" [", "\n[")
