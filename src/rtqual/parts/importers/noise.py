# SPDX-License-Identifier: MIT
"""oslat (rt-tests) and sysjitter: what a thread that only reads the clock loses, a column a CPU.

    Core:  1 2                       core_i:           0       1
001 (us):  183 190                   threshold(ns):  200     200
002 (us):  5 2 (including overflows) int_n:         1000    1200
 Maximum:  8 7 (us)                  int_max(ns):   9000    8000

oslat before rt-tests took it in (sysjitter2) has other names, no minimum and no average.
"""

import re
from dataclasses import replace

from rtqual.parts.importers.file_account import Above, bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import Tally
from rtqual.protocols.record.schema import Measurement, Scalar

_CELLS = r"((?:\s+\d{1,18}(?:\.\d{1,6})?)+)"
_OSLAT = re.compile(
    r"\s*(?P<name>Core|(?:Counter|CPU) Freq|core_i|cpu_mhz|maxlat|runtime|\d{1,6} \((?:us|ns)\)|Minimum|Average|"
    rf"Maximum|Max-Min|Duration):{_CELLS}\s*(?P<note>\((?:us|ns|Mhz|MHz|sec|including overflows)\))?\s*",
    re.ASCII,
)
_OSLAT_OTHER = re.compile(
    r"\s*(oslat V \S+|Version: .*|(Total runtime|Thread priority|CPU list|CPU for main thread|Workload|Workload mem|"
    r"Preheat cores|Bucket size|Trace threshold|Huge pages|Mode|TSC \w+):.*|Pre-heat for .*|Test (starts|"
    r"completed).*)\s*"
)
_PRIORITY = re.compile(r"\s*Thread priority:\s+(SCHED_\w+:\d+|default)", re.ASCII | re.IGNORECASE)
_OWN = re.compile(r"\s*(Core|core_i|Minimum|Average|Maximum|maxlat|\d{1,6} \(us\)):")
_JITTER = re.compile(
    rf"\s*(core_i|threshold\(ns\)|cpu_mhz|runtime\(\w+\)|int_\w+(?:\([\w%]+\))?):{_CELLS}\s*", re.ASCII
)
_JITTER_OWN = re.compile(r"\s*(core_i|int_)")
_QUANTILES = {"int_median(ns)": "p50", "int_90(ns)": "p90", "int_99(ns)": "p99", "int_999(ns)": "p99.9",
              "int_9999(ns)": "p99.99", "int_99999(ns)": "p99.999", "int_min(ns)": "min", "int_mean(ns)": "avg",
              "int_max(ns)": "max", "int_n": "n", "int_sd(ns)": "std"}  # fmt: skip
_EARLIER = {"core_i": "Core", "cpu_mhz": "CPU Freq", "maxlat": "Maximum", "runtime": "Duration"}
_ORDER = "the order of the gaps, and what made them"


