# SPDX-License-Identifier: MIT
"""Figures of a group: by hand, against NumPy on expanded samples, and where a figure must not be given."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.analysis.figure.intervals import exceedance_bound, median_interval, quantile_ranks
from rtqual.analysis.figure.model import Figure, Group, Summary
from rtqual.analysis.figure.pool import pool_runs
from rtqual.analysis.figure.statistics import STATISTICS, left_out, samples_needed
from rtqual.analysis.figure.summary import groups, summarise
from rtqual.record.schema import Kind, Record, Scalar, Series, SeriesInfo, Timing
from support.analysis_records import record, wakeups


def one_group(records: list[Record]) -> Summary:
    ((group, members),) = groups(records).items()
    return summarise(group, members)


def latencies(*runs: list[int]) -> list[Record]:
    return [record(Series.raw(run, name="latency"), seed=seed) for seed, run in enumerate(runs)]


def figure(records: list[Record], name: str) -> Figure:
    return one_group(records).figures[name]


def test_known_values_by_hand() -> None:
    figures = one_group(latencies(list(range(1, 51)), list(range(51, 101)))).figures
    by_hand = {
        "min": 1,
        "avg": 50.5,
        "max": 100,
        "p50": 50,
        "p90": 90,
        "p95": 95,
        "p99": 99,
        "max-min": 99,
        "p95-avg": 44.5,
        "(max-min)/max": 0.99,
        "(p95-avg)/p95": 44.5 / 95,
        "median run max": 75,
        "median run max-min": 49,
    }
    assert {name: figures[name].value for name in by_hand} == pytest.approx(by_hand)
    assert figures["std"].value == pytest.approx(np.std(np.arange(1, 101), ddof=1))
    assert figures["max"].n == 100
    assert figures["max"].runs == 2
    assert figures["max"].unit == "ns"
    assert figures["(max-min)/max"].unit == "1"


def test_relative_stability_is_that_of_the_study() -> None:
    """Figure 23 of the AAReST study: calibration, CPU: 6.3, 6.38, 8.19, 6.41 ms -> 0.2308 and 0.00468."""
    printed = {"min": 6.3e6, "avg": 6.38e6, "max": 8.19e6, "p95": 6.41e6}
    info = SeriesInfo(name="latency", kind=Kind.SUMMARY, reported=printed)
    empty = np.array([], np.int64)
    figures = one_group([record(Series(info, empty, empty))]).figures
    assert figures["(max-min)/max"].value == pytest.approx(0.230769231)
    assert figures["(p95-avg)/p95"].value == pytest.approx(0.004680187)
    assert "std" not in figures
    assert "p99" not in figures
    assert figures["p95"].interval is None
    assert figures["p95"].why_no_interval


RUNS = st.lists(st.lists(st.integers(0, 2000), min_size=1, max_size=60), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None)
@given(RUNS)
def test_sparse_figures_equal_those_of_the_expanded_samples(runs: list[list[int]]) -> None:
    figures = one_group([counted(run, seed) for seed, run in enumerate(runs)]).figures
    samples = np.sort(np.concatenate([np.array(run) for run in runs]))
    n = len(samples)
    for name, q in (("p50", Fraction(1, 2)), ("p90", Fraction(9, 10)), ("p99", Fraction(99, 100))):
        if n * (1 - q) >= 1:
            assert figures[name].value == samples[math.ceil(n * q) - 1]
        else:
            assert name not in figures
    assert figures["avg"].value == pytest.approx(samples.mean())
    assert figures["max-min"].value == samples[-1] - samples[0]
    if n > 1:
        assert figures["std"].value == pytest.approx(samples.std(ddof=1), abs=1e-6)
    assert figures["median run max"].value == np.median([max(run) for run in runs])


def counted(run: list[int], seed: int, cpu: int | None = None) -> Record:
    values, counts = np.unique(run, return_counts=True)
    pairs = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return record(Series.counted(pairs, name="latency", cpu=cpu), seed=seed)


@settings(max_examples=40, deadline=None)
@given(RUNS)
def test_merging_does_not_depend_on_how_samples_are_split(runs: list[list[int]]) -> None:
    """One run's samples as one series, or spread over CPUs, give the same headline."""
    whole = one_group([counted(run, seed) for seed, run in enumerate(runs)])
    spread = one_group(
        [
            record(
                [Series.raw(part, name="latency", cpu=cpu) for cpu, part in enumerate((run[::2], run[1::2])) if part],
                seed=seed,
            )
            for seed, run in enumerate(runs)
        ]
    )
    assert {name: one.value for name, one in spread.figures.items()} == pytest.approx(
        {name: one.value for name, one in whole.figures.items()}
    )
    assert spread.samples == whole.samples


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2000), min_size=2, max_size=60), min_size=2, max_size=5))
def test_a_figure_without_a_run_is_that_of_the_others(runs: list[list[int]]) -> None:
    pool = pool_runs([[Series.raw(run, name="l")] for run in runs])
    assert pool is not None
    for without in range(len(runs)):
        rest = pool_runs([[Series.raw(run, name="l")] for n, run in enumerate(runs) if n != without])
        assert rest is not None
        for name in ("avg", "std"):
            assert left_out(pool, name)[without] == pytest.approx(STATISTICS[name](rest), abs=1e-3), name


