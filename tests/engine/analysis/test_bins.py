# SPDX-License-Identifier: MIT
"""Samples that a tool counted in bins of its own: a figure is known to a bin, and no better."""

from collections.abc import Mapping

import pytest

from rtqual.engine.analysis.difference.compare import compare_pair
from rtqual.engine.analysis.difference.statement import margins_of
from rtqual.engine.analysis.verdict.model import Outcome
from rtqual.protocols.record.schema import Record, Series, SeriesKind
from support.analysis_records import WAKE_UP, figure, measured, mission, record
from support.verdict_records import judged

BY_US = {500: 3, 2_500: 100, 3_500: 100, 6_500: 9, 9_500: 40}  # middles of bins of 1 us
BY_PART = {4_912_000: 300, 5_000_000: 100, 5_090_000: 20}  # of 1.8 %


def runs(
    bins: Mapping[int, int], candidate: str = "rt", more: int = 0, reported: Mapping[str, float] | None = None
) -> list[Record]:
    return [
        record(
            Series.counted(
                {value + more: count + seed for value, count in bins.items()},
                SeriesKind.BINNED,
                name="latency",
                reported=dict(reported or {}),
            ),
            candidate=candidate,
            seed=seed,
        )
        for seed in range(10)
    ]


def outcome(statistic: str, at_most: str, bins: Mapping[int, int], **more: object) -> Outcome:
    asked = mission(["rt"], requirements=[{**WAKE_UP, "statistic": statistic, "at_most": at_most}])
    return judged(asked, runs(bins, **more)).standings[0].gates[0].seen  # type: ignore[arg-type]


@pytest.mark.parametrize("statistic", ["p99", "max"])
@pytest.mark.parametrize(("bins", "inside", "below", "above"), [
    (BY_US, ["9.2 us", "9.7 us"], "8.4 us", "10.6 us"),
    (BY_PART, ["5060 us", "5120 us"], "4980 us", "5200 us"),
])  # fmt: skip
def test_a_limit_within_a_bin_is_neither_kept_nor_broken(
    bins: Mapping[int, int], inside: list[str], below: str, above: str, statistic: str
) -> None:
    """A sample counted at 9.5 us may be one of 9.9 us: a limit of 9.7 us was met."""
    assert [outcome(statistic, limit, bins) for limit in inside] == [Outcome.UNDECIDED] * 2
    assert outcome(statistic, below, bins) == Outcome.NOT_MET
    assert outcome(statistic, above, bins) == Outcome.MET


def test_the_tools_own_maximum_is_no_bin() -> None:
    assert outcome("max", "9.7 us", BY_US, reported={"max": 9_650.0}) == Outcome.MET
    assert outcome("max", "9.6 us", BY_US, reported={"max": 9_650.0}) == Outcome.NOT_MET


def test_an_interval_is_a_bin_wide_and_the_tools_own_average_is_not() -> None:
    interval = figure(runs(BY_PART, reported={"avg": 4_940_000.0}), "p50").interval
    assert interval is not None
    assert interval.high - 4_912_000 == pytest.approx(88_000, rel=0.03)
    exact = figure(runs(BY_PART, reported={"avg": 4_940_000.0}), "avg").interval
    assert exact is not None
    assert exact.high - 4_940_000 < 6_000


def test_of_one_bin_the_tools_own_ends_tell_how_wide_it_is() -> None:
    interval = figure(runs({4_000: 300}, reported={"min": 3_700.0, "max": 4_900.0}), "p50").interval
    assert interval is not None
    assert (interval.low, interval.high) == (3_100, 4_900)


def test_within_a_margin_narrower_than_a_bin_nothing_is_equal() -> None:
    a, b = measured([*runs(BY_US, "a"), *runs(BY_US, "b")])
    asked = mission(["a", "b"], requirements=[{**WAKE_UP, "statistic": "p50", "margin": "100 ns"}])
    said = {one.statistic: one.statement for one in compare_pair(a, b, margins=margins_of(asked.requirements))}
    assert said["p50"].startswith("undecided")