def read_oslat(source: Source, _unit: str | None) -> list[Reading]:
    rows: dict[str, list[float]] = {}
    above, overflows, priority = Above(), False, ""
    earlier = False
    for number, line in source.lines(_OWN):
        if match := _OSLAT.fullmatch(line):
            earlier = earlier or match["name"] in _EARLIER
            name = _EARLIER.get(match["name"], match["name"])
            if name in rows:
                raise bad(source.path, number, f"{name!r} a second time: two runs in one file; split it")
            if rows:
                source.use()
            else:
                above = source.begin()
            rows[name] = [float(cell) for cell in match[2].split()]
            overflows = overflows or earlier or match["note"] == "(including overflows)"
        elif _OSLAT_OTHER.fullmatch(line):
            if match := _PRIORITY.match(line):
                priority = match[1]
            source.skip("a setting")
    missing = {"Core", "Maximum", *(() if earlier else ("Minimum", "Average"))} - set(rows)
    if missing:
        raise bad(source.path, None, f"no line {sorted(missing)[0]!r}: it was cut off; give oslat's whole output")
    cores = [int(core) for core in rows["Core"]]
    _check_columns(source, rows, len(cores), alone=("Counter Freq", "CPU Freq"))
    bins = {int(name.split()[0]): row for name, row in rows.items() if name[0].isdigit()}
    series, problems = [], []
    for column, core in enumerate(cores):
        counts = {edge: int(row[column]) for edge, row in bins.items()}
        above_last = counts.pop(max(bins)) if bins and overflows else 0 if bins else None
        tally = Tally(
            counts, overflow=above_last, limit=max(bins) if bins else None,
            low=None if earlier else int(rows["Minimum"][column]), avg=None if earlier else rows["Average"][column],
            high=int(rows["Maximum"][column]),
        )  # fmt: skip
        series.append(tally.series("gap", 1_000, core))
        # Since rt-tests 2.5 a bin is named by its end, the extremes are cut to whole microseconds.
        filled = [edge for edge, count in counts.items() if count]
        if filled and tally.low is not None and min(filled) - 1 == tally.low:
            tally = replace(tally, low=min(filled), high=max(int(rows["Maximum"][column]) + 1, 1))
        problems += [f"oslat on CPU {core}: {text}" for text in tally.problems() if "average" not in text]
    return [
        Reading(
            instrument="oslat",
            measurement=Measurement(tuple(series), resolution(1_000), tuple(problems)),
            command=tuple(above.command("oslat").split()),
            cpus=len(cores),
            wall_s=min(rows["Duration"]) if "Duration" in rows else None,
            facts={"thread priority": priority} if priority else {},
            untold=(_ORDER,),
            above=above,
        )
    ]


def read_sysjitter(source: Source, _unit: str | None) -> list[Reading]:
    rows: dict[str, list[float]] = {}
    above = Above()
    for number, line in source.lines(_JITTER_OWN):
        match = _JITTER.fullmatch(line)
        if match is None:
            continue
        if match[1] in rows:
            raise bad(source.path, number, f"{match[1]!r} a second time: two runs in one file; split it")
        if rows:
            source.use()
        else:
            above = source.begin()
        rows[match[1]] = [float(cell) for cell in match[2].split()]
    if "core_i" not in rows or "int_max(ns)" not in rows:
        raise bad(
            source.path, None, "no line 'core_i:' or 'int_max(ns):': it was cut off; give sysjitter's whole output"
        )
    cores = [int(core) for core in rows["core_i"]]
    _check_columns(source, rows, len(cores))
    series = [
        summary("gap", core, 1, **{ours: rows[name][column] for name, ours in _QUANTILES.items() if name in rows})
        for column, core in enumerate(cores)
    ]
    totals = rows.get("int_total(%)")
    return [
        Reading(
            instrument="sysjitter",
            measurement=Measurement(
                tuple(series), {"largest share of a CPU lost": Scalar(value=max(totals), unit="%")} if totals else {}
            ),
            parameters={"threshold": int(rows["threshold(ns)"][0])} if "threshold(ns)" in rows else {},
            command=tuple(above.command("sysjitter").split()),
            cpus=len(cores),
            wall_s=min(rows["runtime(s)"]) if "runtime(s)" in rows else None,
            untold=(_ORDER, "gaps below its threshold"),
            above=above,
        )
    ]


def _check_columns(source: Source, rows: dict[str, list[float]], columns: int, alone: tuple[str, ...] = ()) -> None:
    for name, row in rows.items():
        if len(row) != columns and not (name in alone and len(row) == 1):
            what = f"{name!r} has {len(row)} figures for {columns} CPUs: the file is damaged; give the whole file"
            raise bad(source.path, None, what)


OSLAT = Format("oslat", "oslat", mark(r"^\s*oslat V |^\s*(Counter|CPU) Freq:|^\s*001 \(us\):"), read_oslat)
SYSJITTER = Format("sysjitter", "sysjitter", mark(r"^\s*core_i:"), read_sysjitter)
