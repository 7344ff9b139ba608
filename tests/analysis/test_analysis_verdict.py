# SPDX-License-Identifier: MIT
"""Verdicts on made-up records: what is said, what is refused, and what would turn it."""

import random
import re
from collections.abc import Mapping, Sequence

import pytest

from rtqual.analysis.evidence import analyse
from rtqual.analysis.figure.model import Group
from rtqual.analysis.verdict.model import Gate, Outcome, Standing, Verdict
from rtqual.mission import Mission
from rtqual.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import RT_CONFIG, STOCK_CONFIG, WAKE_UP, mission, record, wakeups

CONFIGS = {"rt": RT_CONFIG, "stock": STOCK_CONFIG}
RANGE = {
    "name": "range",
    "instrument": "cyclictest",
    "load": "hackbench",
    "statistic": "max-min",
    "weight": 1.0,
}
JITTER = {**RANGE, "name": "jitter", "statistic": "p95-avg"}


def maxima(low_ns: int, high_ns: int, runs: int = 10) -> list[int]:
    return [random.Random(1000 * low_ns + i).randint(low_ns, high_ns) for i in range(runs)]  # noqa: S311


def judged(
    one: Mission,
    records: Sequence[Record],
    *,
    configs: Mapping[str, str | None] = CONFIGS,
    failures: Mapping[Group, str] | None = None,
) -> Verdict:
    (verdict,) = analyse(one, "demo", records, configs, failures).verdicts
    return verdict


def standing(verdict: Verdict, candidate: str) -> Standing:
    return next(one for one in verdict.standings if one.candidate == candidate)


def gate(verdict: Verdict, candidate: str, requirement: str = WAKE_UP["name"]) -> Gate:
    return next(one for one in standing(verdict, candidate).gates if one.requirement == requirement)


RT = wakeups("rt", maxima(11_000, 15_000))
STOCK = wakeups("stock", maxima(150_000, 434_000))


def test_rt_beats_stock() -> None:
    needs = ["realtime", "usb"]
    verdict = judged(mission(needs=needs, requirements=[WAKE_UP], criteria=[RANGE]), RT + STOCK)
    assert verdict.fly == "rt"
    assert verdict.headline.startswith("Fly rt: it meets all 3 requirements; stock fails 'wake-up under load' (")
    assert [(one.candidate, one.rank, one.may_fly) for one in verdict.standings] == [
        ("rt", 1, Outcome.MET),
        ("stock", 2, Outcome.NOT_MET),
    ]
    assert standing(verdict, "rt").total == 1
    assert gate(verdict, "rt").misses == 0
    assert gate(verdict, "stock").misses == 10
    assert "; no deadline miss: one is rarer than 1 in 3,338 (95 %, if independent)" in gate(verdict, "rt").reason
    assert "10,000 samples in 10 runs" in gate(verdict, "rt").reason
    assert gate(verdict, "stock", "need realtime").outcome == Outcome.NOT_MET
    assert gate(verdict, "stock", "need usb").outcome == Outcome.MET
    assert verdict.findings[0].startswith("wake-up under load: rt < stock (median run max ")
    assert re.search(r"ratio 0\.0\d+, 95 % interval 0\.0\d+ to 0\.\d+\)", verdict.findings[0])
    assert verdict.caveats[0].startswith("Figures from the virtual board count instructions")


def test_nobody_may_fly() -> None:
    verdict = judged(mission(requirements=[{**WAKE_UP, "at_most": "5 us"}]), RT + STOCK)
    assert verdict.fly is None
    assert verdict.headline.startswith("No candidate may fly: rt fails 'wake-up under load'")


def test_what_was_not_measured_is_never_a_pass() -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), STOCK)
    assert verdict.fly is None
    assert gate(verdict, "rt").outcome == Outcome.UNDECIDED
    assert "there is no record of cyclictest under hackbench" in gate(verdict, "rt").reason
    assert standing(verdict, "rt").refusals[0] == "nothing was measured"
    assert verdict.headline.startswith("No verdict: rt was not measured")


