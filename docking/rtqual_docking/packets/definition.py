# SPDX-License-Identifier: MIT
"""Telecommands and telemetry as docking/flight/packets.toml defines them; its head says what the types are."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from rtqual.base.errors import BadInput

REQUEST_OCTETS, TIME_OCTETS = 4, 8
EVENT_NUMBERS = ("event_value", "event_detail")
# name -> octets, least, most
WHOLE = {
    "u8": (1, 0, 0xFF),
    "u16": (2, 0, 0xFFFF),
    "u32": (4, 0, 0xFFFFFFFF),
    "i32": (4, -(2**31), 2**31 - 1),
}
TELECOMMAND = "telecommand"
_OTHER = {"f32": 4, "time": TIME_OCTETS, "request": REQUEST_OCTETS, "failure": 2}


@dataclass(frozen=True)
class PacketField:
    """`kind`: a type of the definition. `least`, `most`: of an argument; a report's fields are not judged."""

    name: str
    kind: str
    octets: int  # of the smallest telecommand, where it is one
    least: int = 0
    most: int = 0


@dataclass(frozen=True)
class CommandDefinition:
    name: str
    service: int
    subtype: int
    fixed: tuple[int, ...]  # octets that tell functions of one type apart
    arguments: tuple[PacketField, ...]
    entries: tuple[PacketField, ...]  # after the arguments: how many (8 bits), then so many of these
    refused: Mapping[str, str]  # mode -> failure
    doc: str


@dataclass(frozen=True)
class ReportDefinition:
    name: str
    service: int
    subtype: int
    id: int | None  # its first octet, which tells reports of one type apart
    fields: tuple[PacketField, ...]
    entries: tuple[PacketField, ...]


@dataclass(frozen=True)
class Event:
    name: str
    id: int
    severity: int  # the subtype of service 5
    value: str
    detail: str
    doc: str


@dataclass(frozen=True)
class Parameter:
    name: str
    id: int
    unit: str
    least: int
    most: int
    choices: tuple[int, ...]
    default: int
    doc: str


@dataclass(frozen=True)
class Monitor:
    name: str
    id: int
    unit: str
    low: int
    high: int
    doc: str


@dataclass(frozen=True)
class Definition:
    """Everything by its name."""

    apid: int
    leap_seconds: int
    largest: int
    schedule_most: int
    scheduled_octets: int
    failures: Mapping[str, int]
    failure_docs: Mapping[str, str]
    enums: Mapping[str, Mapping[str, int]]
    commands: Mapping[str, CommandDefinition]
    reports: Mapping[str, ReportDefinition]
    events: Mapping[str, Event]
    parameters: Mapping[str, Parameter]
    monitors: Mapping[str, Monitor]

    def labels(self, kind: str, name: str = "", event: str = "") -> Mapping[str, int]:
        """What may stand in a field of this kind and name; empty where it is a number. An event's value and detail are
        numbers, which may stand for a mode, a cause..."""
        if kind == "failure":
            return self.failures
        if event in self.events and name in EVENT_NUMBERS:
            described = self.events[event]
            kind = described.value if name == EVENT_NUMBERS[0] else described.detail.removesuffix(" before")
        return self.enums.get(kind, {})

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(self.enums["mode"])


@cache
def load() -> Definition:
    """The installed definition."""
    return parse((files("rtqual") / "flight" / "packets.toml").read_text(encoding="utf-8"), "packets.toml")


def parse(text: str, name: str) -> Definition:
    """Raises BadInput with the first thing that is wrong."""
    try:
        return _built(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValueError, TypeError, KeyError, IndexError) as error:
        what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise BadInput(f"{name}: {what}") from error


