# SPDX-License-Identifier: MIT
"""Whether the interval of a program's misses holds the truth where misses of one run hang together."""

import numpy as np
import pytest

from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.protocols.record.schema import Scalar
from support.analysis_records import record

_JOBS = 500
_CAMPAIGNS = 100


def _misses(kind: str, rng: np.random.Generator, runs: int) -> np.ndarray:
    """How many of 500 jobs each run missed; three on average. `phase`: a run meets the load's rhythm or does not;
    `rate`: each run has a rate of its own; `rows`: misses come in rows of four; `alone`: each by itself."""
    if kind == "phase":  # in half of the runs next to none
        return rng.binomial(_JOBS, np.where(rng.random(runs) < 0.5, 0.0004, 0.0116))
    if kind == "rate":
        return rng.binomial(_JOBS, np.minimum(0.006 * rng.gamma(1.0, 1.0, runs), 1.0))
    if kind == "rows":
        return 4 * rng.binomial(_JOBS // 4, 0.006, runs)
    return rng.binomial(_JOBS, 0.006, runs)


def coverage(kind: str, runs: int, campaigns: int) -> float:
    """How often the interval of the mean held the three misses a run."""
    held = 0
    for number in range(campaigns):
        drawn = _misses(kind, np.random.default_rng([number, runs]), runs)
        made = [
            record(seed=seed, scalars={"control missed": Scalar(value=float(one), unit="1")})
            for seed, one in enumerate(drawn, 1)
        ]
        ((group, some),) = groups(made).items()
        interval = measure(group, some).summary.figures["control missed"].interval
        assert interval is not None
        held += interval.low <= 3.0 <= interval.high
    return held / campaigns


@pytest.mark.parametrize("kind", ["alone", "rows", "rate", "phase"])
def test_the_interval_of_misses_counts_runs_and_not_jobs(kind: str) -> None:
    assert coverage(kind, 10, _CAMPAIGNS) >= 0.92
