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
    histogram_table,
    hwlatdetect,
    jitterdebugger,
    latency_tracer,
    noise,
    osadl,
    perf_sched,
    probe,
    rt_app,
    rt_pairs,
    rteval,
    rtla,
    rtla_top,
    stress_ng,
    stress_ng_text,
    sysbench,
    table,
    tracer_lines,
    xenomai,
    zephyr,
)
from rtqual.parts.importers.account import Above, Account, bad, one_line
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source, sniffed


@dataclass(frozen=True)
class Format:
    """`mark` is found in the beginning or the end of its files, and of none that a format before it would take."""

    name: str
    title: str
    mark: re.Pattern[str] | Callable[[str], bool]
    reader: Callable[..., Sequence[Reading]]  # of the source, --unit and, where it has them, --column
    has_unit: bool = False  # whether --unit can say what its values are
    has_columns: bool = False

    def marks(self, text: str) -> bool:
        return bool(self.mark.search(text)) if isinstance(self.mark, re.Pattern) else self.mark(text)

    def read(self, path: Path, unit: str | None, column: str | None = None) -> list[Reading]:
        """Every run in the file; failures that the file reports are problems of each. Raises BadInput."""
        source = Source(path)
        try:
            readings = self.reader(source, unit, *([column] if self.has_columns else []))
        except BadInput as error:  # a library's complaint may quote the file
            raise BadInput(one_line(str(error))) from None
        source.account.settle()
        return [_with_surroundings(reading, source.account, alone=len(readings) == 1) for reading in readings]


def _with_surroundings(reading: Reading, account: Account, *, alone: bool) -> Reading:
    """With what the file says around its figures. `alone`: the file has this run only, so all of it is the run's."""
    above = account.everything() if alone else reading.above or Above()
    facts = {name: value for name, value in above.facts.items() if name not in ("kernel", "kernel_cmdline")}
    kernel = reading.kernel or above.facts.get("kernel")
    machine = "machine" in facts or "machine" in reading.facts
    untold = {"the kernel": kernel, "the machine": machine}
    missing = " and ".join(what for what, known in untold.items() if not known)
    return replace(
        reading,
        untold=(*reading.untold, *([missing] if missing else [])),
        above=above,
        account=account,
        kernel=kernel,
        kernel_cmdline=reading.kernel_cmdline or above.facts.get("kernel_cmdline"),
        facts={**facts, **reading.facts},
        measurement=replace(
            reading.measurement,
            problems=tuple(dict.fromkeys((*reading.measurement.problems, *account.problems))),
        ),
    )


def _mark(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.ASCII)


_CELL = r"[ \t]*-?[\d.]*(?:[eE][-+]?\d+)?[ \t]*"
_SAID = r"^\s*(?:stress-ng: )?(?:info|metrc|metrics): +(?:\[\d+\] +)?"
_ALL = (
    Format("parquet", "a column of a Parquet file", _mark(r"\APAR1"), table.read_parquet, True, has_columns=True),
    Format("probe", "rtqual's own probe", _mark(r"^rtqual-probe 1#[0-9a-f]{8}"), probe.read),
    Format("histogram-table", "a histogram as a table", histogram_table.is_one, histogram_table.read, has_unit=True),
    Format(
        "csv",
        "a column of comma-separated text",
        _mark(rf"\A([^\n]*\n)?({_CELL},)*[ \t]*-?\d+(?:\.\d+)?[ \t]*(,{_CELL})*\n"),
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
    Format("osadl", "OSADL's RT Dataset", _mark(r'"name"\s*:\s*"RT Dataset"'), osadl.read),
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
        "rtla-top",
        "rtla timerlat top, rtla osnoise top",
        _mark(r"^\s*CPU COUNT\s+\||^\s*CPU Period\s+Runtime\s+Noise"),
        rtla_top.read,
    ),
    Format("latmus-plot", "latmus -g: EVL's histogram", _mark(r"^# min latency: "), xenomai.read_plot),
    Format("xenomai", "Xenomai's latency, EVL's latmus, RTAI's latency", _mark(r"^\s*RT[TDSH]\|"), xenomai.read),
    Format(
        "stress-ng-text",
        "stress-ng's text: --cyclic, --metrics",
        _mark(rf"{_SAID}(cyclic: +sched|stressor +bogo ops)"),
        stress_ng_text.read,
    ),
    Format(
        "rt-tests-pairs",
        "pmqtest, ptsematest, svsematest, sigwaittest",
        _mark(r"^\s*#\d{1,4} -> #\d{1,4}, +Min"),
        rt_pairs.read,
    ),
    Format(
        "hwlatdetect",
        "hwlatdetect",
        _mark(r"^\s*hwlatdetect: +test duration|^\s*Samples exceeding threshold:"),
        hwlatdetect.read,
    ),
    Format(
        "latency-tracer",
        "irqsoff, preemptoff, wakeup and their like of the kernel",
        _mark(r"latency trace v[\d.]+ on \S"),
        latency_tracer.read,
    ),
    Format(
        "tracer",
        "a trace of the kernel's timerlat or osnoise",
        _mark(
            r" +context +(irq|thread|user-ret|user) +timer_latency +\d+ ns|^# tracer: osnoise|\[\d+\].*: "
            r"+(osnoise: +)?\d+ +\d+ +\d+\.\d{5} "
        ),
        tracer_lines.read,
    ),
    Format("oslat", "oslat", _mark(r"^\s*oslat V |^\s*Counter Freq:"), noise.read_oslat),
    Format("sysjitter", "sysjitter", _mark(r"^\s*core_i:"), noise.read_sysjitter),
    Format("perf-sched-latency", "perf sched latency", _mark(r"^\s*Task +\| +Runtime ms"), perf_sched.read_latency),
    Format(
        "perf-sched-timehist", "perf sched timehist", _mark(r"wait time +sch delay +run time"), perf_sched.read_timehist
    ),
    Format("rt-app", "rt-app's log of a thread", _mark(r"^\s*#?\s*idx\s+perf\s+run\s+period"), rt_app.read),
    Format("zephyr", "Zephyr's latency_measure", _mark(r":\s*\d+ cycles ?,\s*\d+ ns"), zephyr.read),
    Format(
        "thread-metric", "Thread-Metric", _mark(r"^\s*\*{4} .* Test \*{4}\s+Relative Time:"), zephyr.read_thread_metric
    ),
    Format(
        "sysbench",
        "sysbench 0.4, 0.5, 1.0 or 1.1",
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
    found = next((one for one in _ALL if one.marks(text)), None)
    if found is None:
        raise bad(path, None, f"none of the formats known: name one with --format ({', '.join(FORMATS)})")
    return found


def named(name: str) -> Format:
    if name not in FORMATS:
        raise BadInput(f"--format {name[:40]}: not known; write one of {', '.join(FORMATS)}")
    return FORMATS[name]
