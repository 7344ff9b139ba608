# SPDX-License-Identifier: MIT
"""What the regression gate found, on the terminal and as JSON."""

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from rtqual.base.words import clean
from rtqual.engine.analysis.regression.course import Course, Regressions
from rtqual.face.terminal.plain import fields_of
from rtqual.face.terminal.tables import grid
from rtqual.reports.machine.gate_sections import headline, overall, sections

_TONES = {Course.WORSE: "bold red", Course.BETTER: "bold green", Course.UNDECIDED: "bold yellow"}


def print_gate(console: Console, found: Regressions) -> None:
    """The headline last, where a log is read first."""
    console.print(Text(f"Baseline {found.before}, now {found.after}"), soft_wrap=True)
    for section in sections(found):
        console.print(Text(section.title, _TONES.get(section.course, "bold")))
        for part in section.parts:
            if part.heading:
                console.print(Padding(Text(clean(part.heading)), (0, 0, 0, 2)))
            console.print(grid(part.rows, indent=4))
    console.print(Text(headline(found), _TONES[overall(found)]), soft_wrap=True)


def as_dict(found: Regressions) -> dict[str, object]:
    return {"failed": found.failed, "headline": headline(found), **fields_of(found)}
