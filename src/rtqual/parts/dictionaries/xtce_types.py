# SPDX-License-Identifier: MIT
"""XTCE's types, sizes and calibrators. No algorithm runs: what a program decodes is refused by name."""

from __future__ import annotations

from dataclasses import replace
from xml.etree.ElementTree import Element

from rtqual.parts.dictionaries.bounded_files import attempt
from rtqual.parts.dictionaries.model import (
    MOST_DEGREE,
    MOST_DEPTH,
    Array,
    By,
    Coding,
    Field,
    Number,
    Polynomial,
    Size,
    Spline,
    Struct,
    Text,
    Type,
    number,
)
from rtqual.parts.dictionaries.xtce_names import Space
from rtqual.protocols.dictionary import Refused

# Two of these are misspelt in databases of the field.
_CODINGS = {
    "unsigned": Coding.UNSIGNED,
    "twosComplement": Coding.TWOS,
    "twosCompliment": Coding.TWOS,
    "signed": Coding.TWOS,
    "signMagnitude": Coding.SIGN,
    "onesComplement": Coding.ONES,
}
_NO_SIZE = "_yamcs_ignore"  # how Yamcs writes that a tag or an end tells the size


class Types:
    """Types by their element, each made once."""

    def __init__(self) -> None:
        self.known: dict[int, Type | Refused] = {}

    def get(self, space: Space, kind: str, reference: str | None, depth: int = 0) -> Type:
        """Return the type that is meant. Raises Refused."""
        home, element = space.find(kind, reference)
        if depth > MOST_DEPTH:
            raise Refused(f"type {reference!r:.80} contains itself")
        key = id(element)
        if key not in self.known:
            self.known[key] = attempt(f"type {reference}", self._type, home, kind, element, depth + 1)
        found = self.known[key]
        if isinstance(found, Refused):
            raise found
        return found

    def _type(self, space: Space, kind: str, element: Element, depth: int) -> Type:
        tag = element.tag.replace("ParameterType", "").replace("ArgumentType", "")
        default = element.get("initialValue")
        if tag == "Aggregate":
            members = element.iterfind("MemberList/Member")
            return Struct(
                tuple(
                    Field(member.get("name", "?"), self.get(space, kind, member.get("typeRef"), depth))
                    for member in members
                )
            )
        if tag == "Array":
            return Array(self.get(space, kind, element.get("arrayTypeRef"), depth), dimensions(element))
        base = self.get(space, kind, element.get("baseType"), depth) if element.get("baseType") else None
        holder = element.find("Encoding") if "Time" in tag else element
        encoding = (
            next((part for part in holder if part.tag.endswith("DataEncoding")), None) if holder is not None else None
        )
        made = _encoded(encoding) if encoding is not None else base
        if made is None:
            raise Refused(f"type {element.get('name')!r:.80} has no encoding")
        if isinstance(made, Number):
            made = _numbered(made, base, element, tag)
        elif tag in ("Integer", "Float"):
            raise Refused(f"type {element.get('name')!r:.80}: a number as text")
        return replace(made, default=default) if default is not None else made


def _numbered(made: Number, base: Type | None, element: Element, tag: str) -> Number:
    """With its labels and range, or those of the type it is made of."""
    labels = {
        int(value): label.get("label", "")
        for label in element.iterfind("EnumerationList/Enumeration")
        if (value := number(label.get("value"))) is not None
    }
    if tag == "Boolean" and made.coding in (Coding.UNSIGNED, Coding.TWOS):
        labels = {0: element.get("zeroStringValue", "False"), 1: element.get("oneStringValue", "True")}
    inherited = base.labels if isinstance(base, Number) else {}
    made = replace(made, labels=labels or made.labels or inherited)
    valid = next(element.iter("ValidRange"), None)
    if valid is None:
        return made
    least = valid.get("minInclusive", valid.get("minExclusive"))
    most = valid.get("maxInclusive", valid.get("maxExclusive"))
    return replace(made, least=number(least), most=number(most))


