# SPDX-License-Identifier: MIT
"""Durations in integer nanoseconds and sizes in bytes: read what people write, print what they read."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

DURATIONS_NS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
SIZES_B = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
LONGEST = 2**63  # values go into 64-bit integers
AS_WRITTEN = "as written"  # validation context of what a person wrote: a bare number has lost its unit
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
        if isinstance(value, str) or info.context == AS_WRITTEN:
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


def _format(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    scale, unit = next(((s, u) for s, u in steps if abs(value) >= s), steps[-1])
    return f"{value / scale:.4g} {unit}" if abs(value / scale) < 1e4 else f"{value / scale:,.0f} {unit}"


def format_ns(value_ns: float) -> str:
    """Four significant digits in the unit that fits: 12345 -> '12.35 us'."""
    return _format(value_ns, ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")))


def format_bytes(value_b: float) -> str:
    """Four significant digits in the binary unit that fits: 8589934 -> '8.192 MiB'."""
    return _format(value_b, ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")))


def format_value(value: float, unit: str) -> str:
    """A figure with its unit: durations and sizes scaled, everything else as it is."""
    if unit == "ns":
        return format_ns(value)
    if unit == "B":
        return format_bytes(value)
    return f"{value:.4g} {unit}".rstrip()


def format_duration(seconds: float) -> str:
    """A time to wait for, to the precision one plans with: '40 s', '3 min', '5 h 20 min', '12 d'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    hours = minutes / 60
    return f"{int(hours)} h {minutes % 60} min" if hours < 48 else f"{hours / 24:.0f} d"
