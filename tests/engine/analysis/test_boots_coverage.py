# SPDX-License-Identifier: MIT
"""How often intervals of ten runs hold the truth where boots of a kernel differ, by how many boots the runs begin from.

`python tests/engine/analysis/test_boots_coverage.py 300` writes a table of docs/verification/statistics.md
(PYTHONPATH=tests).
"""

import math
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from rtqual.engine.analysis.figure.figures import pool_figures
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.campaign.plan import _turn
from rtqual.protocols.record.schema import Series
from support.doc_tables import put

RUNS, SAMPLES = 10, 100
WITHIN, SPREAD, PLACE_NS = 0.05, 0.2, 8_000  # how runs of a boot differ, and samples of a run


def held(apart: float, boots: int, campaigns: int) -> dict[str, float]:
    """The share of intervals that hold the truth over all boots, of which one lies `apart` from another."""
    deviation = math.sqrt(apart**2 + WITHIN**2 + SPREAD**2)
    of_one = {"avg": math.exp(deviation**2 / 2), "p50": 1.0, "p95": math.exp(1.645 * deviation)}
    truth = {name: PLACE_NS * factor for name, factor in of_one.items()}
    times = dict.fromkeys(truth, 0)
    for campaign in range(campaigns):
        rng = np.random.default_rng([77, campaign, boots, round(100 * apart)])
        of_boots = apart * rng.normal(size=boots)
        runs = of_boots[[_turn(run, boots) for run in range(RUNS)]] + WITHIN * rng.normal(size=RUNS)
        samples = np.rint(PLACE_NS * np.exp(runs[:, None] + SPREAD * rng.normal(size=(RUNS, SAMPLES)))).astype(np.int64)
        figures = pool_figures(pool_runs([[Series.raw(run, name="latency")] for run in samples]))
        for name, value in truth.items():
            interval = figures[name].interval
            assert interval is not None
            times[name] += interval.low <= value <= interval.high
    return {name: number / campaigns for name, number in times.items()}


def table(campaigns: int) -> Iterator[str]:
    yield "| boots differ by | boots of ten runs | avg | p50 | p95 |"
    yield "|---|---|---|---|---|"
    for apart in (0.02, 0.1):
        for boots in (1, 3, 5, 10):
            shares = " | ".join(f"{100 * share:.0f}" for share in held(apart, boots, campaigns).values())
            yield f"| {100 * apart:.0f} % | {boots} | {shares} |"


@pytest.mark.guest
def test_intervals_hold_where_each_run_has_a_boot_of_its_own_and_not_where_all_share_one() -> None:
    assert held(0.1, 1, 40)["avg"] < 0.6
    assert held(0.1, RUNS, 40)["avg"] >= 0.9


if __name__ == "__main__":
    put("verification/statistics.md", "boots", table(int(sys.argv[1])))
