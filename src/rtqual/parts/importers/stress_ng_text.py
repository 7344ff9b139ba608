# SPDX-License-Identifier: MIT
"""stress-ng's text: its cyclic stressor's latencies, and the table of --metrics (a record a stressor).

    stress-ng: info:  [111] cyclic: sched SCHED_FIFO: 100000 ns delay, 10000 samples
    stress-ng: info:  [111] cyclic:   mean: 8692.04 ns, mode: 8538 ns
    stress-ng: metrc: [111] cpu   3000   60.00   179.50   0.50   50.00   16.67

It prints quantiles in ns, and counts in the first of its bins where --cyclic-dist asks for them.
"""

import re
from dataclasses import dataclass, field

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_SAID = r"\s*(?:stress-ng: )?(?:info|metrc|metrics): +(?:\[\d{1,10}\] +)?"
_NS = r"(\d{1,15}(?:\.\d{1,6})?) ns"
_CYCLIC = {
    "sched": re.compile(
        rf"{_SAID}cyclic: +sched (SCHED_\w+): (\d{{1,15}}) ns delay, (\d{{1,12}}) samples\s*", re.ASCII
    ),
    "mean": re.compile(rf"{_SAID}cyclic: +mean: {_NS}, mode: {_NS}\s*", re.ASCII),
    "ends": re.compile(
        rf"{_SAID}cyclic: +min: {_NS}, max: {_NS}, std\.dev\. (\d{{1,15}}(?:\.\d{{1,6}})?)\s*", re.ASCII
    ),
    "quantile": re.compile(rf"{_SAID}cyclic: +(\d{{1,2}}\.\d\d)%: +{_NS}\s*", re.ASCII),
    "bin": re.compile(rf"{_SAID}cyclic: +(\d{{1,15}}) +(\d{{1,12}})\s*", re.ASCII),
    "width": re.compile(rf"{_SAID}cyclic: +latency distribution \((\d{{1,12}}) ns intervals\):\s*", re.ASCII),
    "buckets": re.compile(rf"{_SAID}cyclic: +\(for the first (\d{{1,5}}) buckets of (\d{{1,18}})\)\s*", re.ASCII),
}
_HEADING = re.compile(rf"{_SAID}cyclic: +(latency percentiles:|latency \(ns\) +frequency)\s*")
_METRIC = re.compile(
    rf"{_SAID}(?P<stressor>[a-z][\w-]{{1,30}}) +(?P<ops>\d{{1,18}}) +(?P<real>\d{{1,12}}\.\d\d) "
    rf"+(?P<user>\d{{1,12}}\.\d\d) +"
    r"(?P<system>\d{1,12}\.\d\d) +(?P<rate>\d{1,15}\.\d{1,2}) +(?P<cpu_rate>\d{1,15}\.\d{1,2})(?: +[\d.]+%?)*\s*",
    re.ASCII,
)
_OTHER = re.compile(r"\s*(?:stress-ng: )?(info|metrc|metrics|debug|skipped|passed|warn|error|fail): .*")
_OWN = re.compile(rf"{_SAID}cyclic:", re.ASCII)
UNTOLD = (
    "what ran beside it, unless its command says so",
    "stress-ng's version, and whether its thread had its policy",
)


@dataclass
class _Run:
    above: Above
    policy: str
    interval_ns: int
    samples: int
    figures: dict[str, float] = field(default_factory=dict)
    bins: dict[int, int] = field(default_factory=dict)
    width: int | None = None
    buckets: int | None = None


