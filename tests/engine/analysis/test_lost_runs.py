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
from rtqual.reports.material import gather
from rtqual.reports.page.render import to_markdown
from rtqual.reports.view import build
from support.analysis_records import RT_CONFIG, WAKE_UP, mission, record, wakeups

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
    assert "rt hung or died in 1 of 10 runs." in verdict.headline
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
    assert "rt hung or died in 1 of 10 runs and fails 'wake-up under load' (200 us; at most 100 us asked)." in (
        broken.verdicts[0].headline
    )


def test_runs_that_ended_say_nothing_of_how_rare_misses_are_beside_a_hang() -> None:
    every = [one.manifest.inputs.model_copy(update={"parameters": {"interval": 1_000_000}}) for one in runs()]
    timed = [type(one)(one.manifest.model_copy(update={"inputs": its}), one.series)
             for one, its in zip(runs(), every, strict=True)]  # fmt: skip
    told = [any("wake-ups" in caveat for caveat in found(timed, *lost).verdicts[0].caveats) for lost in ((), (HUNG,))]
    assert told == [True, False]


BOTH = mission(["rt", "stock"], requirements=[WAKE_UP], needs=["usb"])


def both(*lost: LostRun, without: int | None = 4) -> tuple[Evidence, list[Record]]:
    taken = [*runs(without), *wakeups("stock", [30_000] * 10)]
    return analyse(BOTH, "demo", taken, dict.fromkeys(["rt", "stock"], RT_CONFIG), lost=lost), taken


def told(evidence: Evidence, taken: list[Record]) -> str:
    return to_markdown(build(gather(BOTH, evidence, [one.manifest for one in taken], {})))


def test_beside_a_hang_the_runs_of_the_others_are_said_to_have_ended() -> None:
    """The table had a dash there, as if nobody had looked."""
    (verdict,) = both(HUNG)[0].verdicts
    ends = {standing.candidate: gate for standing in verdict.standings for gate in standing.gates
            if gate.requirement == EVERY_RUN_ENDS}  # fmt: skip
    assert ends["stock"].outcome == Outcome.MET and "10 runs ended" in ends["stock"].reason
    assert ends["rt"].outcome == Outcome.NOT_MET
    assert len(verdict.standings[0].gates) == 3
    (verdict,) = both(FULL)[0].verdicts
    assert not any(gate.requirement == EVERY_RUN_ENDS for standing in verdict.standings for gate in standing.gates)
    nothing = mission(["rt", "stock"])
    (verdict,) = analyse(nothing, "demo", [*runs(), *wakeups("stock", [30_000] * 10)], {}, lost=[HUNG]).verdicts
    assert [standing.seen for standing in verdict.standings if standing.candidate == "stock"] == [Outcome.UNASKED]


def test_runs_that_hung_are_no_difference_of_plans() -> None:
    """ "The candidates differ in more than the kernel: runs of cyclictest, 9 and 10", told page one beside a hang."""
    (verdict,) = both(HUNG)[0].verdicts
    assert not [one for one in verdict.differs if "Runs of" in one]
    assert any("runs begun of each cell are the same" in one for one in verdict.caveats)
    assert [one for one in analyse(BOTH, "demo", both()[1], {}).verdicts[0].differs if "Runs of" in one]


def test_a_limit_that_the_other_runs_kept_is_no_riddle_beside_a_hang() -> None:
    """The cell said "not met, 20 us" of a limit of 100 us, and its reason how rare a miss is."""
    evidence, taken = both(HUNG)
    reason = gate_of(found(runs(), HUNG)).reason
    assert reason.endswith("of the runs that ended: max 20 us of 9,000 samples in 9 of 10 runs, at most 100 us asked")
    assert "(other runs 20 µs)" in told(evidence, taken)


def test_that_a_run_ends_is_not_read_from_a_configuration() -> None:
    evidence, taken = both(HUNG)
    needs = told(evidence, taken).partition("Needs on the virtual board")[2].partition("## ")[0]
    assert "need usb" in needs and EVERY_RUN_ENDS not in needs
    assert "| rt | needs | ✅ met | usb |" in to_github(BOTH, evidence)


def test_a_run_that_hung_and_was_made_again_has_failed() -> None:
    """ "No run failed", said the chapter of failures."""
    evidence, taken = both(HUNG, without=None)
    chapter = told(evidence, taken).partition("Failures and problems")[2].partition("## ")[0]
    assert "No run failed" not in chapter
    assert "rt, cyclictest under hackbench, virtual board, 1 CPU, seed 4: hung and was ended" in chapter
    assert "counts against the candidate" in chapter
    assert "No run failed" in told(*both(without=None))


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
    assert ": rt hung or died in 1 of 1 run. (" in verdict.headline
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


def test_a_candidate_whose_every_run_hung_was_not_left_unmeasured() -> None:
    """Page one said "Not measured at this scale: rt" above "rt hung or died in 10 of 10 runs"."""
    asked = mission(["rt", "stock"], requirements=[WAKE_UP])
    hung = [replace(HUNG, seed=seed) for seed in range(10)]
    seen = analyse(asked, "demo", wakeups("stock", [20_000] * 10), {}, lost=hung)
    facts = dict(build(gather(asked, seen, [run.manifest for run in wakeups("stock", [20_000] * 10)], {})).facts)
    assert (facts["No run gave a record"], facts["Not measured at this scale"]) == ("rt", "none")
    facts = dict(build(gather(ASKED, found(runs()), [run.manifest for run in runs()], {})).facts)
    assert "No run gave a record" not in facts
