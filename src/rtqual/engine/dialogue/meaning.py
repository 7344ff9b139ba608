# SPDX-License-Identifier: MIT
"""What a report says of a telecommand, or that it is an event: by rows, of which the first that fits holds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rtqual.engine.mission.language_table import EVENT, Meaning, Stage
from rtqual.protocols.dictionary import Encoded, Report

_OCTETS = re.compile(r"octets (\d{1,5})-(\d{1,5})", re.ASCII)
_APP = "{app}"
RAW = "raw"  # in place of a command's name
BEGINS = (Stage.ACCEPTED, Stage.REFUSED)  # of which a telecommand has one
ENDS = (Stage.COMPLETED, Stage.FAILED)  # likewise


@dataclass(frozen=True)
class Meant:
    """What a report means. `row`: by which; `app`: of its telecommand, where the row tells it by that."""

    row: Meaning
    stage: Stage | None = None  # None: an event
    event: str = ""
    severity: str = ""
    cause: str = ""
    app: str | None = None
    token: tuple[tuple[str, Any], ...] = ()  # what the command has -> as the report repeats it

    def answers(self, command: str, sent: Encoded) -> bool:
        """Whether it is of this telecommand, or may be: of raw octets nobody knows the name or the fields."""
        if self.app is not None and command != RAW and _app_of(command) != self.app:
            return False
        of = ((value, _of_command(name, sent)) for name, value in self.token)
        return all(_same(value, own) or (own is None and command == RAW) for value, own in of)

    def tells(self, command: str, sent: Encoded) -> bool:
        """Whether what it repeats of a telecommand can be looked up in this one: of raw octets neither the name nor the
        fields can."""
        return command != RAW or (
            self.app is None and all(_of_command(name, sent) is not None for name, _ in self.token)
        )


def meant(rows: Sequence[Meaning], report: Report) -> Meant | None:
    """What a report means; None where no row fits it and it has no severity."""
    first = next((found for row in rows if (found := by(row, report))), None)
    return first or (_by(Meaning(is_=EVENT), report, None) if report.severity else None)


def by(row: Meaning, report: Report) -> Meant | None:
    """What a report means by this row; None where it does not fit."""
    fitting = _pattern(row.report).fullmatch(report.name)
    if not fitting or not all(_is(report.values.get(name), value) for name, value in row.where.items()):
        return None
    return _by(row, report, fitting.groupdict().get("app"))


def _by(row: Meaning, report: Report, app: str | None) -> Meant:
    if row.is_ == EVENT:
        name = ".".join(_text(report.values.get(field)) for field in row.name) or report.name
        severity = _text(report.values.get(row.severity_from)) if row.severity_from else row.severity
        return Meant(row, event=name, severity=severity or report.severity)
    token = tuple((of, report.values.get(field)) for field, of in row.token.items())
    cause = _text(report.values.get(row.cause)) if row.cause else ""
    return Meant(row, Stage(row.is_), cause=cause, app=app, token=token)


def told(rows: Sequence[Meaning]) -> frozenset[str]:
    """The stages that a program has a word for."""
    return frozenset(row.is_ for row in rows)


@cache
def _pattern(report: str) -> re.Pattern[str]:
    """* is any letters, {app} what a command's name has before its last dot."""
    pieces = re.split(r"(\*|\{app\})", report)
    return re.compile("".join({"*": ".*", _APP: "(?P<app>.+)"}.get(piece, re.escape(piece)) for piece in pieces), re.S)


def _app_of(command: str) -> str:
    return re.split(r"[./ ]", command[::-1], maxsplit=1)[-1][::-1]


def _of_command(name: str, sent: Encoded) -> Any:
    octets = _OCTETS.fullmatch(name)
    return sent.octets[int(octets[1]) : int(octets[2])] if octets else sent.fields.get(name)


def _same(told: Any, own: Any) -> bool:
    """A report repeats octets of a command as octets, or as the number that they are."""
    if told is None or own is None:
        return False
    if isinstance(own, bytes) and isinstance(told, int):
        return int.from_bytes(own, "big") == told
    if isinstance(told, bytes) and isinstance(own, int):
        return int.from_bytes(told, "big") == own
    return _is(told, own)


def _is(have: Any, want: Any) -> bool:
    if isinstance(want, bool) or isinstance(have, bool):
        return str(have).lower() == str(want).lower()
    return bool(have == want) or (isinstance(have, bytes) and have.hex() == want)


def _text(value: Any) -> str:
    return "" if value is None else value.hex() if isinstance(value, bytes) else str(value)


def preset(name: str | None) -> tuple[Meaning, ...]:
    """The rows that rtqual brings."""
    return tuple(Meaning.model_validate(row) for row in PRESETS[name]) if name else ()


_REQUEST = {"request": "octets 0-4"}
# ECSS-E-ST-70-41C, 6.1 and 6.5; of reports with the fields service, subtype, request, failure, event.
_PUS_ANSWERS: Mapping[int, Stage] = {
    1: Stage.ACCEPTED,
    2: Stage.REFUSED,
    3: Stage.STARTED,
    4: Stage.FAILED,
    5: Stage.PROGRESS,
    6: Stage.FAILED,
    7: Stage.COMPLETED,
    8: Stage.FAILED,
}
_PUS_EVENTS = {1: "INFO", 2: "LOW", 3: "MEDIUM", 4: "HIGH"}
_OPCODE = {"Opcode": "opcode"}
PRESETS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "pus-1": (
        *(
            {"is": str(stage), "where": {"service": 1, "subtype": subtype}, "token": _REQUEST, "cause": "failure"}
            for subtype, stage in _PUS_ANSWERS.items()
        ),
        *(
            {"is": EVENT, "where": {"service": 5, "subtype": subtype}, "name": ["event"], "severity": severity}
            for subtype, severity in _PUS_EVENTS.items()
        ),
    ),
    # Svc::CommandDispatcher. A malformed command has no opcode in its event, so it is of any.
    "fprime": (
        {"is": "accepted", "report": "*.OpCodeDispatched", "token": _OPCODE},
        {"is": "completed", "report": "*.OpCodeCompleted", "token": _OPCODE},
        {"is": "failed", "report": "*.OpCodeError", "token": _OPCODE, "cause": "error"},
        {"is": "refused", "report": "*.InvalidCommand", "token": _OPCODE},
        {"is": "refused", "report": "*.TooManyCommands", "token": _OPCODE},
        {"is": "refused", "report": "*.CommandDroppedQueueOverflow", "token": {"OpCode": "opcode"}},
        {"is": "refused", "report": "*.MalformedCommand", "cause": "Status"},
    ),
    # cFE's events and housekeeping as cfs.toml of docs/verify-yours.md names them.
    "cfe": (
        {"is": "accepted", "report": "{app}_HK", "grows": "CommandCounter"},
        {"is": "refused", "report": "{app}_HK", "grows": "CommandErrorCounter"},
        {"is": EVENT, "report": "EVENT", "name": ["AppName", "EventID"], "severity_from": "EventType"},
    ),
}
