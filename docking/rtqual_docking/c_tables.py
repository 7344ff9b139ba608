# SPDX-License-Identifier: MIT
"""The flight program's tables in C, made by its build: `python -m rtqual_docking.c_tables packets.toml > packets.h`.

The header has the enumerations, a structure for each report of plain fields, and the functions that carry out
telecommands; with PACKETS_TABLES defined it also has the tables.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rtqual_docking.packets.definition import TELECOMMAND, Definition, PacketField, ReportDefinition, parse

_KINDS = {"time": "ARGUMENT_TIME", TELECOMMAND: "ARGUMENT_TELECOMMAND", "i32": "ARGUMENT_SIGNED"}


def header(definition: Definition) -> str:
    """The header's text."""
    lines = [
        "/* Made from docking/flight/packets.toml by rtqual_docking.c_tables; not to be changed here. */",
        "#ifndef PACKETS_H",
        "#define PACKETS_H",
        "#include <stdint.h>",
        *_enum("packet", {name.upper(): getattr(definition, name) for name in (
            "apid", "leap_seconds", "largest", "schedule_most", "scheduled_octets")}, count=False),
        *_enum("failure", {"NONE": 0, **definition.failures}, count=False),
        *(line for name, labels in definition.enums.items() for line in _enum(name, labels)),
        *_enum("command", {name: at for at, name in enumerate(definition.commands)}),
        *_enum("report", {name: at for at, name in enumerate(definition.reports)}),
        "struct flight; struct request;",
        *(f"enum failure command_{name.lower()}(struct flight *flight, const struct request *request);"
          for name in definition.commands),
        *(line for one in definition.reports.values() if _plain(one) for line in _structure(one)),
        "#endif",
        "#ifdef PACKETS_TABLES",
        *_commands(definition),
        *_reports(definition),
        *_rows("static const struct parameter_row parameters[]", (
            (name, f"{one.least}, {one.most}, {one.default}, {len(one.choices)}, {{ {_numbers(one.choices)} }}")
            for name, one in definition.parameters.items())),
        *_rows("static const struct limits monitors[]", (
            (name, f"{one.low}, {one.high}") for name, one in definition.monitors.items())),
        f"static const uint8_t severities[] = {{ {_numbers(one.severity for one in definition.events.values())} }};",
        "#endif",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, values)) or "0"


def _enum(name: str, labels: Mapping[str, int], *, count: bool = True) -> Iterator[str]:
    prefix = name.upper()
    yield f"enum {name if name != 'switch' else ''} {{"
    yield from (f"\t{prefix}_{label} = {value}," for label, value in labels.items())
    if count:  # how many there are, from 0 on or from 1
        yield f"\t{prefix}_FIRST = {min(labels.values())}, {prefix}_LAST = {max(labels.values())},"
        yield f"\t{prefix}_COUNT = {len(labels)},"
    yield "};"


def _plain(report: ReportDefinition) -> bool:
    """Of numbers of fixed place and size."""
    return (
        bool(report.fields) and not report.entries and all(one.kind not in ("time", "request") for one in report.fields)
    )


def _structure(report: ReportDefinition) -> Iterator[str]:
    """Every field has 32 bits here, however many it has in the report."""
    kinds = {"f32": "float", "i32": "int32_t"}
    members: dict[str, tuple[str, int]] = {}
    for one in report.fields:
        name = re.sub(r"_\d+$", "", one.name)  # a field of several values
        members[name] = kinds.get(one.kind, "uint32_t"), members.get(name, ("", 0))[1] + 1
    yield f"struct report_{report.name.lower()} {{"
    yield from (f"\t{kind} {name}{f'[{count}]' * (count > 1)};" for name, (kind, count) in members.items())
    yield "};"


def _fields(fields: Sequence[PacketField]) -> str:
    rows = (
        f"{{ {_KINDS.get(one.kind, 'ARGUMENT_WHOLE')}, {one.octets}, {one.least}LL, {one.most}LL }}" for one in fields
    )
    return ", ".join(rows) or "{ 0, 0, 0, 0 }"


def _commands(definition: Definition) -> Iterator[str]:
    yield "static const struct command_row commands[] = {"
    for name, one in definition.commands.items():
        refused = ", ".join(f"FAILURE_{one.refused.get(mode, 'NONE')}" for mode in definition.modes)
        yield (
            f"\t[COMMAND_{name}] = {{ {one.service}, {one.subtype}, {len(one.fixed)}, {_numbers(one.fixed)}, "
            f"{len(one.arguments)}, {len(one.entries)}, {{ {_fields(one.arguments)} }}, {{ {_fields(one.entries)} }}, "
            f"{{ {refused} }}, command_{name.lower()} }},"
        )
    yield "};"


def _reports(definition: Definition) -> Iterator[str]:
    yield "static const struct report_row reports[] = {"
    for name, one in definition.reports.items():
        octets = [field.octets for field in one.fields] if _plain(one) else []
        head = f"{one.service}, {one.subtype}, {-1 if one.id is None else one.id}, {len(octets)}"
        yield f"\t[REPORT_{name}] = {{ {head}, {{ {_numbers(octets)} }} }},"
    yield "};"


def _rows(declaration: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f"{declaration} = {{"
    yield from (f"\t{{ {text} }}, /* {name} */" for name, text in rows)
    yield "};"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(header(parse(path.read_text(encoding="utf-8"), path.name)), end="")
