# SPDX-License-Identifier: MIT
"""Import: what each format tells, what it cannot tell, the traps of public files, and damage."""

import json
import math
import re
import shutil
import subprocess
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtqual.analysis.figure.model import Figure, Summary
from rtqual.analysis.figure.statistics import QUANTILES
from rtqual.analysis.figure.summary import groups, summarise
from rtqual.base.errors import BadInput
from rtqual.importer import invocation
from rtqual.importer.detect import FORMATS, detect, named
from rtqual.importer.reading import Reading
from rtqual.importer.records import Circumstances, Imported, find_runs, import_files, to_record
from rtqual.record.schema import Kind, Series, Timing
from rtqual.record.store import Store
from rtqual.terminal.importer import as_dict, lines

DATA = Path(__file__).parents[1] / "data" / "import"
# format -> files that have it; the first is the one that is damaged below
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
    "csv": ["samples.csv"],
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
    return summarise(group, records)


# --- which format ---------------------------------------------------------------------------------------------------


def test_every_format_has_a_file_here() -> None:
    assert set(FILES) == set(FORMATS)
    assert {file for _, file in EVERY_FILE} == {path.name for path in DATA.iterdir()} - {"README.md"}


@pytest.mark.parametrize(("name", "file"), EVERY_FILE)
def test_the_format_is_found(name: str, file: str) -> None:
    assert detect(DATA / file).name == name


