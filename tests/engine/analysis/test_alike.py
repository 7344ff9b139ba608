# SPDX-License-Identifier: MIT
"""What may be compared, what a coarse or overflowed figure is worth, and that missing runs are seen to be missing."""

import numpy as np
import pytest

from rtqual.engine.analysis.difference.compare import compare_pair
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.figure.summary import RESOLUTION
from rtqual.engine.analysis.regression.course import Course
from rtqual.engine.analysis.verdict.model import Gate, Outcome, Verdict
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from rtqual.reports.page.text import figure_value
from support.analysis_records import WAKE_UP, figure, measured, mission, one_group, record, wakeups
from support.gate_records import courses
from support.gate_records import judged as gated
from support.verdict_records import RANGE, judged, standing

P99 = {**WAKE_UP, "name": "p99", "statistic": "p99"}
CONDITIONS = {"interval": 1_000_000, "priority": 80}


def run(candidate: str, cycles: int, seed: int, **parameters: int) -> Record:
    """The same distribution, however long and with whatever settings."""
    samples = np.random.default_rng([seed, cycles, len(candidate)]).lognormal(9, 0.4, cycles).astype(np.int64)
    conditions = {**CONDITIONS, "cycles": cycles, **parameters}
    return record(Series.raw(samples, name="latency"), candidate=candidate, seed=seed, parameters=conditions)


def runs(candidate: str, cycles: int, **parameters: int) -> list[Record]:
    return [run(candidate, cycles, seed, **parameters) for seed in range(10)]


def statements(records: list[Record]) -> dict[str, str]:
    a, b = measured(records)
    return {one.statistic: one.statement for one in compare_pair(a, b)}


def gate(verdict: Verdict, name: str = WAKE_UP["name"], candidate: str = "rt") -> Gate:
    return next(one for one in standing(verdict, candidate).gates if one.requirement == name)


def test_extremes_of_runs_of_other_lengths_are_not_compared() -> None:
    said = statements(runs("a", 300) + runs("bb", 3_000))
    why = "undecided: runs of 300 and of 3,000 samples: extremes grow with every sample"
    assert said["median run max"] == said["median run max-min"] == why
    assert "extremes" not in said["p50"]


def test_quantiles_of_runs_of_other_lengths_are_compared_and_say_so() -> None:
    later = [
        record(Series.raw([90_000 + 13 * i for i in range(3_000)], name="latency"), candidate="stock", seed=seed)
        for seed in range(10)
    ]
    said = statements(wakeups("rt", range(12_000, 13_000, 100)) + later)
    assert said["p50"] == "rt < stock (runs of 1,000 and of 3,000 samples)"


@pytest.mark.parametrize("parameters", [{"interval": 10_000_000}, {"priority": 1}])
def test_runs_with_other_settings_are_compared_in_nothing(parameters: dict[str, int]) -> None:
    (name,) = parameters
    said = statements(runs("a", 300) + runs("bb", 300, **parameters))
    assert {one.partition(" against ")[0] for one in said.values()} == {
        f"undecided: measured otherwise: {name} {'1 ms' if name == 'interval' else CONDITIONS[name]}"
    }


def test_nobody_leads_the_score_by_longer_runs() -> None:
    verdict = judged(mission(criteria=[RANGE], candidates=["rt", "stock"]), runs("rt", 300) + runs("stock", 3_000))
    assert [one.total for one in verdict.standings] == [None, None]
    assert any("Not in the score: 'range' (runs of " in one for one in verdict.caveats), verdict.caveats


def test_the_gate_calls_nothing_worse_for_its_longer_runs() -> None:
    before, after = (
        [
            record(one.series, candidate="rt", seed=one.inputs.seed, timing=Timing.REAL, parameters=CONDITIONS)
            for one in runs("rt", cycles)
        ]
        for cycles in (300, 30_000)
    )
    assert courses(gated(before, after))["median run max"] == Course.UNDECIDED


def whole_us(counts: dict[int, int], *, step: bool = True, seed: int = 1, **info: object) -> Record:
    """Of a tool that counts whole microseconds."""
    series = Series.counted({1_000 * value: n for value, n in counts.items()}, name="latency", **info)
    scalars = {RESOLUTION: Scalar(value=1_000, unit="ns")} if step else {}
    return record(series, seed=seed, scalars=scalars, timing=Timing.REAL)


@pytest.mark.parametrize(("largest", "outcome"), [(99, Outcome.MET), (100, Outcome.UNDECIDED), (101, Outcome.NOT_MET)])
def test_a_whole_microsecond_may_be_almost_the_next(largest: int, outcome: Outcome) -> None:
    records = [whole_us({5: 990, 6: 9, largest: 1}, seed=seed) for seed in range(10)]
    found = gate(judged(mission(requirements=[WAKE_UP]), records))
    assert found.outcome == outcome
    if outcome == Outcome.UNDECIDED:
        assert "the tool counts in steps of 1 us: it may be up to 101 us" in found.reason


def test_a_limit_between_two_nanoseconds_is_kept_where_the_tool_counts_them() -> None:
    found = gate(judged(mission(requirements=[WAKE_UP]), wakeups("rt", [100_000] * 10)))
    assert found.outcome == Outcome.MET


def test_an_average_that_a_tool_cut_to_microseconds_is_a_lower_end() -> None:
    """The worse tail must not win `avg` and `p95-avg` by being cut."""
    beyond = {"overflow": 40, "overflow_from": 50_000, "reported": {"min": 5_000.0, "avg": 7_000.0, "max": 400_000.0}}
    cut = [whole_us({5: 950, 6: 10}, step=False, seed=seed, **beyond) for seed in range(10)]
    assert figure(cut, "avg").at_least
    assert "p95-avg" not in one_group(cut).figures
    exact = {**beyond, "reported": {**beyond["reported"], "avg": 7_123.4}}  # type: ignore[dict-item]
    assert not figure([whole_us({5: 950, 6: 10}, seed=seed, **exact) for seed in range(10)], "avg").at_least


