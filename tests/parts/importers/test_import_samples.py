# SPDX-License-Identifier: MIT
"""What cyclictest prints of its samples: line by line (-v), at its end (-q) and as JSON."""

import json
import re
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.engine.analysis.figure.model import Figure
from rtqual.parts.importers import invocation
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


def verbose(values: Sequence[int], thread: int = 0) -> str:
    return "".join(f"{thread:8d}:{cycle:8d}:{value:8d}\n" for cycle, value in enumerate(values))


def test_samples_stay_in_their_order_and_threads_apart(tmp_path: Path) -> None:
    pairs = zip(verbose([9, 3, 5]).splitlines(), verbose([4, 8, 6], 1).splitlines(), strict=True)
    text = "# /dev/cpu_dma_latency set to 0us\n" + "\n".join(line for pair in pairs for line in pair) + "\n"
    reading = read_one(written(tmp_path, text))
    assert [in_order(one) for one in reading.measurement.series] == [[9000, 3000, 5000], [4000, 8000, 6000]]
    assert (reading.measurement.problems, reading.cpus) == ((), 2)


def test_a_zero_carries_the_number_of_an_earlier_cycle(tmp_path: Path) -> None:
    """print_stat() keeps the number of the last largest sample, and zero is larger than nothing."""
    text = verbose([5, 7]) + f"{0:8d}:{1:8d}:{0:8d}\n" * 2 + f"{0:8d}:{4:8d}:{6:8d}\n"
    measurement = read_one(written(tmp_path, text)).measurement
    assert in_order(measurement.series[0]) == [5000, 7000, 0, 0, 6000]
    assert measurement.problems == ()


def test_missing_samples_are_a_reason_to_refuse(tmp_path: Path) -> None:
    kept = verbose([5] * 10).splitlines(keepends=True)
    lost = read_one(written(tmp_path, "".join(kept[:3] + kept[5:]))).measurement
    assert lost.problems == (
        "cyclictest thread 0: 2 of 10 samples are missing: lines were lost, or -o left only maxima",
    )
    assert all(
        "samples are missing" in text for text in read_file("cyclictest-verbose-oscope.txt").measurement.problems
    )


def test_a_last_line_that_may_be_cut_is_left_out(tmp_path: Path) -> None:
    measurement = read_one(written(tmp_path, verbose([5, 6, 777])[:-2])).measurement
    assert in_order(measurement.series[0]) == [5000, 6000]
    assert any("no end" in text for text in measurement.problems)


def test_two_verbose_runs_in_one_file_are_refused(tmp_path: Path) -> None:
    assert "two runs in one file; split it" in refusal(written(tmp_path, verbose([5] * 9) + verbose([6] * 9)))


def test_a_time_of_day_is_no_sample(tmp_path: Path) -> None:
    text = "12:34:56\n" + verbose([5, 6]) + "12:34:57\n"
    assert len(read_one(written(tmp_path, text)).measurement.series) == 1
    assert detect(written(tmp_path, "12:34:56\n" + text_of("cyclictest-one-thread.txt"))).name == "cyclictest-histogram"
    bare = verbose([5, 6, 7]).replace(" ", "")
    assert in_order(read_one(written(tmp_path, bare)).measurement.series[0]) == [5000, 6000, 7000]


def test_blocks_of_a_file_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = list(range(1, 500))
    path = written(tmp_path, "# /dev/cpu_dma_latency set to 0us\n" + verbose(values))
    for size in (1, 100, 1000):
        monkeypatch.setattr("rtqual.parts.importers.source._BLOCK_B", size)
        measurement = read_one(path).measurement
        assert in_order(measurement.series[0]) == [value * 1000 for value in values]
        assert measurement.problems == ()


@pytest.mark.full
def test_a_million_verbose_lines_need_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("w") as file:
        for cycle in range(2_000_000):
            file.write(f"{0:8d}:{cycle:8d}:{cycle % 97 + 1:8d}\n")
    tracemalloc.start()
    measurement = read_one(path).measurement
    peak_b = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (measurement.series[0].total, measurement.problems) == (2_000_000, ())
    assert peak_b < 60 * 2**20  # a block of 4 MiB as lines and as numbers; a million samples


def test_quiet_lines_give_what_they_print_and_nothing_else(tmp_path: Path) -> None:
    (one,) = imported(DATA / "other-systems-quiet.txt", tmp_path, load="none")
    (series,) = one.record.series
    assert series.info.kind is SeriesKind.SUMMARY
    assert series.info.reported == {"n": 50_000, "min": 3000, "avg": 4000, "max": 29_000}
    assert one.record.inputs.parameters == {"interval": 10_000_000, "priority": 2}
    figures = summary(one).figures
    # Printed in whole us: no interval's end could be nearer.
    assert figures["max"] == Figure(29_000, "ns", 50_000, 1, None, figures["max"].why_no_interval, least=1000.0)
    assert not [name for name in figures if name.startswith("p")]