def test_what_the_scale_does_not_measure_is_said_once_and_nobody_flies() -> None:
    idle = {**WAKE_UP, "name": "wake-up idle", "load": "none"}
    unmeasured = mission(needs=["realtime"], requirements=[idle], criteria=[RANGE])
    verdict = judged(unmeasured, RT + STOCK)
    assert verdict.headline == ("No verdict: this scale does not measure 'wake-up idle'; stock fails 'need realtime'.")
    assert (verdict.fly, verdict.not_measured) == (None, ("wake-up idle",))
    assert verdict.caveats[0] == "Not measured at this scale: 'wake-up idle' (cyclictest idle, at most 100 us)."
    assert [gate.requirement for one in verdict.standings for gate in one.gates] == ["need realtime"] * 2
    assert [one.refusals for one in verdict.standings] == [(), ()]
    assert verdict.would_change == ()  # "without the need, stock would meet all": nobody knows
    both = judged(mission(requirements=[idle, {**WAKE_UP, "at_most": "5 us"}]), RT + STOCK)
    assert both.headline.startswith("No candidate may fly: rt fails 'wake-up under load'")
    assert "its only unmet requirement" not in " ".join(both.would_change)


def test_a_mission_without_requirements_passes_nobody_that_was_not_measured() -> None:
    verdict = judged(mission(criteria=[RANGE]), RT)
    assert standing(verdict, "stock").may_fly == Outcome.UNDECIDED
    assert verdict.fly == "rt"


def test_no_records_at_all() -> None:
    verdict = judged(mission(requirements=[WAKE_UP], criteria=[RANGE]), [])
    assert verdict.headline == "No verdict: rt was not measured; stock was not measured."
    assert [one.rank for one in verdict.standings] == [None, None]


@pytest.mark.parametrize(
    ("series", "problem"),
    [
        ((), "refused: no samples (6 of 6 runs)"),
        ([Series.raw([], name="latency")], "refused: no samples of latency (6 of 6 runs)"),
        (
            [Series.raw([9000], name="latency", cpu=0), Series.raw([], name="latency", cpu=1)],
            "refused: no samples of latency on CPU 1 (6 of 6 runs)",
        ),
    ],
)
def test_silence_refuses(series: Sequence[Series], problem: str) -> None:
    silent = [record(series, seed=seed) for seed in range(6)]
    assert gate(judged(mission(requirements=[WAKE_UP], criteria=[RANGE]), silent), "rt").reason == problem


def test_a_failed_cell_gives_its_reason() -> None:
    group = Group("cyclictest", "hackbench", "virtual", 1, "rt")
    verdict = judged(mission(requirements=[WAKE_UP]), STOCK, failures={group: "the guest panicked"})
    assert gate(verdict, "rt").reason == "not measured: the guest panicked"
    assert any("the guest panicked" in text for text in verdict.caveats)
    assert verdict.fly is None


def test_problems_refuse() -> None:
    bad = wakeups("rt", maxima(11_000, 15_000), problems=["2 samples were lost"])
    verdict = judged(mission(requirements=[WAKE_UP], criteria=[RANGE]), bad + STOCK)
    assert gate(verdict, "rt").outcome == Outcome.UNDECIDED
    assert gate(verdict, "rt").reason == "refused: 2 samples were lost (10 of 10 runs)"
    assert verdict.fly is None
    assert standing(verdict, "rt").scores[0].score is None


@pytest.mark.parametrize(("runs", "outcome"), [(5, Outcome.UNDECIDED), (6, Outcome.MET)])
def test_few_runs_pass_nobody(runs: int, outcome: Outcome) -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), wakeups("rt", maxima(11_000, 15_000, runs)))
    assert gate(verdict, "rt").outcome == outcome
    if outcome == Outcome.UNDECIDED:
        assert "'wake-up under load' would be decided for rt by 1 more run" in verdict.would_change[0]


