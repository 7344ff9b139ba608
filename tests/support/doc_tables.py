# SPDX-License-Identifier: MIT
"""Tables of the documentation that tests measure: printed, and put where the documentation has their name.

`<!-- table: NAME -->` and the next `<!-- end -->` stand around a table, so that nobody types its figures.
"""

from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def put(page: str, name: str, lines: Iterable[str], docs: Path = DOCS) -> None:
    """Write a table into docs/`page`. Raises ValueError where the page has no place for it."""
    path, table = docs / page, "\n".join(lines)
    before, begin, rest = path.read_text().partition(f"<!-- table: {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not begin or not end:
        raise ValueError(f"{path}: no '<!-- table: {name} -->' with its '<!-- end -->'")
    path.write_text(f"{before}{begin}{table}\n{end}{after}")
    print(table)
