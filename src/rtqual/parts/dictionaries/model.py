# SPDX-License-Identifier: MIT
"""One model behind all formats of dictionaries: types, fields, packets and commands. No format is known here.

What a reader cannot express it puts in as `Refused`: the rest of the file stays usable, and the name is refused when it
is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from rtqual.protocols.dictionary import Refused

MOST_DEPTH = 32  # of types and containers in one another
MOST_COUNT = 65_536  # values of an array, fields of a packet
# Of a packet, and of all together: containers that hold one another twice double with each level.
MOST_PACKET_FIELDS, MOST_FIELDS = 10_000, 200_000
MOST_DEGREE = 20  # of a polynomial


class Coding(StrEnum):
    UNSIGNED = "unsigned"
    TWOS = "two's complement"
    SIGN = "sign and magnitude"
    ONES = "ones' complement"
    IEEE = "IEEE 754"
    MIL = "MIL-STD-1750A"


@dataclass
class Values:
    """What was read, or is to be written, by name; `raw`: before labels and calibration, where these differ. `bits`: so
    many were read."""

    shown: dict[str, Any] = field(default_factory=dict)
    raw: dict[str, Any] = field(default_factory=dict)
    bits: int = 0

    def before(self, name: str) -> Any:
        return self.raw.get(name, self.shown.get(name))


@dataclass(frozen=True)
class By:
    """A size or count that another field holds: its value times `slope` plus `intercept`."""

    name: str
    slope: float = 1
    intercept: float = 0


Size = int | By


@dataclass(frozen=True)
class Polynomial:
    """Coefficients by rising power."""

    coefficients: tuple[float, ...]

    def value(self, raw: float) -> float:
        return sum(factor * raw**power for power, factor in enumerate(self.coefficients))

    def turned(self, value: float) -> float:
        """Raises Refused for any but a straight line that is not level."""
        if len(self.coefficients) != 2 or not self.coefficients[1]:
            raise Refused("a calibration that cannot be turned round")
        return (value - self.coefficients[0]) / self.coefficients[1]


@dataclass(frozen=True)
class Spline:
    """Straight lines between points (raw, calibrated), beyond the ends as at them."""

    points: tuple[tuple[float, float], ...]

    def value(self, raw: float) -> float:
        return _between(sorted(self.points), raw)

    def turned(self, value: float) -> float:
        """Raises Refused where a value has more than one raw value, or none."""
        points = sorted(self.points)
        heights = [height for _, height in points]
        if heights not in (sorted(set(heights)), sorted(set(heights), reverse=True)):
            raise Refused("a calibration that cannot be turned round")
        return _between(sorted((height, raw) for raw, height in points), value)


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    if len(points) == 1:
        return points[0][1]
    right = next((n for n, (x, _) in enumerate(points) if x >= at), len(points) - 1)
    (x0, y0), (x1, y1) = points[max(right - 1, 0)], points[max(right, 1)]
    return y0 if x0 == x1 else y0 + (at - x0) * (y1 - y0) / (x1 - x0)


@dataclass(frozen=True)
class Number:
    """`least`, `most`: of an argument, in calibrated units; what a report holds is not judged."""

    coding: Coding = Coding.UNSIGNED
    bits: Size = 8
    little: bool = False
    labels: Mapping[int, str] = field(default_factory=dict)
    calibration: Polynomial | Spline | None = None
    least: float | None = None
    most: float | None = None
    default: Any = None


@dataclass(frozen=True)
class Text:
    """A string, or octets where `charset` is None.

    Its size is `bits`, or told by a tag of `tag_bits` before it (in octets), or it is ended by `end`. With none of
    these it takes the rest of the packet.
    """

    bits: Size | None = None
    charset: str | None = "utf-8"
    end: bytes | None = None
    tag_bits: int = 0
    most_octets: int | None = None
    default: Any = None


@dataclass(frozen=True)
class Array:
    """Counts: one a dimension. None: takes the rest of the packet."""

    of: Type
    counts: tuple[Size, ...] | None
    default: Any = None


@dataclass(frozen=True)
class Struct:
    members: tuple[Field, ...]
    default: Any = None


Type = Number | Text | Array | Struct


class Condition(Protocol):
    def holds(self, values: Values) -> bool: ...


@dataclass(frozen=True)
class Where:
    """A comparison of a field, or a member as FIELD/MEMBER, with a value as the file writes it."""

    name: str
    operator: str  # == != < > <= >=
    value: str
    raw: bool = False  # before labels and calibration

    def holds(self, values: Values) -> bool:
        name = next((name for name in (self.name, self.name.rpartition("/")[2]) if name in values.shown), None)
        if name is None:
            return False
        have, want = values.shown[name], number(self.value)
        if self.raw or (isinstance(have, str) and want is not None):
            have = values.before(name)
        if isinstance(have, str) or want is None:
            return _compared(str(have), self.operator, self.value)
        return isinstance(have, bool | int | float) and _compared(have, self.operator, want)


def _compared(have: Any, operator: str, want: Any) -> bool:
    match operator:
        case "==":
            return bool(have == want)
        case "!=":
            return bool(have != want)
        case "<":
            return bool(have < want)
        case ">":
            return bool(have > want)
        case "<=":
            return bool(have <= want)
        case ">=":
            return bool(have >= want)
    raise Refused(f"there is no comparison {operator!r}")


@dataclass(frozen=True)
class All:
    """All conditions hold, or with `some` at least one of them does."""

    parts: tuple[Condition, ...] = ()
    some: bool = False

    def holds(self, values: Values) -> bool:
        judged = (part.holds(values) for part in self.parts)
        return any(judged) if self.some else all(judged)

    def equalities(self) -> dict[str, str]:
        """What must hold for certain, as name and value."""
        known: dict[str, str] = {}
        for part in () if self.some else self.parts:
            if isinstance(part, All):
                known |= part.equalities()
            elif isinstance(part, Where) and part.operator == "==":
                known[part.name] = part.value
        return known


@dataclass(frozen=True)
class Field:
    """`at`: its first bit from the packet's start; None: `gap` bits after the field before it."""

    name: str
    type: Type
    at: int | None = None
    gap: int = 0
    when: Condition | None = None
    count: Size | None = None  # repeated so often; the value is a list then
    fixed: int | None = None  # always this, and no argument


