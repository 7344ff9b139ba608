# SPDX-License-Identifier: MIT
"""The lint's findings that are about what made a tail stand beside it, and no others."""

from pathlib import Path

import pytest

from rtqual.engine.campaign.folder import KeptCampaign, Result
from rtqual.engine.mission import load_mission
from rtqual.parts.explain import advice as stage
from rtqual.parts.explain.advice import advice
from rtqual.parts.explain.cause_tally import tally
from rtqual.parts.explain.timeline import TimeKind
from support.command import mission_text
from support.explained import line

CONFIG = "CONFIG_SMP=y\nCONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_FUTEX_PI=y\nCONFIG_IRQ_FORCED_THREADING=y\n"


@pytest.fixture
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign whose stock kernel has that configuration; its records do not matter here."""
    (tmp_path / "tiny.toml").write_text(mission_text("debian"))
    mission = load_mission(tmp_path / "tiny.toml")
    campaign = KeptCampaign(mission, "demo", Result((), {}, {"debian": CONFIG}))
    monkeypatch.setattr(stage, "load", lambda _: campaign)
    return tmp_path


def told(finished: Path, *parts: tuple[TimeKind, int, str]) -> set[tuple[TimeKind, str]]:
    found = advice(finished, [tally("debian", "hackbench", [line(1, *parts)])])
    return {(one.kind, one.rule) for one in found}


def test_findings_stand_beside_the_time_they_are_about(finished: Path) -> None:
    parts = (TimeKind.OTHER, 20_000, "clear_page"), (TimeKind.SOFTIRQ, 3_000, "rcu"), (TimeKind.LOCK, 3_000, "futex")
    assert told(finished, *parts) == {
        (TimeKind.OTHER, "preempt-rt"), (TimeKind.OTHER, "preempt-mode"),
        (TimeKind.SOFTIRQ, "preempt-rt"), (TimeKind.SOFTIRQ, "threaded-interrupts"),
    }  # fmt: skip


def test_what_takes_no_time_gets_no_advice(finished: Path) -> None:
    assert not told(finished, (TimeKind.SCHEDULING, 20_000, "__schedule"), (TimeKind.OTHER, 500, "clear_page"))


def test_of_a_folder_that_is_no_finished_campaign_nothing_is_said(tmp_path: Path) -> None:
    assert not advice(tmp_path, [tally("debian", "none", [line(1, (TimeKind.OTHER, 20_000, "clear_page"))])])
