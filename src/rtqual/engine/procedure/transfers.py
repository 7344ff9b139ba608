# SPDX-License-Identifier: MIT
"""Files from the board, as the ground's log tells of their ends (docking/ground/files.c)."""

import re
from dataclasses import dataclass
from typing import Self

NAME = r"[A-Za-z0-9._-]{1,32}"
_LINE = re.compile(
    rf"(?P<transaction>[1-9]\d{{0,9}}) (?P<condition>\d{{1,2}}) (?P<name>{NAME}) (?P<octets>\d{{1,10}})"
    r" [0-9a-f]{8} (?P<differ>-|\d{1,10}) (?P<packets>\d{1,9}) (?P<missing>\d{1,9}) (?P<lost>\d{1,9})"
    r" (?P<asked>\d{1,9})",
    re.ASCII,
)
CONDITIONS = {  # CCSDS 727.0-B-5, table 5-5
    1: "nobody acknowledged its end", 4: "it is too large", 5: "its checksum is wrong", 6: "its size is wrong",
    7: "what was asked for again never came", 8: "it stopped", 11: "its checksum is of an unknown kind",
    15: "it was cancelled, or the next one began",
}  # fmt: skip


@dataclass(frozen=True)
class File:
    """`differ`: octets that are others on the board, None where nothing was compared. `missing`: packets that never
    came; `lost`: on purpose; `asked`: pieces asked for again."""

    transaction: int
    condition: int
    name: str
    octets: int
    differ: int | None
    packets: int
    missing: int
    lost: int
    asked: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """None: it is no such line."""
        match = _LINE.fullmatch(text)
        if match is None:
            return None
        said = match.groupdict()
        name, differ = said.pop("name"), said.pop("differ")
        numbers = {key: int(value) for key, value in said.items()}
        return cls(name=name, differ=None if differ == "-" else int(differ), **numbers)

    @property
    def wrong(self) -> str:
        """Why it is not the board's file, whole; empty where it is."""
        if self.condition:
            return CONDITIONS.get(self.condition, f"condition {self.condition}")
        if self.missing:
            return f"{self.missing} of its packets never came, which nobody lost on purpose"
        if self.differ is None:
            return "nobody compared it with the board's"
        return f"{self.differ} of its octets differ from the board's" if self.differ else ""