def test_a_quantile_that_needs_more_samples_is_absent() -> None:
    figures = one_group(latencies(list(range(1000)))).figures
    assert "p99.9" in figures
    assert "p99.99" not in figures
    assert samples_needed("p99.99") == 10_000


def test_overflow_shows_as_at_least() -> None:
    series = Series.counted({10: 90}, name="latency", overflow=10, overflow_from=400)
    figures = one_group([record(series)]).figures
    assert figures["p90"].value == 10
    assert not figures["p90"].at_least
    for name in ("p95", "max", "avg", "max-min", "std"):
        assert figures[name].at_least, name
    assert figures["p95"].value == 400
    assert "p95-avg" not in figures  # neither end is known


def test_overflow_with_the_tools_own_maximum_and_average() -> None:
    known = {"min": 10.0, "avg": 60.0, "max": 700.0}
    series = Series.counted({10: 90}, name="latency", overflow=10, overflow_from=400, reported=known)
    figures = one_group([record(series)]).figures
    assert figures["max"].value == 700
    assert not figures["max"].at_least
    assert figures["avg"].value == 60
    assert not figures["avg"].at_least
    assert figures["p95"].at_least
    assert figures["p95-avg"].at_least


def test_binned_series_take_the_tools_own_extremes_and_say_so() -> None:
    known = {"min": 3.05, "avg": 3.25, "max": 4.97}
    figures = one_group([record(Series.counted({3: 99, 5: 1}, Kind.BINNED, name="latency", reported=known))]).figures
    assert (figures["min"].value, figures["avg"].value, figures["max"].value) == (3.05, 3.25, 4.97)
    assert not figures["avg"].binned
    assert figures["p95"].binned
    assert figures["p95-avg"].binned


def test_per_cpu_figures_stay_apart() -> None:
    records = [
        record([Series.raw([10, 20], name="latency", cpu=0), Series.raw([70, 90], name="latency", cpu=1)], cpus=2)
    ]
    summary = one_group(records)
    assert {cpu: one["max"].value for cpu, one in summary.per_cpu.items()} == {0: 20, 1: 90}
    assert summary.figures["max"].value == 90
    assert summary.samples == 4
    assert not one_group(latencies([1, 2])).per_cpu


def test_a_second_series_does_not_mix_with_the_first() -> None:
    figures = one_group([record([Series.raw([1, 2], name="read"), Series.raw([100, 200], name="write")])]).figures
    assert figures["max"].value == 2
    assert figures["write max"].value == 200


def test_every_figure_has_an_interval_or_a_reason() -> None:
    for runs in (1, 5, 6, 9, 10):
        for name, one in one_group(wakeups("rt", [20_000 + 7 * i for i in range(runs)])).figures.items():
            assert (one.interval is None) == bool(one.why_no_interval), (runs, name)
            if one.interval:
                assert one.interval.low <= one.value <= one.interval.high, (runs, name)


