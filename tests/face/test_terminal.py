# SPDX-License-Identifier: MIT
"""What others wrote cannot command the terminal."""

import io
import re

import pytest
from rich import box
from rich.markup import escape
from rich.panel import Panel
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from rtqual.base.words import clean
from rtqual.face.commands.app import Terminal

HOSTILE = "a\x1b]0;owned\x07b\x1b[31mc\x9b2Jd\x00\x08\re\u202ef\u2066g\u200fh\u061ci\u2028j"
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def table() -> Table:
    table = Table("a", title=HOSTILE, box=box.SIMPLE)
    table.add_row(HOSTILE)
    return table


@pytest.mark.parametrize(
    "shown", [HOSTILE, escape(HOSTILE), Text(HOSTILE, "bold"), Panel(HOSTILE, title=HOSTILE), table()]
)
@pytest.mark.parametrize("soft_wrap", [False, True])
def test_no_command_of_others_reaches_a_terminal(shown: object, soft_wrap: bool) -> None:
    out = io.StringIO()
    Terminal(file=out, force_terminal=True, color_system="truecolor", width=100).print(shown, soft_wrap=soft_wrap)
    told = re.sub(r"\x1b\[[\d;]*m", "", out.getvalue().replace("[31m", ""))  # rich's own colours
    assert "owned" in told and not FORBIDDEN.search(told)


def test_rich_itself_still_commands_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # to a dumb one it says nothing
    out = io.StringIO()
    with Progress(console=Terminal(file=out, force_terminal=True)) as progress:
        progress.add_task(HOSTILE)
    assert "\x1b[?25l" in out.getvalue() and "\x1b]0;" not in out.getvalue() and "\u202e" not in out.getvalue()


def test_what_is_cleaned_stays_readable() -> None:
    assert clean("a\tb\n12 µs, ä") == "a\tb\n12 µs, ä"
    assert clean("\x1b[2J") == " [2J"
