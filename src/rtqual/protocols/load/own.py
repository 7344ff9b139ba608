# SPDX-License-Identifier: MIT
"""Loads of the user's own: a command, stress-ng with arguments of his, or one of his programs."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import ConfigDict, Field, Strict, model_validator

from rtqual.protocols.board import Command
from rtqual.protocols.load import Load, Shape
from rtqual.protocols.load.all_loads import all_loads

_MOST = 64  # words of a command
_ON_MEMORY = {"--stream", "--vm", "--memcpy", "--memrate"}  # stress-ng's that go through more than caches hold


def stress_ng(*arguments: str, fifo: int = 0) -> tuple[Command, ...]:
    """stress-ng until it is killed."""
    return (
        Command(("stress-ng", "--quiet", "--timeout", "0", "--no-rand-seed", "--temp-path", ".", *arguments), fifo),
    )


class OwnLoad(Shape):
    """What it keeps running; exactly one of command, stress-ng and program."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, defer_build=True, validate_by_name=True)

    title: str = ""
    """One line for the report."""
    command: Annotated[tuple[str, ...], Field(max_length=_MOST)] = ()
    stress_ng: Annotated[tuple[str, ...], Field(max_length=_MOST, alias="stress-ng")] = ()
    program: str = ""
    fifo: Annotated[int, Strict(), Field(ge=0, le=99)] = 0
    hashes: tuple[str, ...] = ()  # of the program's files, for records

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(map(bool, (self.command, self.stress_ng, self.program))) != 1 and not (self.program and self.command):
            raise ValueError(
                'says twice what it runs, or never; write one of command = [...], stress-ng = [...] and program = "..."'
            )
        return self

    @property
    def background(self) -> tuple[Command, ...]:
        return (Command(self.command, self.fifo),) if self.command else stress_ng(*self.stress_ng, fifo=self.fifo)


def shape_of(name: str) -> type[Shape]:
    """What a mission's table of a load is checked against."""
    return all_loads()[name].shape if name in all_loads() else OwnLoad


def own_loads(tables: object) -> list[str]:
    """Which of a mission's loads are of its own, by what they say."""
    named = tables.items() if isinstance(tables, Mapping) else ()
    keys = {"command", "stress-ng", "program"}
    return [name for name, item in named if name not in all_loads() and isinstance(item, Mapping) and keys & {*item}]


def load_of(name: str, shape: Shape | None) -> Load:
    """A load by its name, or of the user's own by its shape."""
    if name in all_loads() or not isinstance(shape, OwnLoad):
        return all_loads()[name]
    what = shape.title or (f"the program {shape.program}" if shape.program else "a command of the mission's own")
    programs = ("stress-ng",) if shape.stress_ng else ()
    return Load(name, what, shape.background, programs=programs, memory=bool(_ON_MEMORY & {*shape.stress_ng}))
