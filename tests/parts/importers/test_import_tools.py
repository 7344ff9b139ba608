# SPDX-License-Identifier: MIT
"""What sysbench, hackbench, stress-ng, rtla, jitterdebugger and rteval write."""

import re
from pathlib import Path

import pytest

from rtqual.parts.importers.detect import detect
from rtqual.protocols.record.schema import SeriesKind
from support.import_files import (
    DATA,
    counts,
    imported,
    in_order,
    read,
    read_file,
    read_one,
    refusal,
    summary,
    text_of,
    written,
)

# --- sysbench, hackbench, stress-ng -----------------------------------------------------------------------------------


def test_sysbench_0_4_gives_its_figures_and_one_percentile(tmp_path: Path) -> None:
    (one,) = imported(DATA / "sysbench-0.4.txt", tmp_path)
    inputs = one.record.inputs
    assert (inputs.instrument, inputs.artefacts) == ("sysbench-cpu", {"sysbench": "0.4.12"})
    assert inputs.parameters == {"threads": 1, "max_prime": 2000}
    figures = summary(one).figures
    assert {"min", "avg", "p95", "max"} <= set(figures)
    assert not {"p50", "p99", "std"} & set(figures)
    assert (figures["p95"].value, figures["events_per_s"].value) == (730_000, pytest.approx(10_000 / 7.25))


def test_sysbench_0_5_is_read_run_by_run() -> None:
    fileio, unnamed = read(DATA / "sysbench-0.5.txt")
    assert (fileio.instrument, fileio.programs) == ("sysbench-fileio", {"sysbench": "0.5"})
    assert fileio.measurement.scalars["requests_per_s"].value == 83.38
    assert fileio.measurement.series[0].info.reported["p95"] == 402_100_000
    assert unnamed.instrument == "sysbench"
    assert any("threads and mutex do not print it" in text for text in unnamed.untold)


def test_sysbench_1_0_gives_bins_where_it_printed_them(tmp_path: Path) -> None:
    cpu, memory, threads = read(DATA / "sysbench-1.0.txt")
    assert [one.instrument for one in (cpu, memory, threads)] == ["sysbench-cpu", "sysbench-memory", "sysbench"]
    assert memory.measurement.scalars["operations_per_s"].unit == "1/s"
    assert "p99" in threads.measurement.series[0].info.reported
    binned = read_file("sysbench-1.0-histogram.txt").measurement
    assert (binned.series[0].info.kind, binned.series[0].total, binned.problems) == (SeriesKind.BINNED, 200, ())
    (one,) = imported(DATA / "sysbench-1.0-fileio.txt", tmp_path, instrument="sysbench-fileio-root")
    scalars = one.record.manifest.scalars
    assert one.record.inputs.instrument == "sysbench-fileio-root"
    assert scalars["requests_per_s"].value == scalars["reads_per_s"].value + scalars["writes_per_s"].value


def test_sysbench_says_what_is_cut_or_impossible(tmp_path: Path) -> None:
    text = text_of("sysbench-0.4.txt")
    wrapped = text.replace("3.94ms", "18446744073709.55ms")
    assert any("a time below zero" in one for one in read_one(written(tmp_path, wrapped)).measurement.problems)
    said = refusal(written(tmp_path, "log\n" + text[: text.index("max:") + 40]))
    assert said.startswith(":2: this run of sysbench has no 'max'")
    assert "no statistics" in refusal(written(tmp_path, text[: text.index("Test exec")]))


def test_a_failed_run_of_sysbench_among_others_is_named(tmp_path: Path) -> None:
    text = text_of("sysbench-0.4.txt")
    reading = read_one(written(tmp_path, text[: text.index("Test exec")] + text))
    assert any("have no statistics and are left out" in one for one in reading.assumed)


def test_hackbench_keeps_runs_with_other_parameters_apart() -> None:
    first, second = read(DATA / "hackbench.txt")
    assert in_order(first.measurement.series[0]) == [29_000_000, 17_000_000]
    assert first.parameters == {"mode": "process", "groups": 1, "loops": 10, "bytes": 100}
    assert second.parameters == {"mode": "threaded", "groups": 2, "loops": 5, "bytes": 100}


def test_a_hackbench_without_its_time_is_a_reason_to_refuse(tmp_path: Path) -> None:
    text = text_of("hackbench.txt")
    cut = read(written(tmp_path, text[: text.rindex("Time")]))
    assert cut[-1].measurement.problems == ("the run at line 7 printed no time: it failed or was cut off",)


def test_stress_ng_gives_rates_a_stressor() -> None:
    cpu, switch = read(DATA / "stress-ng.yaml")
    assert (cpu.instrument, cpu.programs, cpu.cpus) == ("stress-ng-cpu", {"stress-ng": "0.15.06"}, 2)
    assert cpu.measurement.series == ()
    assert cpu.measurement.scalars["bogo_ops_per_s"].unit == "1/s"
    assert switch.measurement.scalars["nanosecs-per-context-switch-pipe-method"].unit == "as named"
    assert cpu.started and cpu.started.startswith("2026-11-21T")


def test_stress_ng_says_what_is_missing(tmp_path: Path) -> None:
    text = text_of("stress-ng.yaml")
    assert "with --metrics beside --yaml" in refusal(written(tmp_path, text[: text.index("metrics:")]))
    assert re.match(r":\d+: not YAML", refusal(written(tmp_path, text.replace("metrics:", "metrics: [", 1))))


# --- rtla, jitterdebugger, rteval -------------------------------------------------------------------------------------


