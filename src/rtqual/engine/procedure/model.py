# SPDX-License-Identifier: MIT
"""A procedure as it is written: steps at their times, each a telecommand or a fault, and what must come back."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import Field, PrivateAttr, Strict, model_validator

from rtqual.base.units import DurationNs
from rtqual.engine.mission.explain import At
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, NonEmpty, Slug, Text, matching
from rtqual.engine.mission.verify import Camera, RequirementId

LONGEST_NS = 600 * 10**9
STEPS_MOST, EXPECTS_MOST = 200, 450  # with those that a step repeats; the judge looks for their best assignment
_IMPLIED = 2  # of each telecommand: accepted, completed
KIND = r"\d{1,3}\.\d{1,3}"
ReportName = Annotated[
    str, *matching(rf"{KIND}|[A-Z][A-Z0-9_]*", "a report: write its type, as '1.7', or its name, as 'HK_CAMERA'")
]
Name = Annotated[str, *matching(r"[A-Z][A-Z0-9_]*", "a name of flight/packets.toml, as 'LIDAR_START'")]
FieldName = Annotated[str, *matching(r"[a-z][a-z0-9_]*", "a field of a report, as 'mode'")]
Hex = Annotated[str, *matching(r"([0-9a-f]{2}){1,1024}", "octets: write pairs of the digits 0-9 and a-f")]
_WITHIN = Field(ge=-(2**63), le=2**63)
Number = Annotated[int, Strict(), _WITHIN] | Annotated[float, Strict(), _WITHIN]


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


class Bounds(Table):
    """What a number of a report may be; `grows` is compared with the report of the same name before."""

    at_least: Number | None = None
    at_most: Number | None = None
    grows_at_least: Number | None = None
    grows_at_most: Number | None = None

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("says no bound; write at_least, at_most, grows_at_least or grows_at_most")
        return self

    @property
    def grows(self) -> bool:
        return bool({"grows_at_least", "grows_at_most"} & self.model_fields_set)

    def hold(self, value: Any, earlier: Any) -> bool:
        """Whether a number keeps them. `earlier`: that of the report before, or nothing."""
        grown = value - earlier if isinstance(earlier, int | float) else None
        return (
            (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
            and (self.grows_at_least is None or (grown is not None and grown >= self.grows_at_least))
            and (self.grows_at_most is None or (grown is not None and 0 <= grown <= self.grows_at_most))
        )


Wanted = Annotated[str, Strict(), NonEmpty] | Number | Bounds


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
    within: Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)]
    """How long after the step was done."""

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
    def said(self) -> str:
        if self.link:
            return f"link {self.link}"
        return f"file {self.file} {super().said}".rstrip() if self.file else super().said


class Forbid(Match):
    """A report that must not come after the step, unless another step expects it."""

    within: Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)] | None = None
    """For how long; until the procedure ends, when left out."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.report and not self.event:
            raise ValueError('forbids nothing; write report = "5.4" or event = "TO_SAFE"')
        return self


class Fault(Table):
    """Something that goes wrong, by intent. Exactly one."""

    camera: (
        Annotated[str, *matching(r"[a-z]+(@\d{1,9})?(:\d{1,7})?", "a fault of the camera, as 'unplug:500'")] | None
    ) = None
    """Of the software camera (docs/docking/emulator.md), as "unplug:500"."""
    signal: Literal["KILL", "STOP", "CONT"] | None = None
    """To the flight program. After KILL it is started again, as by the board's first process."""
    link: Literal["close", "open"] | None = None
    """The ground closes the link, or opens it again."""
    clock: Annotated[str, *matching(r"[+-]\d{1,7} (ms|s|min|h)", "a step of the clock, as '+10 s'")] | None = None
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


