# SPDX-License-Identifier: MIT
"""F' JSON dictionaries of 3.4 to 4.x. What the file does not say of widths is as in 3.x, where C++ says it.

`dictionarySpecVersion` is 1.0.0 in all of them, so nothing is read off it. Source: fpp's dictionary specification.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import bounded_files
from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_DEPTH,
    Array,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Struct,
    Text,
    Type,
    Where,
)
from rtqual.protocols.dictionary import Refused

COMMAND, CHANNEL, EVENT, FILE, PACKETIZED = 0, 1, 2, 3, 4  # Fw::ComPacketType
# Fw/Types and config/FpConfig.h of 3.5
_WIDTHS = {
    "FwPacketDescriptorType": 32,
    "FwOpcodeType": 32,
    "FwEventIdType": 32,
    "FwChanIdType": 32,
    "FwSizeStoreType": 16,
    "FwTimeBaseStoreType": 16,
    "FwTimeContextStoreType": 8,
    "FwTlmPacketizeIdType": 16,
}


def read(paths: Sequence[Path]) -> Dictionary:
    """Return what an F' JSON dictionary holds. Raises BadInput where it is none."""
    if len(paths) != 1:
        raise BadInput(f"an F' dictionary is one file, not {len(paths)}")
    (path,) = paths
    try:
        raw = json.loads(bounded_files.text(path))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"dictionary {str(path)!r}: no JSON: {error}") from error
    if not isinstance(raw, dict) or not isinstance(raw.get("commands"), list):
        raise BadInput(f"dictionary {str(path)!r}: no F' dictionary, which has a list of commands")
    return _Reader(raw).dictionary()


_U32, _PATH = Number(bits=32), Text(tag_bits=8)
# Fw::FilePacket, which no dictionary holds: type and fields.
_FILES = {
    "FILE_START": (0, (Field("size", _U32), Field("source", _PATH), Field("destination", _PATH))),
    "FILE_DATA": (1, (Field("offset", _U32), Field("data", Text(charset=None, tag_bits=16)))),
    "FILE_END": (2, (Field("checksum", _U32),)),
    "FILE_CANCEL": (3, ()),
}
_Read = Callable[[Mapping[str, Any]], tuple[Field, ...]]


def _named(rows: Any, name: str = "name") -> list[dict[str, Any]]:
    """Return the rows that can be named; others are no part of any command."""
    rows = rows if isinstance(rows, list) else []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get(name), str)]