MANY_RUNS = st.lists(st.lists(st.integers(-3, 2000), min_size=1, max_size=30), min_size=10, max_size=21)


@settings(max_examples=60, deadline=None)
@given(MANY_RUNS)
def test_any_samples_give_intervals_that_hold_their_figure(runs: list[list[int]]) -> None:
    for name, one in one_group([counted(run, seed) for seed, run in enumerate(runs)]).figures.items():
        assert (one.interval is None) == bool(one.why_no_interval), name
        if one.interval:
            assert one.interval.low <= one.value + 1e-6, name
            assert one.value - 1e-6 <= one.interval.high, name
            assert math.isfinite(one.interval.low) or math.isfinite(one.interval.high), name


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1.0, 1e-100, 1e100]), min_size=10, max_size=30))
def test_any_scalars_give_an_interval(values: list[float]) -> None:
    records = [record(seed=n, scalars={"rate": Scalar(value=one, unit="1/s")}) for n, one in enumerate(values)]
    one = figure(records, "rate")
    assert one.interval is not None
    assert one.interval.low <= one.value <= one.interval.high


def test_intervals_by_number_of_runs() -> None:
    def of(runs: int, name: str) -> Figure:
        return figure(wakeups("rt", [20_000 + 7 * i for i in range(runs)]), name)

    assert of(10, "p99").interval is not None
    for name in ("avg", "p50", "p99", "p95-avg"):
        assert of(9, name).interval is None, name
        assert of(9, name).why_no_interval == "9 runs; an interval needs 10"
    assert of(19, "std").why_no_interval == "19 runs; an interval needs 20"
    assert of(20, "std").interval is not None
    assert of(5, "median run max").interval is None
    interval = of(6, "median run max").interval
    assert interval is not None
    assert (interval.low, interval.high) == (20_000, 20_035)
    assert "rarer than 1 in 3,338 (95 %" in of(10, "max").why_no_interval


def test_an_end_is_open_where_nothing_may_have_been_seen_of_what_lies_beyond() -> None:
    """10,000 samples of which one in a thousand lies above p99.9: ten are enough. One in 10,000: they are not."""
    runs = [counted([*(8_000 + (7 * i + seed) % 900 for i in range(999)), 20_000 + seed], seed) for seed in range(10)]
    figures = one_group(runs).figures
    assert figures["p99.9"].interval is not None
    assert figures["p99.9"].interval.high < 20_010
    assert figures["p99.99"].interval is not None
    assert figures["p99.99"].interval.high == math.inf
    assert figures["p99.99"].interval.runs_to_close == 37  # -ln(0.025) = 3.69 samples above, of 1,000 a run


def test_runs_apart_from_each_other_leave_far_quantiles_open() -> None:
    """Every run has a place of its own, so ten runs are ten draws: enough for the median, not for p90."""
    figures = one_group([counted([1_000 * seed + i for i in range(100)], seed) for seed in range(10)]).figures
    median = figures["p50"].interval
    assert median is not None
    assert 0 <= median.low < 3_000
    assert 6_000 < median.high < 10_000
    far = figures["p90"].interval
    assert far is not None
    assert far.high == math.inf
    assert far.runs_to_close is not None
    assert far.runs_to_close == 41  # 3.69 / 0.1 draws, where ten runs are nine


def test_a_coarse_clock_does_not_hide_how_runs_vary() -> None:
    """Microseconds: p50 is 3 us in every campaign, but between 2 and 3 us half of the samples change sides."""
    runs = [counted([2_000] * (40 + 2 * seed) + [3_000] * (60 - 2 * seed), seed) for seed in range(10)]
    between = one_group(runs).figures["p50"].interval
    assert between is not None
    assert (between.low, between.high) == (2_000, 3_000)


def test_what_never_varies_is_sure() -> None:
    for name, one in one_group([counted([7_440] * 1_000, seed) for seed in range(20)]).figures.items():
        if one.interval is not None:
            assert one.interval.low == one.value, name
            assert one.interval.high == (math.inf if name == "p99.99" else one.value), name  # two samples lie above it


