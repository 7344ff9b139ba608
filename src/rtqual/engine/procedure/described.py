# SPDX-License-Identifier: MIT
"""What every procedure has, whatever program it is for: its name, and steps in the order of their times."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Any, Generic, Protocol, Self, TypeVar

from pydantic import Field, PrivateAttr, Strict, model_validator

from rtqual.base.units import DurationNs, parse_duration_ns
from rtqual.engine.mission.explain import At
from rtqual.engine.mission.language_table import LONGEST_NS, Within
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, NonEmpty, Slug, Text, matching
from rtqual.engine.mission.verify_table import RequirementId

STEPS_MOST, EXPECTS_MOST = 200, 450  # with those that a step repeats; the judge looks for their best assignment
DUPLICATE = "duplicate"  # the damage of a step that sends again what the one before sent
_IMPLIED = 2  # of each telecommand: accepted, completed
ClockStep = Annotated[str, *matching(r"[+-]\d{1,7} (ms|s|min|h)", "a step of the clock, as '+10 s'")]
Hex = Annotated[str, *matching(r"([0-9a-f]{2}){1,1024}", "octets: write pairs of the digits 0-9 and a-f")]
_WITHIN = Field(ge=-(2**63), le=2**63)
Number = Annotated[int, Strict(), _WITHIN] | Annotated[float, Strict(), _WITHIN]


def clock_ns(step: ClockStep) -> int:
    """By how much a step sets the clock, in ns."""
    return parse_duration_ns(step[1:]) * (-1 if step[0] == "-" else 1)


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


def shown_as(wanted: object) -> str:
    """Write what a value must be, as a table of results says it."""
    if not isinstance(wanted, Bounds):
        return f"= {wanted}"
    signs = {"at_least": ">=", "at_most": "<=", "grows_at_least": "grows >=", "grows_at_most": "grows <="}
    given = ((signs[name], value) for name, value in wanted if value is not None)
    return " and ".join(f"{sign} {value:g}" for sign, value in given)


class Awaited(Protocol):
    """A report that must come, or must not."""

    @property
    def values(self) -> Mapping[str, Any]: ...
    @property
    def within(self) -> int | None: ...
    @property
    def said(self) -> str: ...


class Mishap(Table):
    """Something that goes wrong, by intent."""

    @property
    @abstractmethod
    def said(self) -> str:
        """As a table of results names it."""


class TimedStep(Table):
    """A step: what is done at a time, and what must follow."""

    at: Annotated[DurationNs, Field(le=LONGEST_NS)]
    """When, from the moment that the link is there."""
    times: Annotated[int, Strict(), Field(ge=1, le=STEPS_MOST)] = 1
    """How often, each time with all that it expects."""
    every: Within | None = None
    """The time from one to the next."""

    send: str | None = None
    """A telecommand. Exactly one of send, raw and fault; a step without any only looks at what comes."""
    damage: StrEnum | None = None
    """What is done to it before it is sent."""
    raw: Hex | None = None
    """Octets to send as they stand."""
    fault: Mishap | None = None
    """Something that goes wrong, by intent."""

    @property
    def said(self) -> str:
        """As a table of results names it."""
        if self.send:
            return f"{self.send}{f', {self.damage}' if self.damage else ''}"
        return "raw octets" if self.raw else self.fault.said if self.fault else "wait"

    @property
    @abstractmethod
    def awaits(self) -> Sequence[Awaited]:
        """What it expects and forbids."""

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if sum(what is not None for what in (self.send, self.raw, self.fault)) > 1:
            raise ValueError("does more than one thing; write one of send, raw and fault, the others as steps")
        if (self.times > 1) is not (self.every is not None):
            raise At("times", "and every belong together; write both or none")
        return self


StepT_co = TypeVar("StepT_co", bound=TimedStep, covariant=True)


class Described(Table, Generic[StepT_co]):
    """A procedure."""

    title: Text
    """One line: what it shows."""
    verifies: Annotated[tuple[RequirementId, ...], NonEmpty, Distinct]
    """The requirements of the mission that it verifies."""
    smoke: Annotated[bool, Strict()] = False
    """Whether it runs at the scale "smoke" too."""
    soak: Annotated[bool, Strict()] = False
    """Whether it is a segment of a soak, which `--hours` plays one after the other; other scales leave it out."""
    ends: Within
    """When the ground stops listening; after every `within`."""
    steps: Annotated[tuple[StepT_co, ...], Field(alias="step", min_length=1, max_length=STEPS_MOST)]
    """What is done, one [[step]] each, in the order of their times."""

    _name: str = PrivateAttr("")

    @property
    @abstractmethod
    def emulated(self) -> bool:
        """Whether it needs the virtual board."""

    @property
    @abstractmethod
    def acceptances(self) -> tuple[int, ...]:
        """What it asks of acceptance, in ns."""

    @cached_property
    def done(self) -> tuple[StepT_co, ...]:
        """Its steps in the order of their times, each that repeats as many."""
        every = [
            step.model_copy(update={"at": step.at + number * (step.every or 0)})
            for step in self.steps
            for number in range(step.times)
        ]
        return tuple(sorted(every, key=attrgetter("at")))

    @property
    def name(self) -> Slug:
        """That of its file."""
        return self._name

    def named(self, name: str) -> Self:
        self._name = name
        return self

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if sum(step.times for step in self.steps) > STEPS_MOST:
            raise At("step", f"are more than {STEPS_MOST} with those that repeat; make two procedures of it")
        count = sum(step.times * (len(step.awaits) + _IMPLIED) for step in self.steps)
        if count > EXPECTS_MOST:
            raise At("step", f"expect and forbid {count} reports in all; {EXPECTS_MOST} are the most: make two of it")
        for number, step in enumerate(self.steps):
            if number and step.at < self.steps[number - 1].at:
                raise At("step", f"step {number + 1} is earlier than the one before; put them in order")
            if step.damage == DUPLICATE and (not number or self.steps[number - 1].send is None):
                raise At("step", f"step {number + 1} repeats what the one before sent; that sends no telecommand")
            until = (
                step.at + (step.times - 1) * (step.every or 0) + max((e.within or 0 for e in step.awaits), default=0)
            )
            if until > self.ends:
                raise At("ends", f"is before step {number + 1} has had its time; write at least {until / 10**6:g} ms")
        return self
