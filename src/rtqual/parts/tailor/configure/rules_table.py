# SPDX-License-Identifier: MIT
"""The removal list of docs/verification/tailor.md: `python -m rtqual.parts.tailor.configure.rules_table` prints it."""

from rtqual.base import words
from rtqual.parts.tailor.configure.rules import Removal, removals


def table() -> str:
    """Print an entry a row."""
    return f"{words.table(('entry', 'in the study', 'group', 'off', 'why'), map(_row, removals()))}\n"


def _row(entry: Removal) -> tuple[str, ...]:
    symbols = ", ".join(f"`{name}`" for name in entry.symbols)
    if entry.below:
        symbols += f", all below `{entry.below}`"
    why = entry.reason + (f". No longer exists: {entry.gone}" if entry.gone else "")
    return entry.id, entry.menu.removeprefix("Device drivers -> "), entry.group, symbols, why


if __name__ == "__main__":
    print(table(), end="")
