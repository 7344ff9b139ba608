# SPDX-License-Identifier: MIT
"""Campaigns while they run, on the terminal."""

from collections.abc import Sequence

from rich.console import Group as Lines
from rich.table import Table
from rich.text import Text

from rtqual.base.units import format_value
from rtqual.base.words import count
from rtqual.face.terminal.tables import table
from rtqual.stages.watched import Largest, Watched, Worse


def campaigns(watched: Sequence[Watched]) -> Lines:
    """A table a campaign, the largest sample first, and the runs under way below it."""
    parts: list[Table | Text] = []
    for each in watched:
        rows = []
        for seen in sorted(each.groups.values(), key=lambda seen: -seen.worst.value if seen.worst else 0.0):
            runs = f"{seen.runs} ({seen.refused} with problems)" if seen.refused else f"{seen.runs}"
            record = seen.worst.record[:12] if seen.worst else ""
            rows.append((seen.group.candidate, seen.group.title, runs, _shown(seen.last), _shown(seen.worst), record))
        done = count(sum(seen.runs for seen in each.groups.values()), "run")
        heads = ("candidate", "measured", "runs", "last", "worst", "record")
        said = f"{each.folder}: {'running' if each.works else 'not running'}, {done}"
        parts += [Text(said), table(heads, rows, whole=("record",))]
        parts += [Text(f"  runs: {line}") for line in each.running()]
    return Lines(*parts)


def told(worse: Worse) -> str:
    """One line of what got worse."""
    return (
        f"{worse.folder}: {worse.group}: largest sample {_shown(worse.now)}, before {_shown(worse.before)} "
        f"(record {worse.now.record[:12]})"
    )


def _shown(largest: Largest | None) -> str:
    if largest is None:
        return "no time"
    return f"{'≥ ' if largest.beyond else ''}{format_value(largest.value, largest.unit)}"
