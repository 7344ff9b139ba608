# SPDX-License-Identifier: MIT
"""sysbench's output: 0.4 ("per-request statistics"), 0.5 ("response time"), 1.0 and 1.1 ("Latency (ms)").

A log may hold many runs; each begins with the program's banner. Since 0.5 threads and mutex do not name themselves.
"""

import re
from pathlib import Path

from rtqual.engine.instruments.sysbench.sysbench_output import (
    FIGURE_STEP_NS,
    FILE_RATES,
    FILE_THROUGHPUTS,
    NS_PER_S,
    inconsistencies,
    latency_series,
    milliseconds_ns,
)
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.sysbench_lines import BannerPart, parts
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_FAIRNESS = re.compile(r"events \(avg/stddev\):\s+(\d{1,20}(?:\.\d{1,6})?)/", re.ASCII)
_SPEED = re.compile(r"events(?: per second|/s \(eps\)):\s+(\d{1,20}(?:\.\d{1,6})?)", re.ASCII)
_NUMBER = r"(\d{1,20}(?:\.\d{1,6})?)"
_MILLISECONDS = r"(\d{1,20}\.\d\d)"  # always two decimals: fewer, and the line is cut
_REQUIRED = {
    "total time": rf"(?:total time|time elapsed):\s+{_NUMBER}s",
    "total number of events": r"total number of events:\s+(\d{1,15})",
    "min": rf"\bmin:\s+{_MILLISECONDS}(?:ms)?\s*$",
    "avg": rf"\bavg:\s+{_MILLISECONDS}(?:ms)?\s*$",
    "max": rf"\bmax:\s+{_MILLISECONDS}(?:ms)?\s*$",
}
_PERCENTILE = re.compile(rf"(\d{{1,3}})(?:th)? percentile:\s+{_MILLISECONDS}(?:ms)?\s*$", re.MULTILINE | re.ASCII)
_SUM = re.compile(rf"^\s*sum:\s+{_MILLISECONDS}\s*$", re.MULTILINE | re.ASCII)
_TESTS = {
    "sysbench-cpu": r"Prime numbers limit:|Primer numbers limit:|Maximum prime number checked|CPU speed:",
    "sysbench-fileio": r"^\s*File operations:|Requests/sec executed",
    "sysbench-memory": r"memory (?:operations )?speed test|MB transferred|MiB transferred",
    "sysbench-threads": r"thread subsystem performance test",
    "sysbench-mutex": r"mutex performance test",
    "sysbench-oltp": r"OLTP test|^\s*SQL statistics:",
}
_PARAMETERS = {
    "threads": r"Number of threads:\s+(\d{1,9})",
    "max_prime": r"(?:Primer? numbers limit|Prime numbers limit|Maximum prime number checked in CPU test):\s+(\d{1,9})",
}
_RATES = {
    **{name: (rf"^\s*{re.escape(label)}:\s+{_NUMBER}", "1/s") for name, label in FILE_RATES.items()},
    **{name: (rf"^\s*{re.escape(label)}:\s+{_NUMBER}", "MiB/s") for name, label in FILE_THROUGHPUTS.items()},
    "requests_per_s": (rf"{_NUMBER} Requests/sec executed", "1/s"),
    "operations_per_s": (
        rf"(?:Operations performed|Total operations): \d+ \(\s*{_NUMBER} (?:ops/sec|per second)",
        "1/s",
    ),
    "transferred": (rf"M(?:i)?B transferred \({_NUMBER} M(?:i)?B/sec\)", "MiB/s"),  # "MB" of 0.4 and 0.5 are MiB
}
_UNTOLD = (
    "its CPUs",
    "the order of the events: how they depend on each other and drift cannot be judged",
)
_NOTHING = "sysbench did no event: there is nothing to compare"
_MOST_THREADS = 10**6
_LATEST_NS = 2**63  # 0.4 prints a time that went below zero as one of 584 years


def read(source: Source, _unit: str | None) -> list[Reading]:
    path = source.path
    found = parts(source)
    runs = [part for part in found if part.finished]
    if not runs:
        raise bad(path, found[-1].line, "no statistics after it: sysbench failed or was cut off; run it again")
    failed = [str(part.line) for part in found if part.started and not part.finished]
    skipped = (f"the runs at lines {', '.join(failed)} have no statistics and are left out",) if failed else ()
    return [_reading(path, part, skipped) for part in runs]


