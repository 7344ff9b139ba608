# SPDX-License-Identifier: MIT
"""cyclictest's histograms: threads, overflows, footers, and what scripts make of them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.parts.importers.detect import named
from rtqual.protocols.record.schema import SeriesKind
from support.import_files import DATA, counts, imported, read, read_file, read_one, refusal, summary, written


def histogram(rows: dict[int, Sequence[int]], footer: dict[str, Sequence[int]], threads: int = 0) -> str:
    body = [f"{bin_:06d} " + "\t".join(f"{count:06d}" for count in row) for bin_, row in rows.items()]
    foot = [f"# {name}: {' '.join(f'{value:05d}' for value in values)}" for name, values in footer.items()]
    return "\n".join(["# Histogram", *body, *foot, *(f"# Thread {n}:" for n in range(threads)), ""])


TWO = {2: (0, 0), 3: (10, 0), 4: (80, 90), 5: (9, 9)}
TWO_FOOT = {
    "Total": (99, 99),
    "Min Latencies": (3, 4),
    "Avg Latencies": (3, 4),
    "Max Latencies": (5, 700),
    "Histogram Overflows": (0, 1),
}


def test_threads_stay_apart_and_overflows_are_counted_above_the_last_bin(tmp_path: Path) -> None:
    reading = read_one(written(tmp_path, histogram(TWO, TWO_FOOT, 2)))
    first, second = reading.measurement.series
    assert reading.measurement.problems == ()
    assert (counts(first), first.info.cpu, first.info.overflow) == ({3000: 10, 4000: 80, 5000: 9}, 0, 0)
    assert (counts(second), second.info.cpu) == ({4000: 90, 5000: 9}, 1)
    assert (second.info.overflow, second.info.overflow_from, second.total) == (1, 6000, 100)
    assert second.info.reported == {"min": 4000, "avg": 4000, "max": 700_000}
    assert reading.measurement.scalars["resolution"].value == 1000
    assert any("thread N is filed as CPU N" in text for text in reading.assumed)


def test_the_summary_column_is_no_thread() -> None:
    measurement = read_file("cyclictest-summary-column.txt").measurement
    assert measurement.problems == ()
    assert [one.total for one in measurement.series] == [2000, 2000]
    assert [one.info.overflow for one in measurement.series] == [1087, 1299]
    assert [one.info.reported["max"] for one in measurement.series] == [1_056_000, 301_000]


def test_a_percentile_among_the_overflows_is_at_least_the_end_of_the_histogram(tmp_path: Path) -> None:
    (one,) = imported(DATA / "cyclictest-summary-column.txt", tmp_path)
    figures = summary(one).figures
    assert (figures["p99"].value, figures["p99"].at_least) == (30_000, True)
    assert (figures["max"].value, figures["max"].at_least) == (1_056_000, False)
    assert figures["p99"].interval is None
    assert figures["p99"].why_no_interval.startswith("1 run")


@pytest.mark.parametrize("threads", [2, 3])
def test_without_a_footer_a_column_of_sums_is_found(threads: int, tmp_path: Path) -> None:
    rows = {n: [*(n * 10 + t for t in range(threads)), sum(n * 10 + t for t in range(threads))] for n in range(5)}
    reading = read_one(written(tmp_path, histogram(rows, {})))
    assert len(reading.measurement.series) == threads
    assert len([text for text in reading.measurement.problems if "are not counted" in text]) == threads


def test_a_script_that_kept_only_the_rows_cannot_tell_of_overflows(tmp_path: Path) -> None:
    rows = "000003\t000010\n000004\t000090\n"
    reading = read_one(written(tmp_path, rows))
    assert counts(reading.measurement.series[0]) == {3000: 10, 4000: 90}
    assert reading.measurement.problems == ("cyclictest thread 0: samples above the last bin, if any, are not counted",)


def test_rows_that_were_filtered_away_leave_the_figures(tmp_path: Path) -> None:
    reading = read_one(written(tmp_path, histogram({}, TWO_FOOT, 2)))
    assert reading.measurement.problems == ()
    assert [one.info.kind for one in reading.measurement.series] == [SeriesKind.SUMMARY] * 2
    assert reading.measurement.series[1].info.reported == {"n": 100, "min": 4000, "avg": 4000, "max": 700_000}


def test_the_newer_footer_without_a_total_is_read(tmp_path: Path) -> None:
    foot = {name: values for name, values in TWO_FOOT.items() if name != "Total"}
    assert read_one(written(tmp_path, histogram(TWO, foot, 2))).measurement.problems == ()


def test_noise_between_the_lines_is_skipped_and_a_command_in_it_is_used(tmp_path: Path) -> None:
    text = histogram(TWO, TWO_FOOT, 2).replace("# Total", "\n[  12.345678] usb 1-1: reset\nWARN: stat\n# Total")
    text = f"$ sudo cyclictest -m -N -i200 -p 95 -a 2,5 -t2 -h6 -q# /dev/cpu_dma_latency set to 0us\n{text}"
    reading = read_one(written(tmp_path, text))
    assert reading.measurement.problems == ()
    assert counts(reading.measurement.series[0]) == {3: 10, 4: 80, 5: 9}  # -N: nanoseconds
    assert [one.info.cpu for one in reading.measurement.series] == [2, 5]
    assert reading.parameters == {"interval": 200_000, "priority": 95}
    assert reading.command[:2] == ("cyclictest", "-m")
    assert reading.assumed == ()


def test_two_histograms_in_one_file_are_two_runs(tmp_path: Path) -> None:
    text = histogram(TWO, TWO_FOOT, 2)
    first, second = read(written(tmp_path, text + text.replace("000080", "000070").replace("00099", "00089", 1)))
    assert counts(first.measurement.series[0])[4000] == 80
    assert counts(second.measurement.series[0])[4000] == 70


def test_a_command_belongs_to_the_run_below_it(tmp_path: Path) -> None:
    text = histogram(TWO, TWO_FOOT, 2)
    path = written(tmp_path, f"$ cyclictest -t2 -i200 -h6\n{text}$ cyclictest -t2 -i500 -h6 -N\n{text}{text}")
    first, second, third = read(path)
    assert [one.parameters.get("interval") for one in (first, second, third)] == [200_000, 500_000, None]
    assert [int(one.measurement.series[0].values[0]) for one in (first, second, third)] == [3000, 3, 3000]


def test_figures_that_a_script_cut_out_of_the_footers_are_read_run_by_run(tmp_path: Path) -> None:
    foot = "# Min Latencies: 00003 00004\n# Avg Latencies: 00004 00005\n# Max Latencies: 00084 000{}\n"
    runs = read(written(tmp_path, foot.format(77) + foot.format(91)))
    assert [one.measurement.series[1].info.reported["max"] for one in runs] == [77_000, 91_000]
    assert all(one.measurement.problems == () for one in runs)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("000080", "000079"), "thread 0: the histogram holds 98 of 99 samples"),
        (("# Min Latencies: 00003", "# Min Latencies: 00002"), "thread 0: its minimum is 2, but its histogram starts"),
        (("# Max Latencies: 00005", "# Max Latencies: 00900"), "thread 0: its maximum is 900, but its histogram ends"),
        (("00005 00700", "00005 00005"), "thread 1: 1 samples overflowed, but its maximum is 5"),
        (("# Avg Latencies: 00003", "# Avg Latencies: 00009"), "thread 0: its average is 9, that of its histogram 3.9"),
        (("Histogram Overflows: 00000 00001", "x"), "thread 1: its maximum is 700, the histogram ends at 5: samples"),
        (("Histogram Overflows: 00000 00001", "Histogram Overflows: 00000"), "has figures for 1 of 2 threads"),
        (("# Total: 00099 00099", "# Total: 00099 00099 00197"), "line 'Total' does not follow from the threads"),
    ],
)
def test_what_contradicts_the_footer_is_a_reason_to_refuse(
    change: tuple[str, str], problem: str, tmp_path: Path
) -> None:
    text = histogram(TWO, TWO_FOOT, 2)
    assert change[0] in text
    problems = read_one(written(tmp_path, text.replace(*change, 1))).measurement.problems
    assert any(problem in one for one in problems), problems


def test_a_wrong_summary_column_is_a_reason_to_refuse(tmp_path: Path) -> None:
    rows = {bin_: (*row, sum(row) + (bin_ == 4)) for bin_, row in TWO.items()}
    problems = read_one(written(tmp_path, histogram(rows, TWO_FOOT, 2))).measurement.problems
    assert problems == ("the summary column is not the sum of the threads in 1 bins, first 4",)


def test_a_cut_histogram_is_read_with_the_reason_to_refuse(tmp_path: Path) -> None:
    whole = histogram(TWO, TWO_FOOT, 2)
    cut = read_one(written(tmp_path, whole[: whole.index("# Min") + 19])).measurement
    assert any("no end" in text for text in cut.problems)
    assert read_one(written(tmp_path, whole.rstrip("\n"))).measurement.problems == ()
    row = read_one(written(tmp_path, whole[: whole.index("000090") + 8])).measurement
    assert any("are not counted" in text for text in row.problems)
    short = read_one(written(tmp_path, whole[: whole.index("\t000090")])).measurement
    assert any("is cut: 1 counts where the rows before have 2" in text for text in short.problems)


def test_damage_inside_a_histogram_is_refused_with_its_line(tmp_path: Path) -> None:
    text = histogram(TWO, TWO_FOOT, 2)
    said = refusal(written(tmp_path, text.replace("000080\t000090", "000080")))
    assert said.startswith(":4: 1 counts where the rows before have 2")
    assert refusal(written(tmp_path, text.replace("000004 ", "000003 "))).startswith(":4: bin 3 a second time")
    assert "header without rows" in refusal(written(tmp_path, "# /dev/cpu_dma_latency set to 0us\n# Histogram\n"))
    three = histogram(TWO, {**TWO_FOOT, "Min Latencies": (1, 2, 3, 4), "Avg Latencies": (1, 2, 3, 4)})
    assert "2 columns of counts, but a footer for 4 threads" in refusal(written(tmp_path, three))


def test_the_unit_is_asked_for_and_stated(tmp_path: Path) -> None:
    path = written(tmp_path, histogram(TWO, TWO_FOOT, 2))
    assert any("--unit ns where it ran -N" in text for text in read_one(path).assumed)
    in_ns = read_one(path, "ns")
    assert counts(in_ns.measurement.series[0]) == {3: 10, 4: 80, 5: 9}
    assert "resolution" not in in_ns.measurement.scalars
    told = written(tmp_path, "# cyclictest -q -m -h6 -t2\n" + histogram(TWO, TWO_FOOT, 2))
    assert "makes its values us: leave out --unit ns" in refusal(told, "ns")


def test_a_thread_that_took_no_sample_has_no_figures(tmp_path: Path) -> None:
    rows = {3: (10, 0), 4: (10, 0)}
    foot = {
        "Total": (20, 0),
        "Min Latencies": (3, 1_000_000),
        "Avg Latencies": (3, 0),
        "Max Latencies": (4, 0),
        "Histogram Overflows": (0, 0),
    }
    (one,) = imported(written(tmp_path, histogram(rows, foot, 2)), tmp_path)
    assert one.record.series[1].info.reported == {}
    assert any("no samples of latency on CPU 1" in text for text in summary(one).problems)


def test_a_tab_beside_a_comma_is_a_blank_of_a_table(tmp_path: Path) -> None:
    rows = "000000,000000,000000\n000001,000002,\t000001\n000002 ,000000\t,000000\n"
    (reading,) = named("histogram-table").read(written(tmp_path, f"time,core1,core2\n{rows}"), "us")
    assert [series.total for series in reading.measurement.series] == [2, 1]
