# SPDX-License-Identifier: MIT
"""What the docking camera's ways from frames to ranges are to reach: [[goal]]."""

from typing import Annotated, Self

from pydantic import model_validator

from rtqual.engine.mission.explain import At, shown, suggest
from rtqual.engine.mission.table import NamedFigure, Statistic, one_limit, one_of
from rtqual.engine.mission.values import Distinct, KnownNames, Quantity, Share
from rtqual_docking.ways import LADDER, SCALARS, SERIES

WAYS = {way.name: way for way in LADDER}
WayName = Annotated[str, KnownNames(lambda: WAYS, "way from frames to ranges")]
_LIMITS = {"ns": ("ns", "a duration, as '2 ms'"), "B": ("B", "a size, as '8 MiB'")}


class Goal(NamedFigure, json_schema_extra={"allOf": [one_of("statistic", "scalar"), one_of("at_most", "at_least")]}):
    """A goal of the docking camera, reported for each way. It is no gate: what misses it may fly."""

    ways: Annotated[tuple[WayName, ...], Distinct] = ()
    """The ways (instruments) it is set for; all when left out."""
    at_most: Share | None = None
    """Upper limit: a duration, size or number; with `of` a part of another way's figure, as "20 %"."""
    at_least: Share | None = None
    """Lower limit. Exactly one of at_most and at_least."""
    of: WayName | None = None
    """The way that the limit is a part of: its figure on the same kernel under the same load."""
    over: WayName | None = None
    """The way whose figure the limit is added to."""

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        limit = self.limit
        if self.of and self.over:
            raise At("over", "stands beside of; keep one of the two")
        key, unit = "at_most" if self.at_most else "at_least", _unit(self.figure)
        wanted, example = _LIMITS.get(unit, (None, f"a number (of {unit})"))
        if self.of:
            wanted, example = "%", f"a part of {self.of}'s figure, as '20 %'"
        elif limit.unit == "%":
            raise At(key, f'{limit.text!r} of what? Write of, as of = "{LADDER[0].name}"')
        if limit.unit != wanted:
            raise At(key, f"{limit.text!r} is no limit for {self.figure!r}: write {example}")
        return self

    @property
    def figure(self) -> str:
        """Its name among the figures of a way."""
        return str(self.statistic or self.scalar)

    @property
    def limit(self) -> Quantity:
        return one_limit(self.at_most, self.at_least, "goal", "2 ms")

    @property
    def asked(self) -> str:
        """'at most 2 ms', "at most 20 % of lidar-baseline's", "at most 5 us over lidar-mmap-simd's"."""
        beside = f" of {self.of}'s" if self.of else f" over {self.over}'s" if self.over else ""
        return f"{'at most' if self.at_most else 'at least'} {self.limit.text}{beside}"

    def met(self, found: float, beside: float) -> bool:
        """Whether a figure keeps the limit; `beside` is that of the way that `of` or `over` names, else 0."""
        limit = self.limit.value / 100 * beside if self.of else beside + self.limit.value
        return found <= limit if self.at_most else found >= limit


def _unit(figure: str) -> str:
    """Of a way's figure: a scalar, a statistic of the ranges, or one of another series, as "pose p99"."""
    series, _, statistic = figure.rpartition(" ")
    if statistic in tuple(Statistic) and series in ("", *SERIES):
        return "ns"
    if figure not in SCALARS:
        allowed = [*SCALARS, *(f"{name} {Statistic.P99}" for name in SERIES)]
        raise At("scalar", f"no way has a figure {shown(figure)}; {suggest(figure, allowed)}")
    return SCALARS[figure]