class _Reader:
    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.definitions = {row["qualifiedName"]: row for row in self._rows("typeDefinitions", "qualifiedName")}
        constants = {row["qualifiedName"]: row.get("value") for row in self._rows("constants", "qualifiedName")}
        self.truth = {
            _whole(constants.get("FW_SERIALIZE_TRUE_VALUE"), 0xFF): "true",
            _whole(constants.get("FW_SERIALIZE_FALSE_VALUE"), 0): "false",
        }
        self.types: dict[str, Type | Refused] = {}
        self.channels: dict[str, dict[str, Any]] = {}

    def _rows(self, key: str, name: str = "name") -> list[dict[str, Any]]:
        return _named(self.raw.get(key), name)

    def dictionary(self) -> Dictionary:
        kind, opcode = (
            Field("kind", self._width("FwPacketDescriptorType")),
            Field("opcode", self._width("FwOpcodeType")),
        )
        commands = {row["name"]: self._command(row, (kind, opcode)) for row in self._rows("commands")}
        root = Packet("packet", fields=(kind,), abstract=True)
        time = tuple(
            Field(name, self._width(width) if width in _WIDTHS else Number(bits=32))
            for name, width in (
                ("time base", "FwTimeBaseStoreType"),
                ("time context", "FwTimeContextStoreType"),
                ("seconds", "U32"),
                ("microseconds", "U32"),
            )
        )
        events, channels = self._rows("events"), self._rows("telemetryChannels")
        self.channels = {row["name"]: row for row in channels}
        packetized = [row for packets in self._rows("telemetryPacketSets") for row in _named(packets.get("members"))]
        groups: tuple[tuple[str, int, str, list[dict[str, Any]], _Read], ...] = (
            ("event", EVENT, "FwEventIdType", events, self._parameters),
            ("channel", CHANNEL, "FwChanIdType", channels, self._channel),
            ("packetized", PACKETIZED, "FwTlmPacketizeIdType", packetized, self._packetized),
        )
        packets: dict[str, Packet] = {}
        for name, number, width, rows, read in groups:
            head = Packet(name, root, Where("kind", "==", str(number)), (Field("id", self._width(width)), *time))
            head.abstract = True
            head.shared = self._bits("FwPacketDescriptorType") // 8 if number == CHANNEL else None  # Svc::TlmChan
            root.children.append(head)
            for row in rows:
                fields = attempt(row["name"], read, row)
                packet = Packet(row["name"], head, Where("id", "==", str(row.get("id"))), fields)
                head.children.append(packet)
                packets[packet.name] = packet
        head = Packet("file", root, Where("kind", "==", str(FILE)), (Field("type", Number()), Field("sequence", _U32)))
        root.children.append(head)
        for name, (number, fields) in _FILES.items():
            packets[name] = Packet(name, head, Where("type", "==", str(number)), fields)
            head.children.append(packets[name])
        severities = {row["name"]: str(row.get("severity", "")) for row in events}
        return Dictionary(commands, packets, (root,), severities)

    def _channel(self, row: Mapping[str, Any]) -> tuple[Field, ...]:
        return (Field(str(row["name"]), self.type(row["type"])),)

    def _packetized(self, row: Mapping[str, Any]) -> tuple[Field, ...]:
        return tuple(Field(str(name), self.type(self.channels[name]["type"])) for name in row["members"])

    def _command(self, row: Mapping[str, Any], head: tuple[Field, ...]) -> CommandType:
        fields = attempt(row["name"], self._parameters, row)
        if isinstance(fields, Refused):
            return CommandType(row["name"], fields)
        arguments = {field.name: field.type for field in fields}
        assigned = {"kind": COMMAND, "opcode": row.get("opcode")}
        return CommandType(row["name"], (*head, *fields), arguments, assigned)

    def _parameters(self, row: Mapping[str, Any]) -> tuple[Field, ...]:
        fields = tuple(Field(str(field["name"]), self.type(field["type"])) for field in row.get("formalParams", ()))
        if taken := {field.name for field in fields} & {"kind", "opcode", "id"}:
            fields = tuple(Field(f"{f.name} argument", f.type) if f.name in taken else f for f in fields)
        return fields

    def _width(self, name: str) -> Number:
        return Number(bits=self._bits(name))

    def _bits(self, name: str) -> int:
        """As many as the file says that this type has."""
        row, bits = self.definitions.get(name), _WIDTHS[name]
        for _ in range(MOST_DEPTH):
            if not isinstance(row, dict):
                break
            under = row.get("underlyingType", row.get("type"))
            if not isinstance(under, dict):
                break
            if isinstance(under.get("size"), int):
                bits = under["size"]
                break
            row = self.definitions.get(str(under.get("name")))
        return bits

    def type(self, row: Mapping[str, Any], depth: int = 0) -> Type:
        if depth > MOST_DEPTH:
            raise Refused(f"type {row.get('name')} contains itself")
        match row["kind"]:
            case "integer":
                return Number(Coding.TWOS if row["signed"] else Coding.UNSIGNED, _size(row))
            case "float":
                return Number(Coding.IEEE, _size(row))
            case "bool":
                return Number(bits=_whole(row.get("size"), 8), labels=self.truth)
            case "string":
                most = row.get("size")
                return Text(tag_bits=self._bits("FwSizeStoreType"), most_octets=most if isinstance(most, int) else None)
        name = str(row["name"])
        if name not in self.types:
            self.types[name] = attempt(f"type {name}", self._defined, name, depth)
        kind = self.types[name]
        if isinstance(kind, Refused):
            raise kind
        return kind

    def _defined(self, name: str, depth: int) -> Type:
        row = self.definitions.get(name)
        if row is None:
            raise Refused(f"there is no type {name}")
        match row["kind"]:
            case "alias":
                return self.type(row.get("underlyingType") or row["type"], depth + 1)
            case "enum":
                base = self.type(row["representationType"], depth + 1)
                if not isinstance(base, Number):
                    raise Refused(f"type {name}: its numbers are none")
                labels = {int(label["value"]): str(label["name"]) for label in row["enumeratedConstants"]}
                return Number(base.coding, base.bits, labels=labels)
            case "array":
                return Array(self.type(row["elementType"], depth + 1), (_size(row),))
            case "struct":
                members = sorted(row["members"].items(), key=lambda item: int(item[1]["index"]))
                return Struct(tuple(Field(str(name), self._member(member, depth)) for name, member in members))
        raise Refused(f"type {name}: there is no kind {row['kind']!r:.40}")

    def _member(self, row: Mapping[str, Any], depth: int) -> Type:
        kind = self.type(row["type"], depth + 1)
        count = _whole(row.get("size"), 1)
        return Array(kind, (count,)) if count > 1 else kind


def _size(row: Mapping[str, Any]) -> int:
    size = row["size"]
    if not isinstance(size, int) or size < 1:
        raise Refused(f"a size of {size!r:.40}")
    return size


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise
