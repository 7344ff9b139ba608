# SPDX-License-Identifier: MIT
"""The gate on runs that vary: judged by their intervals."""

import pytest

from rtqual.engine.analysis.regression.course import Course
from rtqual.protocols.record.schema import Timing
from support.analysis_records import wakeups
from support.gate_records import BASE, courses, judged, noisy, printed


@pytest.mark.parametrize("timing", [Timing.REAL, Timing.HOST_TIMED, Timing.UNTESTED])
def test_a_noisy_figure_fails_only_where_its_interval_does(timing: Timing) -> None:
    found = judged(noisy(0, timing=timing), noisy(2_000, timing=timing))
    assert courses(found)["avg"] == courses(found)["p50"] == courses(found)["median run max"] == Course.WORSE
    assert judged(noisy(2_000, timing=timing), noisy(0, timing=timing)).of(Course.WORSE) == []
    again = judged(noisy(0, timing=timing), noisy(0, timing=timing, first=5))
    assert not again.failed
    assert "no difference shown: difference" in again.figures[0].reason
    assert any("allow for all of them" in note for note in again.notes)


def test_one_noisy_side_makes_the_pair_noisy() -> None:
    found = judged(BASE, wakeups("rt", [12_001 + 10 * seed for seed in range(10)], timing=Timing.HOST_TIMED))
    assert not any(one.exact for one in found.figures)
    assert not found.failed


def test_fewer_than_ten_noisy_runs_are_shown_as_not_judged_and_fail_when_strict() -> None:
    before, after = noisy(0, runs_=9), noisy(5_000, runs_=12)
    found = judged(before, after)
    assert set(courses(found).values()) == {Course.UNDECIDED}
    assert not found.failed
    text = printed(found)
    assert "Not judged" in text
    assert "an interval needs 10" in text
    assert judged(before, after, strict=True).failed
    assert set(courses(judged(before, before)).values()) == {Course.SAME}  # the same records need no interval


def test_a_tolerance_holds_for_noisy_figures_too() -> None:
    assert not judged(noisy(0), noisy(2_000), tolerance=0.5).failed
