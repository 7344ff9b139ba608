# SPDX-License-Identifier: MIT
"""Runs that a plan has no more are told with their worst, and a limit that they broke is broken."""

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Group, LeftOut
from rtqual.engine.analysis.verdict.model import Outcome
from support.analysis_records import WAKE_UP, mission, wakeups

GROUP = Group("cyclictest", "hackbench", "virtual", 1, "rt")
RUNS = wakeups("rt", [20_000] * 10)


@pytest.mark.parametrize(("worst", "alike", "outcome"), [
    (99_000.0, True, Outcome.MET),
    (101_000.0, True, Outcome.NOT_MET),
    (101_000.0, False, Outcome.MET),  # another system
    (None, True, Outcome.MET),
])  # fmt: skip
def test_left_out_runs_are_told_and_break_what_they_broke(worst: float | None, alike: bool, outcome: Outcome) -> None:
    left = LeftOut(GROUP, (11, 12), alike, worst, "ns")
    found = analyse(mission(["rt"], requirements=[WAKE_UP]), "demo", RUNS, {}, left_out=[left])
    (verdict,) = found.verdicts
    assert verdict.standings[0].gates[0].outcome == outcome
    assert any(left.text in one for one in verdict.caveats)
    assert "11 to 12" in left.text
    assert found.left_out == (left,)
