# SPDX-License-Identifier: MIT
"""Whether the intervals of a program's misses hold the truth where misses of one run hang together.

`python test_program_misses.py 500` writes the table of docs/verification/programs.md (PYTHONPATH=tests).
"""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.parts.programs.thread_jobs import most_missed, row_of_misses
from rtqual.protocols.record.schema import Scalar
from support.analysis_records import record
from support.doc_tables import put

_JOBS = 500
_CAMPAIGNS = 100
_TRUE_RUNS = 4_000
_WINDOW = 20
_KINDS = {
    "alone": "each by itself",
    "rows": "in rows of four",
    "rate": "each run has a rate of its own (gamma, shape 1)",
    "phase": "half of the runs meet the load's rhythm, the others next to never",
    "fifth": "one run in five meets it, the others never",
}


def _misses(kind: str, rng: np.random.Generator, runs: int) -> npt.NDArray[np.bool_]:
    """(runs, 500), which jobs missed; three of a run on average."""
    share = np.full((runs, 1), 0.006)
    if kind == "rows":
        return np.repeat(rng.random((runs, _JOBS // 4)) < share, 4, axis=1)
    if kind == "rate":
        share = np.minimum(0.006 * rng.gamma(1.0, 1.0, (runs, 1)), 1.0)
    elif kind == "phase":
        share = np.where(rng.random((runs, 1)) < 0.5, 0.0004, 0.0116)
    elif kind == "fifth":
        share = np.where(rng.random((runs, 1)) < 0.8, 0.0, 0.03)
    return rng.random((runs, _JOBS)) < share


def _figures(missed: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Of one run, as a record has them."""
    flags = missed.tolist()
    return {"missed": sum(flags), "longest row": row_of_misses(flags), "in any 20": most_missed(flags, _WINDOW)}


@cache
def _truth(kind: str) -> dict[str, float]:
    """What a run has on average, of 4,000."""
    drawn = [_figures(run) for run in _misses(kind, np.random.default_rng([7, len(kind)]), _TRUE_RUNS)]
    return {name: float(np.mean([one[name] for one in drawn])) for name in drawn[0]}


def coverage(kind: str, runs: int, campaigns: int) -> dict[str, float]:
    """How often the interval of each figure's mean held what a run has on average."""
    held: Counter[str] = Counter()
    truth = _truth(kind)
    for number in range(campaigns):
        drawn = _misses(kind, np.random.default_rng([number, runs]), runs)
        made = [
            record(
                seed=seed,
                scalars={name: Scalar(value=float(value), unit="1") for name, value in _figures(one).items()},
            )
            for seed, one in enumerate(drawn, 1)
        ]
        ((group, some),) = groups(made).items()
        figures = measure(group, some).summary.figures
        for name, true in truth.items():
            interval = figures[name].interval
            assert interval is not None
            held[name] += interval.low <= true <= interval.high
    return {name: held[name] / campaigns for name in truth}


@pytest.mark.parametrize("kind", [kind for kind in _KINDS if kind != "fifth"])
def test_the_interval_of_misses_counts_runs_and_not_jobs(kind: str) -> None:
    assert min(coverage(kind, 10, _CAMPAIGNS).values()) >= 0.92


def _table(campaigns: int) -> Iterator[str]:
    yield "| misses come | runs | " + " | ".join(_truth("alone")) + " |"
    yield "|---|---|---|---|---|"
    for kind, how in _KINDS.items():
        for runs in (10, 20, 30):
            shares = coverage(kind, runs, campaigns).values()
            yield f"| {how} | {runs} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |"


if __name__ == "__main__":
    put("verification/programs.md", "coverage of misses", _table(int(sys.argv[1])))
