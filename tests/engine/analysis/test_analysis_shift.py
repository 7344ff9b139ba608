# SPDX-License-Identifier: MIT
"""Where in their samples two candidates differ, and what may be said of a difference."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.engine.analysis.difference.model import Relation, ShiftFunction
from rtqual.engine.analysis.difference.shift import in_words, shift_functions, turned
from rtqual.engine.analysis.difference.statement import (
    MOST_RUNS,
    fits,
    margin_value,
    margins_of,
    more_runs,
    relation,
    stated,
)
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.asked import RUNS_AGAIN
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.engine.mission import Criterion, Quantity
from rtqual.protocols.record.schema import Record, Scalar, Series, SeriesInfo, SeriesKind
from support.analysis_records import WAKE_UP, measured, mission, record


def runs(candidate: str, *, place: int = 0, tail: int = 1, count: int = 10, n: int = 600) -> list[Record]:
    """Latencies about 10 us; those in the upper fifth are `tail` times as far from there."""
    rng = np.random.default_rng([len(candidate), abs(place), tail])
    found = []
    for seed in range(count):
        samples = rng.normal(0, 500, n)
        samples = 10_000 + place + np.where(samples > 420, samples * tail, samples)
        found.append(record(Series.raw(samples.astype(np.int64), name="l"), candidate=candidate, seed=seed))
    return found


def shift(records: list[Record]) -> ShiftFunction:
    (found,) = shift_functions(measured(records))
    return found


def test_a_shift_function_tells_the_middle_from_the_tail() -> None:
    """b is 200 ns faster, but its upper fifth lies four times as far out."""
    one = shift(runs("a") + runs("b", place=-200, tail=4))
    assert list(one.differences) == ["p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"]
    assert one.differences["p50"].value == pytest.approx(200, abs=40)
    assert one.differences["p99"].value == pytest.approx(200 - 3 * 1163, rel=0.1)
    assert one.statement == "crosses at p90: a > b up to p75, a < b from p90 up"
    assert one.unit == "ns"
    assert one.margins == {}
    assert one.differences["p50"].runs == 10
    back = turned(one)
    assert back.statement == "crosses at p90: b < a up to p75, b > a from p90 up"
    assert back.differences["p50"].value == -one.differences["p50"].value
    assert turned(back) == one


def test_the_same_everywhere_is_said_once() -> None:
    assert shift(runs("a") + runs("b", place=900)).statement.startswith("a < b everywhere from p5 to p99")


def test_few_runs_are_undecided() -> None:
    one = shift(runs("a", count=3) + runs("b", count=3, place=5_000))
    assert one.statement == "undecided: 3 and 3 runs; an interval needs 10 of each"
    assert all(figure.interval is None for figure in one.differences.values())


def test_quantiles_need_samples_on_either_side() -> None:
    assert list(shift(runs("a", n=2) + runs("b", n=2)).differences) == ["p5", "p10", "p25", "p50", "p75", "p90", "p95"]


def test_problems_are_undecided() -> None:
    bad = [
        record(Series.raw([1, 2], name="l"), candidate="b", seed=seed, problems=["samples lost"]) for seed in range(10)
    ]
    assert shift(runs("a") + bad).statement.startswith("undecided: b: samples lost")


def test_a_tool_without_samples_has_no_shift_function() -> None:
    info = SeriesInfo(name="l", kind=SeriesKind.SUMMARY, reported={"min": 1.0, "avg": 2.0, "max": 3.0, "p95": 2.5})
    empty = np.array([], np.int64)
    assert shift_functions(measured([record(Series(info, empty, empty), candidate=name) for name in "ab"])) == ()


def apart(value: float, low: float, high: float, runs: int = 10) -> Figure:
    return Figure(value, "ns", 100, runs, Interval(low, high, "test"))


@pytest.mark.parametrize(
    ("difference", "margin", "said"),
    [
        (apart(-50, -60, -40), None, "a < b"),
        (apart(50, 40, 60), None, "a > b"),
        (apart(50, 40, 60), 45.0, "a > b"),
        (apart(50, 40, 60), 2_000.0, "a > b, but within 2 us"),
        (apart(-50, -60, -40), 60.0, "a < b, but within 60 ns"),
        (apart(5, -10, 20), 2_000.0, "a = b (within 2 us)"),
        (apart(0, 0, 0), 1.0, "a = b (within 1 ns)"),
        (apart(0, 0, 0), None, "undecided: the clock cannot show a difference in any run; "
         "only a margin can call them equal"),
        (apart(5, -5, 15), None, "undecided: the difference may be zero; about 43 more runs of each would tell"),
        (apart(0, -5, 5), None, "undecided: the difference may be zero; no number of runs would tell, only a margin"),
        (apart(0, -10, 10), 5.0,
         "undecided: the difference may be zero, or more than 5 ns; about 43 more runs of each would tell"),
        (apart(0.01, -5, 5), None,
         "undecided: the difference may be zero; not even 10,000 more runs of each would tell"),
        (Figure(5, "ns", 9, 9, None, "9 and 9 runs; an interval needs 10 of each"), 2.0,
         "undecided: 9 and 9 runs; an interval needs 10 of each"),
        (Figure(-5, "B", 1, 1, None, "a size"), None, "a < b"),
        (Figure(-5, "B", 1, 1, None, "a size"), 5.0, "a < b, but within 5 B"),
        (Figure(0, "B", 1, 1, None, "a size"), 5.0, "a = b (within 5 B)"),
        (apart(5, -1, math.inf), 2.0,
         "undecided: the difference may be zero, or more than 2 ns; an end of its interval is open"),
    ],
)  # fmt: skip
def test_what_may_be_said_of_a_difference(difference: Figure, margin: float | None, said: str) -> None:
    assert stated("a", "b", difference, margin).statement == said


ENDS = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@given(st.lists(ENDS, min_size=3, max_size=3).map(sorted), st.none() | st.floats(1e-3, 1e6), st.integers(10, 60))
def test_the_number_of_further_runs_suffices(ends: list[float], margin: float | None, runs: int) -> None:
    """At a further look, shrunk as is assumed, the interval says something; with three runs fewer nothing."""
    low, value, high = ends
    one = apart(value, low, high, runs)
    more = more_runs(one, margin)
    if relation(one, margin)[0] != Relation.UNDECIDED or more is None or more > MOST_RUNS:
        return

    def decides(total: int) -> bool:
        part = math.sqrt(runs * RUNS_AGAIN / total)
        nearer = apart(value, value - (value - low) * part, value + (high - value) * part, total)
        return relation(nearer, margin)[0] != Relation.UNDECIDED

    assert decides(runs + more + 1)
    assert more <= 3 or not decides(runs + more - 3)


def test_an_open_end_says_how_many_runs_would_close_it() -> None:
    open_end = Figure(5, "ns", 100, 10, Interval(-1, math.inf, "test", runs_to_close=25))
    assert stated("a", "b", open_end, None).statement == (
        "undecided: the difference may be zero; an end of its interval is open; at least 15 more runs of each would "
        "close it"
    )


def test_a_margin_is_the_smallest_that_fits() -> None:
    a, b = apart(1_000, 0, 1), apart(-400, 0, 1)
    margins = [Quantity(5, "%", "5 %"), Quantity(100, "ns", "100 ns"), Quantity(1, "B", "1 B")]
    assert margin_value(margins, a, b) == pytest.approx(20)  # of the smaller, in size
    assert margin_value(margins[1:], a, b) == 100
    assert margin_value(margins[2:], a, b) is None
    assert fits(Quantity(3, None, "3"), "1/s")


def test_margins_of_maxima_are_those_of_the_medians_over_the_runs() -> None:
    asked = mission(requirements=[{**WAKE_UP, "margin": "2 us"}])
    assert list(margins_of(asked.requirements)) == [("cyclictest", "hackbench", "median run max")]


def test_a_mission_calls_equal_what_lies_within_its_margin() -> None:
    """The median of the runs' maxima, and every quantile that has an interval."""
    records = runs("rt") + runs("stock", place=30)
    (verdict,) = analyse(mission(requirements=[WAKE_UP]), "demo", records, {}).verdicts
    assert "undecided: the difference may be zero; about" in verdict.findings[0]
    evidence = analyse(mission(requirements=[{**WAKE_UP, "margin": "1 us"}]), "demo", records, {})
    found = {one.statistic: one for one in evidence.comparisons}
    assert found["median run max"].statement == "rt = stock (within 1 us)"
    assert found["median run max"].margin == 1_000
    assert found["p50"].margin is None
    (one,) = evidence.shifts
    assert one.margins["p50"] == 1_000
    assert one.statement.startswith("rt = stock ")
    said = evidence.verdicts[0].findings[0]
    assert " = " in said.partition(" (within 1 us) (median run max ")[0]
    assert said.endswith(f"; by quantile, {one.statement}.")


