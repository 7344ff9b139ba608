# SPDX-License-Identifier: MIT
"""A procedure as it is written: steps at their times, each a telecommand or a fault, and what must come back."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from rtqual.engine.mission.explain import At
from rtqual.engine.mission.language_table import Within
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, matching
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.described import Bounds, ClockStep, Described, Mishap, TimedStep, Wanted, shown_as

KIND = r"\d{1,3}\.\d{1,3}"
ReportName = Annotated[
    str, *matching(rf"{KIND}|[A-Z][A-Z0-9_]*", "a report: write its type, as '1.7', or its name, as 'HK_CAMERA'")
]
Name = Annotated[str, *matching(r"[A-Z][A-Z0-9_]*", "a name of flight/packets.toml, as 'LIDAR_START'")]
FieldName = Annotated[str, *matching(r"[a-z][a-z0-9_]*", "a field of a report, as 'mode'")]


class Damage(StrEnum):
    """What is done to a sound telecommand before it is sent."""

    CRC = "crc"  # one bit of the checksum
    LENGTH = "length"  # its length field says one octet more than there is
    APID = "apid"  # for another process
    VERSION = "version"  # of a packet version that there is not
    TRUNCATED = "truncated"  # half of it
    FLAGS = "flags"  # part of a segmented packet
    DUPLICATE = "duplicate"  # the very packet that the step before sent
    GAP = "gap"  # its sequence count leaves out some, as if packets were lost; itself sound
    TAG = "tag"  # one bit of its tag; the checksum is right
    UNTAGGED = "untagged"  # without a tag, where there must be one
    COUNTER = "counter"  # its tag is right, and its counter that of the last sound telecommand


OF_TAGS = (Damage.TAG, Damage.UNTAGGED, Damage.COUNTER)


class Match(Table):
    """Which reports are meant."""

    report: ReportName | None = None
    """Its type, as "1.7", or its name, as "HK_CAMERA"."""
    event: Name | None = None
    """An event's name; then the report may be left out."""
    failure: Name | None = None
    """The failure that a report of type 1.2, 1.4 or 1.8 names."""
    values: dict[FieldName, Wanted] = Field({})
    """Fields and what they must be: a value, or a table of bounds."""
    camera: Camera | None = None
    """Where frames come by this way only; by every way, when left out."""

    @property
    def said(self) -> str:
        """As a table of results names it."""
        parts = [self.event or self.report or "", *([self.failure] if self.failure else [])]
        parts += [f"{name} {shown_as(wanted)}" for name, wanted in self.values.items()]
        return " ".join(part for part in parts if part)


class Expect(Match):
    """A report that must come, once, after its step and in time."""

    link: Literal["lost", "up"] | None = None
    """In place of a report: the link is lost, or is there again."""
    file: Literal["complete"] | None = None
    """In place of a report: a file comes whole, by its checksum, and equal to the board's. `values`: name, octets,
    packets, lost (on purpose), asked (for again)."""
    within: Within
    """How long after the step was done."""

    answer: ClassVar[None] = None  # a report of service 1 is one
    since: ClassVar[None] = None

    @property
    def loses_link(self) -> bool:
        return self.link == "lost"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.link and (self.report or self.event or self.failure or self.values):
            raise At("link", "stands beside a report; give each an entry of its own")
        if self.file and (self.report or self.event or self.failure or self.link):
            raise At("file", "stands beside a report or the link; give each an entry of its own")
        if self.file and any(isinstance(value, Bounds) and value.grows for value in self.values.values()):
            raise At("values", "no file grows from one before; write at_least or at_most")
        if not self.link and not self.file and not self.report and not self.event:
            raise ValueError('names nothing to come; write report = "1.7", event = "CAMERA_GONE" or link = "lost"')
        return self

    @property
    def happens(self) -> str:
        """What happens, in place of a report."""
        return f"link {self.link}" if self.link else f"file {self.file}" if self.file else ""

    @property
    def said(self) -> str:
        return f"{self.happens} {super().said}".strip()