class Step(Table):
    """What is done at a time, and what must follow."""

    at: Annotated[DurationNs, Field(le=LONGEST_NS)]
    """When, from the moment that the link is there."""
    times: Annotated[int, Strict(), Field(ge=1, le=STEPS_MOST)] = 1
    """How often, each time with all that it expects."""
    every: Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)] | None = None
    """The time from one to the next."""
    send: Name | None = None
    """A telecommand. Exactly one of send, raw and fault; a step without any only expects."""
    args: dict[FieldName, Any] = Field({})
    """Its arguments by their names."""
    entries: Annotated[tuple[dict[FieldName, Any], ...], Field(max_length=255)] = ()
    """Of a telecommand with a list: its entries, each with its arguments."""
    damage: Damage | None = None
    """What is done to it before it is sent."""
    raw: Hex | None = None
    """Octets to send as they stand."""
    fault: Fault | None = None
    """Something that goes wrong, by intent."""
    expect: tuple[Expect, ...] = ()
    """What must come. A telecommand must be accepted and completed unless this says otherwise."""
    forbid: tuple[Forbid, ...] = ()
    """What must not come."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if sum(given is not None for given in (self.send, self.raw, self.fault)) > 1:
            raise ValueError("does more than one thing; write one of send, raw and fault, the others as steps")
        if (self.times > 1) is not (self.every is not None):
            raise At("times", "and every belong together; write both or none")
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
    def said(self) -> str:
        if self.send:
            return f"{self.send}{f', {self.damage}' if self.damage else ''}"
        return "raw octets" if self.raw else self.fault.said if self.fault else "wait"


class Peer(Table):
    """Another spacecraft, to which every pose goes over the air, and a log of them on a USB disk."""

    poses: Annotated[int, Strict(), Field(ge=1, le=65536)]
    """So many come, or more."""
    lost: Annotated[int, Strict(), Field(ge=0, le=65536)] = 0
    """So many, at most, are sent and do not come."""
    age: Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)]
    """Since the end of its frame, at most, when a pose comes."""
    lines_lost: Annotated[int, Strict(), Field(ge=0, le=65536)] = 0
    """So many poses, at most, have no whole line in the log when it is read from the disk again."""


class Described(Protocol):
    """What is known of every procedure, whatever program it is for."""

    @property
    def name(self) -> Slug: ...
    @property
    def title(self) -> Text: ...
    @property
    def verifies(self) -> tuple[RequirementId, ...]: ...
    @property
    def smoke(self) -> bool: ...
    @property
    def soak(self) -> bool: ...
    @property
    def ends(self) -> int: ...
    @property
    def steps(self) -> Sequence[object]: ...
    @property
    def emulated(self) -> bool: ...
    @property
    def acceptances(self) -> tuple[int, ...]: ...
    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]: ...


class Procedure(Table):
    """A procedure."""

    title: Text
    """One line: what it shows."""
    verifies: Annotated[tuple[RequirementId, ...], NonEmpty, Distinct]
    """The requirements of the mission that it verifies."""
    smoke: Annotated[bool, Strict()] = False
    """Whether it runs at the scale "smoke" too."""
    resets: Annotated[bool, Strict()] = False
    """Whether the board is reset: it has a watchdog then, and keeps the state on a disk."""
    soak: Annotated[bool, Strict()] = False
    """Whether it is a segment of a soak, which `--hours` plays one after the other; other scales leave it out."""
    tagged: Annotated[bool, Strict()] = False
    """Whether the program has a key, so that each telecommand carries a counter and a tag."""
    peer: Peer | None = None
    """Poses go to another spacecraft and into a log on a USB disk, memory is loaded: what must come of it."""
    allow: Annotated[tuple[Name, ...], Distinct] = ()
    """Events of severity medium or high that may come without being expected."""
    ends: Annotated[DurationNs, Field(gt=0, le=LONGEST_NS)]
    """When the ground stops listening; after every `within`."""
    steps: Annotated[tuple[Step, ...], Field(alias="step", min_length=1, max_length=STEPS_MOST)]
    """What is done, one [[step]] each, in the order of their times."""

    _name: str = PrivateAttr("")

    @property
    def emulated(self) -> bool:
        """Whether it needs the virtual board: a watchdog that resets it, its radios and its USB disk."""
        return self.resets or self.peer is not None

    @cached_property
    def done(self) -> tuple[Step, ...]:
        """Its steps in the order of their times, each that repeats as many."""
        every = [
            step.model_copy(update={"at": step.at + number * (step.every or 0)})
            for step in self.steps
            for number in range(step.times)
        ]
        return tuple(sorted(every, key=lambda step: step.at))

    @property
    def acceptances(self) -> tuple[int, ...]:
        """What it asks of acceptance, in ns."""
        return tuple(e.within for step in self.steps for e in step.expect if e.report in ("1.1", "ACCEPTED"))

    @property
    def name(self) -> Slug:
        """That of its file."""
        return self._name

    def named(self, name: str) -> Self:
        self._name = name
        return self

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
    def _in_order(self) -> Self:
        if sum(step.times for step in self.steps) > STEPS_MOST:
            raise At("step", f"are more than {STEPS_MOST} with those that repeat; make two procedures of it")
        count = sum(step.times * (len(step.expect) + len(step.forbid) + _IMPLIED) for step in self.steps)
        if count > EXPECTS_MOST:
            raise At("step", f"expect and forbid {count} reports in all; {EXPECTS_MOST} are the most: make two of it")
        if self.peer and self.resets:
            raise At("peer", "stands beside resets = true; the programs at both ends would end with the board")
        for number, step in enumerate(self.steps):
            if number and step.at < self.steps[number - 1].at:
                raise At(
                    "step", f"step {number + 1} is earlier than the one before; put them in the order of their times"
                )
            if step.fault and step.fault.kernel and not self.resets:
                raise At("step", f"step {number + 1} ends the kernel; write resets = true")
            if step.damage in OF_TAGS and not self.tagged:
                raise At("step", f"step {number + 1} damages a tag; write tagged = true")
            if step.damage is Damage.DUPLICATE and (not number or self.steps[number - 1].send is None):
                raise At("step", f"step {number + 1} repeats what the one before sent; that sends no telecommand")
            spans = [*(expect.within for expect in step.expect), *(forbid.within or 0 for forbid in step.forbid)]
            until = step.at + (step.times - 1) * (step.every or 0) + max(spans, default=0)
            if until > self.ends:
                raise At("ends", f"is before step {number + 1} has had its time; write at least {until / 10**6:g} ms")
        return self


def shown_as(wanted: object) -> str:
    """What a value must be, as a table of results says it."""
    if not isinstance(wanted, Bounds):
        return f"= {wanted}"
    signs = {"at_least": ">=", "at_most": "<=", "grows_at_least": "grows >=", "grows_at_most": "grows <="}
    given = ((signs[name], value) for name, value in wanted if value is not None)
    return " and ".join(f"{sign} {value:g}" for sign, value in given)
