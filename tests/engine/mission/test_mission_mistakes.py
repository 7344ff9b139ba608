# SPDX-License-Identifier: MIT
"""Mistakes in a mission file: the line they are at, what is said, and what comes first."""

from pathlib import Path

import pytest

from rtqual.engine.mission.explain import suggest
from support.mission_texts import GOOD, MISTAKES, line_of, refusal

# A key under a wrong name is missing under its own.
CAUSES_MORE = {"unknown key", "unknown key, nothing near", "scale's name"}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_error_points_at_its_line(mission_file: Path, mistake: str) -> None:
    old, new, at, says = MISTAKES[mistake]
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    line, _, message = refusal(mission_file, text).partition(": ")
    assert says in message
    assert int(line) == line_of(text, at)
    assert "more error" not in message or mistake in CAUSES_MORE


def test_first_of_several_errors(mission_file: Path) -> None:
    text = GOOD.replace("weight = 3", "weight = 0").replace('"usb"', '"usv"').replace("runs = 1\n", "runs = 0\n")
    assert refusal(mission_file, text).startswith(f"{line_of(text, 'usv')}: mission.needs[1]: ")
    assert refusal(mission_file, text).endswith("(and 2 more errors)")


def test_single_table_where_a_list_of_tables_is_wanted(mission_file: Path) -> None:
    text = GOOD[: GOOD.index("[[candidate]]")] + "[candidate]\n" + GOOD[GOOD.index("[[requirement]]") :]
    message = refusal(mission_file, text)
    assert message.startswith(f"{line_of(text, '[candidate]')}: candidate: is one table")
    assert "write [[candidate]]" in message


def test_no_candidate(mission_file: Path) -> None:
    text = GOOD[: GOOD.index("[[candidate]]")] + GOOD[GOOD.index("[[requirement]]") :]
    assert "candidate: is missing: The systems to choose from, one [[candidate]] each" in refusal(mission_file, text)
    assert "candidate: is empty; write at least 1" in refusal(mission_file, "candidate = []\n" + text)


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_empty_file(mission_file: Path, content: str) -> None:
    assert refusal(mission_file, content).startswith("1: is empty; a mission has [mission], [[candidate]]")


def test_a_long_list_of_what_is_allowed_is_not_repeated() -> None:
    assert suggest("frob", [f"SYMBOL_{number}" for number in range(20_000)]) == "none of the 20,000 there is like it"
    assert "'SYMBOL_7'" in suggest("SYMBOL_7x", [f"SYMBOL_{number}" for number in range(20_000)])
