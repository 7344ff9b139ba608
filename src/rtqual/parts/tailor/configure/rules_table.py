# SPDX-License-Identifier: MIT
"""The removal list of docs/verification/tailor.md: `python -m rtqual.parts.tailor.configure.rules_table` prints it."""

from rtqual.parts.tailor.configure.rules import Removal, removals


def table() -> str:
    """A Markdown table, an entry a row."""
    rows = ["| entry | in the study | group | off | why |", "|---|---|---|---|---|"]
    return "\n".join([*rows, *(_row(entry) for entry in removals())]) + "\n"


def _row(entry: Removal) -> str:
    symbols = ", ".join(f"`{name}`" for name in entry.symbols)
    if entry.below:
        symbols += f", all below `{entry.below}`"
    why = entry.reason + (f". No longer exists: {entry.gone}" if entry.gone else "")
    menu = entry.menu.removeprefix("Device drivers -> ").replace("|", "\\|")
    return f"| {entry.id} | {menu} | {entry.group} | {symbols} | {why} |"


if __name__ == "__main__":
    print(table(), end="")
