# SPDX-License-Identifier: MIT
"""Packets written down by hand, as TOML: for a program whose dictionary nobody has (docs/dictionaries.md)."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import bounded_files
from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_DEPTH,
    All,
    Array,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Text,
    Type,
    Where,
    number,
)
from rtqual.protocols.dictionary import Refused

_TYPE = re.compile(
    r"(?P<kind>[uif])(?P<bits>\d{1,4})(?P<order>le|be)?|(?P<text>char|octets)(?P<size>\d{1,5})?", re.ASCII
)
_ARRAY = re.compile(r"(?P<of>.+)\[(?P<count>\d{1,5})?\]", re.ASCII)
_CODINGS = {"u": Coding.UNSIGNED, "i": Coding.TWOS, "f": Coding.IEEE}
_KEYS = {"little_endian", "head", "types", "commands", "reports"}


def read(paths: Sequence[Path]) -> Dictionary:
    """Return what tables of packets hold together. Raises BadInput where one is no such table."""
    whole: dict[str, dict[str, Any]] = {key: {} for key in _KEYS if key != "little_endian"}
    little = False
    for path in paths:
        try:
            raw = tomllib.loads(bounded_files.text(path))
        except (ValueError, RecursionError) as error:
            raise BadInput(f"dictionary {str(path)!r}: not TOML: {' '.join(str(error).split())[:200]}") from None
        if unknown := next((key for key in raw if key not in _KEYS), None):
            raise BadInput(
                f"dictionary {str(path)!r}: there is no key {unknown!r:.40}; there is {', '.join(sorted(_KEYS))}"
            )
        little = raw.get("little_endian", little) is True
        for key in whole:  # noqa: PLC0206 - it grows
            given = raw.get(key, {})
            if not isinstance(given, dict):
                raise BadInput(f"dictionary {str(path)!r}: {key} is a table")
            if twice := next((name for name in given if name in whole[key]), None):
                raise BadInput(f"dictionary {str(path)!r}: {key}.{twice} is there twice")
            whole[key] |= given
    if not whole["commands"] and not whole["reports"]:
        raise BadInput(f"dictionary {str(paths[0])!r}: has neither commands nor reports")
    return _Reader(whole, little=little).dictionary()


class _Reader:
    def __init__(self, raw: Mapping[str, Mapping[str, Any]], *, little: bool) -> None:
        self.raw, self.little = raw, little

    def dictionary(self) -> Dictionary:
        down, up = (attempt(f"head.{way}", self._fields, self.raw["head"].get(way, ()), little=False) for way in _WAYS)
        commands = {name: self._command(name, row, down) for name, row in self.raw["commands"].items()}
        gap: list[list[str]] = []  # at the head's end, which is before each report's first field
        if not isinstance(up, Refused) and up and isinstance(last := up[-1].type, Number) and not up[-1].name:
            up, gap = up[:-1], [["", f"u{last.bits}"]]
        root = Packet("head", fields=up, abstract=True)
        packets = {name: self._packet(name, row, root, gap) for name, row in self.raw["reports"].items()}
        # The one with most to be known by comes first.
        root.children = sorted(packets.values(), key=lambda packet: -len(_parts(packet)))
        severities = {n: str(row["severity"]) for n, row in self.raw["reports"].items() if _has(row, "severity")}
        return Dictionary(commands, packets, (root,), severities)

    def _command(self, name: str, row: Any, head: tuple[Field, ...] | Refused) -> CommandType:
        made = attempt(f"commands.{name}", self._made, name, row, head)
        return CommandType(name, made) if isinstance(made, Refused) else made

    def _made(self, name: str, row: Mapping[str, Any], head: tuple[Field, ...] | Refused) -> CommandType:
        _only(row, {"head", "arguments"})
        if isinstance(head, Refused):
            raise head
        own, assigned = self._fields(row.get("arguments", ()), little=self.little), dict(row.get("head", {}))
        names = {field.name for field in head if field.name}
        if other := next((field for field in assigned if field not in names), None):
            raise Refused(f"the head has no field {other}")
        if twice := next((field.name for field in own if field.name in names), None):
            raise Refused(f"{twice} is a field of the head, too: give the argument another name")
        zeros = dict.fromkeys(names, 0)
        named = {field.name: field.type for field in own if field.name}
        return CommandType(name, (*head, *own), named, assigned, zeros)

    def _packet(self, name: str, row: Any, root: Packet, gap: Sequence[Any]) -> Packet:
        fields = attempt(f"reports.{name}", self._reported, row, gap)
        head = row.get("head", {}) if isinstance(row, Mapping) else None
        if not isinstance(head, Mapping):
            return Packet(name, root, All(some=True), fields)  # which nothing is known by
        parts = tuple(Where(field, "==", str(value), raw=isinstance(value, int)) for field, value in head.items())
        return Packet(name, root, All(parts), fields)

    def _reported(self, row: Mapping[str, Any], gap: Sequence[Any]) -> tuple[Field, ...]:
        _only(row, {"head", "fields", "severity"})
        if not isinstance(row.get("head", {}), Mapping):
            raise Refused("its head is no table")
        fields = self._fields([*gap, *row.get("fields", ())], little=self.little)
        return tuple(field for field in fields if field.name)

    def _fields(self, rows: Any, *, little: bool) -> tuple[Field, ...]:
        """Each is [name, type]; one named "" is a gap, which is a field only where none comes after it."""
        fields: list[Field] = []
        names: set[str] = set()
        gap = 0
        for row in rows:
            if not isinstance(row, list) or len(row) != 2 or not all(isinstance(word, str) for word in row):
                raise Refused(f'{row!r:.60} is no field: write ["name", "u8"]')
            name, kind = row[0], self.type(row[1], little=little)
            if name in names:
                raise Refused(f"{name} is there twice")
            if name:
                names.add(name)
                fields.append(Field(name, kind, gap=gap))
                gap = 0
            elif isinstance(kind, Number) and isinstance(kind.bits, int):
                gap += kind.bits
            else:
                raise Refused("a gap is a number of bits, as u32")
        if gap:
            fields.append(Field("", Number(Coding.UNSIGNED, gap), fixed=0))
        return tuple(fields)

    def type(self, written: str, depth: int = 0, *, little: bool) -> Type:
        if depth > MOST_DEPTH:
            raise Refused(f"type {written} contains itself")
        if array := _ARRAY.fullmatch(written):
            counts = (int(array["count"]),) if array["count"] else None
            return Array(self.type(array["of"], depth + 1, little=little), counts)
        if written in self.raw["types"]:
            return self._defined(written, depth, little=little)
        match = _TYPE.fullmatch(written)
        if match is None:
            own = f"; or one of {', '.join(list(self.raw['types'])[:9])}" if self.raw["types"] else ""
            raise Refused(f"there is no type {written!r:.40}: write u8, i16, f32, char20, octets8, u8[4]{own}"[:200])
        if match["text"]:
            bits = int(match["size"]) * 8 if match["size"] else None
            return Text(bits, "utf-8" if match["text"] == "char" else None)
        bits = int(match["bits"])
        small = bits % 8 != 0 or bits == 8
        order = match["order"]
        return Number(_CODINGS[match["kind"]], bits, (order == "le" if order else little) and not small)

    def _defined(self, name: str, depth: int, *, little: bool) -> Type:
        row = self.raw["types"][name]
        _only(row, {"of", "labels", "least", "most"})
        kind = self.type(row["of"], depth + 1, little=little)
        if not isinstance(kind, Number):
            raise Refused(f"type {name} is of no number")
        labels = {int(value): str(label) for label, value in row.get("labels", {}).items()}
        bounds = {key: number(row[key]) for key in ("least", "most") if key in row}
        if wrong := next((key for key, bound in bounds.items() if bound is None), ""):
            raise Refused(f"type {name}: {wrong}: {row[wrong]!r:.40} is no finite number")
        return Number(kind.coding, kind.bits, kind.little, labels, least=bounds.get("least"), most=bounds.get("most"))


_WAYS = ("command", "report")


def _parts(packet: Packet) -> tuple[object, ...]:
    return packet.where.parts if isinstance(packet.where, All) else ()


def _has(row: Any, key: str) -> bool:
    return isinstance(row, Mapping) and key in row


def _only(row: Mapping[str, Any], keys: set[str]) -> None:
    if not isinstance(row, Mapping):
        raise Refused("is no table")
    if unknown := next((key for key in row if key not in keys), None):
        raise Refused(f"there is no key {unknown!r:.40}; there is {', '.join(sorted(keys))}")
