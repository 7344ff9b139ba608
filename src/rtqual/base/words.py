# SPDX-License-Identifier: MIT
"""Counts, names and shares in sentences, and which characters none of them may carry."""

import math
import re
from collections.abc import Callable, Iterable, Sequence

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Without control and direction characters: they command a terminal, turn a line around, or break XML."""
    return _CONTROL.sub(" ", text)


def count(n: int, name: str) -> str:
    """'1 run', '12,000 samples'."""
    return f"{n:,} {name}" if n == 1 else f"{n:,} {name}s"


def one_in(probability: float) -> str:
    """A small probability: 0.0003 -> '1 in 3,333', rounded to the more likely side."""
    return f"1 in {math.floor(1 / probability):,}"


def share(part: int, whole: int) -> str:
    """'0.1 %'."""
    return f"{100 * part / whole:.3g} %"


def whole(text: str) -> int | None:
    """A number that somebody else wrote, of at most 18 plain digits; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def some(names: Sequence[str], what: str, most: int = 2) -> str:
    """A few names, else how many there are: "'a' and 'b'", '10 criteria'."""
    return listed([f"'{name}'" for name in names]) if len(names) <= most else f"{len(names)} {what}"


def under(load: str) -> str:
    return "idle" if load == "none" else f"under {load}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """'a', 'a and b', 'a, b and c'; empty for none."""
    *head, last = names or ("",)
    return f"{', '.join(head)} {word} {last}" if head else last


def _barless(text: str) -> str:
    return text.replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], written: Callable[[str], str] = _barless) -> str:
    """Lay out a Markdown table: a line a row; `written`: so that no cell ends another, nor means anything."""
    lines = [[written(str(cell)) for cell in row] for row in (heads, *rows)]
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|" + "---|" * len(heads), *rest])
