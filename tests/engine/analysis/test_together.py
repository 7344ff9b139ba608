# SPDX-License-Identifier: MIT
"""Differences that are told together hold together."""

import math

import numpy as np
from scipy import stats

from rtqual.engine.analysis.difference.together import holm, widened
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.protocols.record.schema import Series
from support.analysis_records import WAKE_UP, mission, record

T = stats.t(9).ppf(0.975)


def apart(value: float, error: float = 1.0, *, least: bool = False) -> Figure:
    """A difference of ten runs with its 95 % interval."""
    between = Interval(value - T * error, value + T * error, "", least=least)
    return Figure(value, "ns", 1_000, 10, between)


def told(differences: list[Figure]) -> list[bool]:
    return [one.interval is not None and not one.interval.low <= 0 <= one.interval.high for one in holm(differences)]


def test_the_surest_stands_at_the_strictest_level_and_lets_the_next_stand() -> None:
    strict, next_ = (stats.t(9).ppf(1 - 0.025 / m) for m in (3, 2))
    assert told([apart(strict + 0.01), apart(next_ + 0.01), apart(T + 0.01)]) == [True, True, True]
    assert told([apart(-strict - 0.01), apart(next_ - 0.01), apart(T + 0.01)]) == [True, False, False]
    assert told([apart(T + 0.01)] * 3) == [False] * 3
    assert told([apart(T + 0.01)]) == [True]
    assert holm([]) == ()


def test_what_has_no_interval_or_an_open_end_is_not_told_and_counts() -> None:
    unknown = Figure(5.0, "ns", 10, 3, None, "3 runs")
    open_ = Figure(5.0, "ns", 10, 10, Interval(-math.inf, 6.0, ""))
    assert told([apart(T + 0.3), unknown, open_]) == [False, False, False]
    assert told([apart(T + 0.3)]) == [True]


def test_what_no_run_varies_in_is_not_widened() -> None:
    assert widened(apart(5, least=True), 50) == apart(5, least=True)
    assert told([apart(T + 0.01, least=True), *[apart(0.1)] * 20])[0]


def test_of_many_equal_ones_any_is_told_apart_in_one_of_twenty() -> None:
    """By themselves 60 % of such families tell one apart."""
    rng = np.random.default_rng(1)
    alone = together = 0
    for _ in range(400):
        runs = rng.normal(size=(30, 10))
        family = [apart(float(one.mean()), float(one.std(ddof=1) / math.sqrt(10))) for one in runs]
        alone += any(abs(one.value) > one.value - one.interval.low for one in family if one.interval)
        together += any(told(family))
    assert together <= 32, "5 % are expected, 20 of 400"
    assert alone >= 200


def test_findings_of_equal_candidates_hold_together() -> None:
    """Of five equal candidates, five figures each: the tables tell each pair by itself, the verdict all together."""
    names, instruments = "abcde", ("cyclictest", "stress-ng-cyclic", "timerlat")
    asked = mission(
        names, requirements=[{**WAKE_UP, "name": one, "instrument": one, "statistic": "avg"} for one in instruments]
    )
    findings = told_apart = 0
    for draw in range(3):
        records = []
        for name in names:
            rng = np.random.default_rng([7, draw, *name.encode()])
            for one in instruments:
                runs = 5_000 * rng.lognormal(0, 0.1, (12, 1)) * np.exp(0.3 * rng.normal(size=(12, 60)))
                records += [
                    record(Series.raw(run.astype(int), name="latency"), candidate=name, instrument=one, seed=seed)
                    for seed, run in enumerate(runs)
                ]
        found = analyse(asked, "demo", records, {})
        told_apart += sum(" < " in one.statement or " > " in one.statement for one in found.comparisons)
        findings += sum("undecided" not in one for verdict in found.verdicts for one in verdict.findings)
        assert len(found.verdicts[0].findings) == 30
    assert told_apart > 0
    assert findings == 0
