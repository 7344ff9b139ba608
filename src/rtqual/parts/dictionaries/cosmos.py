# SPDX-License-Identifier: MIT
"""COSMOS command and telemetry text. No Ruby is run.

`<%= NAME %>` is replaced where the caller gives NAME, and any other ERB is refused; COSMOS keeps the text that it made
of it where its plug-ins are installed.

Source: OpenC3's documentation of the command and telemetry configuration files.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import bounded_files
from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_DEGREE,
    All,
    Array,
    Coding,
    CommandType,
    Dictionary,
    Field,
    Number,
    Packet,
    Polynomial,
    Text,
    Type,
    Where,
    number,
)
from rtqual.protocols.dictionary import Refused

_FIELD = re.compile(r"(APPEND_)?(ID_|ARRAY_)?(ITEM|PARAMETER)")
_END = re.compile(r"(MIN|MAX)_(U?INT)(\d{1,3})")
_ORDERS = {"BIG_ENDIAN": False, "LITTLE_ENDIAN": True}
_CODINGS = {"UINT": Coding.UNSIGNED, "INT": Coding.TWOS, "FLOAT": Coding.IEEE}
# What says nothing of octets.
# fmt: off
_READ_OVER = {
    "ALLOW_SHORT",
    "CONVERTED_DATA",
    "DESCRIPTION",
    "DISABLED",
    "DISABLE_MESSAGES",
    "FORMAT_STRING",
    "HAZARDOUS",
    "HIDDEN",
    "IGNORE_OVERLAP",
    "KEY",
    "LIMITS",
    "LIMITS_GROUP",
    "LIMITS_GROUP_ITEM",
    "LIMITS_RESPONSE",
    "META",
    "OBFUSCATE",
    "OVERFLOW",
    "OVERLAP",
    "PROCESSOR",
    "READ_CONVERSION",
    "RELATED_ITEM",
    "REQUIRED",
    "RESPONSE",
    "RESTRICTED",
    "SCREEN",
    "SEG_POLY_READ_CONVERSION",
    "UNITS",
    "VALIDATOR",
    "VIRTUAL",
}
# fmt: on


def read(paths: Sequence[Path], names: Mapping[str, str]) -> Dictionary:
    """Return what files of targets hold; `names` replace `<%= NAME %>`. Raises BadInput where ERB is left."""
    definitions: dict[str, _Definition] = {}
    for path in paths:
        text = attempt(path.name, _plain, bounded_files.text(path), names)
        if isinstance(text, Refused):
            raise BadInput(f"dictionary {str(path)!r}: {text}")
        _Lines(definitions).take(bounded_files.lines(path, text))
    if not definitions:
        raise BadInput(f"dictionary {str(paths[0])!r}: no COMMAND and no TELEMETRY in it: no COSMOS definition")
    commands = {name: definition.command(name) for name, definition in _of(definitions, "COMMAND")}
    telemetry = _of(definitions, "TELEMETRY")
    packets = {name: definition.packet(name) for name, definition in telemetry}
    # They share no header. The one with most to be known by comes first; one without is known by nothing.
    roots = sorted(
        (name for name, definition in telemetry if definition.identity),
        key=lambda name: -len(definitions[f"TELEMETRY {name}"].identity),
    )
    return Dictionary(commands, packets, tuple(packets[name] for name in roots))


def _of(definitions: Mapping[str, "_Definition"], kind: str) -> list[tuple[str, "_Definition"]]:
    return [(key.partition(" ")[2], definition) for key, definition in definitions.items() if key.startswith(kind)]


def _plain(text: str, names: Mapping[str, str]) -> str:
    text = re.sub(r"<%=([^%]*)%>", lambda match: names.get(match[1].removesuffix("-").strip(), match[0]), text)
    text = re.sub(r"<%\s*#[^%]*%>", "", text)
    if (at := text.find("<%")) >= 0:
        raise Refused(
            f"line {text.count(chr(10), 0, at) + 1}: ERB, which is a program: {' '.join(text[at : at + 60].split())!r}"
            "; give the text that COSMOS made of it, or names for values"
        )
    return re.sub(r"&[ \t]*\r?\n", " ", text)


@dataclass
class _Definition:
    """A command or a packet as it is read. `why`: what made it unusable first."""

    little: bool
    why: Refused | None = None
    at: int = 0
    fields: dict[str, Field] = field(default_factory=dict)  # by name
    states: dict[int, str] = field(default_factory=dict)  # of the last field
    identity: list[tuple[str, Any]] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def last(self) -> Field | None:
        return self.fields[next(reversed(self.fields))] if self.fields else None

    def refuse(self, why: Refused) -> None:
        self.why = self.why or why

    def command(self, name: str) -> CommandType:
        arguments = {each.name: each.type for each in self.fields.values()}
        return CommandType(name, self.why or tuple(self.fields.values()), arguments, defaults=self.defaults)

    def packet(self, name: str) -> Packet:
        where = All(tuple(Where(field, "==", str(value), True) for field, value in self.identity))
        return Packet(name, where=where, fields=self.why or tuple(self.fields.values()))


class _Lines:
    """Reads line after line into definitions, by name and kind."""

    def __init__(self, definitions: dict[str, _Definition]) -> None:
        self.definitions = definitions
        self.now: _Definition | None = None
        self.converting = False  # between GENERIC_..._START and _END stands a program

    def take(self, lines: Sequence[str]) -> None:
        for line in lines:
            words = _words(line)
            if not words:
                continue
            keyword = words[0].upper()
            if self.converting:
                self.converting = not keyword.endswith("CONVERSION_END")
                continue
            why = attempt(keyword, self._line, keyword, words)
            if isinstance(why, Refused) and self.now:
                self.now.refuse(why)

    def _line(self, keyword: str, words: list[str]) -> None:
        if keyword in ("COMMAND", "TELEMETRY"):
            order = words[3].upper() if len(words) > 3 else ""
            self.now = _Definition(_ORDERS.get(order, False))
            self.definitions[f"{keyword} {words[1]}.{words[2]}"] = self.now
            if order not in _ORDERS:
                raise Refused(f"octets in the order {order!r:.40}")
            return
        if keyword in ("SELECT_COMMAND", "SELECT_TELEMETRY"):
            self.now = None
        if self.now is None:
            return
        if match := _FIELD.fullmatch(keyword):
            _add_field(self.now, match[1] is not None, match[2] or "", match[3], words[1:])
        elif keyword == "STATE":
            _change_last(self.now, _with_state(self.now, words))
        elif keyword.startswith("GENERIC_"):
            self.converting = keyword.endswith("START")
            if "WRITE" in keyword:
                raise Refused("is converted by a program")
        elif keyword in ("POLY_READ_CONVERSION", "POLY_WRITE_CONVERSION"):
            _change_last(self.now, _with_polynomial(self.now, keyword, words[1:]))
        elif keyword not in _READ_OVER:
            raise Refused(f"the keyword {keyword[:40]}")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # an apostrophe in a description
        return line.partition("#")[0].split()


def _add_field(definition: _Definition, append: bool, kind: str, what: str, words: list[str]) -> None:
    """NAME [BIT] BITS TYPE [ARRAY BITS] [LEAST MOST DEFAULT | ID] [description [order]]"""
    name = words[0]
    at = definition.at if append else int(words[1], 0)
    size, coding, *rest = words[1:] if append else words[2:]
    bits, coding = int(size, 0), coding.upper()
    little = definition.little
    if rest and rest[-1].upper() in _ORDERS:
        little = _ORDERS[rest.pop().upper()]
    if coding == "DERIVED":
        return
    if at < 0:
        raise Refused(f"{name}: a place from the end")
    definition.fields.pop(name, None)  # COSMOS takes the last of one name; the one before leaves its octets
    field_type = _type(name, coding, bits, at, little)
    if kind == "ARRAY_":
        total = int(rest.pop(0), 0)
        if total < 0 or bits <= 0:
            raise Refused(f"{name}: a size from the end")
        field_type, bits = Array(field_type, (total // bits,) if total else None), total
    elif what == "PARAMETER":
        field_type = _with_default(definition, name, field_type, coding, bits, kind, rest)
    elif kind == "ID_":
        definition.identity.append((name, rest[0] if coding == "STRING" else _whole(name, rest[0])))
    definition.at = at + bits
    definition.fields[name] = Field(name, field_type, at)
    definition.states = {}


def _type(name: str, coding: str, bits: int, at: int, little: bool) -> Type:
    if coding in ("STRING", "BLOCK"):
        if bits < 0:
            raise Refused(f"{name}: a size from the end")
        return Text(bits or None, "utf-8" if coding == "STRING" else None)
    if coding not in _CODINGS:
        raise Refused(f"{name}: the type {coding[:40]}")
    if bits <= 0:
        raise Refused(f"{name}: {bits} bits")
    if little and (bits % 8 or at % 8):
        raise Refused(f"{name}: little-endian bits that are no octets")
    return Number(_CODINGS[coding], bits, little)


def _with_default(
    definition: _Definition, name: str, kind: Type, coding: str, bits: int, head: str, rest: Sequence[str]
) -> Type:
    if isinstance(kind, Text) and rest:
        definition.defaults[name] = rest[0] if kind.charset or rest[0].startswith("0x") else rest[0].encode()
        return kind
    if not isinstance(kind, Number) or len(rest) < 3:
        return kind
    least, most, value = (_bound(word, coding, bits) for word in rest[:3])
    if value is not None:
        definition.defaults[name] = value
    if head == "ID_":
        definition.identity.append((name, _whole(name, rest[2])))
    return replace(kind, least=least, most=most)


def _bound(word: str, coding: str, bits: int) -> int | float | None:
    """MIN, MAX, MIN_INT16... as numbers; None where a floating-point number has no bound."""
    if word in ("MIN", "MAX"):
        if coding == "FLOAT":
            return None
        word = f"{word}_{coding}{bits}"
    if match := _END.fullmatch(word):
        signed, bits = match[2] == "INT", int(match[3])
        if match[1] == "MIN":
            return -(1 << (bits - 1)) if signed else 0
        return (1 << (bits - signed)) - 1
    if word.startswith(("MIN_FLOAT", "MAX_FLOAT")):
        return None
    return number(word)


def _whole(name: str, word: str) -> int | float:
    value = number(word)
    if value is None:
        raise Refused(f"{name}: {word!r:.40} is no number")
    return value


def _change_last(definition: _Definition, kind: Type | None) -> None:
    if (last := definition.last) and kind is not None:
        definition.fields[last.name] = replace(last, type=kind)


def _with_state(definition: _Definition, words: list[str]) -> Type | None:
    last = definition.last.type if definition.last else None
    if not isinstance(last, Number) or words[2].upper() == "ANY":
        return last
    definition.states[int(_whole(words[1], words[2]))] = words[1]
    return replace(last, labels=definition.states)


def _with_polynomial(definition: _Definition, keyword: str, words: Sequence[str]) -> Type | None:
    last = definition.last.type if definition.last else None
    if not isinstance(last, Number):
        return last
    terms = tuple(float(word) for word in words)
    if not 1 <= len(terms) <= MOST_DEGREE + 1 or any(number(term) is None for term in terms):
        raise Refused("a polynomial that is none")
    calibration = Polynomial(terms)
    if keyword == "POLY_WRITE_CONVERSION":  # from the argument to what is sent
        if len(terms) != 2 or not terms[1]:
            raise Refused("a conversion that cannot be turned round")
        calibration = Polynomial((-terms[0] / terms[1], 1 / terms[1]))
    return replace(last, calibration=calibration)