@pytest.mark.parametrize(("name", "file"), EVERY_FILE)
def test_line_ends_of_windows_a_mark_in_front_and_terminal_colours_change_nothing(
    name: str, file: str, tmp_path: Path
) -> None:
    if name == "parquet":
        pytest.skip("no text")
    plain = (DATA / file).read_bytes()
    other = b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
    if name in ("cyclictest-histogram", "cyclictest-summary", "sysbench", "hackbench", "rtla"):
        other = re.sub(rb"(?m)$\r", b"\x1b[0m\r", other)
    path = written(tmp_path, other, file)
    assert detect(path).name == name
    for ours, theirs in zip(read(path), read(DATA / file), strict=True):
        assert ours.measurement.scalars == theirs.measurement.scalars
        assert ours.measurement.problems == theirs.measurement.problems
        assert [one.info for one in ours.measurement.series] == [one.info for one in theirs.measurement.series]
        for a, b in zip(ours.measurement.series, theirs.measurement.series, strict=True):
            assert np.array_equal(a.values, b.values)
            assert np.array_equal(a.counts, b.counts)
            assert a.ordered() is b.ordered() is None or in_order(a) == in_order(b)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\x1f\x8b\x08\x00", "compressed with gzip: unpack it first"),
        ("T: 0".encode("utf-16"), "iconv -f UTF-16"),
        (b"hello\n", "none of the formats known: name one with --format (parquet, csv, rteval, "),
    ],
)
def test_what_no_reader_reads_is_said(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        detect(written(tmp_path, content))


def test_a_folder_or_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        detect(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        detect(tmp_path / "none")
    with pytest.raises(BadInput, match="--format nonsense: not known; write one of parquet"):
        named("nonsense")


@pytest.mark.parametrize("name", FORMATS)
def test_the_wrong_reader_says_what_it_wants(name: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, "something else\n"), format_name=name)


# --- the same run as histogram and sample by sample ------------------------------------------------------------------


def runs_seen_both_ways(path: Path) -> list[tuple[Series, Series]]:
    """Of one output that holds both, the threads whose last samples were printed too: (raw, histogram)."""
    every = read_one(path, format_name="cyclictest-verbose").measurement
    binned = read_one(path, format_name="cyclictest-histogram").measurement
    assert every.problems == binned.problems == ()
    by_cpu = {raw.info.cpu: raw for raw in every.series}  # a thread may have printed nothing at all
    pairs = [(by_cpu.get(histogram.info.cpu), histogram) for histogram in binned.series]
    return [(raw, histogram) for raw, histogram in pairs if raw and raw.total == histogram.total]


def assert_same_quantiles(raw: Series, histogram: Series) -> None:
    """A quantile among overflowed samples is known to lie there."""
    assert (raw.info.kind, histogram.info.kind) == (Kind.RAW, Kind.HISTOGRAM)
    assert raw.info.cpu == histogram.info.cpu
    samples, limit = np.repeat(raw.values, raw.counts), histogram.info.overflow_from
    held = samples[: len(samples) - histogram.info.overflow]
    assert np.array_equal(np.repeat(histogram.values, histogram.counts), held)
    assert all(sample >= limit for sample in samples[len(held) :])
    ranks = histogram.counts.cumsum()
    for q in QUANTILES.values():
        rank = math.ceil(len(samples) * q)
        if rank <= len(held):
            assert histogram.values[np.searchsorted(ranks, rank)] == samples[rank - 1]
    assert (histogram.info.reported["min"], histogram.info.reported["max"]) == (samples[0], samples[-1])


def test_a_histogram_gives_the_quantiles_of_the_samples_of_the_same_run() -> None:
    pairs = runs_seen_both_ways(DATA / "cyclictest-verbose-and-histogram.txt")
    assert len(pairs) == 2
    for raw, histogram in pairs:
        assert_same_quantiles(raw, histogram)


def test_the_figures_of_both_records_are_the_same(tmp_path: Path) -> None:
    path = DATA / "cyclictest-verbose-and-histogram.txt"
    known = Circumstances("flight")
    (every,) = import_files([path], tmp_path / "a", known, format_name="cyclictest-verbose")
    (binned,) = import_files([path], tmp_path / "b", known, format_name="cyclictest-histogram")
    assert summary(every).figures == summary(binned).figures
    assert summary(every).per_cpu == summary(binned).per_cpu
    assert {"p50", "p99", "max"} <= set(summary(every).figures)


def test_cyclictest_here_gives_the_same_quantiles_both_ways(tmp_path: Path) -> None:
    if shutil.which("cyclictest") is None:
        pytest.skip("cyclictest is not installed here: apt-get install rt-tests")
    if subprocess.run(["chrt", "-f", "80", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("SCHED_FIFO is not allowed here: run as root or raise the rtprio limit")
    argv = ["cyclictest", "-m", "-a", "-t2", "-p80", "-i500", "-l400", "-h2000", "-v"]
    pairs: list[tuple[Series, Series]] = []
    for _ in range(10):  # it may end before it has printed every thread's last samples
        output = subprocess.run(argv, check=True, capture_output=True, timeout=60).stdout
        pairs = runs_seen_both_ways(written(tmp_path, output))
        if pairs:
            break
    assert pairs
    for raw, histogram in pairs:
        assert_same_quantiles(raw, histogram)


# --- cyclictest's histogram ------------------------------------------------------------------------------------------


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
    assert [one.info.kind for one in reading.measurement.series] == [Kind.SUMMARY] * 2
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


# --- cyclictest -v, -q, --json ----------------------------------------------------------------------------------------


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
        monkeypatch.setattr("rtqual.importer.source._BLOCK_B", size)
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
    assert series.info.kind is Kind.SUMMARY
    assert series.info.reported == {"n": 50_000, "min": 3000, "avg": 4000, "max": 29_000}
    assert one.record.inputs.parameters == {"interval": 10_000_000, "priority": 2}
    figures = summary(one).figures
    assert figures["max"] == Figure(29_000, "ns", 50_000, 1, None, figures["max"].why_no_interval)
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
    assert series.info.kind is Kind.SUMMARY
    assert series.info.reported == {"n": 500, "min": 16_545, "avg": 36_893.15, "max": 252_341}


def test_broken_json_is_refused_with_its_line(tmp_path: Path) -> None:
    text = text_of("cyclictest-us.json")
    said = refusal(written(tmp_path, "T: 0\n" + text.replace('"cycles": 500', '"cycles" 500', 1)))
    assert re.match(r":\d+: ", said)
    assert "is not cyclictest's JSON" in said
    other = text.replace('"cmdline:": "cyclictest', '"cmdline:": "cyclicdeadline')
    assert "written by 'cyclicdeadline'" in refusal(written(tmp_path, other))
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
    assert (binned.series[0].info.kind, binned.series[0].total, binned.problems) == (Kind.BINNED, 200, ())
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
    assert (first.info.kind, first.info.name, first.total) == (Kind.BINNED, "noise", 2000)
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


# --- records --------------------------------------------------------------------------------------------------------


def test_records_say_what_they_are(tmp_path: Path) -> None:
    (one,) = imported(DATA / "cyclictest-one-thread.txt", tmp_path)
    (kept,) = Store(tmp_path / "records").read_all()
    assert kept.manifest.model_copy(update={"files": {}}) == one.record.manifest
    assert (kept.manifest.timing, kept.inputs.board, kept.inputs.load) == (Timing.REAL, "imported", "unknown")
    provenance = kept.manifest.provenance
    assert (provenance.kernel, provenance.started, provenance.wall_s, provenance.tools) == (None, None, None, {})
    assert "the order of the samples" in provenance.facts["not told by the file"]
    assert "the load is filed as 'unknown'" in provenance.facts["assumed"]


def test_the_same_file_again_is_the_same_run_and_another_is_a_further_one(tmp_path: Path) -> None:
    first = DATA / "cyclictest-one-thread.txt"
    other = written(tmp_path, first.read_text().replace("# /dev", "# again /dev"))
    for path in (first, first, written(tmp_path, first.read_bytes(), "copy.txt"), other):
        imported(path, tmp_path / "out", load="none")
    records = list(Store(tmp_path / "out" / "records").read_all())
    assert len(records) == 2
    ((group, members),) = groups(records).items()
    assert not [text for text in summarise(group, members).problems if "different parameters" in text]


def test_runs_of_two_versions_are_not_one_measurement(tmp_path: Path) -> None:
    newer = written(tmp_path, text_of("sysbench-0.4.txt").replace("0.4.12", "0.5"))
    both = imported(DATA / "sysbench-0.4.txt", tmp_path) + imported(newer, tmp_path)
    ((group, members),) = groups([one.record for one in both]).items()
    assert any("different parameters or programs" in text for text in summarise(group, members).problems)


def test_nothing_is_kept_when_one_file_cannot_be_read(tmp_path: Path) -> None:
    bad = written(tmp_path, "# Histogram\n")
    with pytest.raises(BadInput):
        import_files([DATA / "cyclictest-one-thread.txt", bad], tmp_path / "out", Circumstances("flight"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (Circumstances(" "), "--candidate"),
        (Circumstances("a", load="x\ny"), "--load"),
        (Circumstances("a", cpus=0), "--cpus 0"),
        (Circumstances("a", unit="ms"), "--unit ms: write one of ns, us"),
        (Circumstances("a", unit="ns"), "tells its units itself"),
    ],
)
def test_what_the_user_says_is_checked(known: Circumstances, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said):
        import_files([DATA / "hackbench.txt"], tmp_path, known)


def test_what_was_read_and_cannot_be_told_is_said(tmp_path: Path) -> None:
    runs = imported(DATA / "hackbench.txt", tmp_path, load="none")
    told = "\n".join(lines(runs))
    assert "hackbench, load none; record" in told
    assert told.count("cannot tell: whether messages went through sockets") == 1
    assert "read: 2 samples: every sample in its order" in told
    one = as_dict(runs[0])
    assert json.loads(json.dumps(one)) == one
    assert (one["format"], one["samples"], one["cpus"]) == ("hackbench", 2, 1)


# --- damage ---------------------------------------------------------------------------------------------------------

SLOW_FOLDER = [HealthCheck.function_scoped_fixture]
MARKS = "0123456789.-+eE{}[]<>\"':, |*#\n\r\t\x00\x1b&;/=\u0663\ufeff"


def reads_or_refuses(name: str, path: Path) -> None:
    """Only BadInput may come out, in one line; what is read must hold together and be fit for analysis."""
    for unit in ("ns", None) if FORMATS[name].has_unit else (None,):
        try:
            readings = read(path, unit, name)
        except BadInput as error:
            assert "\n" not in str(error)
            continue
        assert readings
        for reading in readings:
            for series in reading.measurement.series:
                assert (series.counts > 0).all()
                assert (np.diff(series.values) > 0).all()
                assert (series.ordered() is None) is (series.info.kind is not Kind.RAW)
                assert series.info.overflow >= 0
                assert all(math.isfinite(value) for value in series.info.reported.values())


def analysed_or_refused(path: Path) -> None:
    """The way from a file to figures, but for the disk."""
    known = Circumstances("flight")
    try:
        records = [to_record(one, known) for one in find_runs(path, None, known)]
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        for group, members in groups(records).items():
            summarise(group, members)


def damaged(data: st.DataObject, name: str) -> bytes:
    file = DATA / data.draw(st.sampled_from(FILES[name]))
    if name == "parquet":
        whole = file.read_bytes()
        start = data.draw(st.integers(0, len(whole)))
        return whole[:start] + data.draw(st.binary(max_size=8)) + whole[start + data.draw(st.integers(0, 8)) :]
    text = file.read_text()
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 200)))
    patch = data.draw(st.one_of(st.text(st.sampled_from(MARKS), max_size=30), st.just(text[stop : stop + 300])))
    return (text[:start] + patch + text[stop:]).encode()


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(content=st.one_of(st.binary(), st.text(st.sampled_from(MARKS)).map(str.encode)))
def test_anything_is_read_or_refused(name: str, content: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    reads_or_refuses(name, path)
    analysed_or_refused(path)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(data=st.data())
def test_any_damage_to_a_file_is_read_or_refused(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = written(tmp_path, damaged(data, name))
    reads_or_refuses(name, path)
    analysed_or_refused(path)


@pytest.mark.full
@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW_FOLDER)
@given(data=st.data())
def test_much_damage_to_a_file_is_read_or_refused(name: str, data: st.DataObject, tmp_path: Path) -> None:
    path = written(tmp_path, damaged(data, name))
    reads_or_refuses(name, path)
    analysed_or_refused(path)
