# SPDX-License-Identifier: MIT
"""A run that gave no record counts: against its candidate where that hung or died, as unknown elsewhere."""

from dataclasses import replace

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.losses import losses
from rtqual.engine.analysis.figure.model import Group, LostRun
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.gates import EVERY_RUN_ENDS
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.protocols.record.schema import Record
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from support.analysis_records import WAKE_UP, mission, record, wakeups

RT = Group("cyclictest", "hackbench", "virtual", 1, "rt")
HUNG = LostRun(RT, 4, 0, 2, ("hung and was ended", "hung and was ended"), died=2)
FULL = LostRun(RT, 4, 0, 1, ("the disk is full",), died=0)
ASKED = mission(["rt"], requirements=[WAKE_UP])


def runs(without: int | None = 4) -> list[Record]:
    return [one for one in wakeups("rt", [20_000] * 10) if one.inputs.seed != without]


def found(records: list[Record], *lost: LostRun, accept_virtual: bool = True) -> Evidence:
    asked = mission(["rt"], requirements=[WAKE_UP], accept_virtual=accept_virtual)
    return analyse(asked, "demo", records, {}, lost=lost)


def gate_of(evidence: Evidence, name: str = "wake-up under load") -> Gate:
    return next(one for one in evidence.verdicts[0].standings[0].gates if one.requirement == name)


@pytest.mark.parametrize("accept_virtual", [True, False])
@pytest.mark.parametrize("without", [4, None])  # also where it gave a record when it was made again
def test_a_hung_run_is_a_limit_not_kept_by_any_clock(without: int | None, accept_virtual: bool) -> None:
    evidence = found(runs(without), HUNG, accept_virtual=accept_virtual)
    (verdict,) = evidence.verdicts
    gate = gate_of(evidence)
    assert (gate.outcome, gate.seen, gate.lost) == (Outcome.NOT_MET, Outcome.NOT_MET, 1)
    assert "1 of 10 runs" in gate.reason and "seed 4" in gate.reason
    assert gate_of(evidence, EVERY_RUN_ENDS).outcome == Outcome.NOT_MET
    assert (verdict.fly, verdict.first) == (None, None)
    assert "rt hung or died." in verdict.headline
    assert not any("limit of" in said for said in verdict.would_change), "no limit would let a hung run keep it"


def test_a_hang_is_told_whole_once_and_a_limit_that_is_broken_besides_is_named() -> None:
    """The headline said "fails 'wake-up' (20 us; at most 100 us asked)", and three gates told why it hung."""
    kept, broken = (found([*wakeups("rt", [us * 1000] * 9)], replace(HUNG, seed=9)) for us in (20, 200))
    assert gate_of(kept).lost_alone and not gate_of(broken).lost_alone
    assert "hung and was ended" in gate_of(kept, EVERY_RUN_ENDS).reason
    assert "hung and was ended" not in gate_of(kept).reason
    assert "1 of 10 runs hung or died (seed 9), made up to 2 times; of the runs that ended: max 20 us" in (
        gate_of(kept).reason
    )
    assert "rt hung or died and fails 'wake-up under load' (200 us; at most 100 us asked)." in (
        broken.verdicts[0].headline
    )


def test_runs_that_ended_say_nothing_of_how_rare_misses_are_beside_a_hang() -> None:
    every = [one.manifest.inputs.model_copy(update={"parameters": {"interval": 1_000_000}}) for one in runs()]
    timed = [type(one)(one.manifest.model_copy(update={"inputs": its}), one.series)
             for one, its in zip(runs(), every, strict=True)]  # fmt: skip
    told = [any("wake-ups" in caveat for caveat in found(timed, *lost).verdicts[0].caveats) for lost in ((), (HUNG,))]
    assert told == [True, False]


def test_of_how_many_runs_all_hung_is_told() -> None:
    assert losses([HUNG], [], 1).text.startswith("1 of 1 run hung or died (seed 4), made up to 2 times: hung")


def test_a_run_that_the_host_lost_leaves_it_undecided_until_it_is_made_again() -> None:
    assert gate_of(found(runs(), FULL)).outcome == Outcome.UNDECIDED
    assert gate_of(found(runs(None), FULL)).outcome == Outcome.MET


def test_a_run_that_is_missing_leaves_it_undecided() -> None:
    assert gate_of(found(runs())).outcome == Outcome.UNDECIDED
    assert gate_of(found(runs(None))).outcome == Outcome.MET


def test_a_limit_that_is_broken_stays_broken_whatever_is_missing() -> None:
    late = [one for one in wakeups("rt", [200_000] * 10) if one.inputs.seed != 4]
    assert gate_of(found(late, FULL)).outcome == Outcome.NOT_MET


def test_a_hang_where_nothing_is_required_clears_nobody() -> None:
    elsewhere = replace(HUNG, group=replace(RT, load="none"))
    (verdict,) = found(runs(None), elsewhere).verdicts
    assert verdict.standings[0].may_fly == Outcome.NOT_MET
    assert ": rt hung or died. (" in verdict.headline
    assert gate_of(found(runs(None), elsewhere)).outcome == Outcome.MET


@pytest.mark.parametrize("why", ["rt on the virtual board hung and was ended at its deadline of 60 s", "it panicked"])
def test_what_older_campaigns_tell_of_a_hang_counts(why: str) -> None:
    evidence = analyse(ASKED, "demo", runs(), {}, {RT: why})
    assert gate_of(evidence).outcome == Outcome.NOT_MET
    assert gate_of(analyse(ASKED, "demo", runs(), {}, {RT: "ssh broke"})).outcome == Outcome.UNDECIDED
    nothing = [record(candidate="rt", load="none", board="virtual", scalars={})]
    assert gate_of(analyse(ASKED, "demo", nothing, {}, {RT: why})).outcome == Outcome.NOT_MET


def test_every_output_says_it() -> None:
    evidence = found(runs(), HUNG)
    junit = to_junit(ASKED, evidence)
    assert junit.count("<failure") == 2
    assert "1 of 10 runs" in to_github(ASKED, evidence)
    metrics = to_prometheus(ASKED, evidence)
    assert any("rtqual_lost_runs{" in line and 'counts_against="candidate"' in line and line.endswith(" 1.0")
               for line in metrics.splitlines())  # fmt: skip
