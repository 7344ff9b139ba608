# SPDX-License-Identifier: MIT
"""hyperfine's JSON (--export-json): the times of a command's runs, in seconds."""

from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, json_line, json_object, json_values
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
    text, around = json_object(source)
    try:
        export = _Export.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise bad(
            source.path, json_line(first["msg"]), f"not hyperfine's JSON: {first['msg']}; give the whole file it wrote"
        ) from None
    _KNOWN.account(source, json_values(source, text))
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