def test_one_miss_fails_however_few_the_runs() -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), wakeups("rt", [100_001]))
    assert gate(verdict, "rt").outcome == Outcome.NOT_MET
    assert gate(verdict, "rt").misses == 1
    exactly = judged(mission(requirements=[WAKE_UP]), wakeups("rt", [100_000] * 6))
    assert gate(exactly, "rt").outcome == Outcome.MET


def test_an_interval_that_holds_the_limit_decides_nothing() -> None:
    """The average lies about 11 us: limits below, within and above its interval."""
    records = wakeups("rt", maxima(11_000, 15_000))
    asked = {**WAKE_UP, "statistic": "avg"}
    wide = judged(mission(requirements=[asked]), records)
    figure = gate(wide, "rt").measured
    assert figure is not None
    assert figure.interval is not None
    within = round(figure.value) + 1
    assert figure.interval.low < within < figure.interval.high
    for limit_ns, outcome in (
        (figure.interval.high + 1, Outcome.MET),
        (within, Outcome.UNDECIDED),
        (figure.interval.low - 1, Outcome.NOT_MET),
    ):
        verdict = judged(mission(requirements=[{**asked, "at_most": f"{limit_ns:.0f} ns"}]), records)
        assert gate(verdict, "rt").outcome == outcome
    verdict = judged(mission(requirements=[{**asked, "at_most": f"{within} ns"}]), records)
    assert any("more runs of cyclictest" in text for text in verdict.would_change)


def overflowing(limit_ns: int, **reported: float) -> list[Record]:
    return [
        record(
            Series.counted({9000: 999}, name="latency", overflow=1, overflow_from=limit_ns, reported=reported),
            seed=seed,
        )
        for seed in range(10)
    ]


def test_overflow_below_the_limit_is_undecided() -> None:
    asked = mission(requirements=[WAKE_UP])
    below = gate(judged(asked, overflowing(50_000)), "rt")
    assert (below.outcome, below.misses) == (Outcome.UNDECIDED, None)
    assert "overflowed" in below.reason
    above = gate(judged(asked, overflowing(200_000)), "rt")
    assert (above.outcome, above.misses) == (Outcome.NOT_MET, 10)
    known = gate(judged(asked, overflowing(50_000, max=60_000)), "rt")
    assert (known.outcome, known.misses) == (Outcome.MET, 0)


def test_a_quantile_out_of_reach_is_undecided() -> None:
    verdict = judged(mission(requirements=[{**WAKE_UP, "statistic": "p99.999"}]), RT)
    assert gate(verdict, "rt").reason == "p99.999 needs 100,000 samples; 10,000 were taken"


def test_a_quantile_whose_interval_has_no_end_asks_for_more_runs() -> None:
    verdict = judged(mission(requirements=[{**WAKE_UP, "statistic": "p99.99"}]), RT)
    assert gate(verdict, "rt").outcome == Outcome.UNDECIDED
    # log 0.025 / log 0.9999 = 36,887 samples of 1,000 a run
    assert any("by about 27 more runs" in text for text in verdict.would_change)


def test_a_limit_in_another_unit_is_undecided() -> None:
    asked = {
        "name": "rate",
        "instrument": "cyclictest",
        "load": "hackbench",
        "scalar": "rate",
        "at_least": "1 ms",
    }
    records = [record(seed=seed, scalars={"rate": Scalar(value=5, unit="1/s")}) for seed in range(6)]
    assert gate(judged(mission(requirements=[asked]), records), "rt", "rate").outcome == Outcome.UNDECIDED


def test_a_size_needs_one_run() -> None:
    asked = {"name": "size", "instrument": "footprint", "scalar": "image_size", "at_most": "10 MB"}
    records = [
        record(
            candidate=name,
            instrument="footprint",
            load="none",
            scalars={"image_size": Scalar(value=value, unit="B")},
        )
        for name, value in (("rt", 8e6), ("stock", 14e6))
    ]
    verdict = judged(mission(requirements=[asked]), records)
    assert (gate(verdict, "rt", "size").outcome, gate(verdict, "stock", "size").outcome) == (
        Outcome.MET,
        Outcome.NOT_MET,
    )


