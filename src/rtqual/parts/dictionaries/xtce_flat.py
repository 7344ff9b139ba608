# SPDX-License-Identifier: MIT
"""Fields as XTCE has them: plain ones with a name each, whose sizes, labels and bounds it can say."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtqual.parts.dictionaries.model import (
    MOST_DEPTH,
    MOST_FIELDS,
    MOST_PACKET_FIELDS,
    Array,
    Coding,
    Field,
    Number,
    Polynomial,
    Struct,
    Text,
    number,
)
from rtqual.parts.dictionaries.value_codec import MOST_OCTETS, fixed_bits
from rtqual.protocols.dictionary import Refused

_MOST_ELEMENTS = 256  # of an array, each a parameter of its own
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # but Char of XML 1.0


@dataclass(frozen=True)
class Flat:
    """A field of a plain type, `of` one of the dictionary's. `at`: its first bit from the packet's start, where
    only that tells it; else it lies `gap` bits behind the one before."""

    of: Field
    name: str
    type: Number | Text
    bits: int
    at: int | None = None
    gap: int = 0


@dataclass
class FieldCount:
    """Of a dictionary: types that hold one another twice double with each level."""

    of_all: int = 0
    of_packet: int = 0

    def one_more(self, name: str) -> None:
        self.of_all += 1
        self.of_packet += 1
        if self.of_packet > MOST_PACKET_FIELDS or self.of_all > MOST_FIELDS:
            most = f"{MOST_PACKET_FIELDS:,} fields, or of {MOST_FIELDS:,} in all"
            raise Refused(f"{name:.60} is one of more than {most}")


def flat_fields(work: FieldCount, of: Field, each: Field, prefix: str = "", depth: int = 0) -> Iterator[Flat]:
    """The plain ones of a field. Raises Refused where one has no fixed place, or cannot be told."""
    name = prefix + each.name
    work.one_more(name)
    if depth > MOST_DEPTH:
        raise Refused(f"{name:.60} is nested too deep")
    if each.when is not None or each.count is not None:
        raise Refused(f"{name} is there at times only")
    if not all(0 <= place <= MOST_OCTETS * 8 for place in (each.at or 0, each.gap)):
        raise Refused(f"{name} lies outside of any packet")
    if isinstance(each.type, Number | Text):
        yield Flat(of, name, each.type, _bits(each.type, name), each.at, each.gap)
        return
    if each.at is not None:
        raise Refused(f"{name} has several parts at a place of its own")
    parts = each.type.members if isinstance(each.type, Struct) else _elements(each.type, name)
    gap = each.gap
    for part in parts:
        inner = Field(part.name, part.type, part.at, part.gap + gap, part.when, part.count)
        yield from flat_fields(work, of, inner, f"{name}_", depth + 1)
        gap = 0


def _elements(array: Array, name: str) -> Sequence[Field]:
    count = 1
    for each in array.counts or (0,):
        count *= each if isinstance(each, int) else 0
    if not 0 < count <= _MOST_ELEMENTS:
        raise Refused(f"{name} has a number of elements that is not fixed, or more than {_MOST_ELEMENTS}")
    return [Field(str(place), array.of) for place in range(count)]


def _bits(kind: Number | Text, name: str) -> int:
    """Its size. Raises Refused for what the document cannot say of a type."""
    try:
        bits = fixed_bits(kind)
        if isinstance(kind, Number):
            for label in kind.labels.values():
                xml_text(label)
    except Refused as why:
        raise Refused(f"{name} has {why}") from None
    if isinstance(kind, Number):
        if kind.coding is Coding.MIL:
            raise Refused(f"{name} is a number of MIL-STD-1750A")
        if any(number(each) is None for each in (kind.least or 0, kind.most or 0, *_factors(kind))):
            raise Refused(f"{name} has a bound or calibration that is no number")
    return bits


def _factors(kind: Number) -> Sequence[float]:
    if isinstance(kind.calibration, Polynomial):
        return kind.calibration.coefficients
    return [each for point in kind.calibration.points for each in point] if kind.calibration else []


def xml_text(text: str) -> str:
    if _NO_XML.search(text):
        raise Refused(f"{text!r:.60} holds what no XML can")
    return text
