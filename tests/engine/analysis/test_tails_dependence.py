# SPDX-License-Identifier: MIT
"""How the samples of a run depend on each other, on processes whose dependence is known."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import lfilter

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.dependence import LAGS, dependence
from rtqual.engine.analysis.figure.model import Dependence
from rtqual.protocols.record.schema import Series
from support.analysis_records import record
from support.tail_records import SmallChunks, asking, field
from support.tail_samples import Source


def autoregressive(rho: float, samples: int = 60_000, seed: int = 1) -> npt.NDArray[np.int64]:
    noise = np.random.default_rng(seed).normal(size=samples)
    return (50_000 + 5_000 * lfilter([math.sqrt(1 - rho**2)], [1, -rho], noise)).astype(np.int64)


def of_runs(*runs: npt.NDArray[np.int64]) -> Dependence:
    found = dependence([Series.raw(run, name="latency") for run in runs])
    assert found is not None
    return found


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_correlations_are_those_of_the_process(rho: float) -> None:
    """Spearman's correlation of normal samples is 6/pi asin(rho/2)."""
    found = of_runs(autoregressive(rho), autoregressive(rho, seed=2))
    assert len(found.lags) == LAGS
    for lag in (1, 2, 5, 40):
        assert found.lags[lag - 1] == pytest.approx(6 / math.pi * math.asin(rho**lag / 2), abs=0.03)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_samples_are_worth_fewer_independent_ones(rho: float) -> None:
    """Of normal samples n (1 - rho) / (1 + rho); ranks differ a little."""
    found = of_runs(autoregressive(rho, samples=200_000))
    assert found.effective == pytest.approx(200_000 * (1 - rho) / (1 + rho), rel=0.25)
    assert found.effective <= found.effective_late <= found.samples == 200_000


def test_clusters_make_late_samples_worth_less() -> None:
    found = of_runs(Source("exponential", alone=0.2, samples=100_000).draw(1))
    assert found.effective_late < 0.5 * found.samples


def test_one_huge_sample_neither_hides_nor_makes_dependence() -> None:
    plain, spoilt = autoregressive(0.5), autoregressive(0.5)
    spoilt[777] = 10**12
    assert of_runs(spoilt).lags[0] == pytest.approx(of_runs(plain).lags[0], abs=1e-3)


def test_a_difference_between_runs_is_no_dependence_within_one() -> None:
    found = of_runs(autoregressive(0.0), autoregressive(0.0, seed=2) + 20_000)
    assert abs(found.lags[0]) < 0.02


@pytest.mark.parametrize("length", [1, 13, 1_000])
def test_chunks_make_no_difference(length: int) -> None:
    samples = autoregressive(0.7, samples=2_000)
    whole = Series.raw(samples, name="latency")
    chunked = Series(whole.info, whole.values, whole.counts, SmallChunks(samples, length))
    a, b = dependence([whole, whole]), dependence([chunked, chunked])
    assert a is not None and b is not None
    assert a.lags == pytest.approx(b.lags)
    assert (a.effective, a.effective_late) == pytest.approx((b.effective, b.effective_late))


def test_samples_that_are_all_alike_say_nothing_of_dependence() -> None:
    assert of_runs(np.full(1_000, 7)) == Dependence((), 1_000, 1_000, 1_000)


def test_dependence_is_unknown_without_order_and_in_short_runs() -> None:
    assert dependence([]) is None
    assert dependence([Series.counted({5: 1_000}, name="latency")]) is None
    assert dependence([Series.raw(range(50), name="latency")]) is None
    mixed = [Series.raw(autoregressive(0.5), name="latency"), Series.counted({5: 1_000}, name="latency")]
    assert dependence(mixed) is None


def test_a_summary_carries_the_dependence() -> None:
    (summary,) = analyse(asking(), "demo", field(autoregressive(0.5)), {}).summaries
    assert summary.dependence is not None
    assert summary.dependence.lags[0] == pytest.approx(0.48, abs=0.03)
    (unordered,) = analyse(asking(), "demo", [record(Series.counted({5: 9}, name="latency"))], {}).summaries
    assert unordered.dependence is None
