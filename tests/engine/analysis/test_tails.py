# SPDX-License-Identifier: MIT
"""Estimates of tails on samples whose tails are known: what is found, what is refused, and why."""

from dataclasses import replace

import numpy as np
import pytest

from rtqual.engine.analysis.tails.estimate import FARTHEST, RUN_MAXIMA, estimate
from rtqual.engine.analysis.tails.model import Checked, Estimate, Refusal, Why
from rtqual.engine.analysis.tails.peaks import block_maxima, collect, decluster
from rtqual.engine.analysis.tails.streams import Stream
from rtqual.protocols.record.schema import Series
from support.tail_records import HOUR, S, SmallChunks, made, refused
from support.tail_samples import INTERVAL_NS, Source, estimated, stream


def failed(found: Estimate | Refusal) -> set[Checked]:
    return {check.what for check in found.checks if not check.passed}


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [Source("exponential"), Source("heavy"), Source("bounded"), Source("uniform")])
def test_shape_and_level_of_a_known_tail_lie_in_their_intervals(source: Source) -> None:
    shape = {"exponential": 0.0, "heavy": 0.2, "bounded": -0.2, "uniform": -1.0}[source.shape]
    found = made(estimated(source.draw(7), times=50))
    assert found.chosen is not None
    assert found.chosen.shape.low - 1e-6 <= shape <= found.chosen.shape.high
    assert found.level.at.low <= source.level(50) <= found.level.at.high
    assert 150 <= found.chosen.clusters <= 280
    assert failed(found) == set()


def test_the_unit_does_not_matter() -> None:
    """Tens of nanoseconds, microseconds, and milliseconds: the same samples give the same tail."""
    base = Source("heavy", origin=50, scale=20)
    fine = made(estimated(replace(base, origin=50e3, scale=20e3).draw(3)))
    for factor in (1, 1_000_000):
        coarse = made(estimated(replace(base, origin=50.0 * factor, scale=20.0 * factor, step=factor).draw(3)))
        unit = factor / 1000
        assert coarse.chosen is not None and fine.chosen is not None
        assert coarse.chosen.threshold / unit == pytest.approx(fine.chosen.threshold, rel=0.03)
        # steps of a twentieth of the scale tell a little less than steps of a thousandth of that
        assert coarse.level.at.value / unit == pytest.approx(fine.level.at.value, rel=0.1)
        assert coarse.level.at.high / unit == pytest.approx(fine.level.at.high, rel=0.25)


def test_scaling_the_samples_scales_the_levels_exactly() -> None:
    samples = Source("heavy", scale=30_000).draw(5)
    small, large = made(estimated(samples)), made(estimated(samples * 1_000))
    for a, b in zip(small.curve, large.curve, strict=True):
        assert b.at.value == pytest.approx(1_000 * a.at.value, rel=1e-6)
        assert b.at.high == pytest.approx(1_000 * a.at.high, rel=1e-6)


def test_samples_in_steps_give_the_level_of_those_they_came_from() -> None:
    """Exponential of 3 us, cut to whole microseconds: few distinct values above a threshold, many equal ones."""
    source = Source("exponential", step=1_000)
    found = made(estimated(source.draw(1), times=FARTHEST))
    assert found.chosen is not None
    assert found.chosen.threshold % 1_000 == 0  # between two steps: the value of a step is its lower end
    assert found.level.at.low <= source.level(FARTHEST) <= found.level.at.high
    continuous = made(estimated(Source("exponential").draw(1), times=FARTHEST))
    assert found.level.at.value == pytest.approx(continuous.level.at.value, rel=0.3)


def test_late_samples_that_come_in_clusters_count_once() -> None:
    source = Source("exponential", alone=0.3)
    found = made(estimated(source.draw(2)))
    assert found.chosen is not None
    assert found.chosen.extremal_index == pytest.approx(0.3, abs=0.1)
    assert found.chosen.clusters < 0.5 * found.chosen.exceedances
    assert found.level.at.low <= source.level(50) <= found.level.at.high


