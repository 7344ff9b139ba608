# SPDX-License-Identifier: MIT
"""A dictionary of any format as procedures are played by it (protocols/dictionary.py)."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.engine.mission.explain import suggest
from rtqual.parts.dictionaries import dictionary_formats, value_codec
from rtqual.parts.dictionaries.model import (
    MOST_COUNT,
    MOST_DEPTH,
    Array,
    Coding,
    Dictionary,
    Field,
    Number,
    Packet,
    Struct,
    Text,
    Type,
)
from rtqual.protocols.dictionary import Encoded, Refused, Report

_MOST_REPORTS = 1000  # in a packet


class SpokenFormat:
    """`root`: the packet that decoding begins with, where the files do not tell."""

    def __init__(self, dictionary: Dictionary, root: str | None = None) -> None:
        self._all, self._roots = dictionary, dictionary.roots
        if root is not None:
            if root not in dictionary.packets:
                raise BadInput(
                    f"root {root!r:.80}: the dictionary has no such packet; {suggest(root, dictionary.packets)}"
                )
            self._roots = (dictionary.packets[root],)

    @property
    def commands(self) -> Collection[str]:
        return self._all.commands

    @property
    def reports(self) -> Collection[str]:
        return self._all.packets

    @cached_property
    def _fillable(self) -> frozenset[str]:
        return frozenset[str]().union(*map(value_codec.fillable, self._all.commands.values()))

    def sample(self, command: str) -> Mapping[str, Any]:
        known = self._all.commands[command]
        if isinstance(known.fields, Refused):
            raise known.fields
        given = {*known.assigned, *known.defaults}
        sampled = _Sampled()
        return {name: sampled.of(kind) for name, kind in known.arguments.items() if name not in given}

    def fields(self, report: str) -> Collection[str]:
        packet, found = self._all.packets.get(report), set[str]()
        if packet is not None and packet.children:  # which may have any
            return found
        while packet is not None:
            if isinstance(packet.fields, Refused):
                return set()
            found |= {name for field in packet.fields for name in _names(field)}
            packet = packet.base
        return found

    def labels(self, report: str, field: str) -> Mapping[int, str]:
        kind = self._number(report, field)
        return kind.labels if kind else {}

    def bits(self, report: str, field: str) -> int | None:
        kind = self._number(report, field)
        plain = kind and kind.coding is Coding.UNSIGNED and not kind.calibration and not kind.labels
        return kind.bits if kind and plain and isinstance(kind.bits, int) else None

    def _number(self, report: str, field: str) -> Number | None:
        packet = self._all.packets.get(report)
        while packet is not None:
            for each in () if isinstance(packet.fields, Refused) else packet.fields:
                if each.name == field and isinstance(each.type, Number):
                    return each.type
            packet = packet.base
        return None

    def encode(self, name: str, arguments: Mapping[str, Any], fill: Mapping[str, Any]) -> Encoded:
        if name not in self._all.commands:
            raise Refused(f"there is no command {name!r:.80}; {suggest(name, self._all.commands)}")
        if unused := [*fill.keys() - self._fillable]:
            raise Refused(f"fill: {min(unused):.60}: no command has such a field, or each sets it itself")
        command = self._all.commands[name]
        octets = value_codec.encode(command, arguments, fill)
        fixed = () if isinstance(command.fields, Refused) else command.fields
        return Encoded(
            octets,
            {field.name: field.fixed for field in fixed if field.fixed is not None}
            | value_codec.given(command, arguments, fill),
        )

    def decode(self, octets: bytes) -> Sequence[Report]:
        found: list[Report] = []
        while len(found) < _MOST_REPORTS:
            packet, values = value_codec.recognise(self._all, octets, self._roots)
            found.append(Report(packet.name, values.shown, self._all.severities.get(packet.name, "")))
            shared, end = _shared(packet), (values.bits + 7) // 8
            if shared is None or end >= len(octets):
                return found
            octets = octets[:shared] + octets[end:]
        raise Refused(f"more than {_MOST_REPORTS} reports in a packet")


def _names(field: Field) -> Iterator[str]:
    yield field.name
    if isinstance(field.type, Struct):
        yield from (f"{field.name}/{member.name}" for member in field.type.members)


class _Sampled:
    """Samples of types that hold one another: two of each in the next double with each."""

    def __init__(self) -> None:
        self.values = 0

    def of(self, kind: Type | Refused, depth: int = 0) -> Any:
        """The first or least value of a type. Raises Refused."""
        self.values += 1
        if isinstance(kind, Refused):
            raise kind
        if depth > MOST_DEPTH:
            raise Refused("is nested too deep")
        if self.values > value_codec.MOST_VALUES:
            raise Refused(f"more than {value_codec.MOST_VALUES} values")
        if kind.default is not None:
            return kind.default
        match kind:
            case Number():
                return next(iter(kind.labels.values())) if kind.labels else kind.least or 0
            case Text():
                octets = kind.bits // 8 if isinstance(kind.bits, int) else 0
                if octets > value_codec.MOST_OCTETS:
                    raise Refused(f"a size of {kind.bits}")
                return "" if kind.charset else bytes(octets)
            case Array():
                counts = [count for count in kind.counts or () if isinstance(count, int)]
                number = math.prod(counts) if counts else 0
                if len(counts) != len(kind.counts or ()) or number > MOST_COUNT:
                    raise Refused("an array whose size another field gives")
                return [self.of(kind.of, depth + 1) for _ in range(number)]
            case Struct():
                return {member.name: self.of(member.type, depth + 1) for member in kind.members}


def _shared(packet: Packet) -> int | None:
    base: Packet | None = packet
    while base is not None and base.shared is None:
        base = base.base
    return base.shared if base else None


def _read(name: str, paths: Sequence[Path], names: Mapping[str, str], root: str | None) -> SpokenFormat:
    return SpokenFormat(dictionary_formats.read(name, paths, names), root)


_Read = Callable[[Sequence[Path], Mapping[str, str], str | None], SpokenFormat]
COSMOS: _Read = partial(_read, "cosmos")
FPRIME: _Read = partial(_read, "fprime")
SCOS: _Read = partial(_read, "scos")
TABLE: _Read = partial(_read, "table")
XTCE: _Read = partial(_read, "xtce")