@dataclass
class Packet:
    """A report, or what reports have in common; `children` add their fields where their condition holds. `abstract`: it
    is no report without one of them. `shared`: the octets of a head that several such reports in one packet have in
    common."""

    name: str
    base: Packet | None = None
    where: Condition = All()
    fields: tuple[Field, ...] | Refused = ()
    children: list[Packet] = field(default_factory=list)
    shared: int | None = None
    abstract: bool = False


@dataclass(frozen=True)
class CommandType:
    """A command with all that it inherits laid in. `assigned`: what nobody may set; `stages`: of its verification."""

    name: str
    fields: tuple[Field, ...] | Refused
    arguments: Mapping[str, Type | Refused] = field(default_factory=dict)
    assigned: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dictionary:
    """What a program understands and says. `roots`: the packets that decoding may begin with, the likeliest first."""

    commands: Mapping[str, CommandType]
    packets: Mapping[str, Packet]
    roots: tuple[Packet, ...]
    severities: Mapping[str, str] = field(default_factory=dict)  # of events, by their packet's name


def number(text: Any) -> int | float | None:
    """Read a number as dictionaries write them: decimal, 0x, 0o, 0b, floating; None for what is no finite number."""
    if isinstance(text, bool | int):
        return int(text)
    if isinstance(text, str):
        for base in (0, 10):
            try:
                return int(text, base)
            except ValueError:
                pass
    try:
        value = float(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if abs(value) < float("inf") else None
