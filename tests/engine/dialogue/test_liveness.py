# SPDX-License-Identifier: MIT
"""A thread that ended while its program goes on is told, and fails a procedure."""

from pathlib import Path

import pytest

from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.liveness import gone, shares
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.log import read_log
from rtqual.parts.programs.played import liveness
from support.heater import Answered, language, procedure, verify_of

_STEPS = '[[step]]\nat = "100 ms"\nsend = "PING"\n'
_MS = 10**6


def _row(when: str, name: str, ran_ms: int = 1) -> str:
    return f"thread {when} {ran_ms * _MS} {name.encode().hex()}"


def _log(folder: Path, begin: list[str], end: list[str]) -> str:
    rows = Answered(procedure(folder, _STEPS), language()).log().splitlines()
    last = rows.pop()
    at = last.split()[0]
    rows[1:1] = [f"{place} {row}" for place, row in enumerate(begin)]
    return "\n".join([*rows, *(f"{at} {row}" for row in end), last, ""])


def _judged(folder: Path, begin: list[str], end: list[str], ended: str = "", **changed: object) -> Judgement:
    spoken = language(verify_of(**changed))
    made = procedure(folder, _STEPS)
    return judge(made, compiled(made, spoken), _log(folder, begin, end), spoken, ended)


def test_all_threads_there(tmp_path: Path) -> None:
    both = [_row("begin", "control"), _row("begin", "pus")]
    assert _judged(tmp_path, both, [row.replace("begin", "end") for row in reversed(both)]).passed


def test_a_thread_that_ended_fails_though_all_is_answered(tmp_path: Path) -> None:
    found = _judged(tmp_path, [_row("begin", "control"), _row("begin", "pus")], [_row("end", "control")])
    assert not found.passed and found.why == "its thread pus had ended at the end"


def test_threads_of_one_name_are_counted(tmp_path: Path) -> None:
    workers = [_row("begin", "worker")] * 3
    found = _judged(tmp_path, workers, [_row("end", "worker")] * 2)
    assert found.why == "its thread worker (2 of 3 are left) had ended at the end"
    assert _judged(tmp_path, workers, [_row("end", "worker")] * 4).passed, "one more is no fault"


def test_what_may_end_may(tmp_path: Path) -> None:
    begin, end = [_row("begin", "init-1"), _row("begin", "pus")], [_row("end", "pus")]
    assert _judged(tmp_path, begin, end, may_end=("init*",)).passed
    assert not _judged(tmp_path, begin, end, may_end=("in",)).passed


def test_a_program_that_ended_is_told_once(tmp_path: Path) -> None:
    found = _judged(tmp_path, [_row("begin", "pus")], [], ended="ended by SIGSEGV")
    assert found.wrong == ("the program ended by SIGSEGV",)


def test_what_a_thread_took(tmp_path: Path) -> None:
    made = procedure(tmp_path, _STEPS)
    log = _log(tmp_path, [_row("begin", "pus", 10)], [_row("end", "pus", 510), _row("end", "new", 0)])
    entries = read_log(log, compiled(made, language()))
    lasted_ms = entries[-1].at_ns / _MS
    assert shares(entries) == {"pus": pytest.approx(100 * 500 / lasted_ms), "new": 0.0}
    assert [*gone(entries)] == []
    assert shares(()) == {}


@pytest.mark.parametrize(
    "row", ["thread end 1", "thread middle 1 61", "thread end -1 61", "thread end 1 6", "thread end 1 xx"]
)
def test_a_damaged_row_is_no_evidence(tmp_path: Path, row: str) -> None:
    found = _judged(tmp_path, [row], [])
    assert "none of the ground's" in found.unsound


def test_figures_of_a_record_tell_a_program_that_has_no_thread_left(tmp_path: Path) -> None:
    lines = compiled(procedure(tmp_path, _STEPS), language())
    begin = [_row("begin", "control"), _row("begin", "pus")]
    lives = liveness(_log(tmp_path, begin, [_row("end", "pus", 2)]), lines)
    assert {name: scalar.value for name, scalar in lives.items() if not name.startswith("thread ")} == {
        "threads": 1,
        "threads ended": 1,
    }
    assert lives["thread pus CPU share"].value > 0
    assert {name: scalar.value for name, scalar in liveness(_log(tmp_path, begin, []), lines).items()} == {
        "threads": 0,
        "threads ended": 0,
    }
    assert liveness(_log(tmp_path, [], []), lines) == {}
    assert liveness("1 nonsense\n", lines) == {}