def test_a_margin_in_another_unit_is_told() -> None:
    rates = [
        record(candidate=name, seed=seed, scalars={"rate": Scalar(value=100.0 + seed, unit="1/s")})
        for name in ("rt", "stock")
        for seed in range(10)
    ]
    asked = {"name": "rate", "instrument": "cyclictest", "load": "hackbench", "scalar": "rate", "weight": 1.0}
    (verdict,) = analyse(mission(criteria=[{**asked, "margin": "2 us"}]), "demo", rates, {}).verdicts
    assert "The margin of 'rate' is not used: it is in ns, the figure in 1/s." in verdict.caveats
    (used,) = analyse(mission(criteria=[{**asked, "margin": 2}]), "demo", rates, {}).verdicts
    assert not any("margin" in text for text in used.caveats)


def test_a_criterions_margin_counts_only_what_lies_beyond() -> None:
    def scores(margin: str | None) -> list[float]:
        sizes = [
            record(candidate=name, scalars={"ram": Scalar(value=float(value), unit="B")})
            for name, value in (("rt", 100), ("stock", 110))
        ]
        asked = {"name": "ram", "instrument": "cyclictest", "load": "hackbench", "scalar": "ram", "weight": 1.0}
        asked |= {} if margin is None else {"margin": margin}
        assert Criterion.model_validate(asked)
        (verdict,) = analyse(mission(criteria=[asked]), "demo", sizes, {}).verdicts
        return [one.total or 0.0 for one in sorted(verdict.standings, key=lambda one: one.candidate)]

    assert scores(None) == pytest.approx([1, 100 / 110])
    assert scores("5 B") == pytest.approx([1, 100 / 105])
    assert scores("10 B") == [1, 1]
    assert scores("20 %") == [1, 1]


def test_places_that_differ_are_named_in_words() -> None:
    """Places that lie apart stand in one sentence; undecided ones are left out."""
    signs = [apart(-5, -9, -1), apart(0, -2, 2), apart(-5, -9, -1), apart(0, -2, 2)]
    names = ("p5", "p50", "p90", "p99")
    assert in_words("a", "b", dict(zip(names, signs, strict=True)), {}) == "a < b up to p5 and at p90"
    assert in_words("a", "b", {"p50": signs[1]}, {}) == "undecided: no quantile tells them apart"
