# SPDX-License-Identifier: MIT
"""Programs of others run only where the user said so, as they were then; by select, reproduce and explain alike."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import trusted
from rtqual.engine.campaign.run import Campaign
from rtqual.engine.mission import load_mission
from rtqual.parts.bisect.ends import EndsAsked, ends_of
from rtqual.parts.explain.stage import Asked, explain
from rtqual.protocols.record.schema import Inputs, Series
from support.analysis_records import record
from support.command import mission_text
from support.made_campaign import campaign_of
from support.own_programs import MISSION


@pytest.fixture
def mission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "gains").write_text("1 2 3\n")
    loop = tmp_path / "bin" / "loop"
    loop.write_text("#!/bin/sh\n")
    loop.chmod(0o755)
    file = tmp_path / "own.toml"
    file.write_text(MISSION)
    return file


def _inputs(mission: Path) -> list[Inputs]:
    campaign = Campaign(load_mission(mission), "demo", mission.parent / "out")
    return [campaign.inputs(cell, artefacts={}) for cell in campaign.cells]


def test_what_a_cell_runs_stands_in_its_inputs(mission: Path) -> None:
    by_load = {one.load: one for one in _inputs(mission)}
    hashes = by_load["none"].parameters["hashes"]
    assert sorted(hashes) == ["/opt/tables/gains", "binary"]
    assert all(len(one) == 64 for one in hashes.values())
    assert by_load["none"].job["watched"] is True
    assert trusted.own_code(by_load["none"]) == "program-loop"
    assert trusted.own_code(by_load["flood"]) == "program-loop and load flood"
    beside = by_load["beside"].job["loads"][0]["argv"]
    assert beside[0] == "rtqual-beside"
    assert [*beside[-3:]] == ["/opt/loop/loop", "500", "70"]
    assert "--runs-for" not in beside
    measure = by_load["none"].job["measure"]["argv"]
    assert measure[measure.index("--kernel-thread") + 1] == "ktimers/*=99"


def test_nothing_runs_until_the_user_lets_it(mission: Path) -> None:
    with pytest.raises(BadInput, match=r"own.toml: runs programs that are not rtqual's .*--run-programs"):
        trusted.require(_inputs(mission), "own.toml", mission.parent)
    trusted.require(_inputs(mission), "own.toml", mission.parent, lets=True)
    trusted.require(_inputs(mission), "own.toml", mission.parent)
    for one in _inputs(mission):
        trusted.require_record(one, "record")


def test_a_folders_name_lets_nothing_run(mission: Path) -> None:
    """One that somebody sent may hold a line's end and a hash of his own."""
    first, *others = _inputs(mission)
    named = mission.parent / f"x\n{trusted._hash(others[-1])} y"
    trusted.require([first], "own.toml", named, lets=True)
    assert trusted.folder_of(first) is None
    with pytest.raises(BadInput, match="--run-programs"):
        trusted.require(others[-1:], "own.toml", named)
    trusted.require([first], "own.toml", mission.parent)
    assert trusted.folder_of(first) == mission.parent


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "bin" / "loop").write_text("#!/bin/sh\nexit 1\n"),
        lambda folder: (folder / "tables" / "more").write_text("4\n"),
        lambda folder: (folder / "own.toml").write_text(MISSION.replace("while :; do", "while :; do :;", 1)),
        lambda folder: (folder / "own.toml").write_text(MISSION.replace('["500"', '["501"')),
        lambda folder: (folder / "own.toml").write_text(MISSION.replace("binary =", 'prepare = ["id"]\nbinary =')),
    ],
)
def test_a_byte_that_changes_is_asked_for_again(mission: Path, change: Callable[[Path], object]) -> None:
    trusted.require(_inputs(mission), "own.toml", mission.parent, lets=True)
    change(mission.parent)
    with pytest.raises(BadInput, match="--run-programs"):
        trusted.require(_inputs(mission), "own.toml", mission.parent)


def test_a_record_that_somebody_sent_runs_nothing(mission: Path) -> None:
    one = _inputs(mission)[0]
    trusted.require([one], "own.toml", mission.parent, lets=True)
    changed = one.job | {"setup": [{"argv": ["sh", "-c", "rm -rf /"], "fifo": 0}]}
    with pytest.raises(BadInput, match="never let run here"):
        trusted.require_record(one.model_copy(update={"job": changed}), "records/x")


@pytest.mark.parametrize(
    "change",
    [
        {"measure": {"argv": ["sh", "-c", "id"], "fifo": 0}},
        {"setup": [{"argv": ["sh", "-c", "id"], "fifo": 0}]},
        {"version": ["sh", "-c", "id"]},
        {"loads": [{"argv": ["sh", "-c", "id"], "fifo": 0}]},
        {"modules": ["../x"]},
    ],
)
def test_a_record_runs_no_other_lines_than_its_instrument_has(tmp_path: Path, change: dict[str, object]) -> None:
    """One that somebody made up: of the usual load, and of one that the mission shapes."""
    file = tmp_path / "usual.toml"
    shaped = "[load.hackbench]\npipes = true\ngroups = 2\n"
    file.write_text(mission_text("debian-rt", runs=1) + shaped)
    campaign = Campaign(load_mission(file), "demo", tmp_path / "out")
    every = [campaign.inputs(cell, artefacts={}) for cell in campaign.cells]
    assert any("load: groups" in inputs.parameters for inputs in every)
    for inputs in every:
        trusted.require_record(inputs, "records/x")
        with pytest.raises(BadInput, match=r"records/x: its command lines are not those that this rtqual makes"):
            trusted.require_record(inputs.model_copy(update={"job": inputs.job | change}), "records/x")


def test_a_campaign_asks_before_it_prepares_anything(mission: Path, fails: Callable[..., str]) -> None:
    line = fails(2, "select", mission, "--out", mission.parent / "out")
    assert "--run-programs" in line
    assert not list((mission.parent / "out" / "records").glob("*"))


def test_no_card_is_made_that_would_run_it(mission: Path, fails: Callable[..., str]) -> None:
    board = '[[board]]\nname = "bench"\nmodel = "pc"\narchitecture = "amd64"\nswitch = "systemd-boot"\n\n'
    plan = '[[scale.demo.plan]]\nboards = ["bench"]\n'
    mission.write_text(MISSION.replace("[[scale.demo.plan]]\n", board + plan))
    card = mission.parent / "card.img"
    line = fails(2, "image", mission, "--board", "bench", "--self-measuring", "--out", card)
    assert "--run-programs" in line
    assert not card.exists()


def test_what_a_record_ran_is_not_made_again(mission: Path) -> None:
    """By explain, under a load of somebody's own; by bisect of a folder that holds such records."""
    sent = record(Series.raw([8_000, 9_000], name="latency"), load="flood", candidate="debian")
    folder = campaign_of(mission.parent / "sent", [sent], "debian")
    (path,) = (folder / "records").iterdir()
    with pytest.raises(BadInput, match=r"load flood.* never let run here"):
        explain({path: Asked(worst=1)}, lambda _: None)
    with pytest.raises(BadInput, match=r"load flood.* never let run here"):
        ends_of(str(folder), str(folder), EndsAsked())


def test_a_missing_file_is_one_line(mission: Path, fails: Callable[..., str]) -> None:
    (mission.parent / "bin" / "loop").chmod(0o644)
    assert "is not to be executed" in fails(2, "select", mission, "--dry-run")
    (mission.parent / "bin" / "loop").unlink()
    assert "program loop: binary: " in fails(2, "select", mission, "--dry-run")
