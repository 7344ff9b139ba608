# SPDX-License-Identifier: MIT
"""Telecommands from names and arguments; reports, by name, from telemetry."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.octets import crc16, packet_length
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.definition import (
    TELECOMMAND,
    TIME_OCTETS,
    WHOLE,
    CommandDefinition,
    Definition,
    PacketField,
    ReportDefinition,
)

ACCEPT, START, PROGRESS, COMPLETE = 1, 2, 4, 8
ALL = ACCEPT | START | PROGRESS | COMPLETE
SEQUENCES = 1 << 14
# An enumeration's label, a number, a time in ns since the epoch, a telecommand's octets.
Value: TypeAlias = str | int | float | bytes
Entry: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Telemetry:
    """A report. `fields` has labels for enumerations, the number where there is no such label; "entries" is a list of
    such tables. `request`: the first four octets of the telecommand that a report of service 1 answers."""

    name: str
    service: int
    subtype: int
    sequence: int
    time_ns: int  # since the epoch, in TAI
    request: bytes | None
    fields: Mapping[str, Any]


def telecommand(
    definition: Definition,
    name: str,
    arguments: Mapping[str, Value] | None = None,
    entries: Sequence[Entry] | None = None,
    *,
    sequence: int,
    acks: int = ALL,
    source: int = 0,
    key: bytes | None = None,
    counter: int = 0,
) -> bytes:
    """The packet. A command with a list takes `entries`, or `arguments` for a list with a single entry.

    Raises BadInput for what the definition does not have; values out of range too.
    """
    command = definition.commands.get(name)
    if command is None:
        raise BadInput(f"there is no telecommand {name}")
    return raw_telecommand(
        definition, command.service, command.subtype, _data(definition, command, dict(arguments or {}), entries),
        sequence=sequence, acks=acks, source=source, key=key, counter=counter,
    )  # fmt: skip


def raw_telecommand(
    definition: Definition,
    service: int,
    subtype: int,
    data: bytes,
    *,
    sequence: int,
    acks: int = ALL,
    source: int = 0,
    key: bytes | None = None,
    counter: int = 0,
) -> bytes:
    """Any telecommand, whether or not it is defined."""
    head = struct.pack(
        ">HHHBBBH", 0x1800 | definition.apid, 0xC000 | sequence % SEQUENCES,
        octets.TC_HEADER + len(data) + octets.CRC_OCTETS - 7, 0x20 | acks, service, subtype, source,
    )  # fmt: skip
    whole = head + data
    return octets.sealed(octets.authenticated(whole, key, counter) if key else whole)


def _data(
    definition: Definition, command: CommandDefinition, arguments: dict[str, Value], entries: Sequence[Entry] | None
) -> bytes:
    data = bytes(command.fixed)
    data += b"".join(
        _octets(definition, command, field, arguments.pop(field.name, None)) for field in command.arguments
    )
    if command.entries:
        rows = list(entries) if entries is not None else [arguments]
        if not 1 <= len(rows) <= 255:
            raise BadInput(f"{command.name}: {len(rows)} entries: there may be 1 to 255")
        data += bytes([len(rows)])
        for row in rows:
            left = dict(row)
            data += b"".join(
                _octets(definition, command, field, left.pop(field.name, None)) for field in command.entries
            )
            _none_left(command, left)
        if entries is None:
            return data
    elif entries is not None:
        raise BadInput(f"{command.name} has no list")
    _none_left(command, arguments)
    return data


def _none_left(command: CommandDefinition, left: Mapping[str, Value]) -> None:
    if left:
        raise BadInput(f"{command.name} has no argument {next(iter(left))}")


def _octets(definition: Definition, command: CommandDefinition, field: PacketField, value: Value | None) -> bytes:
    if value is None:
        raise BadInput(f"{command.name} needs the argument {field.name}")
    if field.kind == TELECOMMAND:
        if not isinstance(value, bytes):
            raise BadInput(f"{command.name}: {field.name} is a telecommand's octets")
        return value
    if field.kind in definition.enums and isinstance(value, str):
        labels = definition.enums[field.kind]
        if value not in labels:
            raise BadInput(f"{command.name}: {field.name}: {value} is none of {', '.join(labels)}")
        value = labels[value]
    if not isinstance(value, int):
        raise BadInput(f"{command.name}: {field.name}: a whole number is needed")
    if field.kind == "time":
        if not 0 <= value < 2**32 * 10**9:
            raise BadInput(f"{command.name}: {field.name}: {value} ns is no time")
        return octets.time_octets(value)
    if not field.least <= value <= field.most:
        raise BadInput(f"{command.name}: {field.name}: {value} is not {field.least} to {field.most}")
    return value.to_bytes(field.octets, "big", signed=field.kind == "i32")


def telemetry(definition: Definition, packet: bytes) -> Telemetry:
    """Raises BadInput where it is no sound report of this definition."""
    if len(packet) < octets.TM_HEADER + octets.CRC_OCTETS or packet_length(packet) != len(packet):
        raise BadInput(f"a packet of {len(packet)} octets is not as long as its header says")
    if crc16(packet):
        raise BadInput("a packet with a wrong checksum")
    first, second = struct.unpack(">HH", packet[:4])
    if first != 0x0800 | definition.apid or second >> 14 != 3 or packet[6] >> 4 != 2:
        raise BadInput("a packet that is no report of the flight program's")
    data = packet[octets.TM_HEADER : -octets.CRC_OCTETS]
    service, subtype = packet[7], packet[8]
    for report in definition.reports.values():
        if (report.service, report.subtype) == (service, subtype) and report.id in (None, *data[:1]):
            fields = _fields(definition, report, data[report.id is not None :])
            return Telemetry(
                report.name, service, subtype, second & SEQUENCES - 1, octets.time_ns(packet[13:21]),
                bytes(data[:4]) if service == 1 else None, fields,
            )  # fmt: skip
    raise BadInput(f"there is no report {service}.{subtype}")


def _fields(definition: Definition, report: ReportDefinition, data: bytes) -> dict[str, Any]:
    values, at = _row(definition, report, report.fields, data, 0)
    if report.entries:
        count, at = data[at] if at < len(data) else 0, at + 1
        rows = []
        for _ in range(count):
            row, at = _row(definition, report, report.entries, data, at)
            rows.append(row)
        values["entries"] = rows
    if at != len(data):
        raise BadInput(f"{report.name} has {len(data)} octets of data, not {at}")
    return values


def _row(
    definition: Definition, report: ReportDefinition, fields: Sequence[PacketField], data: bytes, at: int
) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    for field in fields:
        size = packet_length(data[at:]) if field.kind == TELECOMMAND else field.octets
        if size is None or at + size > len(data):
            raise BadInput(f"{report.name} ends within {field.name}")
        values[field.name] = _value(definition, field, data[at : at + size])
        at += size
    return values, at


def _value(definition: Definition, field: PacketField, raw: bytes) -> Any:
    if field.kind in (TELECOMMAND, "request"):
        return bytes(raw)
    if field.kind == "time":
        if len(raw) != TIME_OCTETS or raw[0] != octets.TIME_FIELD:
            raise BadInput(f"{field.name} is no time")
        return octets.time_ns(raw)
    if field.kind == "f32":
        return struct.unpack(">f", raw)[0]
    number = int.from_bytes(raw, "big", signed=field.kind == "i32")
    if field.kind in WHOLE:
        return number
    labels = definition.failures if field.kind == "failure" else definition.enums[field.kind]
    return next((label for label, value in labels.items() if value == number), number)
