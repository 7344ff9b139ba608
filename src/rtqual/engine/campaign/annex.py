# SPDX-License-Identifier: MIT
"""Annexes: evidence beside the records. A part brings a kind of them; a campaign keeps each in a file of its own, under
a hash, and its report shows what the part's chapters make of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from rtqual.engine.mission import Mission
from rtqual.protocols import part
from rtqual.protocols.record.schema import Record

M = TypeVar("M", bound=BaseModel)
Annexes = Mapping[str, BaseModel]  # file -> what it holds


@dataclass(frozen=True)
class Making:
    """What an annex may be made of, when a campaign's runs have ended."""

    mission: Mission
    scale: str
    records: Mapping[Path, Record]  # by their folders
    before: Any  # what an earlier campaign in the folder kept, where it fits these records; else None
    workers: int
    tell: Callable[[str], None]  # what takes long
    warn: Callable[[str], None]


def _fits(_: Any, records: Sequence[Record]) -> None:
    """Fits all records."""


@dataclass(frozen=True)
class Annex(Generic[M]):
    """A kind of annex. `check` raises ValueError where one is not of these records."""

    file: str  # its name in the campaign's folder
    model: type[M]
    mend: str  # what to do where it is missing or damaged
    check: Callable[[M, Sequence[Record]], None] = _fits
    make: str = ""  # "module:function" of a Making, which gives one or None; "": a command or a kind of candidates does
    anew: bool = False  # it is made whole again, so that one from before that is damaged is left
    gather: Callable[[Sequence[Any]], M] | None = None  # of what kinds of candidates bring, an entry each
    indent: int | None = None  # of its JSON

    def of(self, annexes: Annexes) -> M | None:
        """Return this one among others."""
        found = annexes.get(self.file)
        return found if isinstance(found, self.model) else None


def all_annexes() -> tuple[Annex[Any], ...]:
    """Return the kinds that parts bring, in their order."""
    found: tuple[Annex[Any], ...] = part.brought("annexes")
    return found