def _encoded(element: Element) -> Number | Text:
    little = element.get("byteOrder") == "leastSignificantByteFirst"
    if element.find("ByteOrderList") is not None or element.get("byteOrder", "most").isdigit():
        raise Refused("octets in an order of their own")
    if any(part.tag.endswith(("TransformAlgorithm", "InputAlgorithm")) for part in element):
        raise Refused("decoded by a program")
    match element.tag:
        case "IntegerDataEncoding":
            named = element.get("encoding", "unsigned")
            if named not in _CODINGS:
                raise Refused(f"integers as {named!r:.40}")
            return Number(_CODINGS[named], int(element.get("sizeInBits", 8)), little, calibration=_calibration(element))
        case "FloatDataEncoding":
            coding = Coding.MIL if "1750" in element.get("encoding", "") else Coding.IEEE
            return Number(coding, int(element.get("sizeInBits", 32)), little, calibration=_calibration(element))
        case "StringDataEncoding":
            return _text(element, element.get("encoding") or "utf-8")
        case "BinaryDataEncoding":
            return _text(element, None)
    raise Refused(f"the encoding {element.tag!r:.40}")


def _text(element: Element, charset: str | None) -> Text:
    """A string's size stands in SizeInBits or Variable, octets' in SizeInBits."""
    try:
        "".encode(charset or "utf-8")
    except LookupError:
        raise Refused(f"the character set {charset!r:.40}") from None
    text = Text(None, charset)
    holders = (element.find("SizeInBits"), element.find("Variable"))
    for holder in holders if charset else (element,):
        if holder is None:
            continue
        if holder.find(".//DiscreteLookupList") is not None:
            raise Refused("a size by a table")
        if (end := holder.find(".//TerminationChar")) is not None:
            text = replace(text, end=bytes.fromhex((end.text or "").strip()) or b"\0")
        if (tag := holder.find(".//LeadingSize")) is not None:
            text = replace(text, tag_bits=int(tag.get("sizeInBitsOfSizeTag", 16)))
        told = holder.find(".//DynamicValue")
        if told is None:
            told = holder.find(".//FixedValue")
        if told is not None and (told.tag == "DynamicValue" or int(told.text or 0) > 0):
            bits = size(told)
            if not (isinstance(bits, By) and bits.name == _NO_SIZE):
                text = replace(text, bits=bits)
    return text


def dimensions(element: Element) -> tuple[Size, ...] | None:
    """How many values each dimension has; None where none is told."""
    told = []
    for dimension in element.iterfind("DimensionList/Dimension"):
        first = dimension.find("StartingIndex/FixedValue")
        start = int(first.text or 0) if first is not None else 0
        told.append(size(dimension.find("EndingIndex"), 1 - start))
    return tuple(told) or None


def size(element: Element | None, more: int = 0) -> Size:
    """Return what FixedValue or DynamicValue, or an element that holds one, says, and `more`. Raises Refused."""
    if element is None:
        raise Refused("a size that is not given")
    fixed = element if element.tag == "FixedValue" else element.find("FixedValue")
    if fixed is not None and fixed.text:
        value = number(fixed.text.strip())
        if not isinstance(value, int):
            raise Refused(f"a size of {fixed.text!r:.40}")
        return value + more
    references = ("ParameterInstanceRef", "ArgumentInstanceRef")
    told = next((part for part in element.iter() if part.tag in references), None)
    if told is None:
        raise Refused("a size that is neither fixed nor another's value")
    name = (told.get("parameterRef") or told.get("argumentRef") or "").rpartition("/")[2]
    line = next(element.iter("LinearAdjustment"), None)
    if line is None:
        return By(name, 1, more)
    return By(name, float(line.get("slope", 1)), float(line.get("intercept", 0)) + more)


def _calibration(element: Element) -> Polynomial | Spline | None:
    """Contexts are left out: their values stay raw."""
    default = element.find("DefaultCalibrator")
    if default is None:
        return None
    if (polynomial := default.find("PolynomialCalibrator")) is not None:
        terms: dict[int, float] = {}
        for term in polynomial.iterfind("Term"):
            terms[int(float(term.get("exponent", 0)))] = float(term.get("coefficient", 0))
        if not terms or min(terms) < 0 or max(terms) > MOST_DEGREE:
            raise Refused(f"a polynomial above degree {MOST_DEGREE}")
        if any(number(factor) is None for factor in terms.values()):
            raise Refused("a polynomial with an infinite factor")
        return Polynomial(tuple(terms.get(power, 0.0) for power in range(max(terms) + 1)))
    if (spline := default.find("SplineCalibrator")) is not None:
        points = tuple(
            (float(point.get("raw", "nan")), float(point.get("calibrated", "nan")))
            for point in spline.iterfind("SplinePoint")
        )
        if not points or any(number(value) is None for point in points for value in point):
            raise Refused("a spline without points")
        return Spline(points)
    if default.find("MathOperationCalibrator") is not None:
        raise Refused("calibrated by a formula")
    return None
