# SPDX-License-Identifier: MIT
"""Change points: found where there are some, at the version that brought them, and hardly ever where there are none.

`python tests/engine/analysis/test_changes.py 100` writes the table of docs/verification/history.md (PYTHONPATH=tests).
"""

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import signal, stats

from rtqual.engine.analysis.regression.changes import (
    ALARM,
    CONFIRMED,
    LEAST,
    Change,
    FigurePoint,
    changes,
    courses,
    drift,
    ledger,
    shifts,
    signed_ranks,
)
from support.doc_tables import put

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
SHARED = 8  # series that are looked at together, as of a mission's


def points(values: list[float], half: float = 1.96) -> list[FigurePoint]:
    return [FigurePoint(value, value - half, value + half) for value in values]


def course(rng: np.random.Generator, n: int, *, spread: float = 0.05, follow: float = 0.3, wild: bool = True) -> Floats:
    """Logarithms of a figure over versions in which nothing changed: Student's t of three degrees, autocorrelated, one
    campaign in a hundred disturbed by three to ten times as much (`wild`), or normal."""
    noise = rng.standard_t(3, n) / 3**0.5 if wild else rng.normal(size=n)
    noise[0] /= (1 - follow**2) ** 0.5
    found = np.asarray(signal.lfilter([(1 - follow**2) ** 0.5], [1, -follow], noise), np.float64)
    if wild:
        hit = rng.random(n) < 0.01
        found = np.where(hit, np.abs(found) * rng.uniform(3, 10, n), found)
    return spread * found


def known(logs: Floats, rng: np.random.Generator, spread: float = 0.05) -> list[FigurePoint]:
    """Figures of about 40 us, whose intervals know half of the variance."""
    half = 1.96 * spread * 0.5**0.5 * rng.uniform(0.7, 1.4, len(logs))
    return [
        FigurePoint(float(value), float(value * np.exp(-h)), float(value * np.exp(h)))
        for value, h in zip(40_000 * np.exp(logs), half, strict=True)
    ]


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ([10, 10.5, 9.8, 10.2, 20, 20.4, 19.9], [4]),
        ([10, 10, 10, 20, 10, 10, 10, 10], []),  # one bad campaign is no level
        ([10, 10, 10, 10, 20, 20, 10, 10, 10, 10], []),  # nor are two
        ([10, 10, 10, 30, 30, 30, 20, 20, 20], [3, 6]),
        ([20, 20, 10, 10], []),
        ([20, 20, 20, 10, 10, 10], [3]),
        ([10, 10, 10, 10, 10, 20], []),
        ([-5, -5, -5.5, 20, 20, 20.5], [3]),  # no logarithms
    ],
)
def test_a_change_is_found_where_it_is(values: list[float], at: list[int]) -> None:
    assert [one.at for one in changes(points(values, 0.5))] == at


def test_levels_are_those_before_and_after() -> None:
    (one,) = changes(points([10, 11, 12, 30, 31, 32]))
    assert (one.before, one.after) == (pytest.approx(11), pytest.approx(31))


def test_a_point_that_is_hardly_known_moves_no_level() -> None:
    known_well, vague = points([10, 10, 10]), [FigurePoint(30, 0, 60)] * 3
    assert changes([*known_well, *vague]) == ()
    assert [one.at for one in changes([*known_well, *points([30, 30, 30])])] == [3]


def test_too_few_points_have_no_change() -> None:
    assert changes(points([10, 10, 10, 100, 100, 100])[: LEAST - 1]) == ()


def test_runs_that_repeat_to_the_tick_are_no_proof_of_a_tick() -> None:
    assert changes([FigurePoint(v, v, v) for v in [7440] * 4 + [7442] * 4]) == ()
    assert [one.at for one in changes([FigurePoint(v, v, v) for v in [7440] * 4 + [9000] * 4])] == [4]


@pytest.mark.guest
@pytest.mark.parametrize(("n", "follow", "wild"), [(12, 0.3, True), (30, 0.0, False), (30, 0.6, True)])
def test_unchanged_series_are_hardly_ever_marked(n: int, follow: float, wild: bool) -> None:
    """Of 100; by the campaigns' own intervals alone 39 to 55 % were, and 70 % after one version or another."""
    ever = marked = drifting = 0
    for number in range(100):
        rng = np.random.default_rng([1813, n, number])
        series = known(course(rng, n, follow=follow, wild=wild), rng)
        marks = changes(series, SHARED)
        ever += bool(marks)
        marked += any(one.gone is None for one in marks)
        drifting += drift(series, SHARED) is not None
    assert marked <= 5
    assert drifting <= 5
    assert ever <= 35


