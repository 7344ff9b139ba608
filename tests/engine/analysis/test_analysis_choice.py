# SPDX-License-Identifier: MIT
"""The choice between candidates that may fly: scores, ties, and what would turn it."""

import math
import re
from dataclasses import replace

import pytest

from rtqual.engine.analysis.figure.cells import by_board
from rtqual.engine.analysis.verdict.score import score_table
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import WAKE_UP, maxima, measured, mission, record, wakeups
from support.verdict_records import RANGE, RT, STOCK, judged, standing

JITTER = {**RANGE, "name": "jitter", "statistic": "p95-avg"}


# Two candidates that may both fly: a has the smaller range, b the smaller p95 - avg.
def rivals(runs: int = 10) -> list[Record]:
    def run(candidate: str, seed: int, tail: int, spread: int) -> Record:
        samples = [10_000 + (17 * i + seed) % 999 * spread // 999 for i in range(999)] + [10_000 + tail + 10 * seed]
        return record(Series.raw(samples, name="latency"), candidate=candidate, seed=seed)

    return [run("a", seed, 2_000, 800) for seed in range(runs)] + [run("b", seed, 4_000, 400) for seed in range(runs)]


def weighted(range_weight: float, jitter_weight: float, runs: int = 10) -> Mission:
    return mission(
        ["a", "b"],
        runs=runs,
        requirements=[WAKE_UP],
        criteria=[{**RANGE, "weight": range_weight}, {**JITTER, "weight": jitter_weight}],
    )


def test_the_score_chooses_between_two_that_may_fly() -> None:
    assert judged(weighted(3.0, 1.0), rivals()).fly == "a"
    verdict = judged(weighted(1.0, 3.0), rivals())
    assert verdict.fly == "b"
    assert "a meets them too and scores 1.44 times [" in verdict.headline


def test_the_weight_at_which_the_choice_turns_is_exact() -> None:
    verdict = judged(weighted(3.0, 1.0), rivals())
    (text,) = [text for text in verdict.would_change if "weight of 'jitter'" in text]
    found = re.search(r"b would lead a with a weight of 'jitter' above ([\d.]+) \(now 1\)", text)
    assert found is not None
    points = {one.candidate: [score.score for score in one.scores] for one in verdict.standings}
    (a_range, a_jitter), (b_range, b_jitter) = points["a"], points["b"]
    turn = 3.0 * math.log(a_range / b_range) / math.log(b_jitter / a_jitter)  # type: ignore[operator]
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
    verdict = judged(weighted(3.0, 1.0, runs=9), rivals(runs=9))
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
    assert scores["b"].score == pytest.approx(10.001 / 800)  # 0.1 % of p95, what can be told apart, to 800
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
    assert verdict.first == "b"
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


def test_a_criterion_whose_figure_is_only_a_lower_end_ranks_nobody() -> None:
    def run(candidate: str, seed: int) -> Record:
        known = {"min": 9_000.0, "avg": 9_500.0 + seed, "max": 12_000.0}
        cut = Series.counted({9_000: 940}, name="latency", overflow=60, overflow_from=10_000, reported=known)
        return record(cut, candidate=candidate, seed=seed)

    whole = [one for one in rivals() if one.inputs.candidate == "b"]
    verdict = judged(mission(["a", "b"], criteria=[JITTER]), [run("a", seed) for seed in range(10)] + whole)
    assert "Not in the score: 'jitter' (the tool's histogram ends below a figure)." in verdict.caveats
    assert standing(verdict, "b").total is None


def test_what_would_change_names_limits_and_needs() -> None:
    asked = mission(needs=["realtime"], requirements=[{**WAKE_UP, "at_most": "1 ms"}], criteria=[RANGE])
    verdict = judged(asked, RT + STOCK)
    assert verdict.fly == "rt"
    assert any(
        text.startswith(
            "Without the need realtime stock would meet every requirement, but rt would still lead the score, "
        )
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
    assert judged(mission(["this-machine"], runs=1), here).caveats == (
        "Everything measured: the machine is a guest of kvm, which can take the CPU away.",
        "Everything measured: the hypervisor did take the CPU away.",
    )


def test_the_order_of_records_changes_nothing() -> None:
    asked = mission(needs=["realtime"], requirements=[WAKE_UP], criteria=[RANGE, JITTER])
    assert judged(asked, RT + STOCK) == judged(asked, (RT + STOCK)[::-1])


def test_of_figures_without_intervals_none_leads_for_certain() -> None:
    """A study may print sizes beside them: the sizes alone separate nobody."""
    criteria = [
        {"name": name, "instrument": "cyclictest", "load": "hackbench", "scalar": name, "weight": 1}
        for name in ("rom", "late")
    ]
    records = [
        record(
            candidate=name,
            board="published",
            scalars={"rom": Scalar(value=rom, unit="B"), "late": Scalar(value=10.0, unit="ns")},
        )
        for name, rom in (("a", 1.0), ("b", 2.0))
    ]
    asked = mission(["a", "b"], criteria=criteria)
    (cells,) = [one for one in by_board(asked, "demo", measured(records), {}) if one.board == "published"]
    table = score_table(asked.criteria, cells, ("a", "b"))
    assert table.lead("a", "b") == (pytest.approx(math.sqrt(2)), None)
    assert not table.leads("a", "b")
    assert replace(table.beside("a", "b"), firm=True)._lead()[1].low > 1  # type: ignore[union-attr]


def test_of_a_candidate_that_only_lacks_a_need_the_verdict_says_what_was_measured() -> None:
    """On the emulator too, where a limit that is kept is indicative."""
    one = mission(needs=["realtime"], requirements=[WAKE_UP], criteria=[RANGE], accept_virtual=False)
    records = [*wakeups("rt", maxima(11_000, 15_000)), *wakeups("stock", maxima(30_000, 34_000))]
    verdict = judged(one, records)
    assert "stock fails 'need realtime' and scores " in verdict.headline
    without = "Without the need realtime stock would meet every requirement on the emulator, but rt would still lead"
    assert any(text.startswith(f"{without} the score, ") for text in verdict.would_change)
    worse = [*wakeups("rt", maxima(30_000, 34_000)), *wakeups("stock", maxima(11_000, 15_000))]
    assert "scores" not in judged(one, worse).headline
