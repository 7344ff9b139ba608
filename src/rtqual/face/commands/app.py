# SPDX-License-Identifier: MIT
"""The command line's frame: the consoles, what all commands share."""

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from rtqual.base.words import clean


class Terminal(Console):
    """Whatever is printed, only rich itself commands the terminal: texts come from records, missions and guests."""

    def on_broken_pipe(self) -> None:
        """rich would end with 1, which says of a gate that something is worse."""
        raise BrokenPipeError

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else clean(text), style, control)


STDOUT, STDERR = Terminal(emoji=False), Terminal(stderr=True, emoji=False)
LITERAL = Terminal(markup=False, emoji=False)  # for what others wrote: "[two]" is no style there
Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for machines.")]


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")


def tell(text: str) -> None:
    STDERR.print(escape(text), highlight=False)
