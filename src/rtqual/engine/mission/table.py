# SPDX-License-Identifier: MIT
"""What the mission's tables have in common, and the figures that some of them name."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.config import JsonDict

from rtqual.engine.mission.explain import At
from rtqual.engine.mission.values import Quantity, Text


class Statistic(StrEnum):
    """A figure read from samples; the last two are how the AAReST study defines stability."""

    MIN = "min"
    AVG = "avg"
    MAX = "max"
    STD = "std"
    P50 = "p50"
    P90 = "p90"
    P95 = "p95"
    P99 = "p99"
    P99_9 = "p99.9"
    P99_99 = "p99.99"
    P99_999 = "p99.999"
    RANGE = "max-min"
    P95_AVG = "p95-avg"


class Table(BaseModel):
    """A string below an attribute describes it: mission_schema.py reads it, when asked to, for that takes time."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,  # what is never met is never built, and the mission builds its tables at once
    )


def one_of(*keys: str) -> JsonDict:
    return {"oneOf": [{"required": [key]} for key in keys]}


class NamedFigure(Table):
    """A figure that is asked for by its name."""

    name: Text
    """What a report calls it; no other of its kind may have it."""
    statistic: Statistic | None = None
    """The figure read from the samples. Exactly one of statistic and scalar."""
    scalar: Text | None = None
    """Instead: a figure that the instrument itself gives, as "requests_per_s", or a statistic of one series, as "sem
    signal p99"."""

    @model_validator(mode="after")
    def _one_figure(self) -> Self:
        if self.statistic and self.scalar:
            raise At("scalar", "stands beside statistic; keep one of the two")
        if not self.statistic and not self.scalar:
            raise ValueError(f"says no figure; write statistic ({', '.join(Statistic)}) or scalar")
        return self


def one_limit(at_most: Quantity | None, at_least: Quantity | None, of: str, example: str) -> Quantity:
    """The one of the two that is given. Raises ValueError where not exactly one is."""
    if at_most and at_least:
        raise At("at_least", f"stands beside at_most; keep one, and write a second {of} for the other")
    limit = at_most or at_least
    if limit is None:
        raise ValueError(f'has no limit; write at_most or at_least, as at_most = "{example}"')
    return limit