def test_one_bad_cpu_fails_though_the_pool_hides_it() -> None:
    def run(seed: int, second_ns: int) -> Record:
        first = Series.raw([9000 + (17 * i + seed) % 100 for i in range(990)], name="latency", cpu=0)
        second = Series.raw([second_ns + (17 * i + seed) % 100 for i in range(20)], name="latency", cpu=1)
        return record([first, second], seed=seed, cpus=2)

    asked = mission(requirements=[{**WAKE_UP, "statistic": "p95"}])
    assert gate(judged(asked, [run(seed, 9000) for seed in range(10)]), "rt").outcome == Outcome.MET
    bad = gate(judged(asked, [run(seed, 300_000) for seed in range(10)]), "rt")
    assert bad.outcome == Outcome.NOT_MET
    assert bad.reason.startswith("CPU 1: p95 ")


def test_other_numbers_of_cpus_are_a_caveat() -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), RT + wakeups("rt", [250_000], cpus=4))
    assert verdict.fly == "rt"
    assert any(text.startswith("On 4 CPUs rt breaks 'wake-up under load' (1 of") for text in verdict.caveats)


def test_a_configuration_that_was_not_read_is_undecided() -> None:
    for config in (None, ""):
        verdict = judged(mission(needs=["realtime"]), RT, configs={"rt": config})
        assert gate(verdict, "rt", "need realtime").outcome == Outcome.UNDECIDED


def test_boards_are_never_ranked_together() -> None:
    one = mission(["rt", "this-machine"], requirements=[WAKE_UP])
    local = wakeups("this-machine", maxima(20_000, 60_000), board="local", timing=Timing.REAL)
    verdicts = analyse(one, "demo", RT + local, {}).verdicts
    assert [[one.candidate for one in verdict.standings] for verdict in verdicts] == [
        ["rt"],
        ["this-machine"],
    ]
    assert [verdict.board for verdict in verdicts] == ["virtual", "local"]
    assert not any("count instructions" in text for text in verdicts[1].caveats)


