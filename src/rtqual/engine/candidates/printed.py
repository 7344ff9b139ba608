# SPDX-License-Identifier: MIT
"""Candidates that nothing runs: others measured them, and printed figures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rtqual.engine.analysis.figure.model import Conditions
from rtqual.protocols import part
from rtqual.protocols.record.schema import Record


class Operations(Protocol):
    """What others printed of operations that the probe measures too, of one of their systems."""

    @property
    def system(self) -> str: ...
    @property
    def statistic(self) -> str: ...  # as rtqual calls it
    @property
    def figures_ns(self) -> Mapping[str, float]: ...  # by the probe's names of the operations
    @property
    def charted(self) -> bool: ...  # least, average, largest and deviation of each are drawn side by side
    @property
    def conditions(self) -> Conditions: ...
    @property
    def place(self) -> str: ...  # where they are printed
    @property
    def told(self) -> str: ...  # that, who measured them and how, in sentences


@dataclass(frozen=True)
class PrintedSystems:
    """What a part knows of such systems."""

    systems: Callable[[], Mapping[str, Any]]  # by the names that missions give
    records: Callable[[str, str, str], Iterable[Record]]  # of a system, as a candidate, of the mission with that hash
    needs: Callable[[Any], Mapping[str, Any]]  # of a mission: candidate -> what is said of its needs
    judged: Callable[[Any, Any], Any]  # a mission and its evidence -> the evidence with what was chosen there
    operations: Callable[[str], tuple[Operations, ...]]  # of a family of the probe


def printed() -> tuple[PrintedSystems, ...]:
    """Return those that parts bring."""
    found: tuple[PrintedSystems, ...] = part.brought("printed")
    return found


def systems() -> dict[str, PrintedSystems]:
    """Return all such systems, by their names."""
    return {name: table for table in printed() for name in table.systems()}
