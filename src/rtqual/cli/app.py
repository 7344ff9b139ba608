# SPDX-License-Identifier: MIT
"""The command line's frame: the application, the consoles, what all commands share."""

import json
import sys
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.console import Console
from rich.markup import escape

from rtqual import __version__

app = App(
    name="rtqual",
    version=__version__,
    help="Chooses and qualifies the real-time operating system of a low-cost flight computer.",
    suppress_keyboard_interrupt=False,  # main() tells it
)

STDOUT, STDERR = Console(emoji=False), Console(stderr=True, emoji=False)
LITERAL = Console(markup=False, emoji=False)  # for what others wrote: "[two]" is no style there
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")


def tell(text: str) -> None:
    STDERR.print(escape(text), highlight=False)
