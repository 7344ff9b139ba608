# SPDX-License-Identifier: MIT
"""Explained samples, as a campaign keeps them (why.json) and its report shows them."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rtqual.engine.campaign.annex import Annex
from rtqual.parts.explain.timeline import Timeline
from rtqual.protocols.record.schema import Record

_MOST_PARTS = 20_000


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ExplainedRun(_Model):
    """A record's explained samples, the worst first: `worst` of them, and all above `above_ns`."""

    record: str  # the hash of its manifest
    worst: int
    above_ns: int
    timelines: Annotated[tuple[Timeline, ...], Field(max_length=200)]


class Whys(_Model):
    """`refused`: which candidates could not be explained, and why."""

    schema_version: int = 1
    runs: tuple[ExplainedRun, ...] = ()
    refused: tuple[str, ...] = ()

    def require(self, records: Iterable[Record]) -> None:
        """Raises ValueError where they are not of these records' samples."""
        by_hash = {record.manifest.hash: record for record in records}
        for run in self.runs:
            record = by_hash.get(run.record)
            if record is None:
                raise ValueError(f"explains a record that is not there: {run.record[:16]}")
            values = {value for series in record.series for value in series.values.tolist()}
            for line in run.timelines:
                _require(line, values)


WHY = Annex(
    "why.json", Whys, "delete it and run the campaign's command again", Whys.require,
    make="rtqual.parts.explain.why:of_campaign", anew=True,
)  # fmt: skip


def _require(line: Timeline, values: set[int]) -> None:
    value_ns, at_ns = line.sample.value_ns, 0
    if value_ns not in values:
        raise ValueError(f"explains a sample of {value_ns} ns, which its record does not have")
    if len(line.parts) > _MOST_PARTS:
        raise ValueError(f"tells a sample of {value_ns} ns in {len(line.parts)} parts")
    for part in line.parts:
        if part.begin_ns < at_ns or part.duration_ns <= 0 or part.off_before_ns < 0:
            raise ValueError(f"tells a sample of {value_ns} ns in parts that overlap")
        at_ns = part.begin_ns + part.duration_ns
    if not line.parts or at_ns > value_ns or sum(part.duration_ns for part in line.parts) != value_ns:
        raise ValueError(f"tells a sample of {value_ns} ns in parts that do not add up to it")
