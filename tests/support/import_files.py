# SPDX-License-Identifier: MIT
"""What other tools wrote (tests/data/import), and how the tests have it read."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.parts.importers.detect import detect, named
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.records import Circumstances, Imported, import_files
from rtqual.protocols.record.schema import Series

DATA = Path(__file__).parents[1] / "data" / "import"
# format -> files that have it; the first is the one that test_import_damage.py damages
FILES = {
    "cyclictest-histogram": [
        "cyclictest-summary-column.txt",
        "cyclictest-one-thread.txt",
        "cyclictest-histfile.txt",
    ],
    "cyclictest-verbose": ["cyclictest-verbose-and-histogram.txt", "cyclictest-verbose-oscope.txt"],
    "cyclictest-summary": [
        "cyclictest-quiet.txt",
        "cyclictest-quiet-ns.txt",
        "cyclictest-live-screen.txt",
        "other-systems-quiet.txt",
        "cyclicdeadline.txt",
    ],
    "cyclictest-json": ["cyclictest-us.json", "cyclictest-ns-no-histogram.json"],
    "sysbench": [
        "sysbench-0.4.txt",
        "sysbench-0.5.txt",
        "sysbench-1.0.txt",
        "sysbench-1.0-histogram.txt",
        "sysbench-1.0-fileio.txt",
    ],
    "hackbench": ["hackbench.txt"],
    "stress-ng": ["stress-ng.yaml"],
    "rtla": ["rtla-timerlat.txt", "rtla-osnoise.txt"],
    "jitterdebugger": ["jitterdebugger.json"],
    "rteval": ["rteval.xml"],
    "parquet": ["samples.parquet"],
    "csv": ["samples.csv", "user-program.csv"],
    "probe": ["probe-primitives.txt"],
    "histogram-table": ["histogram-as-table.csv"],
    "osadl": ["osadl-rt-dataset.json"],
    "rtla-top": ["rtla-timerlat-top.txt", "rtla-osnoise-top.txt"],
    "latmus-plot": ["latmus-plot.txt"],
    "xenomai": ["xenomai-latency.txt", "xenomai-klatency.txt", "rtai-latency.txt"],
    "stress-ng-text": ["stress-ng-cyclic-bins.txt", "stress-ng-cyclic.txt"],
    "rt-tests-pairs": ["ptsematest.txt", "pmqtest.txt"],
    "hwlatdetect": ["hwlatdetect.txt", "hwlatdetect-below.txt"],
    "latency-tracer": ["irqsoff.txt", "wakeup-rt-quoted.txt"],
    "tracer": ["timerlat-trace.txt", "osnoise-trace.txt"],
    "oslat": ["oslat.txt"],
    "sysjitter": ["sysjitter.txt"],
    "perf-sched-latency": ["perf-sched-latency.txt"],
    "perf-sched-timehist": ["perf-sched-timehist.txt"],
    "rt-app": ["rt-app.log"],
    "zephyr": ["zephyr-latency.txt"],
    "thread-metric": ["thread-metric.txt"],
    "rt-tests-json": ["ptsematest.json", "signaltest.json"],
    "rtosbench": ["rtosbench.txt"],
    "hwlat-trace": ["hwlat-trace.txt", "hwlat-trace-wrapped.txt"],
    "rteval-report": ["rteval-report.txt"],
}
EVERY_FILE = [(name, file) for name, files in FILES.items() for file in files]


def text_of(file: str) -> str:
    return (DATA / file).read_text()


def written(folder: Path, text: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read(path: Path, unit: str | None = None, format_name: str | None = None) -> Sequence[Reading]:
    return (named(format_name) if format_name else detect(path)).read(path, unit)


def read_one(path: Path, unit: str | None = None, format_name: str | None = None) -> Reading:
    (reading,) = read(path, unit, format_name)
    return reading


def read_file(file: str) -> Reading:
    return read_one(DATA / file)


def in_order(series: Series) -> list[int]:
    """Every sample of a raw series."""
    order = series.ordered()
    assert order is not None
    return [sample for chunk in order for sample in chunk.tolist()]


def counts(series: Series) -> dict[int, int]:
    return dict(zip(series.values.tolist(), series.counts.tolist(), strict=True))


def refusal(path: Path, unit: str | None = None, format_name: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        read(path, unit, format_name)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def imported(path: Path, folder: Path, **known: str) -> list[Imported]:
    return import_files([path], folder, Circumstances("flight", **known))  # type: ignore[arg-type]


def summary(one: Imported) -> Summary:
    ((group, records),) = groups([one.record]).items()
    return measure(group, records).summary
