# SPDX-License-Identifier: MIT
"""Looks at a campaign's folder: each further number of runs that is judged has half the error of the one before, and
the report says so."""

import json
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.cells import Looked
from rtqual.engine.analysis.figure.model import Group, Summary
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.looked import NAME, looked_in, with_this, written
from rtqual.protocols.record.schema import Record, Series
from rtqual.protocols.record.store import Store
from support.analysis_records import mission, record, wakeups
from support.command import mission_text
from support.made_campaign import sealed

RUNS = wakeups("rt", range(12_000, 42_000, 500))
GROUP = Group("cyclictest", "hackbench", "virtual", 1, "rt")


def judged(runs: int, looked: Looked) -> Summary:
    """The one summary of so many runs."""
    found = analyse(mission(["rt"], runs=runs), "demo", RUNS[:runs], {}, looked=looked)
    return found.summaries[0]


def look(folder: Path, runs: int) -> Looked:
    """A campaign of so many runs ends in the folder."""
    records: list[Record] = [sealed(one) for one in RUNS[:runs]]
    for one in records:
        Store(folder / kept.RECORDS).write(one)
    asked = mission(["rt"], runs=runs)
    looked = with_this(looked_in(folder), asked, "demo", records)
    kept.begin(folder)
    kept.keep(folder, mission_text("debian-rt").encode(), "demo", kept.Result(tuple(records), {}, {}, looked=looked))
    return looked


def test_each_further_number_of_runs_is_a_look_and_the_same_again_is_none(tmp_path: Path) -> None:
    for runs, looks in ((10, (10,)), (20, (10, 20)), (20, (10, 20)), (10, (10, 20)), (15, (10, 20, 15))):
        assert look(tmp_path, runs) == {GROUP: tuple((one,) for one in looks)}
        assert kept.load(tmp_path).result.looked == looked_in(tmp_path)


def test_a_further_look_is_surer_and_says_so() -> None:
    once, again = judged(20, {}), judged(20, {GROUP: ((10,), (20,))})
    third = judged(20, {GROUP: ((10,), (15,), (20,))})
    ends = [one.figures["median run max"].interval for one in (once, again, third)]
    assert all(one is not None for one in ends)
    widths = [one.high - one.low for one in ends if one]
    assert widths[0] < widths[1] <= widths[2]
    assert once.caveats == ()
    told = "judged before, after 10 runs; this further look after 20 runs is by intervals of 97.5 %"
    assert told in again.caveats
    assert any("after 10 and 15 runs" in one and "98.75 %" in one for one in third.caveats)
    first = judged(10, {GROUP: ((10,), (20,))})
    assert first.caveats == (), "it was judged at 95 % and says the same again"
    verdict = analyse(mission(["rt"], runs=20), "demo", RUNS[:20], {}, looked={GROUP: ((10,), (20,))}).verdicts[0]
    assert any("this further look" in one for one in verdict.caveats)


def test_who_looks_every_night_still_gets_figures() -> None:
    every = {GROUP: (*((runs,) for runs in range(1_000, 1_200)), (60,))}
    rng = np.random.default_rng(733)
    drawn = [record(Series.raw(rng.integers(4_000, 9_000, 1_000), name="latency"), seed=n + 1) for n in range(60)]
    often = analyse(mission(["rt"], runs=60), "demo", drawn, {}, looked=every).summaries[0]
    middle = often.figures["p50"].interval
    assert middle is not None and 4_000 < middle.low < middle.high < 9_000
    assert any("this further look" in one for one in often.caveats)


def test_fewer_runs_than_can_be_judged_are_no_look() -> None:
    assert with_this({}, mission(["rt"], runs=10), "demo", RUNS[:5]) == {}


def test_looks_that_are_missing_or_damaged_are_told(tmp_path: Path) -> None:
    look(tmp_path, 10)
    look(tmp_path, 20)
    named = json.loads((tmp_path / kept.CAMPAIGN).read_text())["files"]
    assert NAME in named
    (tmp_path / NAME).unlink()
    with pytest.raises(BadInput, match="tells how often the folder was judged"):
        kept.load(tmp_path)
    for text in ("{", '{"groups": [{}]}', written({GROUP: ((10,),)}).replace("10", '"ten"')):
        (tmp_path / NAME).write_text(text)
        with pytest.raises(BadInput, match=NAME):
            looked_in(tmp_path)
