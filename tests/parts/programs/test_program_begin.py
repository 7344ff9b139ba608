# SPDX-License-Identifier: MIT
"""`rtqual init --program`: a mission that measures the program as it is."""

import subprocess
from pathlib import Path

import pytest

from rtqual.engine.mission import load_mission
from rtqual.parts.programs.begin import begin

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250" / "loop250.c"


@pytest.mark.guest
@pytest.mark.parametrize(("cycles", "runs_for_ns"), [(250, None), (100_000, 2 * 10**9)])
def test_a_program_that_ends_by_itself_is_not_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cycles: int, runs_for_ns: int | None
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    source = _EXAMPLE.read_text().replace("{ 500, 70, 24, NULL }", f"{{ {cycles}, 70, 24, NULL }}")
    (tmp_path / "loop.c").write_text(source)
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", tmp_path / "loop", tmp_path / "loop.c"], check=True)
    path = begin(tmp_path / "loop", tmp_path / "loop.toml", "2 s", lets=True, tell=lambda _: None)
    (program,) = load_mission(path).programs
    assert program.runs_for == runs_for_ns
    assert [task.period for task in program.tasks] == [4_000_000]
    assert "binary = 'loop'" in path.read_text(), "so that the folder can move"
