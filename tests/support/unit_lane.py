# SPDX-License-Identifier: MIT
"""The lane `unit`: tests that start no process, so nothing is compiled or booted; an attempt is a failure."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[1]
FOLDERS = ("protocols", "engine/analysis", "engine/mission", "engine/dialogue", "parts/dictionaries")
# Of these those that start processes: files, and single tests.
BUT = (
    "protocols/board/test_jobscript.py", "protocols/record/test_scale.py", "engine/analysis/test_tails_ordered.py",
    "parts/dictionaries/test_dictionary_readers.py",
    "protocols/board/test_registry.py::test_what_a_record_says_of_its_command_is_not_run",
    "protocols/record/test_store.py::test_a_full_disk_is_told_and_loses_no_finished_record",
    "engine/mission/test_mission_boards.py::test_only_the_board_is_judged_and_it_can_say_fly",
)  # fmt: skip
# And those that look at many draws, which takes seconds.
LONG = (
    "engine/analysis/test_changes.py", "engine/analysis/test_early.py", "engine/analysis/test_false_claims.py",
    "engine/analysis/test_rare_runs.py", "engine/analysis/test_tails.py", "engine/analysis/test_together.py",
    "parts/dictionaries/test_dictionary_fuzz.py",
)  # fmt: skip
# Audit events of Python.
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"}


class ProcessStarted(BaseException):
    """Not an Exception: what is tested may catch those."""


def holds(file: Path, name: str) -> bool:
    """Whether a quick test is the lane's."""
    place = file.relative_to(TESTS).as_posix() if file.is_relative_to(TESTS) else ""
    out = {place, f"{place}::{name.partition('[')[0]}"} & {*BUT, *LONG}
    return place.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and not out


_refusing = [False]


def _hook(event: str, given: tuple[object, ...]) -> None:
    if event in _STARTS and _refusing[0]:
        raise ProcessStarted(f"a test of the lane `unit` starts a process: {given[:2]}: name it in {__name__}")


sys.addaudithook(_hook)


@contextmanager
def no_process() -> Iterator[None]:
    before, _refusing[0] = _refusing[0], True
    try:
        yield
    finally:
        _refusing[0] = before
