# SPDX-License-Identifier: MIT
"""The formats that are read, and which of them a file has."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.parts.importers import (
    cyclictest_histogram,
    cyclictest_json,
    cyclictest_summary,
    cyclictest_verbose,
    hackbench,
    jitterdebugger,
    rteval,
    rtla,
    stress_ng,
    sysbench,
    table,
)
from rtqual.parts.importers.account import bad, one_line
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source, sniffed


@dataclass(frozen=True)
class Format:
    """`mark` is found in the beginning or the end of its files, and of none that a format before it would take."""

    name: str
    title: str
    mark: re.Pattern[str]
    reader: Callable[..., Sequence[Reading]]  # of the source, --unit and, where it has them, --column
    has_unit: bool = False  # whether --unit can say what its values are
    has_columns: bool = False

    def read(self, path: Path, unit: str | None, column: str | None = None) -> list[Reading]:
        """Every run in the file; failures that the file reports are problems of each. Raises BadInput."""
        source = Source(path)
        try:
            readings = self.reader(source, unit, *([column] if self.has_columns else []))
        except BadInput as error:  # a library's complaint may quote the file
            raise BadInput(one_line(str(error))) from None
        account = source.account
        return [
            replace(
                reading,
                account=account,
                measurement=replace(reading.measurement, problems=(*reading.measurement.problems, *account.problems)),
            )
            for reading in readings
        ]


def _mark(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.ASCII)


_CELL = r"[ \t]*-?[\d.]*(?:[eE][-+]?\d+)?[ \t]*"
_ALL = (
    Format("parquet", "a column of a Parquet file", _mark(r"\APAR1"), table.read_parquet, True, has_columns=True),
    Format(
        "csv",
        "a column of comma-separated text",
        _mark(rf"\A([^\n]*\n)?({_CELL},)*[ \t]*-?\d+[ \t]*(,{_CELL})*\n"),
        table.read_csv,
        has_unit=True,
        has_columns=True,
    ),
    Format("rteval", "rteval's summary.xml", _mark(r"<rteval[\s>]"), rteval.read),
    Format(
        "stress-ng",
        "stress-ng --metrics --yaml",
        _mark(r"^\s*stress-ng-version:|^metrics:\s*$|^ +- stressor: "),
        stress_ng.read,
    ),
    Format(
        "jitterdebugger",
        "jitterdebugger's JSON",
        _mark(r'"cpu"\s*:\s*\{'),
        jitterdebugger.read,
        has_unit=True,
    ),
    Format(
        "cyclictest-json",
        "cyclictest --json",
        _mark(r'"(thread|rt_test_version:)"\s*:'),
        cyclictest_json.read,
        has_unit=True,
    ),
    Format(
        "rtla", "rtla timerlat hist, rtla osnoise hist", _mark(r"# RTLA (timerlat|osnoise) histogram"), rtla.read, True
    ),
    Format(
        "sysbench",
        "sysbench 0.4, 0.5 or 1.0",
        _mark(r"^\s*sysbench v?\d[\w.-]*\b|^\s*total number of events:"),
        sysbench.read,
    ),
    Format(
        "cyclictest-verbose",
        "cyclictest -v: every sample",
        _mark(
            r"^[ \t]{2,}\d{1,4}:[ \t]*\d{1,15}:[ \t]*\d{1,15}[ \t]*$|"
            r"(^\d{1,4}:\d{1,15}:\d{1,15}[ \t]*\n){3}"  # where a script took the blanks out
        ),
        cyclictest_verbose.read,
        has_unit=True,
    ),
    Format(
        "cyclictest-histogram",
        "cyclictest -h or -H",
        _mark(r"^\s*\d{6,9}(\s+\d{1,18})+\s*$|^\s*# (Histogram|Min Latencies:|Max Latencies:)"),
        cyclictest_histogram.read,
        has_unit=True,
    ),
    Format(
        "cyclictest-summary",
        "cyclictest -q: a line a thread",
        cyclictest_summary.LINE,
        cyclictest_summary.read,
        has_unit=True,
    ),
    Format(
        "hackbench",
        "hackbench",
        _mark(r"^\s*Time: \d{1,9}\.\d{3}\s*$|Running in (process|threaded) mode with"),
        hackbench.read,
    ),
)
FORMATS: dict[str, Format] = {one.name: one for one in _ALL}


def detect(path: Path) -> Format:
    """The format of a file, by what stands at its beginning or end."""
    text = sniffed(path)
    found = next((one for one in _ALL if one.mark.search(text)), None)
    if found is None:
        raise bad(path, None, f"none of the formats known: name one with --format ({', '.join(FORMATS)})")
    return found


def named(name: str) -> Format:
    if name not in FORMATS:
        raise BadInput(f"--format {name[:40]}: not known; write one of {', '.join(FORMATS)}")
    return FORMATS[name]
