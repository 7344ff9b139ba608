# SPDX-License-Identifier: MIT
"""One candidate beside another."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.engine.analysis.difference.compare import compare, compare_pair, is_constant, mirrored, superiority
from rtqual.engine.analysis.difference.model import Comparison
from rtqual.engine.analysis.figure.model import Distribution
from rtqual.protocols.record.schema import Record, Scalar, Series, SeriesKind
from support.analysis_records import maxima, measured, record, wakeups


def pair(records: list[Record]) -> dict[str, Comparison]:
    a, b = measured(records)
    return {one.statistic: one for one in compare_pair(a, b)}


def test_run_maxima_tell_rt_from_stock() -> None:
    one = pair(wakeups("rt", maxima(11_000, 15_000)) + wakeups("stock", maxima(50_000, 434_000)))["median run max"]
    assert one.statement == "rt < stock"
    assert one.ratio is not None
    assert one.ratio.interval is not None
    assert one.ratio.interval.low < one.ratio.value < one.ratio.interval.high < 0.3
    assert one.difference.interval is not None
    assert one.difference.interval.high < 0
    assert one.superiority == 0  # every run of rt is better than every run of stock
    assert one.unit == "ns"


def test_a_mirrored_comparison_is_that_of_the_pair_turned_round() -> None:
    records = wakeups("rt", maxima(11_000, 15_000)) + wakeups("stock", maxima(50_000, 434_000))
    a, b = measured(records)
    for forth, back in zip(compare_pair(a, b), compare_pair(b, a), strict=True):
        turned = mirrored(forth)
        assert (turned.a, turned.statement) == (back.a, back.statement)
        assert turned.difference.value == -forth.difference.value
        assert turned.superiority == (None if back.superiority is None else pytest.approx(back.superiority))
        for one, other in ((turned.difference, back.difference), (turned.ratio, back.ratio)):
            assert one is not None
            assert other is not None
            assert one.interval is not None
            assert other.interval is not None
            ends = (other.interval.low, other.interval.high)
            assert (one.interval.low, one.interval.high) == pytest.approx(ends)


def test_the_same_samples_are_undecided() -> None:
    found = pair(wakeups("rt", maxima(11_000, 15_000)) + wakeups("stock", maxima(11_000, 15_000)))
    text = "undecided: the difference may be zero; no number of runs would tell, only a margin"
    assert found["median run max"].statement == text
    assert found["median run max"].superiority == 0.5
    assert found["p50"].difference.value == 0


def test_too_few_runs_are_undecided_however_far_apart() -> None:
    one = pair(wakeups("rt", [11_000] * 10) + wakeups("stock", [400_000] * 9))["median run max"]
    assert one.statement == "undecided: 10 and 9 runs; an interval needs 10 of each"
    assert one.difference.interval is None
    assert one.difference.why_no_interval


def test_problems_are_undecided() -> None:
    bad = wakeups("stock", maxima(50_000, 434_000), problems=["policy other instead of fifo"])
    one = pair(wakeups("rt", maxima(11_000, 15_000)) + bad)["median run max"]
    assert one.statement.startswith("undecided: stock: policy other instead of fifo")


def test_only_like_cells_are_compared() -> None:
    records = wakeups("rt", [1, 2]) + wakeups("stock", [1, 2], load="none") + wakeups("stock", [1, 2], board="local")
    assert compare(measured(records)) == ()


def test_an_overflow_leaves_its_end_open() -> None:
    def overflowing(candidate: str) -> list[Record]:
        return [
            record(
                Series.counted({100 + seed: 90}, name="latency", overflow=10, overflow_from=400),
                candidate=candidate,
                seed=seed,
            )
            for seed in range(10)
        ]

    valued = [
        record(Series.raw([50 + (7 * i + seed) % 100 for i in range(100)], name="latency"), candidate="a", seed=seed)
        for seed in range(10)
    ]
    one = pair(valued + overflowing("b"))["p99"]
    assert one.difference.interval is not None
    assert one.difference.interval.low == -math.inf
    assert one.statement == "a < b"
    both = pair(overflowing("a") + overflowing("b"))["p99"]
    assert both.statement.startswith("undecided: ")


def test_a_ratio_to_nothing_is_not_given() -> None:
    def flat(candidate: str, value: int) -> list[Record]:
        return [record(Series.raw([value] * 100, name="l"), candidate=candidate, seed=seed) for seed in range(10)]

    found = pair(flat("a", 3) + flat("b", 5))
    assert found["median run max-min"].ratio is None
    assert found["p50"].ratio is not None
    assert found["p50"].ratio.value == pytest.approx(0.6)
    assert found["p50"].statement == "a < b"


def test_a_size_is_read_once() -> None:
    sizes = [
        record(candidate=name, scalars={"image_size": Scalar(value=value, unit="B")})
        for name, value in (("cloud", 14e6), ("rt", 8e6))
    ]
    assert pair(sizes)["image_size"].statement == "cloud > rt"
    assert pair(sizes)["image_size"].difference.why_no_interval.startswith("a size, read off the system")


SAMPLES = st.lists(st.integers(0, 20), min_size=1, max_size=30)


def distribution(samples: list[int]) -> Distribution:
    values, counts = np.unique(samples, return_counts=True)
    return Distribution(values, counts, "ns", SeriesKind.HISTOGRAM)


@settings(max_examples=50, deadline=None)
@given(SAMPLES, SAMPLES)
def test_superiority_is_that_of_all_pairs(a: list[int], b: list[int]) -> None:
    pairs = [(x > y) + (x == y) / 2 for x in a for y in b]
    assert superiority(distribution(a), distribution(b)) == pytest.approx(sum(pairs) / len(pairs))


def test_comparisons_are_the_same_every_time() -> None:
    records = wakeups("rt", maxima(11_000, 15_000)) + wakeups("stock", maxima(50_000, 434_000))
    assert compare(measured(records)) == compare(measured(records[::-1]))


def test_what_never_varies_is_nothing_to_compare() -> None:
    events = {name: Scalar(value=value, unit="1") for name, value in (("events", 500.0), ("total", 3.0))}
    more = {**events, "total": Scalar(value=4.0, unit="1")}
    found = pair([record(candidate="a", scalars=events), record(candidate="b", scalars=more)])
    assert {name: is_constant(one) for name, one in found.items()} == {"events": True, "total": False}
    same = pair(wakeups("a", [20_000] * 10) + wakeups("b", [20_000] * 10))
    assert same
    assert not any(map(is_constant, same.values()))
