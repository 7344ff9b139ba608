# SPDX-License-Identifier: MIT
"""Figures of a group: by hand, against NumPy on expanded samples, and where a figure must not be given."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.analysis.figure.asked import samples_needed
from rtqual.engine.analysis.figure.model import Figure, Group
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.analysis.figure.statistics import STATISTICS, left_out
from rtqual.engine.analysis.figure.summary import groups
from rtqual.protocols.record.schema import Record, Scalar, Series, SeriesInfo, SeriesKind, Timing
from support.analysis_records import counted, figure, one_group, record, wakeups


def latencies(*runs: list[int]) -> list[Record]:
    return [record(Series.raw(run, name="latency"), seed=seed) for seed, run in enumerate(runs)]


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
    info = SeriesInfo(name="latency", kind=SeriesKind.SUMMARY, reported=printed)
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
def test_a_figure_with_a_run_left_out_is_that_of_the_other_runs(runs: list[list[int]]) -> None:
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


def test_where_all_overflow_the_tools_own_minimum_is_what_each_is_at_least() -> None:
    known = {"min": 500.0, "avg": 600.0, "max": 700.0}
    series = Series.counted({}, SeriesKind.BINNED, name="latency", overflow=64, overflow_from=400, reported=known)
    figures = one_group([record(series)]).figures
    assert [figures[name].value for name in ("min", "avg", "max", "max-min", "p50", "p95")] == [
        500, 600, 700, 200, 500, 500
    ]  # fmt: skip
    assert {name for name, one in figures.items() if one.at_least} >= {"p50", "p95", "std"}
    assert not any(figures[name].at_least for name in ("min", "avg", "max", "max-min"))


@pytest.mark.parametrize("told", [-1.0, 3.0, float("nan"), float("inf"), 1e300])
def test_a_minimum_that_cannot_be_moves_no_quantile(told: float) -> None:
    series = Series.counted(
        {}, SeriesKind.BINNED, name="latency", overflow=64, overflow_from=400, reported={"min": told}
    )
    assert one_group([record(series)]).figures["p50"].value == 400


def test_binned_series_take_the_tools_own_extremes_and_say_so() -> None:
    known = {"min": 3.05, "avg": 3.25, "max": 4.97}
    figures = one_group(
        [record(Series.counted({3: 99, 5: 1}, SeriesKind.BINNED, name="latency", reported=known))]
    ).figures
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


def test_a_repeat_does_not_count_as_another_run() -> None:
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


def test_all_statistics_are_in_the_order_to_print() -> None:
    figures = one_group(wakeups("rt", [20_000] * 3)).figures
    assert list(figures) == [name for name in STATISTICS if name in figures]