def test_figures_of_an_incomplete_histogram_are_lower_ends_everywhere() -> None:
    """The tool saw 76 us and counted nothing above 25."""
    counts = {**dict.fromkeys(range(5, 25), 50), 25: 2}
    one = one_group([whole_us(counts, reported={"min": 5_000.0, "max": 76_000.0})])
    assert one.figures["max"].value == 76_000
    assert all(one.figures[name].at_least for name in ("avg", "std", "p50", "p99"))
    assert not one.figures["max"].at_least
    assert "p95-avg" not in one.figures
    assert wording.figure(one.figures["p99"]) == "at least 24 us"


def test_rounding_hides_no_miss() -> None:
    limit = {**WAKE_UP, "at_most": "12411 ns"}
    verdict = judged(mission(requirements=[limit]), wakeups("rt", [12_412] * 10))
    assert gate(verdict).outcome == Outcome.NOT_MET
    assert "max 12.412 us of" in gate(verdict).reason
    assert "(12.412 us; at most 12411 ns asked)" in verdict.headline
    assert figure_value(figure(wakeups("rt", [12_412] * 10), "max"), 12_411) == "12.412\u00a0µs"


def test_fewer_runs_than_planned_are_said_with_every_verdict() -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), wakeups("rt", [12_000] * 6))
    assert gate(verdict).outcome == Outcome.UNDECIDED
    assert "of 6,000 samples in 6 of 10 runs, at most 100 us asked" in gate(verdict).reason
    assert "cyclictest under hackbench: 4 of 10 runs are missing." in verdict.caveats


def test_an_arm_of_the_plan_without_a_record_or_a_reason_is_missing() -> None:
    verdict = judged(mission(), wakeups("rt", [12_000] * 10))
    assert "cyclictest under hackbench, stock: the plan's runs are missing." in verdict.caveats


def test_a_comparison_of_fewer_runs_than_planned_says_so() -> None:
    requirement = {**WAKE_UP, "name": "worst", "statistic": "max"}
    records = wakeups("rt", range(11_000, 12_000, 100)) + wakeups("stock", range(50_000, 62_000, 1_000))
    (found,) = judged(mission(requirements=[requirement], runs=12), records).findings[:1]
    assert found.startswith("worst: rt < stock (rt: 10 of 12 runs) (median run max ")


def of_two_series(candidate: str, n: int) -> list[Record]:
    """The second has runs of n samples of one distribution."""
    rng = np.random.default_rng([n, len(candidate)])
    return [
        record(
            [Series.raw(rng.lognormal(9, 0.4, n).astype(np.int64), name=name) for name in ("wake", "start")],
            candidate=candidate,
            seed=seed,
        )
        for seed in range(10)
    ]


def test_extremes_of_another_series_grow_with_every_sample_too() -> None:
    a, b = measured(of_two_series("a", 300) + of_two_series("bb", 3_000))
    said = {one.statistic: one.statement for one in compare_pair(a, b, ("median run max", "start median run max"))}
    assert all("extremes grow with every sample" in statement for statement in said.values())


def some_lack(candidate: str, lacking: int) -> list[Record]:
    """Fourteen runs of which the last ones have neither samples nor a rate, but something else that was printed."""
    return [
        record(
            Series.raw([9_000 + (37 * i + 311 * seed) % 1_000 for i in range(200)], name="latency") if given else (),
            candidate=candidate,
            seed=seed,
            scalars={
                "started": Scalar(value=1, unit="1"),
                **({"rate": Scalar(value=900.0 + seed, unit="1/s")} if given else {}),
            },
        )
        for seed in range(14)
        for given in (seed < 14 - lacking,)
    ]


@pytest.mark.parametrize("asked", [
    {"statistic": "max", "at_most": "100 us"},
    {"statistic": "p50", "at_most": "100 us"},
    {"scalar": "rate", "at_least": 1.0},
])  # fmt: skip
def test_runs_that_gave_no_figure_are_none_that_kept_its_limit(asked: dict[str, object]) -> None:
    """The runs that printed nothing may be the bad ones: by the others the limit was met."""
    bare = {name: value for name, value in WAKE_UP.items() if name not in ("statistic", "at_most")}
    of = mission(["rt"], requirements=[{**bare, **asked}])
    assert gate(judged(of, some_lack("rt", 0)), candidate="rt").seen == Outcome.MET
    for lacking in (1, 4):
        found = gate(judged(of, some_lack("rt", lacking)), candidate="rt")
        assert found.seen == Outcome.UNDECIDED
        assert f"{lacking} of 14 runs gave none" in found.reason


def test_nobody_leads_by_what_only_some_runs_gave() -> None:
    rate = {"name": "rate", "instrument": "cyclictest", "load": "hackbench", "scalar": "rate", "better": "higher"}
    slower = [
        record(one.series, candidate="b", seed=one.inputs.seed,
               scalars={"rate": Scalar(value=90.0 + one.inputs.seed, unit="1/s")})
        for one in some_lack("a", 0)
    ]  # fmt: skip
    asked = mission(["a", "b"], criteria=[{**rate, "weight": 1.0}])
    assert judged(asked, [*some_lack("a", 0), *slower]).first == "a"
    more = [*some_lack("a", 0), *(record((), candidate="a", seed=seed, scalars={"started": Scalar(value=1, unit="1")})
                                  for seed in (20, 21))]  # fmt: skip
    verdict = judged(asked, [*more, *slower])
    assert verdict.first is None
    assert any("2 of 16 runs gave none" in caveat for caveat in verdict.caveats)