def _built(raw: dict[str, Any]) -> Definition:
    tables: dict[str, dict[str, dict[str, Any]]] = {
        key: raw[key] for key in ("commands", "reports", "events", "parameters", "monitors")
    }
    enums: dict[str, dict[str, int]] = dict(raw["enums"])
    for name, key in (("parameter", "parameters"), ("event", "events"), ("monitor", "monitors")):
        enums[name] = {label: row["id"] for label, row in tables[key].items()}
    enums["structure"] = raw["structures"]
    for name, labels in enums.items():
        values = list(labels.values())
        if values != list(range(values[0], values[0] + len(values))):
            raise ValueError(f"enumeration {name}: its values do not follow one another")
    failures: dict[str, int] = raw["failures"]
    if set(failures) != set(raw["failure_docs"]):
        raise ValueError("failures and failure_docs name others")
    definition = Definition(
        **{key: raw[key] for key in ("apid", "leap_seconds", "largest", "schedule_most", "scheduled_octets")},
        failures=failures,
        failure_docs=raw["failure_docs"],
        enums=enums,
        commands={name: _command(name, row, enums, failures) for name, row in tables["commands"].items()},
        reports={name: _report(name, row, enums) for name, row in tables["reports"].items()},
        events={name: Event(name=name, **row) for name, row in tables["events"].items()},
        parameters={name: _parameter(name, row) for name, row in tables["parameters"].items()},
        monitors={name: Monitor(name=name, **row) for name, row in tables["monitors"].items()},
    )
    _alone(
        ((command.service, command.subtype, command.fixed), command.name) for command in definition.commands.values()
    )
    _alone(((report.service, report.subtype, report.id), report.name) for report in definition.reports.values())
    _alone((value, name) for name, value in failures.items())
    for event in definition.events.values():
        if event.severity not in range(1, 5):
            raise ValueError(f"event {event.name}: its severity is 1 to 4")
    return definition


def _alone(keyed: Iterable[tuple[object, str]]) -> None:
    seen: dict[object, str] = {}
    for key, name in keyed:
        if seen.setdefault(key, name) != name:
            raise ValueError(f"{name} and {seen[key]} cannot be told apart")


def _fields(owner: str, rows: Iterable[list[Any]], enums: Mapping[str, Mapping[str, int]]) -> tuple[PacketField, ...]:
    found: list[PacketField] = []
    for name, kind, *rest in rows:
        if kind in WHOLE:
            octets, least, most = WHOLE[kind]
        elif kind in enums:
            octets, least, most = 1, min(enums[kind].values()), max(enums[kind].values())
        elif kind == TELECOMMAND:
            octets, least, most = 13, 0, 0  # headers and checksum
        elif kind in _OTHER:
            octets, least, most = _OTHER[kind], 0, 0
        else:
            raise ValueError(f"{owner}: {name}: there is no type {kind}")
        if len(rest) == 1:
            found += [PacketField(f"{name}_{number}", kind, octets, least, most) for number in range(rest[0])]
        else:
            low, high = rest or (least, most)
            if not least <= low <= high <= most:
                raise ValueError(f"{owner}: {name}: {low} to {high} is no range of {kind}")
            found.append(PacketField(name, kind, octets, low, high))
    _alone((field.name, str(number)) for number, field in enumerate(found))
    return tuple(found)


def _command(
    name: str, row: Mapping[str, Any], enums: Mapping[str, Mapping[str, int]], failures: Mapping[str, int]
) -> CommandDefinition:
    service, subtype = row["type"]
    refused = row.get("refused", {})
    if set(refused) - set(enums["mode"]) or set(refused.values()) - set(failures):
        raise ValueError(f"{name}: refused names a mode or a failure that there is not")
    return CommandDefinition(
        name=name,
        service=service,
        subtype=subtype,
        fixed=tuple(row.get("fixed", ())),
        arguments=_fields(name, row.get("args", ()), enums),
        entries=_fields(name, row.get("list", ()), enums),
        refused=refused,
        doc=row["doc"],
    )


def _report(name: str, row: Mapping[str, Any], enums: Mapping[str, Mapping[str, int]]) -> ReportDefinition:
    service, subtype = row["type"]
    fields, entries = _fields(name, row.get("fields", ()), enums), _fields(name, row.get("list", ()), enums)
    return ReportDefinition(name, service, subtype, row.get("id"), fields, entries)


def _parameter(name: str, row: Mapping[str, Any]) -> Parameter:
    choices = tuple(row.get("choices", ()))
    least, most = (min(choices), max(choices)) if choices else (row["least"], row["most"])
    default = row["default"]
    if not least <= default <= most or (choices and default not in choices):
        raise ValueError(f"{name}: its default is out of its range")
    return Parameter(name, row["id"], row["unit"], least, most, choices, default, row["doc"])
