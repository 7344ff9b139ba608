# SPDX-License-Identifier: MIT
"""What the columns of a table sort by: the values of their cells, read back from how base/units.py writes them."""

import re
from dataclasses import dataclass

from rtqual.base.units import LONGER_NS, STEPS
from rtqual.reports.page.document import Table

_FIGURE = re.compile(r"(?:≥\s)?(-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e-?[0-9]+)?|-?∞)(?:\s(\S+))?")
_LONGER = {name: (scale, "ns") for scale, name in LONGER_NS}
_UNITS = _LONGER | {name: (scale, base) for base, steps in STEPS.items() for scale, name in steps}


@dataclass(frozen=True)
class Key:
    value: float  # in the base unit
    unit: str  # figures of different units are sorted apart

    @property
    def written(self) -> str:
        """As JavaScript reads it."""
        return repr(self.value).removesuffix(".0").replace("inf", "Infinity")


def key_of(text: str) -> Key | None:
    """'≥ 12.3 µs' -> 12,300 ns; None: no figure. Intervals and remarks are not part of a cell's text."""
    match = _FIGURE.fullmatch(text)
    if match is None:
        return None
    digits, name = match[1].replace(",", "").replace("∞", "inf"), match[2] or ""
    scale, unit = _UNITS.get(name, (1.0, name))
    return Key(float(digits) * scale, unit)


def keys_of(table: Table) -> list[list[Key | None]]:
    """For every row, what its cells sort by; None where it is their text."""
    return [
        [key_of(cell.text) if column.numeric else None for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
