# SPDX-License-Identifier: MIT
"""Tails of runs that differ: none where the rate of late samples differs much, else intervals over the runs."""

import numpy as np
import pytest

from rtqual.engine.analysis.tails.checks import UNLIKE, runs_alike
from rtqual.engine.analysis.tails.estimate import _Tail, _without
from rtqual.engine.analysis.tails.model import Checked, Refusal, TailCheck
from rtqual.engine.analysis.tails.peaks import collect, decluster
from rtqual.engine.analysis.tails.thresholds import RAYS, fit_peaks
from support.tail_samples import clustered, estimated, stream

SAMPLES, LATE = 50_000, 250


def of_runs(seed: int, runs: int, spread: float) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Exponential, of runs whose scale differs by so much."""
    rng = np.random.default_rng([719, runs, seed])
    scales = 3_000 * np.exp(spread * rng.normal(size=(runs, 1)))
    return np.rint(5_000 + scales * rng.standard_exponential((runs, SAMPLES // runs))).astype(np.int64).ravel()


def checked(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]], runs: int) -> TailCheck:
    one = stream(values, runs)
    return runs_alike(collect(one, int(np.sort(values)[-LATE])), [its.total for its in one.series])


@pytest.mark.parametrize(("runs", "spread", "least", "most"), [
    (10, 0.2, 9, 12),  # of 12 draws refused: 76 % of the intervals held
    (10, 0.05, 0, 3),
    (10, 0.0, 0, 1),
    (30, 0.2, 10, 12),
    (2, 0.0, 0, 1),
])  # fmt: skip
def test_runs_with_other_rates_of_late_samples_are_no_one_tail(runs: int, spread: float, least: int, most: int) -> None:
    refused = sum(not checked(of_runs(draw, runs, spread), runs).passed for draw in range(12))
    assert least <= refused <= most


def test_clusters_of_late_samples_are_no_difference_between_runs() -> None:
    values = [np.rint(-1_000 * np.log(clustered(np.random.default_rng([720, d]), SAMPLES, 0.3))) for d in range(4)]
    assert sum(checked(one.astype(np.int64), 10).passed for one in values) >= 3


def test_one_run_has_none_beside_it() -> None:
    assert checked(of_runs(1, 1, 0.0), 1).statement == "one run"
    assert UNLIKE < 1


def test_an_interval_is_as_wide_as_the_runs_differ() -> None:
    """The largest samples all lie in one run: without it the level is another, which the likelihood does not know."""
    values = of_runs(3, 10, 0.0)
    values[:8] = values.max() + 4_000 * np.arange(1, 9)
    one = stream(values, 10)
    clusters = decluster(collect(one, int(np.sort(values)[-LATE])), int(np.sort(values)[-LATE]))
    fit, unit = fit_peaks(clusters, one.step, RAYS)
    without = tuple(_without(one, clusters))
    ends = [
        _Tail(fit, clusters.threshold, unit, one.exposure_ns, of).level(100 * one.exposure_ns) for of in ((), without)
    ]
    assert len(without) == 10
    assert ends[1].low < ends[0].low or ends[1].high > ends[0].high
    assert ends[1].low <= ends[0].low and ends[1].high >= ends[0].high
    few = stream(values, 2)
    assert len(tuple(_without(few, clusters))) == 10, "stretches, where there are few runs"


@pytest.mark.guest
def test_an_estimate_tells_how_its_runs_differ() -> None:
    made = estimated(of_runs(5, 10, 0.0), runs=10)
    checks = made.checks
    assert Checked.RUNS in {one.what for one in checks}
    unlike = estimated(of_runs(6, 10, 0.4), runs=10)
    assert isinstance(unlike, Refusal)
