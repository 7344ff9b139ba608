# SPDX-License-Identifier: MIT
"""A procedure for a program of the user's: steps at their times, and the answers, events and reports that must come."""

import signal
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, Strict, model_validator

from rtqual.engine.mission.explain import At
from rtqual.engine.mission.language_table import Name, Stage, Within
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, NonEmpty
from rtqual.engine.procedure.described import (
    Bounds,
    ClockStep,
    Described,
    Mishap,
    TimedStep,
    Wanted,
    clock_ns,
    shown_as,
)


class DialogueDamage(StrEnum):
    """What is done to a sound telecommand before it is sent, whatever its packets look like."""

    FLIPPED = "flipped"  # its last bit
    TRUNCATED = "truncated"  # half of it
    DUPLICATE = "duplicate"  # the very octets that the step before sent


class DialogueMatch(Table):
    """Which reports are meant: exactly one of answer, event and report."""

    answer: Stage | None = None
    """An answer to the step's telecommand: "accepted", "refused", "started", "progress", "completed" or "failed"."""
    event: Name | None = None
    """An event by its name."""
    report: Name | None = None
    """A report by its name in the dictionary."""
    cause: Name | None = None
    """Of an answer: why, as the program says it."""
    values: dict[Name, Wanted] = Field({}, max_length=255)
    """Fields and what they must be: a value, or a table of bounds."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(word is not None for word in (self.answer, self.event, self.report)) != 1:
            raise ValueError('names one thing: write answer = "completed", event = "NAME" or report = "NAME"')
        if self.cause and not self.answer:
            raise At("cause", "is of an answer")
        return self

    @property
    def said(self) -> str:
        """As a table of results names it."""
        parts = [self.answer or self.event or self.report or "", *([f"({self.cause})"] if self.cause else [])]
        return " ".join([*parts, *(f"{name} {shown_as(wanted)}" for name, wanted in self.values.items())])


class DialogueExpect(DialogueMatch):
    """What must come, once, after its step and in time."""

    within: Within
    """How long after the step was done."""
    since: Stage | None = None
    """After this answer to the step's telecommand in place of the step: a bound between two answers."""

    loses_link: ClassVar[bool] = False

    @model_validator(mode="after")
    def _between(self) -> Self:
        if self.since and self.since == self.answer:
            raise At("since", "is the answer itself")
        return self

    @property
    def said(self) -> str:
        return f"{super().said} after {self.since}" if self.since else super().said


class DialogueForbid(DialogueMatch):
    """What must not come after the step, unless another step expects it."""

    within: Within | None = None
    """For how long; until the procedure ends, when left out."""


class Holds(Table):
    """A value that must hold when the step's time has come, whenever it was reported last."""

    report: Name
    """The report that has it."""
    values: Annotated[dict[Name, Wanted], NonEmpty, Field(max_length=255)]
    """Fields and what they must be: a value, or a table of bounds."""

    @model_validator(mode="after")
    def _no_growth(self) -> Self:
        if any(isinstance(wanted, Bounds) and wanted.grows for wanted in self.values.values()):
            raise At("values", "what holds does not grow; write at_least or at_most")
        return self

    @property
    def said(self) -> str:
        return f"{self.report} holds {', '.join(f'{name} {shown_as(wanted)}' for name, wanted in self.values.items())}"


class DialogueFault(Mishap):
    """Something that goes wrong, by intent. Exactly one."""

    signal: Literal["KILL", "STOP", "CONT", "TERM", "INT", "HUP"] | None = None
    """To the program."""
    link: Literal["close", "open"] | None = None
    """The ground closes the link, or opens it again."""
    clock: ClockStep | None = None
    """The board's real-time clock is set forwards or back, as "+10 s"."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(what is not None for what in (self.signal, self.link, self.clock)) != 1:
            raise ValueError("is one fault: write exactly one of signal, link and clock")
        return self

    @property
    def said(self) -> str:
        return next(f"{name} {what}" for name, what in self if what is not None)

    @property
    def line(self) -> str:
        """What the ground does."""
        if self.clock:
            return f"clock {clock_ns(self.clock)}"
        return f"signal {int(signal.Signals[f'SIG{self.signal}'])}" if self.signal else str(self.link)


class DialogueStep(TimedStep):
    """What is done at a time, and what must follow."""

    send: Name | None = None
    args: dict[Name, Any] = Field({}, max_length=255)
    """Its arguments by their names."""
    damage: DialogueDamage | None = None
    fault: DialogueFault | None = None
    unanswered: Annotated[bool, Strict()] = False
    """Whether its telecommand, or its octets, need no answer."""
    expect: tuple[DialogueExpect, ...] = ()
    """What must come. A telecommand must be accepted and completed unless this says otherwise, as far as the program
    has a word for that."""
    forbid: tuple[DialogueForbid, ...] = ()
    """What must not come."""
    is_: tuple[Holds, ...] = Field((), alias="is")
    """What must hold at this time."""

    @property
    def asks(self) -> bool:
        return bool(self.expect or self.forbid or self.is_)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.send is None and (self.args or self.damage or (self.unanswered and not self.raw)):
            raise At("args" if self.args else "damage" if self.damage else "unanswered", "needs send")
        if not (self.send or self.raw or self.fault or self.asks):
            raise ValueError("does nothing and asks nothing; write send, raw, fault, expect or is")
        if (self.raw or self.damage) and not self.asks and not self.unanswered:
            raise ValueError("sends what is damaged and says nothing of what follows; write expect or forbid")
        if self.send is None and any(match.answer for match in (*self.expect, *self.forbid)):
            raise At("expect", "an answer is to a telecommand; write send")
        return self

    @property
    def awaits(self) -> tuple[DialogueExpect | DialogueForbid, ...]:
        return (*self.expect, *self.forbid)


class Dialogue(Described[DialogueStep]):
    """A procedure for a program of the user's."""

    allow: Annotated[tuple[Name, ...], Distinct] = ()
    """Severe events that may come without being expected."""
    tolerant: Annotated[bool, Strict()] = False
    """Whether refusals, failures and severe events may come without being expected: the program is only to go on and to
    answer what ends every procedure."""
    ends_program: Annotated[bool, Strict()] = False
    """Whether the program is to end while it is played; else one that ends fails it."""

    @property
    def emulated(self) -> bool:
        """Whether it needs the virtual board."""
        return False

    @property
    def acceptances(self) -> tuple[int, ...]:
        """What it asks of acceptance, in ns."""
        return tuple(e.within for step in self.steps for e in step.expect if e.answer is Stage.ACCEPTED and not e.since)