@pytest.mark.guest
@pytest.mark.parametrize("by_turns", [True, False])
def test_two_states_that_come_by_turns_are_no_change(by_turns: bool) -> None:
    """Of builds that land in either of two states 10 % apart half of the neighbours do not differ, so that their median
    told no noise: 38 % of such series were marked at their end, and half of those that alternate at some time."""
    marked = 0
    for draw in range(20):
        rng = np.random.default_rng([3, draw])
        states = np.arange(40) % 2 if by_turns else rng.random(40) < 0.5
        values = 5_000 * (1 + 0.1 * states) * np.exp(0.004 * rng.normal(size=40))
        marked += bool(changes([FigurePoint(value, 0.98 * value, 1.02 * value) for value in values.tolist()]))
    assert marked <= 5


def test_a_change_by_a_fifth_is_found_nearly_always_and_no_longer_new_by_the_end() -> None:
    found = stands = 0
    for number in range(50):
        rng = np.random.default_rng([1814, number])
        logs = course(rng, 40) + np.log(1.2) * (np.arange(40) >= 24)
        marks = [one for one in changes(known(logs, rng), SHARED) if abs(one.at - 24) <= 2]
        found += bool(marks)
        stands += any(one.state(39) == "stands" for one in marks)
    assert found >= 43
    assert stands >= 40


def test_no_mark_disappears_in_silence() -> None:
    here, there = Change(5, 10.0, 20.0), Change(6, 10.0, 21.0)
    none: list[Change] = []
    (one,) = ledger([none, [here], [here], [there], none])
    assert (one.at, one.since, one.gone) == (6, LEAST, LEAST + 3)
    assert one.state(LEAST + 3) == "gone"
    (again,) = ledger([[here], none, [here]])
    assert (again.since, again.gone) == (LEAST - 1, None), "it flickered"
    (again,) = ledger([[here], *[none] * (CONFIRMED + 1), [here]])
    since = LEAST + CONFIRMED + 1
    assert (again.since, again.gone) == (since, None)
    assert [again.state(since + more) for more in (0, CONFIRMED - 1, CONFIRMED)] == ["new", "new", "stands"]


@pytest.mark.guest
def test_what_drifts_has_no_step_and_says_so() -> None:
    drifting = steps = 0
    for number in range(30):
        rng = np.random.default_rng([1815, number])
        series = known(course(rng, 40, spread=0.02) + np.linspace(0, 0.2, 40), rng, spread=0.02)
        drifting += drift(series, SHARED) is not None
        steps += any(one.gone is None for one in changes(series, SHARED))
    assert drifting >= 24
    assert steps <= 5
    assert drift(points([10.0] * 10), SHARED) is None
    assert drift(points([10.0] * 5 + [20.0] * 5, 0.1), SHARED) is None


def test_a_long_series_takes_no_long_time_and_an_old_change_stands() -> None:
    rng = np.random.default_rng(1819)
    (one,) = changes(known(course(rng, 400, follow=0.0, wild=False) + np.log(1.5) * (np.arange(400) >= 100), rng))
    assert (one.at, one.state(399)) == (100, "stands")


def boards(rng: np.random.Generator, n: int, number: int, by: float, part: float) -> list[list[float]]:
    """Figures of so many boards; version 12 moves it on a part of them."""
    hit = rng.random(number) < part
    return [
        np.exp(course(rng, n) + rng.normal(10, 0.5) + np.log1p(by) * hit[row] * (np.arange(n) >= 12)).tolist()
        for row in range(number)
    ]


@pytest.mark.guest
def test_what_a_version_does_to_many_boards_is_told_once_over_the_boards() -> None:
    """+5 % on each of forty, which no board shows alone; and hardly ever where nothing was done."""
    found = alone = 0
    for draw in range(5):
        rng = np.random.default_rng([1816, draw])
        rows = boards(rng, 24, 40, 0.05, 1.0)
        found += [abs(one.at - 12) <= 1 for one in shifts(rows)] == [True]
        alone += sum(bool(changes([FigurePoint(v, 0.93 * v, 1.07 * v) for v in row], 40)) for row in rows)
    assert found >= 4
    assert alone <= 60, "of 200"
    wrong = sum(bool(shifts(boards(np.random.default_rng([1817, draw]), 24, 40, 0, 0))) for draw in range(60))
    assert wrong / 60 <= ALARM + 3 * (ALARM * (1 - ALARM) / 60) ** 0.5
    few = boards(np.random.default_rng(1), 24, 7, 1.0, 1.0)
    assert shifts(few) == shifts([]) == shifts([[], []]) == ()


