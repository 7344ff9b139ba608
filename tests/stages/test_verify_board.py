# SPDX-License-Identifier: MIT
"""`rtqual verify` on a board over ssh, here its stand-in."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.engine.mission import load_mission
from rtqual.engine.procedure.compliance import RunResult
from rtqual.protocols.record.schema import Timing
from rtqual.stages import verify as stage
from rtqual_docking.procedures.checked_procedures import load_procedures
from rtqual_docking.procedures.model import Procedure
from support.command import Run
from support.ground_log import TOP, definition
from support.machines import MODEL, PARAMETERS, PC
from support.stand_in import NAME, StandIn, mission_of, stand_in

# Its time is counted in instructions, and its CPU never rests, so a busy host makes it slow and not late. rtqual knows
# nothing of that: to it, this is a board like any other.
COUNTED = replace(
    PC,
    emulator=(*PC.emulator, "-icount", "shift=1,sleep=on"),
    keys={**PC.keys, "parameters": json.dumps([*PARAMETERS, "idle=poll"])},
)


def mission(there: StandIn) -> str:
    """The procedures of this repository, idle, on the board; a requirement each."""
    ids = sorted({one for each in load_procedures(TOP / "docking/procedures", definition()) for one in each.verifies})
    asked = "".join(f'[[verify.requirement]]\nid = "{one}"\ntext = "As the docking mission says."\n' for one in ids)
    verify = (
        f'[verify]\ncandidate = "debian-rt"\nprocedures = "{TOP}/docking/procedures"\nload = "none"\nboard = "{NAME}"\n'
    )
    return f"{mission_of(there)}\n{verify}\n{asked}"


def made_up(folder: Path) -> StandIn:
    """One that is named, and not there."""
    (folder / "hostkey.pub").write_text("ssh-ed25519 AAAA\n")
    return StandIn(folder, 1, "6.1.0")


def test_a_board_is_named_by_the_mission(tmp_path: Path, fails: Callable[..., str]) -> None:
    path = tmp_path / "m.toml"
    text = mission(made_up(tmp_path))
    path.write_text(text)
    asked = stage.plan(load_mission(path))
    resetting = {each.name for each in asked.procedures if isinstance(each, Procedure) and each.resets}
    assert resetting and not resetting & {each.name for each in asked.played}
    cells = stage.campaign(asked, tmp_path / "out", 2).cells
    assert {(cell.board, cell.repeat) for cell in cells} == {(MODEL, 0)}, "each once: no board in real time repeats"
    assert "resets and peers are played on the virtual board only, not on stand-in" in fails(
        2, "verify", path, "--only", "kernel-panic"
    )
    path.write_text(text.replace(f'board = "{NAME}"\n', 'board = "stand-on"\n', 1))
    assert "verify.board: unknown board 'stand-on'; did you mean 'stand-in'" in fails(2, "verify", path)
    network = ("ssh", "host_key", "good", "identity", "console", "power")
    gone = [line for line in text.splitlines() if line.partition(" = ")[0] not in network]
    path.write_text("\n".join(gone))
    assert "has no network; procedures are played over ssh" in fails(2, "verify", path)


def _smoke() -> list[Path]:
    return [path for path in (TOP / "docking/procedures").glob("*.toml") if "\nsmoke = true\n" in path.read_text()]


@pytest.mark.manual
def test_the_smoke_procedures_pass_on_a_board(rtqual: Run, tmp_path: Path) -> None:
    with stand_in(tmp_path / "there", machine=COUNTED) as there:
        there.wait_up()
        path = tmp_path / "m.toml"
        path.write_text(mission(there))
        done = rtqual("verify", path, "--scale", "smoke", "--out", tmp_path / "out", "--json")
        said = json.loads(done.stdout)
        assert said["failures"] == {}, done.stderr
        assert {one["procedure"] for one in said["procedures"]} == {path.stem for path in _smoke()}
        for one in said["procedures"]:
            assert one["checks"] and all(check["passed"] for check in one["checks"]) and not one["wrong"], one
            assert one["timing"] == Timing.REAL
            assert one["result"] == RunResult.PASSED or "the board's clock ran at" in one["why"], "and that is noticed"
        assert {one["close_out"].partition(":")[0] for one in said["requirements"]} == {"open"}, "it is a guest"
        assert there.ssh("uname -r").stdout.strip() == there.release, "it is back on its own system"
