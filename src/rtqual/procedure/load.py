# SPDX-License-Identifier: MIT
"""Procedures from their files, checked against the packets that there are; or one line on what is wrong."""

import tomllib
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.mission.explain import Problem, dotted, problem, suggest
from rtqual.mission.load import MAX_DEPTH, decoded, is_deeper, read
from rtqual.mission.toml_lines import key_lines, line_of
from rtqual.mission.verify import Verify
from rtqual.packet.definition import WHOLE, Definition, Field
from rtqual.procedure.files import FIELDS, TEXT
from rtqual.procedure.model import Bounds, Expect, Match, Procedure, Wanted
from rtqual.procedure.script import compiled
from rtqual.procedure.sound import ANSWERS

_GIVE = "give a procedure (TOML; docs/verify.md)"
PROCEDURES_MOST = 500


def load_procedure(path: Path, definition: Definition) -> Procedure:
    """Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`."""
    text = decoded(path, read(path, _GIVE))
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not TOML: {' '.join(str(error).split())}; {_GIVE}") from None
    if is_deeper(document, MAX_DEPTH):
        raise BadInput(f"{path}:1: tables or lists are nested deeper than {MAX_DEPTH} levels; no procedure needs that")
    procedure, problems = _checked(document, definition)
    if problems or procedure is None:
        lines = key_lines(text)
        first = min(problems, key=lambda one: (one.is_missing, line_of(lines, one.path)))
        key = f"{dotted(first.path)}: " if first.path else ""
        raise BadInput(" ".join(f"{path}:{line_of(lines, first.path)}: {key}{first.message}".split()))
    procedure = procedure.named(path.stem)
    compiled(procedure, definition, str(path))
    return procedure


def procedures_of(verify: Verify, place: Path, definition: Definition) -> tuple[Procedure, ...]:
    """Those of [verify] as it has them played: by its way of the camera, tagged. `place`: the mission's folder."""
    found = load_procedures(place / verify.procedures, definition)
    return tuple(one.by(verify.camera).model_copy(update={"tagged": one.tagged or verify.tagged}) for one in found)


def load_procedures(folder: Path, definition: Definition) -> tuple[Procedure, ...]:
    """All of a folder, by name. Raises BadInput for the first that is wrong."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}; give a folder of procedures") from None
    if not 0 < len(paths) <= PROCEDURES_MOST:
        raise BadInput(f"{folder}: holds {len(paths)} procedures (*.toml); there may be 1 to {PROCEDURES_MOST}")
    for path in paths:
        if not path.stem.isascii() or not path.stem.replace("-", "").isalnum() or path.stem != path.stem.lower():
            raise BadInput(f"{str(path)!r}: is no name of a procedure; write lower-case letters, digits and '-'")
    return tuple(load_procedure(path, definition) for path in paths)


def _checked(document: dict[str, Any], definition: Definition) -> tuple[Procedure | None, list[Problem]]:
    try:
        procedure = Procedure.model_validate(document, context=AS_WRITTEN, by_alias=True, by_name=False)
    except ValidationError as error:
        schema = Procedure.model_json_schema()
        return None, [problem(one, schema) for one in error.errors(include_url=False)]
    return procedure, list(unknown(procedure, definition))


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
    fields = FIELDS if is_file else tuple(one for row in meant for one in (*row.fields, *row.entries))
    for name, wanted in match.values.items() if meant or is_file else ():
        same = [one for one in fields if one.name == name]
        if not same:
            of = "a file" if is_file else match.event or match.report
            yield "values", f"{of} has no field {name!r}; {suggest(name, [one.name for one in fields])}"
        elif name in ("event", "failure") and getattr(match, name):
            yield "values", f"{name}: stands beside the values, too; leave it out here"
        elif all(why := [_why_not(wanted, one, match.event or "", definition) for one in same]):
            yield "values", f"{name}: {why[0]}"


def _why_not(wanted: Wanted, field: Field, event: str, definition: Definition) -> str:
    """Why such a field never has this value, which would be expected, or forbidden, in vain; empty where it may."""
    labels = definition.labels(field.kind, field.name, event)
    if isinstance(wanted, str) and labels:
        return "" if wanted in labels else f"{wanted!r} is none of its values; {suggest(wanted, labels)}"
    if isinstance(wanted, str):
        return "" if field.kind == TEXT else f"{wanted!r} is no number; write one, or bounds as {{ at_most = 5 }}"
    if field.kind not in (*WHOLE, "f32", "time"):
        allowed = suggest("", labels) if labels else "write a text" if field.kind == TEXT else "leave it out"
        return f"is no number; {allowed}"
    if labels and not isinstance(wanted, Bounds):
        return "" if wanted in labels.values() else f"{wanted} is none of its values; {suggest('', labels)}"
    _, least, most = WHOLE.get(field.kind, (0, -inf, inf))
    whole = f": whole numbers, {least:,} to {most:,}" if field.kind in WHOLE else ""
    if isinstance(wanted, Bounds):
        return "" if _possible(wanted, least, most) else f"nothing is within these bounds{whole}"
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
