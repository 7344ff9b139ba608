# SPDX-License-Identifier: MIT
"""Intervals of figures: what they hold, where they are open, and what they cannot say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.analysis.figure.intervals import exceedance_bound, median_interval, quantile_ranks
from rtqual.engine.analysis.figure.model import Figure
from rtqual.protocols.record.schema import Scalar, Series
from support.analysis_records import counted, figure, one_group, record, wakeups


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
    least = 0.001 * 20_017.5
    assert (interval.low, interval.high) == pytest.approx((20_017.5 - least, 20_017.5 + least))
    assert "rarer than 1 in 3,338 (95 %" in of(10, "max").why_no_interval


def test_an_interval_is_open_where_too_few_samples_lie_beyond_its_figure() -> None:
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
    assert (between.low, between.high) == pytest.approx((2_000, 3_003))


def test_what_never_varies_is_sure_to_what_can_be_told_apart() -> None:
    """One step of the clock or 0.1 %: boots of one kernel differ by as much, which runs of one boot do not show."""
    for name, one in one_group([counted([7_440] * 1_000, seed) for seed in range(20)]).figures.items():
        if one.interval is not None:
            size = {"(p95-avg)/p95": 0.001, "std": 1.0}.get(name, 7.44)
            assert one.interval.low == pytest.approx(max(0.0, one.value - size) if "p95-" not in name else -size), name
            far = name in ("p99.99", "upper run max", "upper run max-min")  # two samples, two runs lie above it
            assert one.interval.high == (math.inf if far else pytest.approx(one.value + size)), name


def test_a_few_samples_say_nothing_of_larger_ones() -> None:
    three = one_group([record(Series.raw([74, 77, 89], name="duration"))])
    assert three.figures["max"].why_no_interval == "samples give a maximum no upper end"


def test_exact_bounds() -> None:
    assert exceedance_bound(0, 1000) == pytest.approx(1 - 0.05 ** (1 / 1000))
    assert exceedance_bound(0, 0) == 1
    assert exceedance_bound(5, 5) == 1
    # Clopper & Pearson: one-sided 97.5 % of 1 in 10 is the upper end of their two-sided 95 %, 0.4450.
    assert exceedance_bound(1, 10, 0.975) == pytest.approx(0.4450, abs=5e-5)
    assert quantile_ranks(10, Fraction(1, 2)) == (2, 9)  # the textbook interval of a median of ten, 97.9 %
    assert median_interval(np.arange(5.0)) is None
