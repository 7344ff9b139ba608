# SPDX-License-Identifier: MIT
"""The lines of the timed script that a ground plays on the board, whatever program is at the other end."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from rtqual.engine.procedure.described import DUPLICATE, StepT_co
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


def lines_of(
    steps: Iterable[StepT_co],
    fault: Callable[[Any], str],
    octets: Callable[[int, StepT_co, bytes], Line],
    telecommand: Callable[[int, StepT_co], Line],
) -> Iterator[Line]:
    """Yield a line for each step that does something; a duplicate is the very packet of the step before."""
    before = Line(0, "")
    for number, step in enumerate(steps):
        if step.fault:
            line = Line(step.at, fault(step.fault), number)
        elif step.damage == DUPLICATE:
            line = replace(before, at_ns=step.at, step=number, sound=False)
        elif step.raw:
            line = octets(number, step, bytes.fromhex(step.raw))
        elif step.send:
            line = telecommand(number, step)
        else:
            continue
        before = line if line.packet else before
        yield line


def script(lines: Iterable[Line]) -> str:
    """The file's text."""
    return "".join(f"{line.at_ns} {line.text}\n" for line in lines)