def read(source: Source, _unit: str | None) -> list[Reading]:
    runs: list[_Run] = []
    metrics: list[Reading] = []
    for number, line in source.lines(_OWN):
        name, match = next(((n, m) for n, p in _CYCLIC.items() if (m := p.fullmatch(line))), ("", None))
        if match is None:
            if _HEADING.fullmatch(line):
                source.skip("a heading")
            elif row := _METRIC.fullmatch(line):
                metrics.append(_metric(row, source.begin()))
            elif _OTHER.fullmatch(line) and not _OWN.match(line) and not re.search(r"\b(error|fail):", line):
                source.skip("what it says of its course")
            continue
        if name == "sched":
            runs.append(_Run(source.begin(), match[1], int(match[2]), int(match[3])))
            continue
        if not runs:
            raise bad(
                source.path, number, "no line 'cyclic: sched ...' above it: its beginning is missing; give all of it"
            )
        source.use()
        _add(runs[-1], name, match)
    if not runs and not metrics:
        what = "neither the cyclic stressor's figures nor a table of --metrics in it: run stress-ng with either"
        raise bad(source.path, None, what)
    return [*(_reading(source, run) for run in runs), *metrics]


def _add(run: _Run, name: str, match: re.Match[str]) -> None:
    if name == "mean":
        run.figures["avg"] = float(match[1])
    elif name == "ends":
        run.figures |= {"min": float(match[1]), "max": float(match[2]), "std": float(match[3])}
    elif name == "quantile":
        run.figures[f"p{float(match[1]):g}"] = float(match[2])
    elif name == "width":
        run.width = int(match[1])
    elif name == "buckets":
        run.buckets = int(match[1])
    else:
        run.bins[int(match[1])] = int(match[2])


def _reading(source: Source, run: _Run) -> Reading:
    missing = {"min", "avg", "max"} - set(run.figures)
    if missing:
        raise bad(source.path, None, f"its cyclic stressor has no {' or '.join(sorted(missing))}: it was cut off")
    problems = []
    if not run.figures["min"] <= run.figures["avg"] <= run.figures["max"]:
        problems.append("stress-ng's minimum, mean and maximum are not in order")
    held = sum(run.bins.values())
    overflow = run.samples - held
    reported = run.figures
    if run.bins and run.width and overflow >= 0:
        limit = (run.buckets or len(run.bins)) * run.width
        series = Series.counted(
            {edge + run.width // 2: count for edge, count in run.bins.items() if count},
            SeriesKind.BINNED,
            name="latency",
            overflow=overflow,
            overflow_from=limit if overflow else None,
            reported=reported,
        )
        if overflow and reported["max"] < limit:
            problems.append(f"{overflow} samples are in no bin, but the maximum is {reported['max']:.0f} ns")
    else:
        if run.bins:
            problems.append(f"stress-ng's bins hold {held} of {run.samples} samples")
        series = Series.counted({}, SeriesKind.SUMMARY, name="latency", reported={"n": float(run.samples), **reported})
    policy = {"policy": run.policy.removeprefix("SCHED_").lower()}
    return Reading(
        instrument="stress-ng-cyclic",
        measurement=Measurement((series,), problems=tuple(problems)),
        parameters={"interval": run.interval_ns, **policy},
        command=tuple(run.above.command("stress-ng", earlier=True).split()),
        untold=UNTOLD,
        above=run.above,
    )


def _metric(row: re.Match[str], above: Above) -> Reading:
    figures = {
        "bogo_ops": (float(row["ops"]), "1"),
        "bogo_ops_per_s": (float(row["rate"]), "1/s"),
        "bogo_ops_per_cpu_s": (float(row["cpu_rate"]), "1/s"),
        "total_time": (float(row["real"]) * 1e9, "ns"),
        "user_time": (float(row["user"]) * 1e9, "ns"),
        "system_time": (float(row["system"]) * 1e9, "ns"),
    }
    return Reading(
        instrument=f"stress-ng-{row['stressor']}",
        measurement=Measurement((), {name: Scalar(value=value, unit=unit) for name, (value, unit) in figures.items()}),
        untold=("samples, percentiles and extremes: stress-ng prints a rate for the whole run", *UNTOLD),
        above=above,
    )


FORMAT = Format(
    "stress-ng-text",
    "stress-ng's text: --cyclic, --metrics",
    mark(rf"^{_SAID}(cyclic: +sched|stressor +bogo ops)"),
    read,
)
