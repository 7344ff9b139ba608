# SPDX-License-Identifier: MIT
"""The words never exceed the clock: who may say "fly", and what is certain enough to say no."""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Ground, Outcome
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from support.analysis_records import RT_CONFIG, STOCK_CONFIG, WAKE_UP, mission, record, wakeups

CONFIGS = {"rt": RT_CONFIG, "stock": STOCK_CONFIG}
RT = wakeups("rt", [11_000 + 100 * n for n in range(10)])
STOCK = wakeups("stock", [150_000 + 100 * n for n in range(10)])


def evidence(one: Mission, records: Sequence[Record], configs: Mapping[str, str | None] = CONFIGS) -> Evidence:
    return analyse(one, "demo", records, configs)


def test_a_limit_in_time_is_not_met_by_counted_instructions() -> None:
    asked = mission(needs=["realtime"], requirements=[WAKE_UP], accept_virtual=False)
    found = evidence(asked, RT + STOCK)
    (verdict,) = found.verdicts
    assert (verdict.ground, verdict.fly, verdict.first) == (Ground.EMULATED, None, "rt")
    assert verdict.headline == (
        "rt ranks first on the emulator: it meets all 2 requirements there; "
        "stock fails 'need realtime' and 1 more. To fly it, measure on the board."
    )
    assert found.answer is not None and found.answer.headline == verdict.headline
    gates = {(one.candidate, one.requirement): one for at in verdict.standings for one in at.gates}
    wake_up = gates["rt", WAKE_UP["name"]]
    assert (wake_up.outcome, wake_up.seen) == (Outcome.INDICATIVE, Outcome.MET)
    assert wake_up.reason.endswith("; met on the emulator, whose counted instructions are no flight latency")
    assert gates["stock", WAKE_UP["name"]].seen == Outcome.NOT_MET
    assert gates["rt", "need realtime"].outcome == Outcome.MET  # as ever

    cases = {one.get("name"): one for one in ElementTree.fromstring(to_junit(asked, found)).iter("testcase")}  # noqa: S314 - ours
    (skipped,) = cases[WAKE_UP["name"]]
    assert skipped.tag == "skipped" and "indicative" in str(ElementTree.tostring(skipped))
    assert "ranks first on the emulator" in to_github(asked, found) and "✅ fly" not in to_github(asked, found)
    metrics = to_prometheus(asked, found)
    assert [line[-3:] for line in metrics.splitlines() if line.startswith("rtqual_fly{")] == ["0.0", "0.0"]


def test_a_mission_may_take_counted_instructions_for_time_and_says_so() -> None:
    (verdict,) = evidence(mission(requirements=[WAKE_UP]), RT + STOCK).verdicts
    assert (verdict.ground, verdict.fly) == (Ground.ACCEPTED, "rt")
    assert any("(accept-virtual)" in text for text in verdict.caveats)


def test_sizes_and_counts_are_judged_on_the_emulator_as_anywhere() -> None:
    asked = {"name": "lost", "instrument": "cyclictest", "load": "hackbench", "scalar": "lost", "at_most": 0}
    rate = {"name": "rate", "instrument": "cyclictest", "load": "hackbench", "scalar": "rate", "at_least": 100}
    records = [
        record(seed=n, scalars={"lost": Scalar(value=n % 2, unit="1"), "rate": Scalar(value=200, unit="1/s")})
        for n in range(10)
    ]
    (verdict,) = evidence(mission(["rt"], requirements=[asked, rate], accept_virtual=False), records).verdicts
    outcomes = {one.requirement: one.outcome for one in verdict.standings[0].gates}
    assert outcomes == {"lost": Outcome.NOT_MET, "rate": Outcome.INDICATIVE}  # by the second is of time


def local(maxima_ns: Sequence[int], *, candidate: str = "this-machine", **facts: str) -> list[Record]:
    return wakeups(candidate, maxima_ns, board="local", timing=Timing.REAL, facts=facts)


def test_one_answer_for_several_boards_and_a_virtual_machine_is_no_flight_candidate() -> None:
    asked = mission(["rt", "this-machine"], requirements=[WAKE_UP], accept_virtual=False)
    found = evidence(asked, RT + local([900_000] * 10, hypervisor="kvm"))
    assert found.answer is not None
    assert found.answer.headline.startswith("rt was tried on the emulator: it meets the one requirement there.")
    here = next(one for one in found.verdicts if one.board == "local")
    assert (here.ground, here.fly) == (Ground.REFERENCE, None)
    assert here.headline == (
        "this-machine is not a flight candidate: it is a guest of kvm. What was measured there is for comparison."
    )
    assert "No candidate may fly" not in to_github(asked, found)
    assert [heading for heading, _ in found.headed] == ["Verdict, virtual board", "Evidence, local board"]


