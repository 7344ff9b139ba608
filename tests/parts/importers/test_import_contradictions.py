# SPDX-License-Identifier: MIT
"""What no tool writes: each reader says what is wrong in a file, as a refusal or as a problem of its record."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import detect, named
from support.import_files import DATA, EVERY_FILE, written

QUIET = "C:    300 Min:     25 Act:   47 Avg:  126 Max:   26081\nT: 1 (13994) P:80 I:1500 C:    203"
SAID = "stress-ng: info:  [111] cyclic:   "
GAP = "Max Latency: 19us\nts: 1.000, inner:50, outer:0"
ROW = "   0   5000   2105   20000      1234567890      1234569995       21   17800       2000    20000      53\n"
CASES = [  # file, a piece of it, another in its place, what is said of it
    ("cyclictest-histfile.txt", "000024 000006", f"000024 {2**54}", "this is no cyclictest histogram"),
    ("cyclictest-us.json", '"num_threads": 2', '"num_threads": "two"', "its num_threads: "),
    ("cyclictest-us.json", "Sat, 21 Nov 2026 05:12:09 +0000", "yesterday", ""),
    ("cyclictest-quiet.txt", QUIET, QUIET.replace("300", "0").replace("203", "0"), "cyclictest took no sample"),
    ("histogram-as-table.csv", "000004,039000", "000007,039000", "a bin that does not follow"),
    ("hwlatdetect.txt", "Max Latency: 19us", GAP, "largest sample is 50 us"),
    ("jitterdebugger.json", '"resolution_in_ns": 1000', '"resolution_in_ns": 7', "none of jitterdebugger's"),
    ("jitterdebugger.json", '"cpus_online": 2', '"cpus_online": 1', "1 CPUs were online, but 2 threads measured"),
    ("oslat.txt", "     Minimum:  1 1 (us)", "     Minimum:  1 1 (us)\n     Minimum:  1 1 (us)", "a second time"),
    ("sysjitter.txt", "int_n:              10240     9981", "int_n: 10240 9981\nint_n: 10240 9981", "a second time"),
    ("osadl-rt-dataset.json", '"version": "5.15.49-rt47"', '"version": 5', "not OSADL's RT Dataset: "),
    ("osadl-rt-dataset.json", '"microseconds"', '"fortnights"', "granularity 'fortnights'"),
    ("perf-sched-latency.txt", "avg:    0.283 ms", "avg:    9.283 ms", "its average delay is above its maximum"),
    ("rt-app.log", "   1   5000   2110", "   1   2110", "figures for 11 columns: the log is damaged"),
    ("rt-app.log", ROW, f"{ROW}#idx perf run period start end rel_st slack\n", "a header a second time"),
    ("pmqtest.txt", "Avg  183", "Avg 9183", "minimum, average and maximum are not in order"),
    ("ptsematest.txt", "#3 -> #2, Min    1, Cur    2, Avg    2, Max   13\n", "", "1 pairs of threads have no figures"),
    ("ptsematest.json", '"samples": 50', '"samples": "many"', "not JSON of "),
    ("ptsematest.json", '"num_threads": 1', '"num_threads": 3', "its num_threads is 3, the file has 1"),
    ("ptsematest.json", '"min": 1', '"min": 999999', "of 1 threads are not in order"),
    ("ptsematest.json", "Thu, 26 Nov 2026 17:42:37 +0000", "yesterday", "without a real-time priority"),
    ("rteval.xml", '<bucket index="3" value="2150"/>', '<bucket index="2" value="2150"/>', "bucket 2 of CPU 0 twice"),
    ("rteval.xml", "<date>2026-02-03</date>", "<date>yesterday</date>", ""),
    ("rtla-timerlat.txt", "7             0", "3             0", "bucket 3 twice"),
    ("rtla-timerlat-top.txt", "2         9        24", "2        99        24", "thread on CPU 0: minimum, average"),
    ("rtosbench.txt", "max=3627\n", "", "without its 'max='"),
    ("stress-ng.yaml", "cpus: 2\n", "cpus: [\n", "not YAML: "),
    ("stress-ng-cyclic-bins.txt", "min: 8426 ns", "min: 98426 ns", "minimum, mean and maximum are not in order"),
    ("stress-ng-cyclic-bins.txt", f"{SAID}min: 8426 ns, max: 12214 ns, std.dev. 473.08\n", "", "has no max or min"),
    ("sysbench-1.0.txt", "0.0182s", "1.0182s", "events a second are not 200 in 1.0182 s"),
    ("sysbench-1.0.txt", "min:                                    0.03", "min: 9.99", "are not in order"),
    ("timerlat-trace.txt", "          <idle>-0       [001]", "CPU:1 [LOST 3 EVENTS]\n          <idle>-0       [001]",
     "the trace lost events"),
    ("latmus-plot.txt", "\n3 3", "\n2 3", "bin 2 a second time"),
    ("xenomai-latency.txt", "RTS|      6.874|      8.708", "RTS|      6.874|     88.708", "are not in order"),
    ("zephyr-latency.txt", "thread.yield.cooperative.ctx", "thread.yield.preemptive.ctx", "a second time"),
    ("thread-metric.txt", "Relative Time: 30", "Relative Time: 00", "a relative time of 0"),
    ("thread-metric.txt", "Relative Time: 60", "Relative Time: 75", "its periods are not equally long"),
    ("thread-metric.txt", "Total:  5942389", "Total:  0", "a period in which its loop never ran"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "piece", "other", "said"), CASES)
def test_a_contradiction_is_named(file: str, piece: str, other: str, said: str, tmp_path: Path) -> None:
    text = (DATA / file).read_text()
    assert piece in text
    path = written(tmp_path, text.replace(piece, other, 1))
    try:
        told = [
            problem for one in named(detect(DATA / file).name).read(path, None) for problem in one.measurement.problems
        ]
    except BadInput as error:
        told = [str(error)]
    assert any(said in one for one in told) if said else told == [], told


TEXTS = [  # format, text, what is said of it; empty: nothing
    ("cyclictest-summary", f"T: 0 (13993) P:80 I:1000 {QUIET} Min: 1 Act: 1 Avg: 1 Max: 1\n000001 000003\n", ""),
    ("hackbench", "Running in process mode with 1 groups using 40 file descriptors each\nTime: 1.000\n", "not the"),
    ("hackbench", "$ hackbench --pipe\nTime: 1.000\n", ""),
    ("hwlatdetect", "Samples recorded: 3\n", "nothing of hwlatdetect above it"),
    ("hwlatdetect", "Max Latency: 7us\nSamples recorded: 0\nCPU0: 3\n", ""),
    ("xenomai", "RTS|   1.000|   2.000|   3.000|      -0|     0|    00:00:10/00:00:10\n", "overruns that is none"),
    ("rtla-top", "CPU COUNT      |\n  0 #20 | 1 1 1 1 | 1 1 1 1\n  0 #10 | 1 1 1 1 | 1 1 1 1\n", "counts less"),
    ("histogram-table", "time,core1\n0,0\n1,0\n", "every count is 0"),
    ("stress-ng", "metrics:\n    - bogo-ops: 3\n", "names no stressor"),
    ("stress-ng", "metrics:\n    - stressor: cpu\n", "has no figures"),
    ("stress-ng", "metrics:\n    - stressor: cpu\n      bogo-ops: many\n      user-time: 1.0\n", "no number"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), TEXTS)
def test_a_piece_of_an_output_is_read_or_named(name: str, text: str, said: str, tmp_path: Path) -> None:
    try:
        found = named(name).read(written(tmp_path, text), None)
        told = [problem for one in found for problem in one.measurement.problems]
    except BadInput as error:
        told = [str(error)]
    assert any(said in one for one in told) if said else told == [], told


@pytest.mark.parametrize(
    ("name", "file"), [(name, file) for name, file in EVERY_FILE if file.endswith((".txt", ".log"))]
)
def test_a_last_figure_that_may_be_cut_is_doubted(name: str, file: str, tmp_path: Path) -> None:
    text = (DATA / file).read_text().rstrip("\n")
    path = written(tmp_path, text[:-1] if text[-1].isdigit() else text.rstrip(" "))
    try:
        told = [problem for one in named(name).read(path, None) for problem in one.measurement.problems]
    except BadInput:
        return
    assert not text[-1].isdigit() or any("no end" in one or "is cut" in one for one in told), told


def test_a_table_s_last_row_without_an_end_is_told(tmp_path: Path) -> None:
    (one,) = named("csv").read(written(tmp_path, "latency_ns\n70\n7400"), None)
    assert one.assumed == ("its last row, which has no end, is whole",)


def test_a_table_without_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        named("csv").read(written(tmp_path, ""), "ns")
