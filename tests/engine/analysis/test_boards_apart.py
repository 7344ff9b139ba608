# SPDX-License-Identifier: MIT
"""Boards of one model: a difference between them is a finding of the verdict, and none is made up."""

from rtqual.engine.analysis.difference.boards import between_boards
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.summary import groups
from rtqual.protocols.record.schema import Record, Timing
from support.analysis_records import maxima, mission, wakeups


def of_board(name: str, low: int, high: int, runs: int = 10, first_seed: int = 0) -> list[Record]:
    some = maxima(low, high)[:runs]
    made = wakeups("rt", [0] * first_seed + list(some), board="pi", timing=Timing.REAL, facts={"board": name})
    return made[first_seed:]


def test_boards_of_a_model_that_differ_are_a_finding() -> None:
    records = [*of_board("pi-a", 11_000, 15_000), *of_board("pi-b", 111_000, 155_000, first_seed=10)]
    verdicts = analyse(mission(["rt"], runs=20), "demo", records, {}).verdicts
    told = next(one for one in verdicts if one.board == "pi").findings
    (found,) = (one for one in told if one.startswith("boards of one model differ"))
    assert "rt, cyclictest under hackbench" in found and "pi-a < pi-b (median run max" in found


def test_boards_that_were_measured_alike_differ_in_nothing_that_is_told() -> None:
    records = [*of_board("pi-a", 11_000, 15_000), *of_board("pi-b", 11_000, 15_000, first_seed=10)]
    assert not [one for one in between_boards(groups(records)).get("pi", []) if "max" in one]
    assert between_boards(groups(of_board("pi-a", 11_000, 15_000))) == {}


def test_too_few_runs_leave_it_undecided() -> None:
    records = [*of_board("pi-a", 11_000, 15_000, 2), *of_board("pi-b", 111_000, 155_000, 2, first_seed=10)]
    (found,) = between_boards(groups(records))["pi"]
    assert found.startswith("rt, cyclictest under hackbench: whether pi-a and pi-b differ is undecided: ")
