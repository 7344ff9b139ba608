# SPDX-License-Identifier: MIT
"""The kinds of values in a mission file: names, limits, lists without repetition."""

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError
from pydantic_core.core_schema import with_info_after_validator_function

from rtqual.base.units import DURATIONS_NS, SIZES_B, parse_duration_ns, parse_size_b
from rtqual.engine.boards.modelled import models
from rtqual.engine.mission.explain import shown, suggest
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads

Unit = Literal["ns", "B", "%"]
AUTO: Literal["auto"] = "auto"  # as many runs as it takes
MOST_RUNS = 10_000
_PARSERS: tuple[tuple[Unit, Callable[[str], int]], ...] = (("ns", parse_duration_ns), ("B", parse_size_b))


@dataclass(frozen=True)
class Quantity:
    """A limit or margin as it is written: nanoseconds, bytes, parts in a hundred, or the scalar's own unit (None)."""

    value: float
    unit: Unit | None
    text: str


def _quantity(written: object) -> Quantity:
    if isinstance(written, Quantity):
        return written
    if isinstance(written, str):
        for unit, parse in _PARSERS:
            with suppress(ValueError):
                return Quantity(parse(written), unit, written)
    elif isinstance(written, int | float) and not isinstance(written, bool) and math.isfinite(written):
        return Quantity(float(written), None, str(written))
    raise ValueError(
        f"{shown(written)} is not a limit: write a duration ({', '.join(DURATIONS_NS)}), "
        f"a size ({', '.join(SIZES_B)}) or a number"
    )


def _share(written: object) -> Quantity:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", written) if isinstance(written, str) else None
    return Quantity(float(found[1]), "%", str(written)) if found else _quantity(written)


def _margin(written: object) -> Quantity:
    with suppress(ValueError):
        margin = _share(written)
        if margin.value > 0:
            return margin
    raise ValueError(
        f"{shown(written)} is not a margin: write a duration or a size, as '2 us', a part, as '5 %', or a number, "
        "above 0"
    )


def matching(pattern: str, what: str) -> tuple[AfterValidator, WithJsonSchema]:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{shown(text)} is not {what}")
        return text

    return AfterValidator(check), WithJsonSchema({"type": "string", "pattern": f"^{pattern}$"})


KEPT = "kept"
_ONCE_BROUGHT = re.compile(r"[a-z0-9][a-z0-9+.-]{0,99}")


@dataclass(frozen=True)
class KnownNames:
    """A name that parts bring, or that the mission gives itself: its validation context has these by `what`.

    Looked up when a mission is read, not when this file is. In the mission of a campaign that ended (KEPT is in the
    context) it may be what a part brought that is gone.
    """

    names: Callable[[], Mapping[str, object]]
    what: str
    own_pattern: str = ""  # how names of the mission's own begin

    def check(self, name: str, info: ValidationInfo) -> str:
        own = info.context.get(self.what, ()) if isinstance(info.context, Mapping) else ()
        allowed = [*self.names(), *own]  # one of a family is known by the mission that names it
        kept = info.context is not None and KEPT in info.context and _ONCE_BROUGHT.fullmatch(name)
        if info.context is not None and name not in allowed and not kept:
            raise ValueError(f"unknown {self.what} {shown(name)}; {suggest(name, allowed)}")
        return name

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        if not self.own_pattern:  # the schema cannot know what a mission calls its own
            return {"type": "string", "examples": [*self.names()]}
        return {"type": "string", "oneOf": [{"enum": [*self.names()]}, {"pattern": self.own_pattern}]}


def _published(name: str) -> str:
    from rtqual.engine.candidates.printed import systems  # noqa: PLC0415 - few missions name a study

    if name not in systems():
        raise ValueError(f"unknown published system {shown(name)}; {suggest(name, systems())}")
    return name


def _runs(written: object) -> int | Literal["auto"]:
    if written == AUTO:
        return AUTO
    if isinstance(written, str):
        raise ValueError(f'{shown(written)} is not a number of runs: write a whole number, or "{AUTO}"')
    if not isinstance(written, int) or isinstance(written, bool):
        raise PydanticKnownError("int_type")
    if written < 1:
        raise PydanticKnownError("greater_than_equal", {"ge": 1})
    if written > MOST_RUNS:
        raise PydanticKnownError("less_than_equal", {"le": MOST_RUNS})
    return written


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    for n, value in enumerate(values):
        if value in values[:n]:
            raise ValueError(f"{shown(value)} is listed twice")
    return values


def _not_a_truth(value: object) -> object:
    if isinstance(value, bool):  # Python takes True for 1
        raise ValueError(f"{shown(value)} is not a number of CPUs; write 1, 2 or 4")
    return value


def _written(quantity: Quantity) -> str | float:
    if quantity.unit:
        return quantity.text
    return int(quantity.text) if quantity.text.lstrip("+-").isdecimal() else float(quantity.text)


_AS_WRITTEN = PlainSerializer(_written, return_type=str | int | float)
CpuCount = Annotated[Literal[1, 2, 4], BeforeValidator(_not_a_truth)]
Runs = Annotated[
    int | Literal["auto"],
    PlainValidator(_runs),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_RUNS}, {"enum": [AUTO]}]}),
]
NonEmpty = Field(min_length=1)
Distinct = AfterValidator(_distinct)
Text = Annotated[str, AfterValidator(lambda text: " ".join(text.split())), NonEmpty]
Slug = Annotated[str, *matching(r"[a-z0-9][a-z0-9-]*", "a short name: write lower-case letters, digits and '-'")]
PackageName = Annotated[str, *matching(r"[a-z0-9][a-z0-9+.-]+", "a Debian package name, as 'linux-image-rt-amd64'")]
Symbol = Annotated[
    str,
    *matching(r"[A-Za-z0-9_]{1,99}", "a kernel symbol, as 'USB_XHCI_HCD'"),
    AfterValidator(lambda written: written.removeprefix("CONFIG_")),
]
Release = Annotated[str, *matching(r"[A-Za-z0-9][\w.+~-]*", "a kernel release, as `uname -r` prints it")]
BootParameter = Annotated[
    str, *matching(r"[!-~]+", "one kernel parameter: write each as its own string, without blanks")
]
InstrumentName = Annotated[str, KnownNames(all_instruments, "instrument", "^program-[a-z0-9]")]
LoadName = Annotated[str, KnownNames(all_loads, "load")]
ModelName = Annotated[str, KnownNames(models, "model")]
PublishedSystem = Annotated[
    str,
    AfterValidator(_published),
    WithJsonSchema({"type": "string", "pattern": "^[a-z]+/[a-z0-9-]+$", "examples": ["aarest/emlid"]}),
]
Limit = Annotated[
    Quantity,
    PlainValidator(_quantity),
    _AS_WRITTEN,
    WithJsonSchema({"type": ["string", "number"], "examples": ["100 us"]}),
]
Share = Annotated[
    Quantity,
    PlainValidator(_share),
    _AS_WRITTEN,
    WithJsonSchema({"type": ["string", "number"], "examples": ["2 ms", "20 %"]}),
]
Margin = Annotated[
    Quantity,
    PlainValidator(_margin),
    _AS_WRITTEN,
    WithJsonSchema({"type": ["string", "number"], "examples": ["2 us", "5 %"]}),
]
ParameterTables = dict[InstrumentName, dict[str, Any]]
