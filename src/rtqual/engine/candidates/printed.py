# SPDX-License-Identifier: MIT
"""Candidates that nothing runs: others measured them, and printed figures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rtqual.protocols import part
from rtqual.protocols.record.schema import Record


@dataclass(frozen=True)
class Printed:
    """What a part knows of such systems."""

    systems: Callable[[], Mapping[str, Any]]  # by the names that missions give
    records: Callable[[str, str, str], Iterable[Record]]  # of a system, as a candidate, of the mission with that hash
    needs: Callable[[Any], Mapping[str, Any]]  # of a mission: candidate -> what is said of its needs
    judged: Callable[[Any, Any], Any]  # a mission and its evidence -> the evidence with what was chosen there


def printed() -> tuple[Printed, ...]:
    """Return those that parts bring."""
    found: tuple[Printed, ...] = part.brought("printed")
    return found


def systems() -> dict[str, Printed]:
    """Return all such systems, by their names."""
    return {name: one for one in printed() for name in one.systems()}
