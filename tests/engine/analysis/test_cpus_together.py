# SPDX-License-Identifier: MIT
"""A requirement over several CPUs: how often a limit at the true figure of equal ones is called not met, and how often
one CPU that is later than its limit is found.

`python tests/engine/analysis/test_cpus_together.py 400` writes its table (docs/verification/; PYTHONPATH=tests).
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

import numpy as np
import pytest

from rtqual.engine.analysis.figure.asked import fraction
from rtqual.engine.analysis.figure.figures import quantile_figures
from rtqual.engine.analysis.figure.pool import Pool, pool_runs
from rtqual.engine.analysis.verdict.gates import _judge, _judge_among
from rtqual.engine.analysis.verdict.model import Outcome
from rtqual.engine.mission import Requirement
from rtqual.protocols.record.schema import Series
from support.analysis_records import mission
from support.doc_tables import put

Samples = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Rng = np.random.Generator
SAMPLES, CPUS, TRUE_RUNS = 300, 8, 2_500
QUANTILES = ("p50", "p95", "p99")
ROOM = 1.6  # by so much the others lie below the limit that one CPU breaks

# (runs, CPUs, SAMPLES) in ns
SHAPES: Mapping[str, Callable[[Rng, int], Samples]] = {
    "Weibull, CPUs of a run by themselves": lambda rng, runs: (
        2_000 + 3_000 * rng.gamma(30, 1 / 30, (runs, CPUS, 1)) * rng.weibull(0.7, (runs, CPUS, SAMPLES))
    ),
    "lognormal, a run's CPUs alike": lambda rng, runs: (
        4_000
        * rng.lognormal(0, 0.2, (runs, 1, 1))
        * rng.lognormal(0, 0.1, (runs, CPUS, 1))
        * np.exp(0.4 * rng.normal(size=(runs, CPUS, SAMPLES)))
    ),
    "exponential, runs alike": lambda rng, runs: 5_000 + 1_000 * rng.exponential(size=(runs, CPUS, SAMPLES)),
}
ONE_LATE = next(iter(SHAPES))


@cache
def asked(shape: str) -> Mapping[str, Requirement]:
    """With limits at the true figures of a CPU."""
    ordered = np.sort(np.rint(SHAPES[shape](np.random.default_rng(2024), TRUE_RUNS)), axis=None)
    limits = {name: ordered[-int(-len(ordered) * fraction(name) // 1) - 1] for name in QUANTILES}
    wake_up = {"name": "late", "instrument": "cyclictest", "load": "hackbench"}
    return {
        name: mission(requirements=[{**wake_up, "statistic": name, "at_most": f"{limit:.0f} ns"}]).requirements[0]
        for name, limit in limits.items()
    }


def _pool(runs: Samples) -> Pool:
    """Of (runs, CPUs, SAMPLES)."""
    found = pool_runs([[Series.raw(of.astype(np.int64), name="latency") for of in run] for run in np.rint(runs)])
    assert found is not None
    return found


def tally(work: tuple[str, int, float], campaigns: int) -> tuple[Counter[str], Counter[str]]:
    """Of so many campaigns, how many call a limit not met; and how many would if each CPU were judged by itself.

    `work`: shape, runs, and by how many times its limit the third CPU lies beyond it; 0: all at the limit.
    """
    shape, runs, late = work
    allowing, alone = Counter[str](), Counter[str]()
    for number in range(campaigns):
        drawn = SHAPES[shape](np.random.default_rng([73, number]), runs)
        if late:
            drawn /= ROOM
            drawn[:, 2] *= ROOM * late
        whole, own = _pool(drawn), [_pool(drawn[:, [cpu]]) for cpu in range(CPUS)]
        of_whole, of_own = quantile_figures(whole, QUANTILES, {}), [quantile_figures(p, QUANTILES, {}) for p in own]
        for name, limit in asked(shape).items():
            every = _judge(limit, name, of_whole[name], whole, 0)[0]
            pairs = [(figures[name], pool) for figures, pool in zip(of_own, own, strict=True)]
            by_itself = [_judge(limit, name, figure, pool, 0)[0] for figure, pool in pairs]
            by_all = [_judge_among(CPUS, limit, name, figure, pool, 0)[1][0] for figure, pool in pairs]
            alone[name] += Outcome.NOT_MET in (every, *by_itself)
            allowing[name] += Outcome.NOT_MET in (every, *by_all)
    return allowing, alone


@pytest.mark.guest
def test_a_limit_at_the_true_figure_of_equal_cpus_is_seldom_called_not_met() -> None:
    """5 % are promised; each CPU by itself makes it about 12 % of p50."""
    allowing, alone = tally((ONE_LATE, 10, 0), 100)
    assert max(allowing.values()) <= 10
    assert max(alone.values()) > max(allowing.values())


@pytest.mark.guest
def test_one_cpu_that_is_half_as_late_again_as_its_limit_is_found() -> None:
    allowing, _ = tally((ONE_LATE, 10, 1.5), 20)
    assert min(allowing.values()) >= 13


def table(campaigns: int) -> Iterator[str]:
    yield f"| {CPUS} CPUs, of each | runs | {' | '.join(QUANTILES)} |"
    yield "|---" * (2 + len(QUANTILES)) + "|"
    rows = [(shape, 10, 0.0) for shape in SHAPES] + [(ONE_LATE, 30, 0.0)]
    rows += [(ONE_LATE, 10, late) for late in (1.1, 1.25, 1.5)]
    for shape in SHAPES:
        asked(shape)  # known to the workers, which are forks
    with ProcessPoolExecutor(2) as workers:
        found = workers.map(partial(tally, campaigns=campaigns), rows)
        for (shape, runs, late), (allowing, alone) in zip(rows, found, strict=True):
            of = 100 / campaigns
            cells = [f"{of * allowing[name]:.1f} ({of * alone[name]:.1f})" for name in QUANTILES]
            at = f"one {late:g} times its limit" if late else "all at the limit"
            yield f"| {shape}; {at} | {runs} | {' | '.join(cells)} |"


if __name__ == "__main__":
    put("verification/statistics.md", "CPUs", table(int(sys.argv[1])))