def test_block_maxima_agree_and_give_their_own_interval() -> None:
    found = made(estimated(Source("gamma").draw(4)))
    assert found.blocks == 100
    assert found.maxima is not None
    assert found.maxima.at.low < found.level.at.value < found.maxima.at.high
    (said,) = [check for check in found.checks if check.what == Checked.MAXIMA]
    assert "100 block maxima of 100 ms each" in said.statement
    assert "this agrees" in said.statement


def test_what_a_return_level_plot_shows() -> None:
    found = made(estimated(Source("exponential").draw(6)))
    exposure_ns = found.observed.exposure_ns
    values = [level.at.value for level in found.curve]
    assert values == sorted(values)
    assert all(level.at.low <= level.at.value <= level.at.high for level in found.curve)
    assert found.curve[-1].horizon_ns == pytest.approx(FARTHEST * exposure_ns)
    assert found.points[0] == (exposure_ns, max(value for _, value in found.points))
    inside = [level for level in found.curve if level.horizon_ns < exposure_ns]
    for level in inside:  # the curve goes through the samples it was fitted to
        seen = next(value for horizon_ns, value in found.points if horizon_ns <= level.horizon_ns)
        assert level.at.value == pytest.approx(seen, rel=0.1)


@pytest.mark.parametrize("length", [1, 7, 1_000])
def test_chunks_make_no_difference(length: int) -> None:
    whole = stream(Source("exponential", samples=3_000, alone=0.4).draw(1), runs=3)
    parts = [next(one.ordered() or iter(())) for one in whole.series]
    chunked = Stream(
        0,
        tuple(replace(one, order=SmallChunks(part, length)) for one, part in zip(whole.series, parts, strict=True)),
        INTERVAL_NS,
    )
    a, b = collect(whole, 11_000), collect(chunked, 11_000)
    assert [a.run.tolist(), a.place.tolist(), a.value.tolist()] == [b.run.tolist(), b.place.tolist(), b.value.tolist()]
    assert np.concatenate([p[p >= 11_000] for p in parts]).tolist() == a.value.tolist()
    assert block_maxima(whole, 90).tolist() == block_maxima(chunked, 90).tolist()
    assert block_maxima(whole, 90)[:2].tolist() == [parts[0][:90].max(), parts[0][90:180].max()]
    first, second = decluster(a, 12_000), decluster(b, 12_000)
    assert (first.peak.tolist(), first.apart) == (second.peak.tolist(), second.apart)


def test_clusters_end_with_their_run() -> None:
    quiet = [0] * 50
    series = tuple(Series.raw([*quiet, 9, 9], name="l") for _ in range(2))
    found = decluster(collect(Stream(0, series, 1_000), 5), 5)
    assert (found.exceedances, found.number) == (4, 2)
    assert found.run.tolist() == [0, 1]
    assert found.place.tolist() == [50, 102]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spikes", [1, 3, 8, 20])
@pytest.mark.parametrize("times_higher", [4.0, 30.0])
def test_rare_spikes_are_not_extrapolated(spikes: int, times_higher: float) -> None:
    """A normal body, and a few samples far beyond what its tail predicts: something else is at work."""
    rng = np.random.default_rng([spikes, 1])
    samples = Source("normal").draw(spikes)
    top = samples.max() - samples.mean()
    where = rng.choice(len(samples), spikes, replace=False)
    samples[where] = (samples.mean() + times_higher * top * rng.uniform(1, 1.3, spikes)).astype(np.int64)
    found = refused(estimated(samples))
    assert (found.why, found.instead) == (Why.CHECKS, None)
    assert failed(found) & {Checked.SPIKES, Checked.SETTLED, Checked.SHAPE}


def test_a_spike_is_named_with_what_was_predicted() -> None:
    samples = Source("normal").draw(11)
    samples[[10_000, 30_000]] = [900_000, 950_000]
    found = refused(estimated(samples))
    assert "the 2 largest peaks lie at 900 us or more, where the tail below" in found.reason
    assert "they come from something else" in found.reason


def test_a_system_that_gets_worse_is_refused() -> None:
    source = Source("exponential")
    samples = source.draw(3)
    samples[25_000:] += 8_000
    assert Checked.HALVES in failed(refused(estimated(samples)))


