# SPDX-License-Identifier: MIT
"""The lines of the timed script that a ground plays on the board, whatever program is at the other end."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rtqual.protocols.dictionary import Encoded

SETUP, CLOSING = -2, -1  # in place of a step's number


@dataclass(frozen=True)
class Line:
    """What the ground does. `step` counts the procedure's from 0, or is one of the above; None: the script's end."""

    at_ns: int
    text: str  # verb and arguments
    step: int | None = None
    command: str = ""  # whose packet is sent
    packet: bytes = b""  # as it lies on the link
    sound: bool = False  # whether it is a telecommand as it should be, which must be answered
    encoded: Encoded = field(default_factory=lambda: Encoded(b""))  # what is sent, before it is framed
    said: str = ""  # in place of the command, in a table of results


def script(lines: Iterable[Line]) -> str:
    """The file's text."""
    return "".join(f"{line.at_ns} {line.text}\n" for line in lines)