def _reading(path: Path, part: BannerPart, assumed: tuple[str, ...]) -> Reading:
    text = part.text
    found = {name: re.search(pattern, text, re.MULTILINE | re.ASCII) for name, pattern in _REQUIRED.items()}
    for name, match in found.items():
        if match is None:
            raise bad(path, part.line, f"this run of sysbench has no {name!r}: it was cut off; give a whole output")
    told = {name: match[1] for name, match in found.items() if match}
    events, total_s = int(told["total number of events"]), float(told["total time"])
    reported, problems = _reported(text, told, events)
    series = latency_series(text, {key: value for key, value in reported.items() if key != "n"})
    if series is None:
        series = Series.counted({}, SeriesKind.SUMMARY, name="latency", reported=reported)
    else:
        problems += inconsistencies(series, events)
    names = [name for name, pattern in _TESTS.items() if re.search(pattern, text, re.MULTILINE)]
    parameters = {name: int(match[1]) for name, p in _PARAMETERS.items() if (match := re.search(p, text, re.ASCII))}
    if "threads" not in parameters and (shares := _threads(text, events)):
        parameters["threads"] = shares
        assumed = (*assumed, f"{shares} threads: its events are so many times those of a thread")
    problems += _contradictions(text, events, total_s, parameters.get("threads", 1), reported) if events else [_NOTHING]
    return Reading(
        instrument=names[0] if len(names) == 1 else "sysbench",
        measurement=Measurement((series,) if events else (), _scalars(text, events, total_s), tuple(problems)),
        parameters=parameters,
        programs={"sysbench": part.version} if part.version else {},
        wall_s=total_s,
        assumed=assumed,
        untold=(*_UNTOLD, *_untold(series, reported, names)),
        above=part.above,
    )


def _threads(text: str, events: int) -> int | None:
    """Of a run whose settings were left out: what the mean number of events of a thread makes of all."""
    match = _FAIRNESS.search(text)
    threads = round(events / float(match[1])) if match and float(match[1]) else 0
    return threads if 0 < threads < _MOST_THREADS else None


def _contradictions(text: str, events: int, total_s: float, threads: int, reported: dict[str, float]) -> list[str]:
    """Figures that do not follow from the number of events, which a damaged digit shows in."""
    problems = []
    avg_ns, sum_ns = reported.get("avg"), reported.get("sum")
    if avg_ns is not None and sum_ns is not None and abs(sum_ns / events - avg_ns) > FIGURE_STEP_NS:
        problems.append(
            f"sysbench's sum of {events} events makes {sum_ns / events:.0f} ns on average, not {avg_ns:.0f}"
        )
    if match := _FAIRNESS.search(text):
        shared = float(match[1]) * threads
        if abs(shared - events) > threads:
            problems.append(f"sysbench's {threads} threads took {shared:g} events, its total is {events}")
    if (match := _SPEED.search(text)) and total_s > 0.1 and abs(float(match[1]) * total_s / max(events, 1) - 1) > 0.2:
        problems.append(f"sysbench's {match[1]} events a second are not {events} in {total_s:g} s")
    return problems


def _reported(text: str, told: dict[str, str], events: int) -> tuple[dict[str, float], list[str]]:
    """sysbench's own figures in ns. One that cannot be a duration is left out, with the reason."""
    figures = {name: told[name] for name in ("min", "avg", "max")}
    figures |= {f"p{match[1]}": match[2] for match in _PERCENTILE.finditer(text)}
    if match := _SUM.search(text):
        figures["sum"] = match[1]
    values_ns = {name: float(milliseconds_ns(value)) for name, value in figures.items()}
    problems = [f"sysbench's {name} is {figures[name]} ms: a time below zero" for name in figures if
                values_ns[name] >= _LATEST_NS]  # fmt: skip
    kept = {name: value for name, value in values_ns.items() if value < _LATEST_NS}
    if not problems and not kept["min"] <= kept["avg"] <= kept["max"]:
        problems.append("sysbench's minimum, average and maximum are not in order")
    return ({"n": float(events), **kept} if events else {}), problems


def _scalars(text: str, events: int, total_s: float) -> dict[str, Scalar]:
    scalars = {
        "events": Scalar(value=events, unit="1"),
        "total_time": Scalar(value=total_s * NS_PER_S, unit="ns"),
        **resolution(FIGURE_STEP_NS),
    }
    if total_s > 0:
        scalars["events_per_s"] = Scalar(value=events / total_s, unit="1/s")
    for name, (pattern, unit) in _RATES.items():
        if match := re.search(pattern, text, re.MULTILINE | re.ASCII):
            scalars[name] = Scalar(value=float(match[1]), unit=unit)
    if "reads_per_s" in scalars and "writes_per_s" in scalars:  # what 0.5 calls requests
        both = scalars["reads_per_s"].value + scalars["writes_per_s"].value
        scalars["requests_per_s"] = Scalar(value=both, unit="1/s")
    return scalars


def _untold(series: Series, reported: dict[str, float], names: list[str]) -> list[str]:
    untold = []
    if series.info.kind is SeriesKind.SUMMARY:
        given = ", ".join(name for name in reported if name.startswith("p")) or "any"
        untold.append(f"percentiles but {given}: it ran without --histogram" if given != "any" else "percentiles")
    if len(names) != 1:
        untold.append("which test it is (threads and mutex do not print it since 0.5): name it with --instrument")
    return untold


FORMAT = Format(
    "sysbench",
    "sysbench 0.4, 0.5, 1.0 or 1.1",
    mark(r"^\s*sysbench v?\d[\w.-]*\b|^\s*total number of events:"),
    read,
)
