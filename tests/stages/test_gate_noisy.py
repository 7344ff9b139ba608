# SPDX-License-Identifier: MIT
"""The gate on runs that vary: judged by their intervals."""

from collections.abc import Sequence

import pytest

from rtqual.engine.analysis.regression.course import Course
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import record, wakeups
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


def several(late_ns: int = 0, lacking: Sequence[int] = (), series: Sequence[str] = ("wake", "start")) -> list[Record]:
    """Runs of two series, the second by so much later, and a rate; some lack all but the first series."""
    return [
        record(
            [
                Series.raw([9_000 + late_ns * (name == "start") + (37 * i + 311 * run) % 1_000 for i in range(200)],
                           name=name)
                for name in (series[:1] if run in lacking else series)
            ],
            seed=run,
            timing=Timing.REAL,
            scalars={} if run in lacking else {"rate": Scalar(value=900.0 + run, unit="1/s")},
        )
        for run in range(20)
    ]  # fmt: skip


def test_every_series_is_judged_and_not_the_first_alone() -> None:
    found = judged(several(), several(late_ns=2_000))
    assert courses(found)["start p99"] == Course.WORSE
    assert courses(found)["p99"] == Course.SAME


@pytest.mark.parametrize("now", [several(lacking=range(20)), several(lacking=[7]), several(series=["start"])])
def test_what_the_runs_give_no_more_is_missing(now: Sequence[Record]) -> None:
    """A figure that was gone, or that a run lacked, was not judged, and the gate was green."""
    found = judged(several(), now)
    assert found.failed
    assert found.lost
    assert not judged(now, several()).failed


def test_samples_of_one_series_are_not_compared_with_another_ones() -> None:
    found = judged(several(series=["wake"]), several(late_ns=9_000, series=["start"]))
    assert {one.what.partition(" of ")[0] for one in found.lost} == {"wake"}
    assert not found.of(Course.WORSE)
    assert "the samples are of start and of wake" in found.figures[0].reason
