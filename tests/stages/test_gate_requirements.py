# SPDX-License-Identifier: MIT
"""The gate on requirements: met before, and now?"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.regression.course import Course
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Series, Timing
from support.analysis_records import WAKE_UP, mission, record, wakeups
from support.gate_records import BASE, noisy


def side(name: str, records: Sequence[Record], limit: str | None = "100 us") -> Side:
    wanted: Mission = mission(["rt"], requirements=[{**WAKE_UP, "at_most": limit}] if limit else [])
    return Side(name, records, wanted, analyse(wanted, "demo", records, {}))


def test_a_requirement_that_was_met_and_is_not_fails() -> None:
    late = wakeups("rt", [120_000] * 10)
    found = regressions(side("a", BASE), side("b", late))
    (one,) = found.answers
    assert (one.course, one.before, one.after) == (Course.WORSE, "met", "not met")
    assert "120 us" in one.reason
    assert regressions(side("b", late), side("a", BASE)).answers[0].course == Course.BETTER
    assert regressions(side("a", BASE), side("b", BASE)).answers[0].course == Course.SAME


def test_a_requirement_that_is_undecided_now_is_not_met_any_more() -> None:
    noisy_, few = ([replace(one) for one in noisy(0, runs_=count)] for count in (12, 3))
    found = regressions(side("a", noisy_), side("b", few))
    assert [one.course for one in found.answers] == [Course.WORSE]
    assert found.failed


def drawn(job: int, factor: float = 1.0) -> list[Record]:
    """Runs of a noisy board, which differ by a tenth."""
    rng = np.random.default_rng([17, job])
    return [
        record(Series.raw(np.rint(factor * 8_000 * rng.lognormal(0, 0.1) * rng.lognormal(0, 0.2, 100)).astype(np.int64),
                          name="latency"), seed=seed, timing=Timing.REAL)
        for seed in range(12)
    ]  # fmt: skip


def beside_its_limit(name: str, records: Sequence[Record]) -> Side:
    asked = mission(["rt"], requirements=[{**WAKE_UP, "statistic": "p50", "at_most": "8900 ns"}])
    return Side(name, records, asked, analyse(asked, "demo", records, {}))


def test_what_chance_undecides_is_no_regression() -> None:
    """Of jobs in which nothing changed beside a limit that half of all campaigns meet, half of those that had met it
    were red."""
    sides = [beside_its_limit("", drawn(job)) for job in range(20)]
    found = [regressions(*pair) for pair in pairwise(sides)]
    turned = [one for one in found if (one.answers[0].before, one.answers[0].after) == ("met", "undecided")]
    assert len(turned) >= 3
    assert {one.answers[0].course for one in turned} == {Course.UNDECIDED}
    assert not any(one.failed for one in found)
    assert all(regressions(one, beside_its_limit("", drawn(99, 1.5))).failed for one in sides)


def test_a_requirement_that_nobody_asks_for_any_more_is_shown_and_fails_when_strict() -> None:
    found = regressions(side("a", BASE), side("b", BASE, limit=None))
    assert [(one.course, one.reason) for one in found.answers] == [(Course.UNDECIDED, "not asked any more")]
    assert not found.failed
    assert regressions(side("a", BASE), side("b", BASE, limit=None), strict=True).failed


def test_another_limit_is_told() -> None:
    found = regressions(side("a", BASE), side("b", BASE, limit="10 us"))
    assert found.failed
    assert found.answers[0].reason.endswith("the limit was 'at most 100 us'")


def test_without_a_campaign_requirements_are_not_compared_and_that_is_said() -> None:
    found = regressions(Side("just records", BASE), side("b", BASE))
    assert found.answers == ()
    assert "requirements are not compared: there is no finished campaign in just records" in found.notes
