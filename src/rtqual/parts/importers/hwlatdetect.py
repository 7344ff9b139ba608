# SPDX-License-Identifier: MIT
"""hwlatdetect (rt-tests): gaps that nothing in the system explains, as system management interrupts leave.

    Max Latency: 19us
    Samples recorded: 60
    Samples exceeding threshold: 61
    ts: 1787951679.284904730, inner:17, outer:1, cpu:0

"Below threshold": nothing was longer than the threshold, which is all that is known then.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_TITLE = re.compile(r"\s*hwlatdetect:\s+test duration (\d{1,9}) seconds\s*", re.ASCII)
_SETTING = re.compile(
    r"\s*(detector: \w+|parameters:|Latency threshold:\s*(?P<threshold>\d{1,9})us|Sample window:\s*\d{1,12}us|"
    r"CPU list:.{0,80}|Sample width:\s*(?P<width>\d{1,12})us|Non-sampling period:\s*\d{1,12}us|Output File:.*|"
    r"Starting test|test finished|sample data .* written to .*|report saved to .*)\s*",
    re.ASCII | re.IGNORECASE,
)
_MAX = re.compile(r"\s*Max Latency: (?:(\d{1,12})us|Below threshold)\s*", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(
    r"\s*(Samples recorded|Samples exceeding threshold|SMIs during run): (\d{1,12})\s*|\s*MTBF: (\d{1,12}\.\d+) "
    r"seconds\s*",
    re.ASCII | re.IGNORECASE,
)
_SMI = re.compile(r"\s*\d{1,12} SMIs occured on cpu \d{1,5}\s*", re.ASCII | re.IGNORECASE)
_SAMPLE = re.compile(
    r"\s*ts:\s*\d{1,12}\.\d{1,9},\s*inner:\s*(\d{1,12})(?:us)?,\s*outer:\s*(\d{1,12})(?:us)?(?:,\s*cpu:\s*(\d{1,5}))?\s*|"
    r"\s*\d{1,12}\.\d{1,10}\s+(\d{1,12})\s+(\d{1,12})\s*",
    re.ASCII | re.IGNORECASE,
)
_OWN = re.compile(
    r"\s*(hwlatdetect:|Latency threshold|Sample w|Non-sampling|Max Latency|Samples |SMIs|\d+ SMIs|MTBF|ts:)",
    re.IGNORECASE,
)
UNTOLD = ("gaps below its threshold", "what made a gap: it says when, not why")


@dataclass
class _Run:
    above: Above
    seconds: int | None = None
    settings: dict[str, int] = field(default_factory=dict)
    ended: bool = False
    largest: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    samples: list[int] = field(default_factory=list)


def read(source: Source, _unit: str | None) -> list[Reading]:  # noqa: PLR0912 - a branch a kind of line
    runs: list[_Run] = []
    for number, line in source.lines(_OWN):
        if match := _TITLE.fullmatch(line):
            runs.append(_Run(source.begin(), int(match[1])))
        elif match := _SETTING.fullmatch(line):
            if runs:
                runs[-1].settings |= {name: int(value) for name, value in match.groupdict().items() if value}
            source.skip("a setting")
        elif match := _MAX.fullmatch(line):
            if not runs or runs[-1].ended:
                runs.append(_Run(source.begin()))
            else:
                source.use()
            runs[-1].ended, runs[-1].largest = True, int(match[1]) if match[1] else None
        elif match := _COUNT.fullmatch(line):
            if not runs:
                raise bad(source.path, number, "nothing of hwlatdetect above it: give the whole output")
            source.use()
            if match[1]:
                runs[-1].counts[match[1].lower()] = int(match[2])
        elif _SMI.fullmatch(line):
            source.skip("a part of the number of SMIs")
        elif runs and (match := _SAMPLE.fullmatch(line)):
            runs[-1].samples.append(max(int(match[1] or match[4]), int(match[2] or match[5])))
            source.use()
    found = [run for run in runs if run.ended]
    if not found:
        raise bad(source.path, None, "no line 'Max Latency:' in it: the test did not end; give a whole output")
    return [_reading(run) for run in found]


def _reading(run: _Run) -> Reading:
    problems = []
    counts = run.counts
    recorded = counts.get("samples recorded")
    if run.samples and recorded is not None and len(run.samples) != recorded:
        problems.append(f"{len(run.samples)} samples are listed of {recorded} recorded")
    if run.samples and run.largest is not None and max(run.samples) != run.largest:
        problems.append(f"its largest sample is {max(run.samples)} us, its maximum {run.largest} us")
    figures = {
        "max": None if run.largest is None else run.largest * 1_000.0,
        "n": float(recorded) if recorded else None,
    }
    reported = {name: value for name, value in figures.items() if value is not None}
    if run.samples:
        series = [
            Series.raw([us * 1_000 for us in run.samples], name="gap", reported={"max": reported.get("max", 0.0)})
        ]
    else:
        series = [Series.counted({}, SeriesKind.SUMMARY, name="gap", reported=reported)] if reported else []
    threshold = run.settings.get("threshold")
    names = {"samples exceeding threshold": "gaps above the threshold", "smis during run": "SMIs"}
    scalars = {names[name]: Scalar(value=value, unit="1") for name, value in counts.items() if name in names}
    if run.largest is None:
        scalars["gaps above the threshold"] = Scalar(value=0, unit="1")
    return Reading(
        instrument="hwlatdetect",
        measurement=Measurement(tuple(series), {**scalars, **resolution(1_000)}, tuple(problems)),
        parameters={} if threshold is None else {"threshold": threshold * 1_000},
        command=tuple(run.above.command("hwlatdetect").split()),
        wall_s=None if run.seconds is None else float(run.seconds),
        untold=UNTOLD,
        above=run.above,
    )


FORMAT = Format(
    "hwlatdetect",
    "hwlatdetect",
    mark(r"^\s*hwlatdetect: +test duration|^\s*Samples exceeding threshold:"),
    read,
)