def test_boards_that_lack_versions_are_left_out_where_they_do() -> None:
    rows: list[list[float | None]] = [list(row) for row in boards(np.random.default_rng(2), 24, 20, 0.3, 1.0)]
    rows[0][10:] = [None] * 14
    (one,) = shifts(rows)
    assert (one.boards, one.times) == (19, pytest.approx(1.3, abs=0.1))


def _percent(hits: list[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.1f}"


def _row(name: str, number: int, n: int, shape: Floats, at: int | None, **noise: float) -> str:
    """How many are marked at the end, ever, by a step at `at`, and drift."""
    ever, last, right, slopes = [], [], [], []
    for draw in range(number):
        rng = np.random.default_rng([1818, n, draw])
        series = known(course(rng, n, **noise) + shape, rng, noise.get("spread", 0.05))  # type: ignore[arg-type]
        marks = changes(series, SHARED)
        ever.append(bool(marks))
        last.append(any(one.gone is None for one in marks))
        right.append(at is not None and any(one.gone is None and abs(one.at - at) <= 3 for one in marks))
        slopes.append(drift(series, SHARED) is not None)
    cells = [name, _percent(last), _percent(ever), _percent(right) if at else "-", _percent(slopes)]
    return f"| {' | '.join(cells)} |"


def table(often: int) -> Iterator[str]:
    yield "| course | marked at the end, % | or once before, % | at the change, % | drifts, % |"
    yield "|---|---|---|---|---|"
    for n in (12, 30):
        flat, time = np.zeros(n), np.arange(n)
        for follow in (0.0, 0.3, 0.6):
            yield _row(f"{n} versions, flat, autocorrelation {follow:g}", often, n, flat, None, follow=follow)
        for by in (0.1, 0.2, 0.5):
            step = np.log1p(by) * (time >= n // 2)
            yield _row(f"{n} versions, {by:+.0%} in the middle", often, n, step, n // 2)
        yield _row(f"{n} versions, +10 % in a line", often, n, 0.1 * time / n, None)


def test_many_series_at_once_are_marked_as_each_is_alone() -> None:
    rng = np.random.default_rng(1818)
    rows = []
    for n in range(12):
        values = 10_000 * np.exp(rng.normal(0, 0.02, 6 + 3 * n))
        values[len(values) // 2 :] *= 1.3 if n % 3 else 1.0
        rows.append([FigurePoint(value, 0.97 * value, 1.03 * value) for value in values])
    found = courses([rows[0][:3], *rows], SHARED)
    assert found[0].changes == ()
    for row, course in zip(rows, found[1:], strict=True):
        now = [(one.at, one.before, one.after) for one in changes(row, SHARED) if one.gone is None]
        assert [(one.at, one.before, one.after) for one in course.changes] == now
        assert course.drift == drift(row, SHARED)
    assert sum(bool(course.changes) for course in found) >= 6


@pytest.mark.parametrize("boards", [8, 11, 50, 51, 400])
@pytest.mark.parametrize("step", [0.0, 0.5])
def test_signed_ranks_are_those_of_scipy(boards: int, step: float) -> None:
    rng = np.random.default_rng([1820, boards])
    apart = rng.normal(0.2, 1, boards)
    apart = np.round(apart / step) * step if step else apart  # with ties and zeros
    method = "approx" if step or boards > 50 else "exact"
    assert signed_ranks(apart) == pytest.approx(stats.wilcoxon(apart, method=method).pvalue, rel=1e-9)


def test_a_version_that_stands_apart_alone_is_odd_and_no_change() -> None:
    rng = np.random.default_rng(1819)
    values = 10_000 * np.exp(rng.normal(0, 0.02, 20))
    values[11] *= 2
    (course,) = courses([[FigurePoint(value, 0.97 * value, 1.03 * value) for value in values]], SHARED)
    assert (course.changes, course.odd) == ((), (11,))


if __name__ == "__main__":
    put("verification/history.md", "changes", table(int(sys.argv[1])))
