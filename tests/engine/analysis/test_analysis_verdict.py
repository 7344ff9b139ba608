# SPDX-License-Identifier: MIT
"""Verdicts on made-up records: who may fly, and what is refused."""

import re
from collections.abc import Sequence

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.verdict.headline import result
from rtqual.engine.analysis.verdict.model import Gate, Outcome, Verdict
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import WAKE_UP, maxima, mission, record, wakeups
from support.verdict_records import RANGE, RT, STOCK, judged, standing


def gate(verdict: Verdict, candidate: str, requirement: str = WAKE_UP["name"]) -> Gate:
    return next(one for one in standing(verdict, candidate).gates if one.requirement == requirement)


def test_rt_beats_stock() -> None:
    needs = ["realtime", "usb"]
    verdict = judged(mission(needs=needs, requirements=[WAKE_UP], criteria=[RANGE]), RT + STOCK)
    assert verdict.fly == "rt"
    assert verdict.headline.startswith(
        "rt passes on the emulator and ranks first: it meets all 3 requirements; stock fails 'wake-up under load' ("
    )
    assert [(one.candidate, one.rank, one.may_fly) for one in verdict.standings] == [
        ("rt", None, Outcome.MET),
        ("stock", None, Outcome.NOT_MET),
    ]
    assert [one.total for one in verdict.standings] == [None, None], "who is out is not scored"
    assert gate(verdict, "rt").misses == 0
    assert gate(verdict, "stock").misses == 10
    assert "; no deadline miss: one is rarer than 1 in 3,338 (95 %, if independent)" in gate(verdict, "rt").reason
    assert "10,000 samples in 10 runs" in gate(verdict, "rt").reason
    assert gate(verdict, "stock", "need realtime").outcome == Outcome.NOT_MET
    assert gate(verdict, "stock", "need usb").outcome == Outcome.MET
    assert verdict.findings[0].startswith("wake-up under load: rt < stock (median run max ")
    assert re.search(r"ratio 0\.0\d+, 95 % interval 0\.0\d+ to 0\.\d+\)", verdict.findings[0])
    assert verdict.caveats[0].startswith("Figures from the virtual board count instructions")


def test_no_candidate_may_fly() -> None:
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


def test_what_the_scale_does_not_measure_is_reported_once_and_no_candidate_flies() -> None:
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


def test_a_mission_without_requirements_passes_no_candidate_that_was_not_measured() -> None:
    verdict = judged(mission(criteria=[RANGE]), RT)
    assert [one.may_fly for one in verdict.standings] == [Outcome.UNASKED, Outcome.UNDECIDED]
    assert (verdict.fly, verdict.first) == (None, None), "nothing was compared"
    assert verdict.headline == "No verdict on rt: the mission sets no requirement; stock was not measured."
    assert result(verdict, verdict.standings[0])[0] == "no requirement"


def test_nothing_is_met_where_nothing_is_required() -> None:
    verdict = judged(mission(), RT + STOCK)
    assert verdict.headline == (
        "No verdict: the mission sets no requirement and no criterion. The figures are for comparison."
    )
    assert (verdict.fly, verdict.first) == (None, None)
    assert [result(verdict, one)[0] for one in verdict.standings] == ["no requirement"] * 2
    refused = judged(mission(), RT)
    assert (refused.first, result(refused, refused.standings[0])[0]) == (None, "no requirement")
    alone = judged(mission(["rt"], criteria=[RANGE]), RT)
    assert alone.first is None
    assert alone.headline == "No verdict on rt: the mission sets no requirement."


def test_criteria_alone_rank_and_clear_nobody() -> None:
    verdict = judged(mission(criteria=[RANGE]), RT + STOCK)
    assert verdict.headline.startswith(
        "No verdict: the mission sets no requirement. By its criteria rt ranks first; stock scores "
    )
    assert verdict.headline.endswith(" less. (The mission takes counted instructions for time.)")
    assert (verdict.fly, verdict.first) == (None, "rt")
    assert [result(verdict, one)[0] for one in verdict.standings] == ["ranks first", "no requirement"]


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
    verdict = judged(mission(requirements=[WAKE_UP]), STOCK, failures={group: "the disk is full"})
    assert gate(verdict, "rt").reason == "not measured: the disk is full"
    assert any("the disk is full" in text for text in verdict.caveats)
    assert verdict.fly is None


