# SPDX-License-Identifier: MIT
"""Dictionaries: what turns a command's name into octets, and octets into reports, whatever the format."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class Refused(Exception):
    """Says in a line why a name of the dictionary cannot be used, or octets are none of its packets."""


@dataclass(frozen=True)
class Encoded:
    """A command's octets, and its fields by name: what its answers may repeat."""

    octets: bytes
    fields: Mapping[str, Any] = field(default_factory=dict)


class Several(tuple[Any, ...]):
    """The values that a list's rows have in one field: what is asked must hold of any."""

    def __str__(self) -> str:
        return " ".join(map(str, self))


@dataclass(frozen=True)
class Report:
    """What a packet says. `severity`: of an event, where the dictionary has it."""

    name: str
    values: Mapping[str, Any] = field(default_factory=dict)
    severity: str = ""


class AnyDictionary(Protocol):
    """What a program understands and says."""

    @property
    def commands(self) -> Collection[str]: ...

    @property
    def reports(self) -> Collection[str]: ...

    def sample(self, command: str) -> Mapping[str, Any]:
        """Return arguments that a command takes, the first or least of each. Raises Refused."""

    def fields(self, report: str) -> Collection[str]:
        """Return the names of a report's values; none where the dictionary does not tell."""

    def labels(self, report: str, field: str) -> Mapping[int, str]:
        """Return the words that stand for numbers in a report's field; none where it has none, or nobody tells."""

    def bits(self, report: str, field: str) -> int | None:
        """Return how wide an unsigned number of a report is; None for what is none, or where nobody tells."""

    def encode(self, name: str, arguments: Mapping[str, Any], fill: Mapping[str, Any]) -> Encoded:
        """Raises Refused. `fill`: header fields that no command sets."""

    def decode(self, octets: bytes) -> Sequence[Report]:
        """Return what a packet says; some hold several reports. Raises Refused for one that is not known."""
