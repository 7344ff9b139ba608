# SPDX-License-Identifier: MIT
"""The readers on real outputs, on reasons to refuse, and on damaged outputs."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import JobOutcome
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Measurement, SeriesKind
from support.instrument_outputs import (
    CAPTURED,
    DATA,
    FIFO_80,
    MAIN,
    NOTHING,
    SYSBENCH_NAMES,
    captured_text,
    outcome_of,
    read,
    read_text,
)


def refusal(name: str, outcome: JobOutcome) -> str:
    with pytest.raises(RunFailed) as caught:
        read(name, outcome)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def cyclictest_json(**changes: Any) -> str:
    """The captured result with values of its thread replaced."""
    result = json.loads(captured_text("cyclictest"))
    result["thread"]["0"].update(changes)
    return json.dumps(result)


# --- what the real outputs say --------------------------------------------------------------------------------------


def test_every_instrument_has_a_captured_output_and_is_registered_by_its_name() -> None:
    assert set(CAPTURED) == {
        name for name in all_instruments() if not name.startswith("probe-")
    }  # it has tests of its own
    assert all(instrument.name == name for name, instrument in all_instruments().items())


@pytest.mark.parametrize("name", CAPTURED)
def test_a_captured_output_reads_without_a_problem(name: str) -> None:
    measurement = read_text(name, captured_text(name))
    assert measurement.problems == ()
    assert measurement.series or measurement.scalars


def test_cyclictest_keeps_every_bin() -> None:
    (series,) = read_text("cyclictest", captured_text("cyclictest")).series
    bins = json.loads(captured_text("cyclictest"))["thread"]["0"]["histogram"]
    assert dict(zip(series.values.tolist(), series.counts.tolist(), strict=True)) == {
        int(k): v for k, v in bins.items()
    }
    assert (series.info.kind, series.info.unit, series.info.cpu, series.total) == (SeriesKind.HISTOGRAM, "ns", 0, 120)
    assert series.info.reported == {"min": 7477, "avg": 9021.52, "max": 12049}
    assert (series.values * series.counts).sum() / series.total == pytest.approx(9021.52, abs=0.01)
    assert (series.info.overflow, series.info.overflow_from) == (0, None)


def test_cyclictest_counts_the_overflow_and_keeps_the_exact_maximum() -> None:
    outcome = outcome_of("cyclictest", (DATA / "cyclictest-overflow.json").read_text())
    measurement = read("cyclictest", outcome, cycles=60, histogram_limit="7600 ns")
    (series,) = measurement.series
    assert (series.info.overflow, series.info.overflow_from, series.total) == (8, 7600, 60)
    assert series.info.reported["max"] == 8868
    assert series.values.max() < 7600
    assert measurement.problems == ()


def test_cyclictest_has_a_series_for_each_cpu() -> None:
    result = json.loads(captured_text("cyclictest"))
    result["thread"]["1"] = {**result["thread"]["0"], "cpu": 1}
    outcome = replace(outcome_of("cyclictest", json.dumps(result)), threads=(MAIN, FIFO_80, {**FIFO_80, "tid": 109}))
    measurement = read("cyclictest", outcome, cpus=2)
    assert [series.info.cpu for series in measurement.series] == [0, 1]
    assert measurement.problems == ()


def two_threads(cycles: int) -> Measurement:
    """What is read of a run in which the second thread took only so many samples."""
    result = json.loads(captured_text("cyclictest"))
    value = result["thread"]["0"]["min"]
    second = {"histogram": {value: cycles}, "cycles": cycles, "min": value, "max": value, "avg": value, "cpu": 1}
    result["thread"]["1"] = second
    outcome = outcome_of("cyclictest", json.dumps(result))
    return read("cyclictest", replace(outcome, threads=(MAIN, FIFO_80, FIFO_80)), cpus=2)


def test_cyclictest_may_end_a_thread_a_little_early_but_not_long_before() -> None:
    assert two_threads(115).problems == ()
    assert two_threads(60).problems == ("cyclictest on CPU 1: only 60 of 120 samples",)


def test_cyclictest_counts_the_wake_ups_that_never_took_place() -> None:
    text = cyclictest_json(histogram={"7000": 116, "999999": 1}, cycles=120, min=7000, max=3_000_001)
    measurement = read("cyclictest", outcome_of("cyclictest", text), interval="100 us")
    # late by 999,999 ns: 9 skipped; three overflowed: by 1 ms or more, 9 each, and the largest, 3,000,001 ns: 30
    assert measurement.scalars["skipped_periods"].value == 9 + 2 * 9 + 30
    assert measurement.problems == ()


def test_hackbench_keeps_its_times_in_order() -> None:
    measurement = read_text("hackbench", "Time: 0.138\nTime: 0.115\nTime: 1.000\n")
    (series,) = measurement.series
    assert np.concatenate([*series.ordered()]).tolist() == [138_000_000, 115_000_000, 1_000_000_000]
    assert series.info.kind is SeriesKind.RAW
    assert measurement.scalars["resolution"].value == 1_000_000


def test_sysbench_reads_bins_and_figures() -> None:
    measurement = read_text("sysbench-cpu", captured_text("sysbench-cpu"))
    (series,) = measurement.series
    assert (series.info.kind, series.total) == (SeriesKind.BINNED, 50)
    assert (series.values[0], series.values[-1]) == (307_000, 354_000)
    assert series.info.reported == {"min": 310e3, "avg": 310e3, "max": 350e3, "p95": 330e3, "sum": 15_440e3}
    assert measurement.scalars["total_time"].value == 20_400_000
    assert measurement.scalars["events_per_s"].value == pytest.approx(50 / 0.0204)


def test_sysbench_adds_bins_that_are_printed_alike() -> None:
    text = captured_text("sysbench-fileio-root")
    assert [line.split()[-1] for line in text.splitlines() if "0.009 |" in line] == ["26", "28"]
    (series,) = read_text("sysbench-fileio-root", text).series
    assert (int(series.values[0]), int(series.counts[0]), series.total) == (9_000, 54, 200)
    assert np.all(np.diff(series.values) > 0)


def test_sysbench_counts_what_is_longer_than_its_last_bin_as_overflow() -> None:
    text = captured_text("sysbench-mutex").replace("      26.681 |", "  100000.000 |").replace("26.55", "123456.00")
    measurement = read_text("sysbench-mutex", text)
    (series,) = measurement.series
    assert series.info.overflow == 1
    assert series.info.overflow_from == pytest.approx(99.1e9, rel=1e-3)
    assert (series.total, series.info.reported["max"], measurement.problems) == (64, 123_456e6, ())


def test_fileio_reads_rates() -> None:
    scalars = read_text("sysbench-fileio-usb", captured_text("sysbench-fileio-usb")).scalars
    assert (scalars["reads_per_s"].value, scalars["writes_per_s"].value) == (137.03, 92.18)
    assert (scalars["fsyncs_per_s"].value, scalars["read"].value, scalars["written"].value) == (99.66, 2.14, 1.44)
    assert scalars["requests_per_s"].value == pytest.approx(229.21)


def test_fileio_may_be_ended_by_its_time_limit() -> None:
    assert read_text("sysbench-fileio-root", captured_text("sysbench-fileio-root"), events=10_000).problems == ()


def test_footprint_figures_follow_their_definition() -> None:
    outcome = outcome_of("footprint", captured_text("footprint"))
    facts = {**outcome.facts, "image_size_b": "8200000", "installed_size_b": "310000000"}
    scalars = read("footprint", replace(outcome, facts=facts)).scalars
    assert {name: scalar.value for name, scalar in scalars.items()} == {
        "ram_total": 468_452 * 1024,
        "ram_used": (468_452 - 381_292 - 0 - 57_712 - 10_008) * 1024,
        "kernel_memory": (6_512 + 944 + 100 + 264) * 1024,
        "kernel_reserved": (0x9FC00 - 0x1000) + (0x1FFE0000 - 0x100000) - 468_452 * 1024,
        "image_size": 8_200_000,
        "installed_size": 310_000_000,
    }
    assert {scalar.unit for scalar in scalars.values()} == {"B"}


def test_free_pages_in_the_lists_of_processors_are_not_used() -> None:
    text = captured_text("footprint")
    free = 381_292 // 4
    zone = f"Node 0, zone    DMA32\n  pages free     {free}\n  pagesets\n    cpu: 0\n              count:    "
    lists = zone + "700\n              high:     900\n    cpu: 1\n              count:    300\n"
    before, after = (read_text("footprint", one).scalars["ram_used"].value for one in (text, text + lists))
    assert before - after == 1000 * 4096
    large = lists.replace(f"free     {free}", f"free     {free // 4}")
    assert before - read_text("footprint", text + large).scalars["ram_used"].value == 1000 * 16_384


def test_footprint_leaves_out_what_iomem_hides() -> None:
    hidden = "\n".join(
        "00000000-00000000 : System RAM" if "System RAM" in line else line
        for line in captured_text("footprint").splitlines()
    )
    assert "kernel_reserved" not in read_text("footprint", hidden).scalars


# --- reasons to refuse ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"threads": ()}, "0 of 1 measuring threads seen at fifo 80 (threads seen: none)"),
        ({"threads": (MAIN, {**FIFO_80, "policy": "other", "priority": 0})}, "(threads seen: fifo 1, other 0)"),
        ({"threads": (MAIN, {**FIFO_80, "priority": 79})}, "(threads seen: fifo 1, fifo 79)"),
        ({"facts": {}}, "resolution is not known"),
        ({"facts": {"clock_resolution_ns": "4000000"}}, "jiffy resolution"),
        ({"files": {"cyclictest.json": cyclictest_json(cycles=121)}}, "took 121 samples instead of 120"),
        ({"files": {"cyclictest.json": cyclictest_json(cycles=100)}}, "more samples in the histogram than cycles"),
        ({"files": {"cyclictest.json": cyclictest_json(min=7000)}}, "minimum 7000 ns, but"),
        ({"files": {"cyclictest.json": cyclictest_json(max=999_999)}}, "maximum 999999 ns, but"),
        ({"files": {"cyclictest.json": cyclictest_json(cpu=3)}}, "on CPUs [3] instead of [0]"),
        (
            {"files": {"cyclictest.json": captured_text("cyclictest").replace('_in_ns": 1', '_in_ns": 1000')}},
            "units of 1000 ns",
        ),
    ],
)
def test_cyclictest_gives_the_reason_to_refuse(changes: dict[str, Any], problem: str) -> None:
    outcome = replace(outcome_of("cyclictest", captured_text("cyclictest")), **changes)
    problems = read("cyclictest", outcome).problems
    assert any(problem in text for text in problems), problems


def test_cyclictest_says_when_an_overflow_contradicts_the_maximum() -> None:
    measurement = read("cyclictest", outcome_of("cyclictest", cyclictest_json(cycles=130)), cycles=130)
    assert measurement.series[0].info.overflow == 10
    assert "10 samples overflowed 1000000 ns, but the maximum is 12049 ns" in measurement.problems[0]


def test_sysbench_says_when_events_are_missing() -> None:
    assert (
        "did 50 events instead of 51" in read_text("sysbench-cpu", captured_text("sysbench-cpu"), events=51).problems[0]
    )
    fewer = captured_text("sysbench-cpu").replace("of events:              50", "of events:              49")
    assert "holds 50 of 49 events" in read_text("sysbench-cpu", fewer).problems[0]


def test_sysbench_says_when_its_figures_contradict_its_histogram() -> None:
    text = captured_text("sysbench-cpu").replace("max:                                    0.35", "max: 7.35")
    assert "sysbench's max is 7350000 ns, its histogram's 354000 ns" in read_text("sysbench-cpu", text).problems


# --- damaged outputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CAPTURED)
def test_a_failed_program_is_reported_with_its_last_words(name: str) -> None:
    failed = replace(outcome_of(name, captured_text(name)), exit_code=1, stderr="first\ncannot set priority\n\n")
    message = refusal(name, failed)
    assert "exit code 1" in message
    assert "'cannot set priority'" in message


@pytest.mark.parametrize("name", CAPTURED)
@pytest.mark.parametrize("text", ["", "\n", "garbage\n\x00\x1b[31m", "{}", "[]", '{"thread": {}}', "null"])
def test_garbage_is_no_result(name: str, text: str) -> None:
    refusal(name, outcome_of(name, text))


@pytest.mark.parametrize("name", [name for name in CAPTURED if name != "footprint"])
def test_a_cut_output_is_no_result(name: str) -> None:
    text = captured_text(name)
    refusal(name, outcome_of(name, text[: len(text) // 3]))


def test_cyclictest_without_its_file_is_no_result() -> None:
    assert "left no cyclictest.json" in refusal("cyclictest", NOTHING)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cycles": 0}, "no samples"),
        ({"min": -5}, "'thread.0.min'"),
        ({"max": "much"}, "'thread.0.max'"),
        ({"avg": float("nan")}, "'thread.0.avg'"),
        ({"histogram": {"7": -1}}, "'thread.0.histogram.7'"),
        ({"histogram": {"seven\n": 1}}, "'thread.0.histogram.seven\\n"),
        ({"histogram": {str(2**64): 1}}, "'thread.0.histogram."),
    ],
)
def test_wrong_values_in_cyclictests_file_are_named(changes: dict[str, Any], said: str) -> None:
    assert said in refusal("cyclictest", outcome_of("cyclictest", cyclictest_json(**changes)))


def test_cyclictests_own_failure_is_reported() -> None:
    text = captured_text("cyclictest").replace('"return_code": 0', '"return_code": 1')
    assert "return code 1" in refusal("cyclictest", outcome_of("cyclictest", text))


def test_hackbench_must_print_every_time() -> None:
    text = captured_text("hackbench")
    message = refusal("hackbench", outcome_of("hackbench", text[: text.rindex("Time:")]))
    assert "printed 2 times instead of 3" in message


@pytest.mark.parametrize("name", SYSBENCH_NAMES)
@pytest.mark.parametrize(
    "part", ["total time", "total number of events", "min:", "avg:", "max:", "95th percentile", "sum:", " |*"]
)
def test_a_part_missing_of_sysbenchs_output_is_named(name: str, part: str) -> None:
    kept = "\n".join(line for line in captured_text(name).splitlines() if part not in line)
    message = refusal(name, outcome_of(name, kept))
    assert (part.strip(":") if part != " |*" else "histogram") in message


@pytest.mark.parametrize("part", ["reads/s", "writes/s", "fsyncs/s", "read, MiB/s", "written, MiB/s"])
def test_a_part_missing_of_fileios_output_is_named(part: str) -> None:
    kept = "\n".join(line for line in captured_text("sysbench-fileio-root").splitlines() if f"{part}:" not in line)
    assert part in refusal("sysbench-fileio-root", outcome_of("sysbench-fileio-root", kept))


def test_a_field_missing_of_meminfo_is_named() -> None:
    assert "Percpu" in refusal("footprint", outcome_of("footprint", captured_text("footprint").replace("Percpu", "X")))


def test_a_size_that_is_no_number_is_named() -> None:
    outcome = replace(outcome_of("footprint", captured_text("footprint")), facts={"image_size_b": "big"})
    assert "image_size_b is 'big'" in refusal("footprint", outcome)


def test_a_ring_whose_frames_have_no_numbers_is_refused() -> None:
    text = captured_text("lidar-driver").replace("frame_number=", "frame_numbers=")
    with pytest.raises(RunFailed, match="log does not have"):
        read_text("lidar-driver", text)
