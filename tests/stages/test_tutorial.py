# SPDX-License-Identifier: MIT
"""The tutorial's commands give the answers that it shows."""

import re
import shlex
from pathlib import Path

import pytest

from support.command import Run

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
STEPS = re.findall(r"^    \$ rtqual (.+)\n((?:    (?!\$).*\n)*)", PAGE.read_text(), re.MULTILINE)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.mark.full  # 62 runs: 100 s
def test_the_commands_give_the_answers_shown(rtqual: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [command.split()[0] for command, _ in STEPS] == ["init", "mission", "select", "show"]
    for command, shown in STEPS:
        done = rtqual(*shlex.split(command))
        assert done.returncode == 0, done.stderr
        said = lines(done.stdout)
        assert [line for line in lines(shown) if line not in said] == [], done.stdout