class Forbid(Match):
    """A report that must not come after the step, unless another step expects it."""

    within: Within | None = None
    """For how long; until the procedure ends, when left out."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.report and not self.event:
            raise ValueError('forbids nothing; write report = "5.4" or event = "TO_SAFE"')
        return self


class Fault(Mishap):
    """Something that goes wrong, by intent. Exactly one."""

    camera: (
        Annotated[str, *matching(r"[a-z]+(@\d{1,9})?(:\d{1,7})?", "a fault of the camera, as 'unplug:500'")] | None
    ) = None
    """Of the software camera (docs/docking/emulator.md), as "unplug:500"."""
    signal: Literal["KILL", "STOP", "CONT"] | None = None
    """To the flight program. After KILL it is started again, as by the board's first process."""
    link: Literal["close", "open"] | None = None
    """The ground closes the link, or opens it again."""
    clock: ClockStep | None = None
    """The board's real-time clock is set forwards or back."""
    kernel: Literal["panic", "hang"] | None = None
    """The kernel panics, and resets the board; or nothing runs any more, until the watchdog does."""
    flip: (
        Annotated[str, *matching(r"[01]:\d{1,3}( [01]:\d{1,3})*", "bits of the program's state, as '0:7' or '0:7 1:3'")]
        | None
    ) = None
    """Bits of the flight program's state in memory flip, as "0:7": of its first copy, bit 7 of what its file holds. Of
    512 bits; some ms after the last change, when the file is written."""
    files: Annotated[str, *matching(r"lose:\d{1,2}", "packets lost of 100, as 'lose:10'")] | None = None
    """From now on so many of 100 packets of files are lost, both ways, the same in each run; "lose:0" ends it."""
    stranger: Literal["comes", "goes"] | None = None
    """One who may not command floods the flight program's port: eight connections, each made anew again and again, and
    on all of them packets that are for another process."""
    lost: Literal["state", "counter1", "counter2", "counter3"] | None = None
    """A file that the program keeps is gone: that of its state, or one of the three copies of its counter."""
    disk: Literal["full", "free"] | None = None
    """The disk that the program keeps its state on is filled, or freed."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"is one fault: write exactly one of {', '.join(type(self).model_fields)}")
        return self

    @property
    def said(self) -> str:
        name, value = next((name, value) for name, value in self if value is not None)
        return f"{name} {value}"


class Step(TimedStep):
    """What is done at a time, and what must follow."""

    send: Name | None = None
    args: dict[FieldName, Any] = Field({})
    """Its arguments by their names."""
    entries: Annotated[tuple[dict[FieldName, Any], ...], Field(max_length=255)] = ()
    """Of a telecommand with a list: its entries, each with its arguments."""
    damage: Damage | None = None
    fault: Fault | None = None
    expect: tuple[Expect, ...] = ()
    """What must come. A telecommand must be accepted and completed unless this says otherwise."""
    forbid: tuple[Forbid, ...] = ()
    """What must not come."""

    is_: ClassVar[tuple[()]] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.send is None and (self.args or self.entries or self.damage):
            raise At(
                "damage" if self.damage else "entries" if self.entries else "args",
                "belongs to a telecommand; write send",
            )
        if not (self.send or self.raw or self.fault or self.expect or self.forbid):
            raise ValueError("does nothing and expects nothing; write send, raw, fault or expect")
        if (self.raw or (self.damage and self.damage is not Damage.GAP)) and not (self.expect or self.forbid):
            raise ValueError("sends what is damaged and says nothing of what follows; write expect or forbid")
        return self

    @property
    def awaits(self) -> tuple[Expect | Forbid, ...]:
        return (*self.expect, *self.forbid)


class Peer(Table):
    """Another spacecraft, to which every pose goes over the air, and a log of them on a USB disk."""

    poses: Annotated[int, Strict(), Field(ge=1, le=65536)]
    """So many come, or more."""
    lost: Annotated[int, Strict(), Field(ge=0, le=65536)] = 0
    """So many, at most, are sent and do not come."""
    age: Within
    """Since the end of its frame, at most, when a pose comes."""
    lines_lost: Annotated[int, Strict(), Field(ge=0, le=65536)] = 0
    """So many poses, at most, have no whole line in the log when it is read from the disk again."""


class Procedure(Described[Step]):
    """A procedure for the flight program."""

    resets: Annotated[bool, Strict()] = False
    """Whether the board is reset: it has a watchdog then, and keeps the state on a disk."""
    tagged: Annotated[bool, Strict()] = False
    """Whether the program has a key, so that each telecommand carries a counter and a tag."""
    peer: Peer | None = None
    """Poses go to another spacecraft and into a log on a USB disk, memory is loaded: what must come of it."""
    allow: Annotated[tuple[Name, ...], Distinct] = ()
    """Events of severity medium or high that may come without being expected."""

    tolerant: ClassVar[bool] = False
    ends_program: ClassVar[bool] = False

    @property
    def emulated(self) -> bool:
        """Whether it needs the virtual board: a watchdog that resets it, its radios and its USB disk."""
        return self.resets or self.peer is not None

    @property
    def acceptances(self) -> tuple[int, ...]:
        """What it asks of acceptance, in ns."""
        return tuple(e.within for step in self.steps for e in step.expect if e.report in ("1.1", "ACCEPTED"))

    def by(self, camera: Camera) -> Self:
        """With what it expects and forbids where frames come by this way."""
        steps = [
            step.model_copy(
                update={
                    "expect": tuple(expect for expect in step.expect if expect.camera in (None, camera)),
                    "forbid": tuple(forbid for forbid in step.forbid if forbid.camera in (None, camera)),
                }
            )
            for step in self.steps
        ]
        copy = self.model_copy(update={"steps": tuple(steps)})
        copy.__dict__.pop("done", None)  # which was cached of the steps as they were
        return copy

    @model_validator(mode="after")
    def _by_each_way(self) -> Self:
        """What is asked of one way of the camera leaves something to ask of the other."""
        for camera in Camera:
            left = self.by(camera).steps
            asks = [bool(step.expect or step.forbid) for step in self.steps]
            still = [bool(step.expect or step.forbid) for step in left]
            for number, step in enumerate(left):
                needs = not (step.send or step.raw or step.fault) or step.raw or step.damage not in (None, Damage.GAP)
                if needs and asks[number] and not still[number]:
                    raise At(
                        "step", f"step {number + 1} asks nothing where frames come by {camera}; ask something there too"
                    )
            if any(asks) and not any(still):
                raise At("step", f"nothing is asked where frames come by {camera}; ask something there too")
        return self

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.peer and self.resets:
            raise At("peer", "stands beside resets = true; the programs at both ends would end with the board")
        for number, step in enumerate(self.steps):
            if step.fault and step.fault.kernel and not self.resets:
                raise At("step", f"step {number + 1} ends the kernel; write resets = true")
            if step.damage in OF_TAGS and not self.tagged:
                raise At("step", f"step {number + 1} damages a tag; write tagged = true")
        return self
