# SPDX-License-Identifier: MIT
"""Change points: found where there are some, at the version that brought them, and hardly ever where there are none."""

import numpy as np
import pytest

from rtqual.engine.analysis.regression.changes import ALARM, LEAST, Point, changes


def points(values: list[float], half: float = 1.96) -> list[Point]:
    return [Point(value, value - half, value + half) for value in values]


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ([10, 10.5, 9.8, 10.2, 20, 20.4, 19.9], [4]),
        ([10, 10, 10, 20, 10, 10, 10], [3, 4]),  # one version only: halving the series would miss it
        ([10, 10, 30, 30, 20, 20], [2, 4]),
        ([20, 10, 10], [1]),
        ([10, 10, 20], [2]),
    ],
)
def test_a_change_is_found_where_it_is(values: list[float], at: list[int]) -> None:
    assert [one.at for one in changes(points(values))] == at


def test_levels_are_those_before_and_after() -> None:
    (one,) = changes(points([10, 12, 30, 32]))
    assert (one.before, one.after) == (pytest.approx(11), pytest.approx(31))


def test_a_point_that_is_hardly_known_moves_no_level() -> None:
    known, vague = points([10, 10, 10, 10]), Point(30, 0, 60)
    assert changes([*known, vague]) == ()
    assert [one.at for one in changes([*known, Point(30, 29, 31)])] == [4]


def test_too_few_points_have_no_change() -> None:
    assert changes(points([10, 100])[: LEAST - 1]) == ()


def test_runs_that_repeat_to_the_tick_are_no_proof_of_a_tick() -> None:
    assert changes([Point(v, v, v) for v in (7440, 7440, 7442, 7442)]) == ()
    assert [one.at for one in changes([Point(v, v, v) for v in (7440, 7440, 9000, 9000)])] == [2]


@pytest.mark.parametrize(("n", "together"), [(4, 1), (12, 1), (30, 1), (12, 5)])
def test_unchanged_series_are_hardly_ever_marked(n: int, together: int) -> None:
    """Of 1,000 sets of unchanged series; three standard errors of a share of ALARM are 2 %."""
    draw = np.random.default_rng(n * together)
    trials = 1000 // together
    marked = sum(
        any(changes(points([draw.normal(100, 1) for _ in range(n)]), together) for _ in range(together))
        for _ in range(trials)
    )
    assert marked / trials <= ALARM + 3 * (ALARM * (1 - ALARM) / trials) ** 0.5


def test_a_change_of_six_standard_errors_is_found_nearly_always() -> None:
    draw = np.random.default_rng(6)
    found = 0
    for _ in range(200):
        series = [draw.normal(100, 1) for _ in range(6)] + [draw.normal(106, 1) for _ in range(6)]
        found += [one.at for one in changes(points(series))] == [6]
    assert found >= 190
