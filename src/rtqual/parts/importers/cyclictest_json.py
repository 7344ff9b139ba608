# SPDX-License-Identifier: MIT
"""cyclictest's JSON (--json, rt-tests 2.x): filled bins a thread, the CPU, the command line and the kernel."""

from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from rtqual.base.errors import RunFailed
from rtqual.engine.instruments.cyclictest.json_output import Count, CyclictestResult, MeasuredThread, parse
from rtqual.parts.importers import cyclictest_lines, cyclictest_summary, invocation
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.invocation import Invocation
from rtqual.parts.importers.placed_values import KnownPlaces, json_line, json_object, json_values
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import Tally
from rtqual.protocols.record.schema import Measurement

UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "whether the threads had the priority asked for",
)
_KNOWN = KnownPlaces(
    used=(
        *("cmdline:", "cmdline", "rt_test_version:", "rt_test_version", "start_time", "return_code", "num_threads"),
        *("resolution_in_ns", "sysinfo/*", "thread/*/histogram", "thread/*/histogram/*"),
        *(f"thread/*/{name}" for name in ("cycles", "min", "max", "avg", "cpu")),
    ),
    without_data={
        "file_version": "the file's version",
        "end_time": "a time",
        "thread/*/node": "a memory node",
    },
)


def read(source: Source, unit: str | None) -> list[Reading]:
    path = source.path
    text, around = json_object(source)
    try:
        result = parse(text, "the file")
    except RunFailed as error:
        raise bad(path, json_line(str(error)), str(error)) from None
    _KNOWN.account(source, json_values(source, text))
    for number, line in around:
        with source.line(number, line, cyclictest_lines.OWN):
            if cyclictest_summary.LINE.fullmatch(line.strip()):
                source.skip("a line of -q, which the JSON says again")
            else:
                cyclictest_lines.take(source, number, line)
    told_unit, _ = settle_unit(path, unit, "ns" if result.resolution_in_ns == 1 else "us", "its resolution_in_ns")
    unit_ns = UNITS_NS[told_unit]
    command = invocation.parse(result.command) if result.command else None
    if command and not Path(command.argv[0]).name.startswith("cyclictest"):
        raise bad(path, None, f"written by {command.argv[0][:40]!r}: name its format, rt-tests-json")
    tallies = {number: _tally(thread, command) for number, thread in sorted(result.thread.items())}
    series = tuple(tally.series("latency", unit_ns, _cpu(result.thread[number])) for number, tally in tallies.items())
    problems = [f"cyclictest thread {number}: {text}" for number, tally in tallies.items() for text in tally.problems()]
    problems += _contradictions(path, text, result, command)
    return [
        Reading(
            instrument="cyclictest",
            measurement=Measurement(series, resolution(unit_ns), tuple(problems)),
            parameters=command.parameters if command else {},
            programs={"cyclictest": result.version} if result.version else {},
            command=command.argv if command else (),
            cpus=len(tallies),
            started=_started(result.start_time),
            kernel=_kernel(result),
            facts={key: str(value) for key, value in result.sysinfo.items() if key in ("machine", "realtime")},
            untold=UNTOLD,
        )
    ]


class _Told(BaseModel):
    """What the figures do not need."""

    num_threads: Count | None = None


def _contradictions(path: Path, text: str, result: CyclictestResult, command: Invocation | None) -> list[str]:
    try:
        told = _Told.model_validate_json(text).num_threads
    except ValidationError as error:
        raise bad(path, None, f"its num_threads: {error.errors()[0]['msg']}; give the whole file") from None
    threads = len(result.thread)
    problems = [] if told in (None, threads) else [f"its num_threads is {told}, the file has {threads}"]
    if command:
        problems += command.contradictions([thread.cycles for thread in result.thread.values()])
    return problems


def _tally(thread: MeasuredThread, command: Invocation | None) -> Tally:
    told = Tally(thread.histogram, low=thread.min, avg=thread.avg, high=thread.max)
    if not any(thread.histogram.values()):  # a run without -h
        return replace(told, counts={}, binned=thread.cycles)
    limit = command.histogram_limit if command else None
    usable = limit is not None and limit > max(thread.histogram)
    return replace(told, overflow=thread.overflow, limit=limit if usable else None)


def _cpu(thread: MeasuredThread) -> int | None:
    return thread.cpu if thread.cpu >= 0 else None


def _kernel(result: CyclictestResult) -> str | None:
    told = [result.sysinfo.get("release"), result.sysinfo.get("version")]
    return " ".join(str(item) for item in told if item) or None


def _started(text: str | None) -> str | None:
    """'Sat, 21 Nov 2026 04:48:05 +0000' -> ISO 8601 in UTC."""
    if text is None:
        return None
    try:
        return parsedate_to_datetime(text).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None


FORMAT = Format("cyclictest-json", "cyclictest --json", mark(r'"(thread|rt_test_version:)"\s*:'), read, has_unit=True)
