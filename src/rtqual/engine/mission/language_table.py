# SPDX-License-Identifier: MIT
"""How a program is spoken to: its dictionary, what its reports mean, and its link."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from rtqual.base.units import DurationNs
from rtqual.engine.mission.explain import At
from rtqual.engine.mission.program import Word
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, NonEmpty, matching

MOST = 64  # files, rows, telecommands that begin or end a procedure
LONGEST_NS = 600 * 10**9
_PORT = r"(6553[0-5]|655[0-2]\d|65[0-4]\d\d|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3})"
LINK = rf"(connect|listen):{_PORT}|udp:{_PORT}:{_PORT}|pty:/[!-~]{{1,100}}"
Name = Annotated[str, *matching(r"[!-~]([ -~]{0,198}[!-~])?", "a name of the dictionary")]
Within = Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)]
Scalar = Annotated[bool, Strict()] | Annotated[int, Strict()] | Annotated[float, Strict()] | Annotated[str, Strict()]


class Stage(StrEnum):
    """What a report says of a telecommand."""

    ACCEPTED = "accepted"
    REFUSED = "refused"  # before it began
    STARTED = "started"
    PROGRESS = "progress"
    COMPLETED = "completed"
    FAILED = "failed"  # when it began, or later


EVENT = "event"


class Framing(StrEnum):
    """How packets lie on the link."""

    DATAGRAMS = "datagrams"  # each is one
    SPACE_PACKETS = "space-packets"  # CCSDS 133.0-B, one behind the other
    FPRIME = "fprime"  # F' 3.x: 0xDEADBEEF, size, packet, CRC-32
    COBS = "cobs"  # consistent overhead byte stuffing; a zero ends each


class Meaning(Table):
    """A row of what reports mean; the first that fits a report holds."""

    is_: Literal["accepted", "refused", "started", "progress", "completed", "failed", "event"] = Field(alias="is")
    """What it says: of a telecommand "accepted", "refused", "started", "progress", "completed" or "failed"; or
    "event"."""
    report: Name = "*"
    """Its report: a name, in which * is any letters, and {app} what stands in a command's name before its last dot."""
    where: dict[Name, Scalar] = Field({}, max_length=MOST)
    """Fields and their values that distinguish it from others."""
    token: dict[Name, Name] = Field({}, max_length=MOST)
    """By what it is known which telecommand is meant: a field of the report -> the command's field that it repeats, or
    "octets FROM-TO" of the command, counted from 0, TO not included. Without it: any that was sent before."""
    grows: Name | None = None
    """A counter in the report: each step that it makes from the report before is an answer."""
    cause: Name | None = None
    """The field that says why, of "refused" and "failed"."""
    name: Annotated[tuple[Name, ...], Field(max_length=8)] = ()
    """Of an event: the fields that make its name, joined by dots; the report's name when left out."""
    severity: Name | None = None
    """Of an event: how severe it is, as `severe` names it; what the dictionary says when left out."""
    severity_from: Name | None = None
    """Of an event: the field that says so."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.grows and self.token:
            raise At("grows", "stands beside token: a counter names no telecommand")
        if self.is_ != EVENT and (self.name or self.severity or self.severity_from):
            raise At("is", 'name and severity are of "event"')
        if self.is_ == EVENT and (self.token or self.grows or self.cause):
            raise At("is", "an event answers no telecommand; write token, grows and cause beside another")
        return self


class Spoken(Table):
    """The program's dictionary, and what stands in none."""

    format: Name
    """"table" (packets by hand), "fprime", "xtce", "cosmos", "scos", or one that another part brings
    (docs/dictionaries.md)."""
    files: Annotated[tuple[Word, ...], NonEmpty, Distinct, Field(max_length=MOST)]
    """Its files, from the mission's folder; a MIB's folder."""
    names: dict[Name, Word] = Field({}, max_length=MOST)
    """What stands for <%= NAME %> in COSMOS definitions."""
    root: Name | None = None
    """The packet that decoding begins with, where the files do not tell."""
    fill: dict[Name, Scalar] = Field({}, max_length=MOST)
    """Header fields that no command sets."""
    seal: tuple[Literal["ccsds-sequence", "ccsds-length", "cfe-checksum", "crc16-ccitt"], ...] = ()
    """What is filled into a telecommand last, in this order."""
    check: tuple[Literal["ccsds-sequence", "ccsds-length", "crc16-ccitt"], ...] = ()
    """What must hold of each report: "ccsds-sequence" (none of an APID is missing or there twice), its length, its
    checksum."""
    meanings: Literal["pus-1", "fprime", "cfe"] | None = None
    """Rows of meanings that rtqual brings; the mission's own [[verify.meaning]] go before them."""
    unknown: Literal["told", "fails"] = "told"
    """"told": a packet that the dictionary lacks is named and counted; "fails": it fails the procedure."""
    severe: tuple[Name, ...] = ("WARNING_HI", "FATAL", "ERROR", "CRITICAL", "MEDIUM", "HIGH")
    """Severities of events that fail a procedure, where nobody expects them."""


class Telecommand(Table):
    """A telecommand at the beginning or the end of every procedure."""

    send: Name
    """Its name."""
    args: dict[Name, Any] = Field({}, max_length=255)
    """Its arguments by their names."""
    unanswered: Annotated[bool, Strict()] = False
    """Whether no answer is asked for."""


class Robustness(Table):
    """How every telecommand is tried (`rtqual verify --robustness`)."""

    rest: Within = 500 * 10**6
    """Between the last of a telecommand's flood and those of `closing`: as long as the program needs to read all."""
    omit: Annotated[tuple[Name, ...], Distinct, Field(max_length=MOST)] = ()
    """Telecommands that are not tried: those that end the program, or take its link away."""


class Limits(Table):
    """How long the answers may take that every telecommand must have."""

    accepted: Within = 10**9
    """Until it is accepted."""
    completed: Within = 5 * 10**9
    """Until it is completed."""