def test_timerlat_keeps_contexts_and_cpus_apart_and_leaves_the_totals(tmp_path: Path) -> None:
    (one,) = imported(DATA / "rtla-timerlat.txt", tmp_path)
    infos = [series.info for series in one.record.series]
    assert [(info.name, info.cpu) for info in infos] == [
        ("thread", 0), ("thread", 3), ("irq", 0), ("irq", 3), ("user", 0), ("user", 3),
    ]  # fmt: skip
    thread_3 = one.record.series[1]
    assert (thread_3.total, thread_3.info.overflow, thread_3.info.overflow_from) == (60_000, 1, 13_000)
    assert thread_3.info.reported["max"] == 290_000
    assert one.record.manifest.problems == []
    assert one.record.manifest.provenance.wall_s == 60
    assert {"p99", "irq p99", "user p99"} <= set(summary(one).figures)


def test_osnoise_in_buckets_is_read_in_its_unit() -> None:
    reading = read_file("rtla-osnoise.txt")
    first = reading.measurement.series[0]
    assert (first.info.kind, first.info.name, first.total) == (SeriesKind.BINNED, "noise", 2000)
    assert counts(first) == {0: 400, 500: 1200, 1000: 380, 1500: 19}
    assert (reading.instrument, reading.wall_s, reading.measurement.problems) == ("rtla-osnoise", 3605, ())


def test_rtla_says_what_it_missed_and_what_is_cut(tmp_path: Path) -> None:
    text = text_of("rtla-timerlat.txt")
    missed = read_one(written(tmp_path, text + "41 (0.03%) events missed, results might not be accurate\n"))
    assert any("rtla missed events (41 (0.03%))" in one for one in missed.measurement.problems)
    cut = read_one(written(tmp_path, text[: text.index("over:")])).measurement
    assert len([one for one in cut.problems if "are not counted" in one]) == 6
    damaged = text.replace("2             8     39000", "2             8")
    assert refusal(written(tmp_path, damaged)).startswith(":7: 5 counts for 6 columns")
    no_index = "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n   IRQ-000\n 5\n"
    assert "--no-index" in refusal(written(tmp_path, no_index))
    stopped = """# RTLA timerlat histogram
# Time unit is microseconds (us)
Index   IRQ-000   Thr-000   Usr-000
6             1         0         0
over:         0         1         0
count:        1         1         0
min:          6       700         -
avg:          6       700         -
max:          6       700         -
"""
    one = read_one(written(tmp_path, stopped))
    assert [series.info.name for series in one.measurement.series] == ["thread", "irq"]
    assert (one.measurement.problems, one.assumed[0]) == ((), "no latency of the user thread on CPU 0")


def test_jitterdebugger_counts_what_lies_above_its_millisecond() -> None:
    reading = read_file("jitterdebugger.json")
    first, second = reading.measurement.series
    assert (first.info.overflow, first.info.overflow_from, first.total) == (1, 1_000_000, 10_000)
    assert (first.info.reported["max"], second.info.overflow) == (1_204_000, 0)
    assert (reading.measurement.problems, reading.kernel) == ((), "6.1.0-rt #1 SMP PREEMPT_RT")


def test_jitterdebugger_contradictions_and_wrapped_times(tmp_path: Path) -> None:
    text = text_of("jitterdebugger.json")
    fewer = read_one(written(tmp_path, text.replace('"count": 10000', '"count": 9000', 1))).measurement
    assert any("999 more samples in the histogram than were taken" in one for one in fewer.problems)
    assert "cpu.0.max" in refusal(written(tmp_path, text.replace("1204", "18446744073709551000")))
    live = written(tmp_path, "affinity: 0,1\nT: 0 (  61) A: 0 C:  9 Min: 3 Avg:  3.1 Max: 9\n" + text)
    assert detect(live).name == "jitterdebugger"
    assert read_one(live).measurement.series[1].total == 10_000
    old = re.sub(r'"resolution_in_ns": 1000', '"x": 1', text)
    assert any("--unit ns" in one for one in read_one(written(tmp_path, old)).assumed)


def test_rteval_is_read_by_cpu_with_its_own_loads() -> None:
    reading = read_file("rteval.xml")
    assert [one.total for one in reading.measurement.series] == [6000, 5500]
    assert (reading.instrument, reading.load) == ("cyclictest", "rteval+kcompile+hackbench")
    assert reading.parameters == {"interval": 100_000, "priority": 95}
    assert (reading.clocksource, reading.kernel, reading.wall_s) == ("arch_sys_counter", "6.1.0-rt", 604)
    assert reading.measurement.problems == ()


def test_rteval_leaves_out_what_overflowed_and_pools_timerlat(tmp_path: Path) -> None:
    text = text_of("rteval.xml")
    lost = text.replace('<maximum unit="us">5</maximum>', '<maximum unit="us">3600</maximum>', 1)
    problems = read_one(written(tmp_path, lost)).measurement.problems
    assert problems[0].startswith("cyclictest on CPU 0: its maximum is 3600, the histogram ends at 5")
    pooled = read_one(written(tmp_path, text.replace("cyclictest", "timerlat"))).measurement
    assert any("adds timerlat's IRQ, thread and user latencies" in one for one in pooled.problems)
    empty = re.sub(r"<system.*</core>", "", text, flags=re.DOTALL)
    assert "makes it drop them all" in refusal(written(tmp_path, empty))


def test_xml_with_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><rteval>&b;</rteval>'
    assert "declares a document type" in refusal(written(tmp_path, bomb))
    assert re.match(r":\d+: not XML", refusal(written(tmp_path, text_of("rteval.xml")[:-20])))