def test_a_few_samples_say_nothing_of_larger_ones() -> None:
    three = one_group([record(Series.raw([74, 77, 89], name="duration"))])
    assert three.figures["max"].why_no_interval == "samples give a maximum no upper end"


def test_scalars_become_figures() -> None:
    def with_rates(runs: int) -> Figure:
        rates = [Scalar(value=100.0 + seed, unit="1/s") for seed in range(runs)]
        records = [record(seed=seed, scalars={"requests_per_s": rate}) for seed, rate in enumerate(rates)]
        return figure(records, "requests_per_s")

    assert with_rates(3).value == 101
    assert with_rates(3).interval is None
    assert "3 runs, from 100 to 102" in with_rates(3).why_no_interval
    many = with_rates(20)
    assert many.interval is not None
    assert many.interval.low < many.value < many.interval.high
    assert many.unit == "1/s"


def test_identical_records_count_once_and_groups_keep_apart() -> None:
    first = latencies([1, 2, 3])[0]
    other = record(Series.raw([1, 2, 3], name="latency"), candidate="stock")
    found = groups([first, first, other])
    assert [len(members) for members in found.values()] == [1, 1]
    assert next(iter(found)) == Group("cyclictest", "hackbench", "virtual", 1, "rt")


def test_a_repeat_is_no_further_draw() -> None:
    first, again = (record(Series.raw([value], name="latency"), repeat=n) for n, value in enumerate((5, 9)))
    summary = one_group([again, first])
    assert (summary.runs, summary.figures["max"].value) == (1, 5)


def test_problems_and_timing_reach_the_summary() -> None:
    good = record(Series.raw([1], name="latency"), seed=1)
    bad = record(Series.raw([2], name="latency"), seed=2, problems=["policy other"], timing=Timing.HOST_TIMED)
    summary = one_group([good, bad])
    assert summary.problems == ("policy other (1 of 2 runs)",)
    assert summary.timing == Timing.HOST_TIMED
    assert summary.figures["max"].value == 2
    assert "no samples" in one_group([record()]).problems[0]


def test_records_of_different_parameters_are_not_one_measurement() -> None:
    mixed = [
        record(Series.raw([1], name="latency"), seed=seed, parameters={"interval": interval})
        for seed, interval in ((1, 1000), (2, 4000))
    ]
    assert "different parameters" in one_group(mixed).problems[0]


def test_a_hypervisor_and_steal_are_caveats() -> None:
    def local(*ticks: str, hypervisor: str = "kvm") -> tuple[str, ...]:
        facts = [{"hypervisor": hypervisor, "steal_ticks": one} for one in ticks]
        runs = [
            record(Series.raw([1], name="latency"), seed=seed, timing=Timing.REAL, facts=one)
            for seed, one in enumerate(facts)
        ]
        return one_group(runs).caveats

    guest, stolen = local("0", "12")
    assert guest == "the machine is a guest of kvm, which can take the CPU away"
    assert stolen == "the hypervisor did take the CPU away (12 ticks in 1 of 2 runs)"
    assert local("0", "0") == (guest,)
    assert local("1")[1].endswith("(1 tick in 1 of 1 run)")
    assert local("0", "0", hypervisor="none") == ()


def test_exact_bounds() -> None:
    assert exceedance_bound(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert exceedance_bound(0, 0) == 1
    assert exceedance_bound(5, 5) == 1
    # Clopper & Pearson: one-sided 97.5 % of 1 in 10 is the upper end of their two-sided 95 %, 0.4450.
    assert exceedance_bound(1, 10, 0.975) == pytest.approx(0.4450, abs=5e-5)
    assert quantile_ranks(10, Fraction(1, 2)) == (2, 9)  # the textbook interval of a median of ten, 97.9 %
    assert median_interval(np.arange(5.0)) is None


def test_all_statistics_are_in_the_order_to_print() -> None:
    figures = one_group(wakeups("rt", [20_000] * 3)).figures
    assert list(figures) == [name for name in STATISTICS if name in figures]
