# SPDX-License-Identifier: MIT
"""What a procedure names, or a value it waits for, that no packet has."""

import re
import struct
from collections.abc import Iterator
from math import inf

from rtqual.engine.mission.explain import Problem, suggest
from rtqual.engine.procedure.described import Bounds, Wanted
from rtqual.engine.procedure.transfers import NAME
from rtqual_docking.packets.definition import WHOLE, Definition, PacketField
from rtqual_docking.procedures.model import Expect, Match, Procedure
from rtqual_docking.procedures.sound import ANSWERS

_TEXT = "text"
# Of a file, that a procedure may ask for.
_FIELDS = (
    PacketField("name", _TEXT, 0),
    *(PacketField(name, "u32", 4) for name in ("octets", "packets", "lost", "asked")),
)
_WHOLE = {**WHOLE, "time": (8, 0, 2**32 * 10**9 - 1)}  # ns


def unknown(procedure: Procedure, definition: Definition) -> Iterator[Problem]:
    """Names that no packet has: what never comes would be expected in vain, or forbidden for nothing."""
    for number, step in enumerate(procedure.steps):
        if step.send and step.send not in definition.commands:
            message = f"unknown telecommand {step.send!r}; {suggest(step.send, definition.commands)}"
            yield Problem(("step", number, "send"), message)
        for key, matches in (("expect", step.expect), ("forbid", step.forbid)):
            for at, match in enumerate(matches):
                for name, message in _of_match(match, definition, answers=bool(step.send or step.raw)):
                    yield Problem(("step", number, key, at, name), message)


def _of_match(match: Match, definition: Definition, *, answers: bool) -> Iterator[tuple[str, str]]:
    """`answers`: whether its step sends something that may be answered."""
    reports = definition.reports
    meant = [row for row in reports.values() if match.report in (row.name, f"{row.service}.{row.subtype}")]
    if match.event:
        if match.event not in definition.events:
            yield "event", f"unknown event {match.event!r}; {suggest(match.event, definition.events)}"
        else:
            severity = definition.events[match.event].severity
            ours = [row for row in reports.values() if (row.service, row.subtype) == (5, severity)]
            if match.report and meant != ours:
                yield "report", f"{match.event} comes as 5.{severity}; leave the report out"
            meant = ours
    if match.report and not meant:
        known = [*reports, *(f"{row.service}.{row.subtype}" for row in reports.values())]
        yield "report", f"unknown report {match.report!r}; {suggest(match.report, dict.fromkeys(known))}"
    if meant and not answers and all(row.service == ANSWERS for row in meant):
        yield "report", f"{match.report} answers a telecommand, and this step sends none; write it where one is sent"
    if match.failure and match.failure not in definition.failures:
        yield "failure", f"unknown failure {match.failure!r}; {suggest(match.failure, definition.failures)}"
    if match.failure and meant and not all(any(f.kind == "failure" for f in row.fields) for row in meant):
        yield "failure", "stands in reports 1.2, 1.4 and 1.8 only; write report = one of these"
    is_file = isinstance(match, Expect) and match.file is not None
    fields = _FIELDS if is_file else tuple(field for row in meant for field in (*row.fields, *row.entries))
    for name, wanted in match.values.items() if meant or is_file else ():
        same = [field for field in fields if field.name == name]
        if not same:
            of = "a file" if is_file else match.event or match.report
            yield "values", f"{of} has no field {name!r}; {suggest(name, [field.name for field in fields])}"
        elif name in ("event", "failure") and getattr(match, name):
            yield "values", f"{name}: stands beside the values, too; leave it out here"
        elif all(why := [_why_not(wanted, field, match.event or "", definition) for field in same]):
            yield "values", f"{name}: {why[0]}"


def _why_not(wanted: Wanted, field: PacketField, event: str, definition: Definition) -> str:
    """Why such a field never has this value, which would be expected, or forbidden, in vain; empty where it may."""
    labels = definition.labels(field.kind, field.name, event)
    if isinstance(wanted, str) and labels:
        return "" if wanted in labels else f"{wanted!r} is none of its values; {suggest(wanted, labels)}"
    if isinstance(wanted, str):
        why = f"{wanted!r} is no number; write one, or bounds as {{ at_most = 5 }}"
        return why if field.kind != _TEXT else "" if re.fullmatch(NAME, wanted) else f"{wanted!r} is no name of a file"
    if field.kind not in (*_WHOLE, "f32"):
        allowed = suggest("", labels) if labels else "write a text" if field.kind == _TEXT else "leave it out"
        return f"is no number; {allowed}"
    if labels and not isinstance(wanted, Bounds):
        return "" if wanted in labels.values() else f"{wanted} is none of its values; {suggest('', labels)}"
    return _why_no_number(wanted, field)


def _why_no_number(wanted: float | Bounds, field: PacketField) -> str:
    _, least, most = _WHOLE.get(field.kind, (0, -inf, inf))
    whole = f": whole numbers, {least:,} to {most:,}" if field.kind in _WHOLE else ""
    if isinstance(wanted, Bounds):
        return "" if _possible(wanted, least, most) else f"nothing is within these bounds{whole}"
    if not whole and struct.unpack("f", struct.pack("f", wanted))[0] != wanted:
        return f"{wanted} is none of its values, which have 24 bits; write bounds"
    possible = least <= wanted <= most and (not whole or wanted == int(wanted))
    return "" if possible else f"{wanted} is none of its values{whole}"


def _possible(bounds: Bounds, least: float, most: float) -> bool:
    low, high = (
        (least if bounds.at_least is None else bounds.at_least),
        (most if bounds.at_most is None else bounds.at_most),
    )
    grows = 0 if bounds.grows_at_least is None else bounds.grows_at_least
    grown = most - least if bounds.grows_at_most is None else bounds.grows_at_most
    return max(low, least) <= min(high, most) and grown >= 0 and grows <= min(grown, most - least)
