# SPDX-License-Identifier: MIT
"""Quantities: what people write is read here, and numbers become text here, for terminals and for pages.

Durations are integer nanoseconds and sizes are bytes. A terminal, a record and a sentence of the analysis hold plain
text ('12.35 us'); a page sets the same figure as print does ('12.35 µs', 12,345).
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

DURATIONS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
SIZES_B = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
LONGEST = 2**63  # values go into 64-bit integers
# Validation context of what a person wrote: a bare number has lost its unit. A mission's has its own names too.
AS_WRITTEN: Mapping[str, tuple[str, ...]] = {}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:40]!r}..."


def _parse(text: str, units: dict[str, int], what: str, example: str) -> int:
    match = _QUANTITY.fullmatch(text.replace("µ", "u").replace("_", ""))
    if match is None or match[2] not in units:
        raise ValueError(
            f"{_shown(text)} is not a {what}: write a number and one of {', '.join(units)}, as {example!r}"
        )
    value = float(match[1]) * units[match[2]]
    if value >= LONGEST:
        raise ValueError(f"{_shown(text)} is too much for a {what}")
    return round(value)


def parse_duration_ns(text: str) -> int:
    """'100 us' -> 100000. Raises ValueError that lists the allowed units."""
    return _parse(text, DURATIONS_NS, "duration", "100 us")


def parse_size_b(text: str) -> int:
    """'64 MiB' -> 67108864. Raises ValueError that lists the allowed units."""
    return _parse(text, SIZES_B, "size", "64 MiB")


def _read(parse: Callable[[str], int]) -> BeforeValidator:
    def read(value: object, info: ValidationInfo) -> object:
        if isinstance(value, str) or info.context is not None:
            return parse(str(value))
        return value

    return BeforeValidator(read)


def _json_schema(units: dict[str, int], unit: str, example: str) -> WithJsonSchema:
    """The schema of what a person writes; `x-unit` is the unit that its default and bounds are in."""
    names = "|".join([*units, *("µs" for name in units if name == "us")])
    pattern = rf"^\s*[0-9][0-9_]*(\.[0-9]+)?\s*({names})\s*$"
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example], "x-unit": unit})


DurationNs = Annotated[
    int, _read(parse_duration_ns), Field(strict=True, ge=0), _json_schema(DURATIONS_NS, "ns", "100 us")
]
"""A field of a model: written '100 us' (or integer nanoseconds), held in integer nanoseconds."""

SizeB = Annotated[int, _read(parse_size_b), Field(strict=True, ge=0), _json_schema(SIZES_B, "B", "64 MiB")]
"""A field of a model: written '64 MiB' (or integer bytes), held in bytes."""


# The units a figure is written in, largest first.
STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "B": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}
LONGER_NS = ((3600e9, "h"), (60e9, "min"))  # of what people wait for
_PLAIN = str.maketrans("µ", "u")
_MICRO = re.compile(r"(?<=\d)(\s?)us\b")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mµn]?s|[KMG]iB|B|h|min)(?:\W|$))")


def step(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the name of the unit that suits a value; '1' has no name."""
    steps = STEPS.get(unit, ((1.0, "" if unit == "1" else unit),))
    return next((row for row in steps if abs(value) >= row[0]), steps[-1])


def format_value(value: float, unit: str, digits: int = 4) -> str:
    """Plain, with four significant digits: '12.35 us', '8.192 MiB', '0.05'; 'no end' for an open interval's."""
    if math.isinf(value):
        return "no end"
    scale, name = step(value, unit)
    shown, plain = value / scale, f".{digits}g"
    if unit in STEPS and abs(shown) >= 1e4:
        plain = f",.{max(0, digits - len(f'{abs(shown):.0f}'))}f"
    return f"{shown:{plain}} {name.translate(_PLAIN)}".rstrip()


def format_ns(value_ns: float) -> str:
    return format_value(value_ns, "ns")


def format_bytes(value_b: float) -> str:
    return format_value(value_b, "B")


def format_duration(seconds: float) -> str:
    """Plain, a time to wait for, to the precision one plans with: '40 s', '3 min', '5 h 20 min', '12 d'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours, left = divmod(minutes, 60)
    if hours >= 48:
        return f"{minutes / 1440:.0f} d"
    return f"{hours} h {left} min" if left else f"{hours} h"


def number(value: float) -> str:
    """For a page, with four significant digits: '12,345', '0.05', '∞'; an exponent only below 0.0001."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4:
        return f"{value:.3g}"
    text = f"{value:,.{max(0, 3 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quantity(value: float, unit: str) -> str:
    """For a page: '12.35 µs', with a space that does not break."""
    scale, name = step(value, unit)
    return f"{number(value / scale)}\u00a0{name}".rstrip()


def duration(duration_ns: float) -> str:
    """For a page, of something people wait for: '6 h', '12 min', else as any quantity."""
    for scale, name in LONGER_NS:
        if duration_ns >= scale:
            return f"{number(duration_ns / scale)}\u00a0{name}"
    return quantity(duration_ns, "ns")


def typeset(text: str) -> str:
    """A plain sentence for a page: '12 us' becomes '12 µs', and numbers stay on the line of their units."""
    return _UNIT.sub("\u00a0", _MICRO.sub(r"\1µs", text))
