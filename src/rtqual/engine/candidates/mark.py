# SPDX-License-Identifier: MIT
"""The mark of an RTOS image: what it says of itself, found in its bytes and never run (target/probe/rtos/mark.h).

It is a stranger's text, and goes into records and reports: each row has its own pattern, and what does not fit it is
refused. The machine is a name that rtqual knows; nothing of a mark reaches a command line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from rtqual.base.errors import BadInput
from rtqual.base.words import listed

_START, _BEFORE = b"rtqual-probe image 2\n", b"rtqual-probe image: "
_MOST_B = 1024
_NEEDED = {
    "system": r"[A-Za-z][\w./+ -]{0,30}",
    "version": r"\w[\w.,+()~ -]{0,59}",
    "tick": r"a tick every [1-9]\d{0,6} us|tickless(?: in steps of [1-9]\d{0,6} us)?",
    "machine": r"[a-z0-9-]{1,20}",
    "memory": r"[1-9]\d{0,4}",
    "battery": r"[0-9a-f]{16}",
}
_HAS = "yes|sources|none"
_OPTIONAL = {"licence": r"\w[\w.+ -]{0,23}", "usb": _HAS, "wifi": _HAS, "protection": _HAS}
_NS_PER_US = 1000


class Has(Enum):
    """Whether a system brings something."""

    YES = "in what was measured"
    SOURCES = "in its sources, not in what was measured"
    NO = "none"
    UNTOLD = "not told"


_WORDS = {"yes": Has.YES, "sources": Has.SOURCES, "none": Has.NO}


@dataclass(frozen=True)
class Mark:
    """`rows`: what it says, by the names of its lines."""

    rows: Mapping[str, str]

    @property
    def name(self) -> str:
        """As the image itself prints it."""
        return f"{self.rows['system']} {self.rows['version']}, {self.rows['tick']}"

    @property
    def memory_mib(self) -> int:
        return int(self.rows["memory"])

    @property
    def steps_ns(self) -> tuple[int, int]:
        """The least and the most that times lie apart which its timers can be set to."""
        word = re.search(r"\d+", self.rows["tick"])
        step_ns = int(word[0]) * _NS_PER_US if word else _NS_PER_US
        return (1 if self.rows["tick"].startswith("tickless") else step_ns), step_ns


def has(rows: Mapping[str, str], what: str) -> Has:
    """Whether a mark, or the facts of a record that it went into, says that the system brings `what`."""
    return _WORDS.get(rows.get(what, ""), Has.UNTOLD)


def read(content: bytes) -> Mark:
    """The mark in an image. Raises BadInput, beginning with "has", where there is none or it cannot be believed."""
    if content.count(_START) != 1:
        if _START in content:
            raise BadInput(f"has {content.count(_START)} marks in it: link one port alone (docs/port.md)")
        old = "the mark of an older rtqual" if _BEFORE in content else "no mark of rtqual's probe"
        raise BadInput(f"has {old} in it: link it with the probe of this rtqual (docs/port.md)")
    start = content.index(_START) + len(_START)
    text, end, _ = content[start : start + _MOST_B].partition(b"\0")
    if not end:
        raise BadInput("has a mark without an end: RTQUAL_MARK makes one (docs/port.md)")
    rows: dict[str, str] = {}
    for line in text.decode("latin-1").removesuffix("\n").split("\n"):
        name, _, value = line.partition("=")
        pattern = {**_NEEDED, **_OPTIONAL}.get(name)
        if pattern is None or name in rows:
            why = "stands twice" if name in rows else "this rtqual does not know"
            raise BadInput(f"has a mark with the line {line[:40]!a}, which {why}")
        if not re.fullmatch(pattern, value, re.ASCII):
            raise BadInput(f"has a mark whose {name} is {value[:40]!a}: it must fit {pattern} (docs/port.md)")
        rows[name] = value
    if lacking := [name for name in _NEEDED if name not in rows]:
        raise BadInput(f"has a mark that does not tell {listed(lacking)} (docs/port.md)")
    return Mark(rows)