def test_problems_refuse() -> None:
    bad = wakeups("rt", maxima(11_000, 15_000), problems=["2 samples were lost"])
    verdict = judged(mission(requirements=[WAKE_UP], criteria=[RANGE]), bad + STOCK)
    assert gate(verdict, "rt").outcome == Outcome.UNDECIDED
    assert gate(verdict, "rt").reason == "refused: 2 samples were lost (10 of 10 runs)"
    assert verdict.fly is None
    assert standing(verdict, "rt").scores[0].score is None


@pytest.mark.parametrize(("runs", "outcome"), [(5, Outcome.UNDECIDED), (6, Outcome.MET)])
def test_few_runs_pass_no_candidate(runs: int, outcome: Outcome) -> None:
    verdict = judged(mission(requirements=[WAKE_UP], runs=runs), wakeups("rt", maxima(11_000, 15_000, runs)))
    assert gate(verdict, "rt").outcome == outcome
    if outcome == Outcome.UNDECIDED:
        assert "'wake-up under load' would be decided for rt by 1 more run" in verdict.would_change[0]


def test_one_miss_fails_however_few_the_runs() -> None:
    verdict = judged(mission(requirements=[WAKE_UP]), wakeups("rt", [100_001]))
    assert gate(verdict, "rt").outcome == Outcome.NOT_MET
    assert gate(verdict, "rt").misses == 1
    exactly = judged(mission(requirements=[WAKE_UP], runs=6), wakeups("rt", [100_000] * 6))
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


def test_one_of_several_cpus_breaks_a_limit_by_an_interval_that_allows_for_all() -> None:
    """Each alone would break a limit at its true figure in 2.5 %, and some one of eight in up to 18 %."""

    def runs(cpus: int, late_ns: int) -> list[Record]:
        levels = [[8_000, late_ns + 20 * seed][cpu == cpus - 1] for seed in range(10) for cpu in range(cpus)]
        series = [Series.raw([level - 5, level + 5], name="latency", cpu=n % cpus) for n, level in enumerate(levels)]
        return [record(series[cpus * n : cpus * (n + 1)], seed=n, cpus=cpus) for n in range(10)]

    asked = mission(requirements=[{**WAKE_UP, "statistic": "avg", "at_most": "9032 ns"}])
    assert gate(judged(asked, runs(1, 9_000)), "rt").outcome == Outcome.NOT_MET
    of_eight = gate(judged(asked, runs(8, 9_000)), "rt")
    assert (of_eight.outcome, of_eight.reason.startswith("CPU 7: avg ")) == (Outcome.UNDECIDED, True)
    assert of_eight.reason.endswith("; the interval holds the limit (widened for the worst of 8)")
    assert of_eight.measured and of_eight.measured.interval and of_eight.measured.interval.low <= 9_032
    surely = gate(judged(asked, runs(8, 9_100)), "rt")
    assert (surely.outcome, surely.reason.startswith("CPU 7: avg ")) == (Outcome.NOT_MET, True)


def test_one_of_several_series_breaks_a_limit_by_an_interval_that_allows_for_all() -> None:
    def runs(series: int, late_ns: int) -> list[Record]:
        def of(seed: int) -> list[Series]:
            levels = [[8_000, late_ns + 20 * seed][n == series - 1] for n in range(series)]
            return [Series.raw([level - 5, level + 5], name=f"path {n}", cpu=0) for n, level in enumerate(levels)]

        return [record(of(seed), seed=seed) for seed in range(10)]

    asked = mission(requirements=[{**WAKE_UP, "statistic": "avg", "at_most": "9032 ns"}])
    assert gate(judged(asked, runs(1, 9_000)), "rt").outcome == Outcome.NOT_MET
    of_eight = gate(judged(asked, runs(8, 9_000)), "rt")
    assert (of_eight.outcome, of_eight.reason.startswith("path 7 (the worst of 8 series): avg ")) == (
        Outcome.UNDECIDED,
        True,
    )
    assert of_eight.reason.endswith("; the interval holds the limit (widened for the worst of 8)")
    assert gate(judged(asked, runs(8, 9_100)), "rt").outcome == Outcome.NOT_MET


def test_other_numbers_of_cpus_are_a_caveat() -> None:
    verdict = judged(mission(["rt"], requirements=[WAKE_UP]), RT + wakeups("rt", [250_000], cpus=4))
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