@pytest.mark.parametrize("worst_ns", [20_000, 900_000])
def test_a_machine_for_comparison_is_first_in_nothing_and_fails_no_build(worst_ns: int) -> None:
    asked = mission(["rt", "this-machine"], requirements=[WAKE_UP], accept_virtual=False)
    found = evidence(asked, RT + local([worst_ns] * 10, hypervisor="kvm"))
    here = next(one for one in found.verdicts if one.board == "local")
    assert (here.first, here.fly, here.would_change) == (None, None, ())
    metrics = to_prometheus(asked, found).splitlines()
    firsts = [line for line in metrics if line.startswith("rtqual_first{") and line.endswith(" 1.0")]
    assert len(firsts) == 1 and 'candidate="rt"' in firsts[0]
    assert "| this-machine | ❓ for comparison | - |" in to_github(asked, found)
    junit = ElementTree.fromstring(to_junit(asked, found))  # noqa: S314 - ours
    assert (junit.get("failures"), junit.get("errors")) == ("0", "0")
    suite = next(one for one in junit.iter("testsuite") if one.get("name") == "this-machine, local board")
    assert [one.get("type") for one in suite.iter("skipped")] == ["for comparison"]


def test_real_time_answers_before_the_emulator() -> None:
    asked = mission(["rt", "this-machine"], requirements=[WAKE_UP], accept_virtual=False)
    found = evidence(asked, RT + local([20_000] * 10))
    assert found.answer is not None
    assert (found.answer.fly, found.answer.ground) == ("this-machine", Ground.FLIGHT)
    assert found.answer.headline == "Cleared to fly this-machine: it meets the one requirement."


def test_this_machine_flies_only_where_the_mission_states_what_runs_on_it() -> None:
    asked = mission(["this-machine"], requirements=[WAKE_UP])
    unstated = asked.candidates[0].model_copy(update={"preempt_rt": None})
    asked = asked.model_copy(update={"candidates": (unstated,)})
    (verdict,) = evidence(asked, local([20_000] * 10)).verdicts
    assert verdict.fly is None
    assert "the mission states no release or preempt-rt for this-machine" in verdict.headline


def spread(late_of_600: int, runs: int = 10) -> list[Record]:
    """Runs of 600 samples about 10 us, so many of them at 300 us."""
    return [
        record(Series.raw([*(8_000 + (17 * n + 31 * seed) % 2_000 for n in range(600 - late)), *[300_000] * late],
                          name="latency"), seed=seed)
        for seed, late in ((n, late_of_600 + n % 3 - 1) for n in range(runs))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("statistic", "late", "outcome", "why"),
    [
        ("p99", 12, Outcome.NOT_MET, "it is above the limit in each of the 10 runs"),
        ("p99.9", 7, Outcome.NOT_MET, "% of the samples are beyond the limit, and p99.9 allows 0.1 %"),
        ("p99", 6, Outcome.UNDECIDED, "the interval holds the limit"),
        ("p95", 7, Outcome.MET, ""),
    ],
)
def test_certain_failure_is_not_met(statistic: str, late: int, outcome: Outcome, why: str) -> None:
    """Of 6,000 samples 73 or so are beyond the limit of p99.9, which allows six."""
    asked = mission(["rt"], requirements=[{**WAKE_UP, "statistic": statistic, "at_most": "200 us"}])
    (verdict,) = evidence(asked, spread(late)).verdicts
    (gate,) = verdict.standings[0].gates
    assert gate.outcome == outcome, gate.reason
    assert why in gate.reason


def test_what_rests_on_one_run_ranks_nobody() -> None:
    criterion = {"name": "range", "instrument": "cyclictest", "load": "hackbench", "statistic": "max-min", "weight": 1}
    once = [*wakeups("rt", [11_000]), *wakeups("stock", [12_000])]
    (verdict,) = evidence(mission(criteria=[criterion]), once).verdicts
    assert [(one.total, one.rank) for one in verdict.standings] == [(None, None), (None, None)]
    assert "Not in the score: 'range' (1 run, 10 are needed)." in verdict.caveats
    timed = [
        *wakeups("rt", [11_000 + n for n in range(10)], timing=Timing.HOST_TIMED),
        *wakeups("stock", [50_000 + n for n in range(10)], timing=Timing.HOST_TIMED),
    ]
    (verdict,) = evidence(mission(criteria=[criterion]), timed).verdicts
    assert [one.total for one in verdict.standings] == [None, None]
    assert "Not in the score: 'range' (host-timed)." in verdict.caveats


@pytest.mark.parametrize("timing", [Timing.MODELLED, Timing.MODELLED_UNTESTED])
def test_modelled_time_meets_no_limit_even_where_counted_instructions_may(timing: Timing) -> None:
    """Nor is it ranked with the virtual board's."""
    modelled = wakeups("rt", [11_000 + 100 * n for n in range(10)], board="virtual+cortex-a72", timing=timing)
    found = evidence(mission(["rt"], requirements=[WAKE_UP], accept_virtual=True), RT + modelled)
    by_board = {verdict.board: verdict for verdict in found.verdicts}
    assert by_board["virtual"].fly == "rt"
    verdict = by_board["virtual+cortex-a72"]
    assert (verdict.ground, verdict.fly) == (Ground.EMULATED, None)
    (gate,) = (gate for gate in verdict.standings[0].gates if gate.requirement == WAKE_UP["name"])
    assert (gate.outcome, gate.seen) == (Outcome.INDICATIVE, Outcome.MET)
    assert "not calibrated" in gate.reason
    assert any("not calibrated" in caveat for caveat in verdict.caveats)
    assert not any("accept-virtual" in caveat for caveat in verdict.caveats)
