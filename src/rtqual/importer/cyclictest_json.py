# SPDX-License-Identifier: MIT
"""cyclictest's JSON (--json, rt-tests 2.x): filled bins a thread, the CPU, the command line and the kernel."""

from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path

from rtqual.base.errors import RunFailed
from rtqual.importer import invocation
from rtqual.importer.invocation import Invocation
from rtqual.importer.reading import UNITS_NS, Reading, resolution, settle_unit
from rtqual.importer.source import bad, embedded_json, json_line
from rtqual.importer.tally import Tally
from rtqual.instrument.cyclictest.json_output import Result, Thread, parse
from rtqual.record.schema import Measurement

UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "whether the threads had the priority asked for",
)


def read(path: Path, unit: str | None) -> list[Reading]:
    try:
        result = parse(embedded_json(path), "the file")
    except RunFailed as error:
        raise bad(path, json_line(str(error)), str(error)) from None
    told_unit, _ = settle_unit(path, unit, "ns" if result.resolution_in_ns == 1 else "us", "its resolution_in_ns")
    unit_ns = UNITS_NS[told_unit]
    command = invocation.parse(result.command) if result.command else None
    if command and not Path(command.argv[0]).name.startswith("cyclictest"):
        raise bad(path, None, f"written by {command.argv[0][:40]!r}: of rt-tests' JSON only cyclictest's is read")
    tallies = {number: _tally(thread, command) for number, thread in sorted(result.thread.items())}
    series = tuple(tally.series("latency", unit_ns, _cpu(result.thread[number])) for number, tally in tallies.items())
    problems = [f"cyclictest thread {number}: {text}" for number, tally in tallies.items() for text in tally.problems()]
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


def _tally(thread: Thread, command: Invocation | None) -> Tally:
    told = Tally(thread.histogram, low=thread.min, avg=thread.avg, high=thread.max)
    if not any(thread.histogram.values()):  # a run without -h
        return replace(told, counts={}, binned=thread.cycles)
    limit = command.histogram_limit if command else None
    usable = limit is not None and limit > max(thread.histogram)
    return replace(told, overflow=thread.overflow, limit=limit if usable else None)


def _cpu(thread: Thread) -> int | None:
    return thread.cpu if thread.cpu >= 0 else None


def _kernel(result: Result) -> str | None:
    told = [result.sysinfo.get("release"), result.sysinfo.get("version")]
    return " ".join(str(one) for one in told if one) or None


def _started(text: str | None) -> str | None:
    """'Sat, 21 Nov 2026 04:48:05 +0000' -> ISO 8601 in UTC."""
    if text is None:
        return None
    try:
        return parsedate_to_datetime(text).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return None