# Two candidates that may both fly: a has the smaller range, b the smaller p95 - avg.
def rivals(runs: int = 10) -> list[Record]:
    def run(candidate: str, seed: int, tail: int, spread: int) -> Record:
        samples = [10_000 + (17 * i + seed) % 999 * spread // 999 for i in range(999)] + [10_000 + tail + 10 * seed]
        return record(Series.raw(samples, name="latency"), candidate=candidate, seed=seed)

    return [run("a", seed, 2_000, 800) for seed in range(runs)] + [run("b", seed, 4_000, 400) for seed in range(runs)]


def weighted(range_weight: float, jitter_weight: float) -> Mission:
    return mission(
        ["a", "b"],
        requirements=[WAKE_UP],
        criteria=[{**RANGE, "weight": range_weight}, {**JITTER, "weight": jitter_weight}],
    )


def test_the_score_chooses_between_two_that_may_fly() -> None:
    assert judged(weighted(3.0, 1.0), rivals()).fly == "a"
    verdict = judged(weighted(1.0, 3.0), rivals())
    assert verdict.fly == "b"
    assert "a meets them too and scores 0." in verdict.headline


def test_the_weight_at_which_the_choice_turns_is_exact() -> None:
    verdict = judged(weighted(3.0, 1.0), rivals())
    (text,) = [text for text in verdict.would_change if "weight of 'jitter'" in text]
    found = re.search(r"b would lead a with a weight of 'jitter' above ([\d.]+) \(now 1\)", text)
    assert found is not None
    points = {one.candidate: [score.score for score in one.scores] for one in verdict.standings}
    (a_range, a_jitter), (b_range, b_jitter) = points["a"], points["b"]
    turn = 3.0 * (a_range - b_range) / (b_jitter - a_jitter)  # type: ignore[operator]
    assert float(found[1]) == pytest.approx(turn, rel=1e-2)
    for weight, first in ((turn * 0.999, "a"), (turn * 1.001, "b")):
        assert judged(weighted(3.0, weight), rivals()).standings[0].candidate == first
    totals = [one.total for one in judged(weighted(3.0, turn), rivals()).standings]
    assert totals[0] == pytest.approx(totals[1])


def test_a_tie_is_no_verdict() -> None:
    same = [
        record(Series.raw([10_000 + seed] * 99 + [12_000 + 10 * seed], name="latency"), candidate=name, seed=seed)
        for name in ("a", "b")
        for seed in range(10)
    ]
    verdict = judged(weighted(1.0, 1.0), same)
    assert verdict.fly is None
    assert verdict.headline.startswith("No verdict: a and b meet the one requirement, and their scores do not tell")
    assert [one.rank for one in verdict.standings] == [1, 1]


def test_a_lead_of_few_runs_is_no_verdict() -> None:
    verdict = judged(weighted(3.0, 1.0), rivals(runs=9))
    assert verdict.fly is None
    assert verdict.headline.endswith("and 'range' and 'jitter' cannot rank them (9 runs, 10 are needed).")
    assert "Not in the score: 'range' and 'jitter' (9 runs, 10 are needed)." in verdict.caveats
    assert [(one.total, one.rank) for one in verdict.standings] == [(None, None), (None, None)]
    assert [score.firm for score in standing(verdict, "a").scores] == [False, False]


def test_zero_and_negative_stability_are_defined() -> None:
    """p95 - avg: 0 for a, far below 0 for b (rare outliers lift its average). The study prints it unsigned."""

    def run(candidate: str, seed: int, outlier_ns: int) -> Record:
        series = Series.raw([10_001] * 99 + [outlier_ns], name="latency")
        return record(series, candidate=candidate, seed=seed)

    records = [run("a", seed, 10_001) for seed in range(10)] + [run("b", seed, 90_001) for seed in range(10)]
    verdict = judged(mission(["a", "b"], criteria=[JITTER]), records)
    scores = {one.candidate: one.scores[0] for one in verdict.standings}
    assert scores["b"].figure is not None
    assert scores["b"].figure.value == pytest.approx(-800)
    assert scores["a"].score == 1
    assert scores["b"].score == pytest.approx(1 / 800)  # one nanosecond, what the samples can tell, to 800
    flat = [record(Series.raw([7] * 50, name="l"), candidate=name, seed=seed) for name in "ab" for seed in range(10)]
    assert [one.total for one in judged(mission(["a", "b"], criteria=[JITTER]), flat).standings] == [1, 1]


def test_higher_is_better_where_the_mission_says_so() -> None:
    rates = [
        record(candidate=name, seed=seed, scalars={"rate": Scalar(value=value + seed, unit="1/s")})
        for name, value in (("a", 100.0), ("b", 200.0))
        for seed in range(10)
    ]
    asked = {"name": "rate", "instrument": "cyclictest", "load": "hackbench", "scalar": "rate", "weight": 1.0}
    verdict = judged(mission(["a", "b"], criteria=[{**asked, "better": "higher"}]), rates)
    assert verdict.fly == "b"
    assert standing(verdict, "a").total == pytest.approx(104.5 / 204.5)


def test_a_criterion_that_one_candidate_lacks_is_left_out_and_named() -> None:
    other = {**RANGE, "name": "range idle", "load": "none"}
    records = RT + STOCK + wakeups("rt", maxima(9_000, 9_900), load="none")
    verdict = judged(mission(criteria=[RANGE, other]), records)
    text = "Not in the score, for want of a usable figure of stock: 'range idle'."
    assert text in verdict.caveats
    assert standing(verdict, "rt").total == 1
    assert standing(verdict, "rt").scores[1].score is None
    assert standing(verdict, "rt").scores[1].figure is not None


def test_what_would_change_names_limits_and_needs() -> None:
    asked = mission(needs=["realtime"], requirements=[{**WAKE_UP, "at_most": "1 ms"}], criteria=[RANGE])
    verdict = judged(asked, RT + STOCK)
    assert verdict.fly == "rt"
    assert any(
        text == "Without the need realtime stock would meet every requirement, but rt would still lead the score."
        for text in verdict.would_change
    )
    largest = max(max(one.series[0].values) for one in RT)
    assert verdict.would_change[0] == (
        f"rt would no longer meet 'wake-up under load' with a limit below {largest / 1000:.4g} us (now 1 ms)."
    )
    strict = judged(mission(requirements=[WAKE_UP], criteria=[RANGE]), RT + STOCK)
    assert any(
        re.fullmatch(r"stock would meet 'wake-up under load' with a limit of \S+ us or more \(now 100 us\).*", text)
        for text in strict.would_change
    )


def test_a_candidate_that_lacks_several_needs_is_not_said_to_lack_only_one() -> None:
    needy = mission(["this-machine"], needs=["realtime", "usb"])
    here = record(Series.raw([1, 2], name="latency"), candidate="this-machine", board="local")
    verdict = judged(needy, [here], configs={"this-machine": "CONFIG_HIGH_RES_TIMERS=y\n"})
    assert verdict.headline == "No candidate may fly: this-machine fails 'need realtime' and 1 more."
    assert verdict.would_change == ("Without the needs realtime and usb this-machine would meet every requirement.",)


def test_a_candidate_alone_has_no_score() -> None:
    verdict = judged(mission(requirements=[WAKE_UP], criteria=[RANGE, JITTER]), RT)
    assert [(one.total, one.rank) for one in verdict.standings if one.candidate == "rt"] == [(None, None)]
    assert standing(verdict, "rt").scores[0].figure is not None
    assert not any("score" in text for text in verdict.caveats)


def test_no_usable_criterion_is_no_score_and_no_error() -> None:
    idle = wakeups("this-machine", [90_000], load="none", board="local", timing=Timing.REAL)
    verdict = judged(mission(["this-machine"], requirements=[WAKE_UP], criteria=[RANGE]), idle)
    assert [(one.total, one.rank, one.scores[0].score) for one in verdict.standings] == [(None, None, None)]
    assert verdict.fly is None


def test_host_timed_cells_are_named() -> None:
    timed = wakeups("rt", [12_000] * 6, timing=Timing.HOST_TIMED)
    told = "host-timed, so the same run gives other figures another time."
    verdict = judged(mission(requirements=[WAKE_UP]), timed + STOCK)
    assert f"cyclictest under hackbench of rt: {told}" in verdict.caveats
    both = [*timed, *wakeups("stock", [150_000] * 6, timing=Timing.HOST_TIMED)]
    assert f"Everything measured: {told}" in judged(mission(), both).caveats
    assert f"cyclictest under hackbench: {told}" in judged(mission(), [*both, *wakeups("rt", [1], load="none")]).caveats


def test_one_remark_on_many_cells_is_one_sentence() -> None:
    facts = [{"hypervisor": "kvm", "steal_ticks": str(ticks)} for ticks in (3, 5)]
    here = [
        record(
            Series.raw([1, 2], name="latency"), candidate="this-machine", board="local", instrument=instrument,
            load=load, timing=Timing.REAL, facts=one,
        )
        for instrument, one in zip(("cyclictest", "sysbench-cpu"), facts, strict=True) for load in ("none", "hackbench")
    ]  # fmt: skip
    assert judged(mission(["this-machine"]), here).caveats == (
        "Everything measured: the machine is a guest of kvm, which can take the CPU away.",
        "Everything measured: the hypervisor did take the CPU away.",
    )


def test_the_order_of_records_changes_nothing() -> None:
    asked = mission(needs=["realtime"], requirements=[WAKE_UP], criteria=[RANGE, JITTER])
    assert judged(asked, RT + STOCK) == judged(asked, (RT + STOCK)[::-1])
