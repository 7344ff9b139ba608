# SPDX-License-Identifier: MIT
"""hyperfine's JSON (--export-json): the times of a command's runs, in seconds."""

from typing import Annotated

from pydantic import BaseModel, Field

from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, read_json
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

Seconds = Annotated[float, Field(ge=0, lt=1e6, allow_inf_nan=False)]


class _Timed(BaseModel):
    command: str
    times: list[Seconds] = Field(min_length=1)
    exit_codes: list[int | None] = []


class _Export(BaseModel):
    results: list[_Timed] = Field(min_length=1)


_KNOWN = KnownPlaces(
    used=("results/*/command", "results/*/times/*", "results/*/exit_codes/*"),
    without_data={"results/*/*": "figures of the times"},
)


def read(source: Source, _unit: str | None) -> list[Reading]:
    export, around = read_json(source, _Export, _KNOWN, "hyperfine's JSON")
    for number, line in around:
        with source.line(number, line):
            pass
    return [
        Reading(
            f"hyperfine ({timed.command})",
            Measurement(
                (Series.raw([round(time_s * 1e9) for time_s in timed.times], name="time"),),
                problems=tuple(
                    f"a run ended with exit code {code}" for code in dict.fromkeys(timed.exit_codes) if code
                ),
            ),
        )
        for timed in export.results
    ]


HYPERFINE = Format("hyperfine", "hyperfine's JSON", mark(r'"exit_codes"\s*:'), read)