def test_a_live_screen_counts_once() -> None:
    reading = read_file("cyclictest-live-screen.txt")
    assert [one.info.reported["n"] for one in reading.measurement.series] == [600, 401]


def test_the_padding_tells_nanoseconds() -> None:
    reading = read_file("cyclictest-quiet-ns.txt")
    assert reading.measurement.series[0].info.reported["min"] == 22_125
    assert "resolution" not in reading.measurement.scalars
    assert "the padding of 'Act:' makes its values ns" in refusal(DATA / "cyclictest-quiet-ns.txt", "us")


def test_quiet_lines_of_several_runs_stay_apart(tmp_path: Path) -> None:
    line = "T: 0 (  500) P:80 I:1000 C:{c:7d} Min:{low:7d} Act:    9 Avg:    9 Max:{high:8d}\n"
    grown = line.format(c=10, low=5, high=12) + line.format(c=20, low=4, high=15)
    assert len(read(written(tmp_path, grown))) == 1
    other = line.format(c=20, low=4, high=15) + line.format(c=20, low=6, high=11)
    assert [r.measurement.series[0].info.reported["max"] for r in read(written(tmp_path, other))] == [15_000, 11_000]
    restarted = grown + line.format(c=20, low=4, high=15).replace("(  500)", "(  777)")
    assert len(read(written(tmp_path, restarted))) == 2
    unordered = read_one(written(tmp_path, line.format(c=9, low=10, high=15))).measurement
    assert any("not in order" in text for text in unordered.problems)
    cut = read_one(written(tmp_path, line.format(c=9, low=5, high=15)[:-1])).measurement
    assert any("may be cut" in text for text in cut.problems)


def test_json_tells_unit_cpu_version_kernel_and_command() -> None:
    reading = read_file("cyclictest-us.json")
    tool = json.loads(text_of("cyclictest-us.json"))["thread"]["1"]
    series = reading.measurement.series[1]
    assert counts(series) == {int(value) * 1000: count for value, count in tool["histogram"].items()}
    assert series.total == tool["cycles"] == 500
    assert series.info.overflow_from == 40_000  # by -h40 on its command line
    assert reading.programs == {"cyclictest": "2.40"}
    assert reading.parameters == {"interval": 1_000_000, "priority": 80}
    assert (reading.kernel, reading.cpus) == ("6.1.0-rt #1 SMP PREEMPT_RT", 2)
    assert reading.started and reading.started.endswith("+00:00")
    assert reading.measurement.problems == ()


def test_json_without_a_histogram_is_a_summary_in_nanoseconds() -> None:
    series = read_file("cyclictest-ns-no-histogram.json").measurement.series[0]
    assert series.info.kind is SeriesKind.SUMMARY
    assert series.info.reported == {"n": 500, "min": 16_545, "avg": 36_893.15, "max": 252_341}


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    text = text_of("cyclictest-us.json")
    said = refusal(written(tmp_path, "T: 0\n" + text.replace('"cycles": 500', '"cycles" 500', 1)))
    assert re.match(r":\d+: ", said)
    assert "is not cyclictest's JSON" in said
    other = text.replace('"cmdline:": "cyclictest', '"cmdline:": "othertest')
    assert "written by 'othertest'" in refusal(written(tmp_path, other))
    failed = text.replace('"return_code": 0', '"return_code": 1')
    assert "return code 1" in refusal(written(tmp_path, failed))
    assert "leave out --unit ns" in refusal(DATA / "cyclictest-us.json", "ns")


@pytest.mark.parametrize(
    ("command", "unit", "limit", "parameters", "cpus"),
    [
        ("cyclictest -l100 -m -S -p90 -i200 -h400 -q", "us", 400, {"interval": 200_000, "priority": 90}, {0: 0, 1: 1}),
        ("cyclictest --mlockall --smp --priority=80 --interval=200 --nsecs", "ns", None,
         {"interval": 200_000, "priority": 80}, {0: 0, 1: 1}),
        ("cyclictest -qmN -t 2 -a 3-4 -p 70", "ns", None, {"priority": 70}, {0: 3, 1: 4}),
        ("cyclictest --affinity=1 -H 100 -t2", "us", 100, {}, {0: 1, 1: 1}),
        ("cyclictest -t2 --histfile=N -D 10m", "us", None, {}, None),
    ],
)  # fmt: skip
def test_a_command_line_says_what_its_figures_mean(
    command: str, unit: str, limit: int | None, parameters: dict[str, int], cpus: dict[int, int] | None
) -> None:
    found = invocation.find(f"# running: {command} # comment")
    assert found is not None
    assert (found.unit, found.histogram_limit, found.parameters, found.cpus(2)) == (unit, limit, parameters, cpus)
