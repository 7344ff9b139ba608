# SPDX-License-Identifier: MIT
"""`rtqual init`: what it writes is a mission, it asks only on a terminal, and it overwrites nothing."""

import os
import pty
import select
import subprocess
import time
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission
from rtqual.stages.init import HERE, PLACES, VIRTUAL, Wanted, init, kinds, loads_of
from support.command import Fails, Run, rtqual_command


@pytest.mark.parametrize("board", PLACES)
@pytest.mark.parametrize("template", kinds())
def test_every_template_is_a_mission_on_every_board(rtqual: Run, tmp_path: Path, template: str, board: str) -> None:
    file = tmp_path / f"{template}.toml"
    made = rtqual("init", file, "--template", template, "--board", board)
    assert made.returncode == 0, made.stderr
    assert f"rtqual mission check {file}" in made.stdout
    checked = rtqual("mission", "check", file)
    assert checked.returncode == 0, checked.stderr
    assert ": good;" in checked.stdout
    mission = load_mission(file)
    assert mission.mission.name == template
    assert {one.board for one in mission.candidates} == {board}
    assert "SPDX" not in file.read_text()
    # Whatever a requirement or criterion asks for, the scale measures: a fresh mission has no blank spot.
    planned = {(name, load) for plan in mission.scale().plan for name in plan.instruments for load in plan.loads}
    assert {(one.instrument, one.load) for one in (*mission.requirements, *mission.criteria)} <= planned


@pytest.mark.parametrize("board", PLACES)
@pytest.mark.parametrize("template", kinds())
def test_every_load_of_a_board_can_be_asked_for(tmp_path: Path, template: str, board: str) -> None:
    for loads in ((), *((load,) for load in loads_of(board)), loads_of(board)):
        file = tmp_path / f"m{len(list(tmp_path.iterdir()))}.toml"
        init(file, Wanted(template, board, "2 ms", loads))
        assert load_mission(file).requirements[0].limit.value == 2_000_000


def test_a_file_that_is_there_stays(fails: Fails, tmp_path: Path) -> None:
    file, link = tmp_path / "mine.toml", tmp_path / "link.toml"
    file.write_text("precious")
    link.symlink_to(tmp_path / "nowhere.toml")
    for path in (file, link):
        assert "stays as it is" in fails(2, "init", path)
    assert file.read_text() == "precious"
    assert not (tmp_path / "nowhere.toml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["m.toml", "--deadline", "5"], "--deadline '5' is not a duration"),
        (["m.toml", "--load", "wifi", "--board", "local"], "does not run on the local board"),
        (["m.toml", "--load", "hackbenc"], "did you mean 'hackbench'"),
        (["m.toml", "--candidate", 'a"b'], "has characters"),
        (["m.toml", "--candidate", "A"], "no Debian package name"),
        (["m.toml", "--candidate", "a", "--board", "local"], "this machine runs the one it has"),
        (["m.toml", "--candidate", "linux-image-amd64", "--board", "virtual-arm64"], "the board is arm64"),
        (["m.toml", "--board", "virtual-arm6"], "did you mean 'virtual-arm64'"),
        (["m.toml", "--board", "root@127.0.0.1:1"], "shows no host key within 5 s"),
        (["m.toml", "--board", "root@-oProxyCommand=x"], "is no way over ssh"),
        (["Mine.toml"], "lower-case letters"),
        (["no/such/folder/m.toml"], "make it"),
    ],
)
def test_answers_that_make_no_mission_are_refused(fails: Fails, tmp_path: Path, words: list[str], told: str) -> None:
    said = fails(2, "init", tmp_path / words[0], *words[1:])
    assert told in said.replace("is not a Debian package name", "no Debian package name")
    assert [*tmp_path.iterdir()] == []


def test_a_deadline_of_no_length_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        init(tmp_path / "m.toml", Wanted("least", VIRTUAL, "soon", ()))
    assert [*tmp_path.iterdir()] == []


def test_it_asks_on_a_terminal_and_again_where_an_answer_is_bad(tmp_path: Path) -> None:
    answers = b"uav-250hz\nnowhere\nlocal\nsoon\n3 ms\nhackbenc\nhackbench, stress-cpu\n"
    ours, theirs = pty.openpty()
    with subprocess.Popen(rtqual_command("init"), stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as asking:
        os.close(theirs)
        os.write(ours, answers)
        said, end = b"", time.monotonic() + 120
        while time.monotonic() < end and select.select([ours], [], [], 120)[0]:
            try:
                said += os.read(ours, 4096)
            except OSError:  # it has ended
                break
        assert asking.wait(60) == 0, said
    os.close(ours)
    mission = load_mission(tmp_path / "uav-250hz.toml")
    assert mission.candidates[0].board == HERE
    assert [one.load for one in mission.requirements[:2]] == ["hackbench", "stress-cpu"]
    assert mission.requirements[0].limit.text == "3 ms"
    assert b"This machine runs Linux" in said
    for told in (b"--board nowhere: ", b"'soon' is not a duration", b"did you mean 'hackbench'"):
        assert told in b" ".join(said.split()), told
