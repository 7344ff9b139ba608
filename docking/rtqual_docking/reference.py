# SPDX-License-Identifier: MIT
"""Prints docs/docking/telecommands.md, made from the definition: `python -m rtqual_docking.reference` does it."""

from collections.abc import Iterable, Sequence

from rtqual.base.words import table
from rtqual_docking.packets.definition import WHOLE, Definition, PacketField, Parameter, load

_HEAD = """\
# Telecommands and telemetry

What [ds325-flight](flight.md) understands and says, made from `docking/flight/packets.toml` by `python -m
rtqual_docking.reference`. ECSS-E-ST-70-41C (PUS-C) in CCSDS space packets, application process {apid}; all numbers are
big-endian.

## Packets

**Telecommand**: primary header (version 0, type 1, secondary header 1, unsegmented), 6 octets; 0x20 and the flags of
the acknowledgements asked for (acceptance 1, start 2, progress 4, completion 8), service, subtype, source (16 bits);
data; CRC-16/CCITT-FALSE over everything before. At most {largest} octets. With a key, a counter of 64 bits that rises
from one telecommand to the next and the first 16 octets of HMAC-SHA256 over everything before stand between data and
CRC. A program that has lost the counter takes none but SET_COUNTER, with the 64 bits that its event COUNTER_LOST tells:
they are drawn anew each time, so what was recorded before answers another challenge.

**Report**: primary header, 0x20, service, subtype, a counter for each type of report and a destination (16 bits each;
the counter is the service's), the time: 0x2f, seconds of TAI since 1970 in 4 octets ({leap_seconds} more than UTC's),
fractions of 2^-24 s in 3. Then data and CRC. Refusals (1.2) go to who is refused and to nobody else; the counts in what
a ground gets leave no gap for them.

**Acknowledgements** name a telecommand by its first four octets. Failures are reported whether or not they were asked
for. A list is a number of entries (8 bits) and the entries.
"""


def page(definition: Definition) -> str:
    """The page, in Markdown."""
    parts = [
        _HEAD.format(apid=f"0x{definition.apid:x}", largest=definition.largest, leap_seconds=definition.leap_seconds)
    ]
    parts += ["## Telecommands\n", _table(("name", "type", "data", "what it does"), _commands(definition))]
    parts += ["## Commands and modes\n", "Failures of 1.4; the other telecommands are allowed in every mode.\n"]
    parts.append(_table(("", *definition.modes), _modes(definition)))
    parts += ["## Reports\n", _table(("name", "type", "data"), _reports(definition))]
    parts += ["## Events\n", _table(("name", "id", "type", "value", "detail", "when"), (
        (one.name, one.id, f"5.{one.severity}", one.value, one.detail, one.doc) for one in definition.events.values()
    ))]  # fmt: skip
    parts += ["## Parameters\n", _table(("name", "id", "unit", "values", "at first", "what"), (
        (one.name, one.id, one.unit, _values(one), one.default, one.doc)
        for one in definition.parameters.values()
    ))]  # fmt: skip
    parts += ["## Monitored values\n", _table(("name", "id", "unit", "limits at first", "what"), (
        (one.name, one.id, one.unit, f"{one.low} to {one.high}", one.doc) for one in definition.monitors.values()
    ))]  # fmt: skip
    parts += ["## Failures\n", _table(("code", "name", "why"), (
        (code, name, definition.failure_docs[name]) for name, code in definition.failures.items()
    ))]  # fmt: skip
    shown = [name for name in definition.enums if name not in ("parameter", "event", "monitor")]
    parts += ["## Enumerations\n", _table(("name", "values"), (
        (name, ", ".join(f"{value} {label}" for label, value in definition.enums[name].items())) for name in shown
    ))]  # fmt: skip
    return "\n".join(parts)


def _commands(definition: Definition) -> Iterable[Sequence[object]]:
    for one in definition.commands.values():
        data = [f"{octet} (8 bits)" for octet in one.fixed] + [_field(field) for field in one.arguments]
        if one.entries:
            data.append("list of " + ", ".join(map(_field, one.entries)))
        yield one.name, f"{one.service}.{one.subtype}", "; ".join(data), one.doc


def _modes(definition: Definition) -> Iterable[Sequence[object]]:
    for one in definition.commands.values():
        if one.refused:
            yield one.name, *(one.refused.get(mode, "yes") for mode in definition.modes)


def _reports(definition: Definition) -> Iterable[Sequence[object]]:
    for one in definition.reports.values():
        data = [] if one.id is None else [f"{one.id} (8 bits)"]
        data += [_field(field) for field in one.fields]
        if one.entries:
            data.append("list of " + ", ".join(map(_field, one.entries)))
        yield one.name, f"{one.service}.{one.subtype}", "; ".join(data)


def _values(parameter: Parameter) -> str:
    return ", ".join(map(str, parameter.choices)) or f"{parameter.least} to {parameter.most}"


def _field(field: PacketField) -> str:
    narrow = field.kind in WHOLE and (field.least, field.most) != WHOLE[field.kind][1:]
    return f"{field.name} {field.kind}" + (f" {field.least} to {field.most}" if narrow else "")


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    return f"{table(head, rows)}\n"


if __name__ == "__main__":
    print(page(load()), end="")