def test_lateness_in_bouts_is_refused() -> None:
    samples = Source("exponential").draw(3)
    for start in (5_000, 20_000, 40_000):
        samples[start : start + 4_000] += 9_000
    found = refused(estimated(samples))
    assert Checked.BOUTS in failed(found)
    assert "equal stretches vary" in found.reason


def test_a_tail_without_a_mean_is_refused() -> None:
    rng = np.random.default_rng(1)
    samples = (5_000 * rng.random(50_000) ** -1.5).astype(np.int64)
    assert Checked.WEIGHT in failed(refused(estimated(samples)))


def test_no_more_than_a_hundred_times_the_running_time() -> None:
    """A docking of 6 h from 20 s of samples: what it would take, and the longest that is supported."""
    one = stream(Source("exponential", samples=100_000).draw(1))
    assert one.exposure_ns == 20 * S
    found = refused(estimate(one, 6 * HOUR))
    assert found.why == Why.HORIZON
    assert found.reason == "needs 216 s of samples, has 20 s"
    assert found.instead is not None
    assert found.instead.level.horizon_ns == 2_000 * S
    assert made(estimate(one, 2_000 * S)).level == found.instead.level
    assert refused(estimate(one, 2_000 * S + 1)).why == Why.HORIZON


def test_an_interval_that_tells_nothing_is_not_given() -> None:
    found = refused(estimated(Source("very heavy", samples=12_000).draw(2), times=100))
    assert found.why == Why.WIDE
    assert "not even show the order of magnitude" in found.reason
    assert found.instead is not None
    assert found.instead.level.at.high <= 10 * found.instead.level.at.value


def test_too_few_samples_say_how_many_it_takes() -> None:
    assert refused(estimated(Source("normal", samples=600).draw(1))).reason == "needs 1,000 samples, has 600"
    found = refused(estimated(Source("normal", samples=1_100, alone=0.2).draw(1)))
    assert found.why == Why.FEW
    assert found.reason.startswith("needs 50 clusters of late samples in the upper 5 %, has ")


def test_steps_that_are_too_coarse_are_refused() -> None:
    found = refused(estimated(Source("bounded", step=8_000, scale=20_000).draw(1)))
    assert found.why == Why.COARSE
    assert "different values in steps of 8 us: too few among the largest" in found.reason
    assert refused(estimated(np.full(2_000, 7))).why == Why.COARSE


def test_what_the_samples_cover_is_not_extrapolated() -> None:
    found = refused(estimated(Source("normal").draw(1), times=0.001))
    assert found.why == Why.OBSERVED
    assert "1,000 times: their quantiles and maximum say it" in found.reason


# --- order unknown ----------------------------------------------------------------------------------------------------


def counted(source: Source, runs: int, *, overflow: bool = False) -> Stream:
    parts = np.array_split(source.draw(1), runs)
    series = [Series.counted(dict(zip(*np.unique(p, return_counts=True), strict=True)), name="latency") for p in parts]
    if overflow:
        series[3] = replace(series[3], info=series[3].info.model_copy(update={"overflow": 1, "overflow_from": 10**6}))
    return Stream(0, tuple(series), INTERVAL_NS)


def test_histograms_give_the_maximum_of_each_run() -> None:
    source = Source("exponential", samples=120_000)
    one = counted(source, runs=40)
    found = made(estimate(one, 50 * one.exposure_ns))
    assert (found.method, found.blocks, found.chosen) == (RUN_MAXIMA, 40, None)
    assert found.level.at.low <= source.level(50) <= found.level.at.high


def test_few_histograms_are_refused() -> None:
    found = refused(estimate(counted(Source("exponential"), runs=10), HOUR))
    assert found.why == Why.NO_ORDER
    assert "needs 30 runs, has 10" in found.reason


def test_a_maximum_that_overflowed_is_not_guessed() -> None:
    found = refused(estimate(counted(Source("exponential"), runs=40, overflow=True), HOUR))
    assert "lies in an overflow" in found.reason
