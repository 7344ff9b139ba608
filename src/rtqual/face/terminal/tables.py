# SPDX-License-Identifier: MIT
"""Tables on the terminal. A cell is shown as it stands, whoever wrote it; one with a style is a Text."""

from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtqual.base.words import clean


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str = "",
    *,
    right: Collection[str] = (),
    whole: Collection[str] = (),
) -> Table:
    """Lay out rows below heads, without upright lines, so that 80 characters hold much.

    `right`: columns of numbers; `whole`: those whose cells are not broken.
    """
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, title_justify="left")
    drawn.title = Text(clean(title), "bold") if title else None
    for head in heads:
        drawn.add_column(
            _cell(head),
            justify="right" if head in right else "left",
            no_wrap=head in whole,
            overflow="ellipsis" if head in whole else "fold",
        )
    return _filled(drawn, rows)


def grid(rows: Sequence[Sequence[object]], *, right: Collection[int] = (), apart: int = 2, indent: int = 2) -> Padding:
    """Lay out rows alone; all columns but the last are whole."""
    drawn = Table.grid(padding=(0, apart, 0, 0))
    last = max(map(len, rows), default=0) - 1
    for number in range(last + 1):
        drawn.add_column(justify="right" if number in right else "left", no_wrap=number < last)
    return Padding(_filled(drawn, rows), (0, 0, 0, indent))


def _filled(drawn: Table, rows: Iterable[Sequence[object]]) -> Table:
    for row in rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text(clean(str(value)))
