# SPDX-License-Identifier: MIT
"""In continuous integration a skip that is not on the list fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.skips import ALLOWED, why_not

TESTS = Path(__file__).parents[1]
FILE = """
import pytest
def test_a_tool(): pytest.skip("no such-tool: apt-get install such-tool")
@pytest.mark.skipif(True, reason="THE XENOMAI PORT IS NOT TESTED: no Xenomai here")
def test_xenomai(): pass
@pytest.mark.skipif(True, reason="such-tool is not installed")
def test_another(): pass
def test_here(): pass
"""


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", "1 failed, 1 passed, 1 skipped, 1 error"), ("", "1 passed, 3 skipped")]
)
def test_a_skip_for_a_missing_tool_fails_there(tmp_path: Path, ci: str, outcome: str) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_some.py").write_text(FILE)
    (folder / "conftest.py").symlink_to(TESTS / "conftest.py")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            "--rootdir",
            folder,
            folder,
        ],
        env={**os.environ, "CI": ci, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1].startswith(outcome), done.stdout


def test_what_may_be_skipped_is_a_tests_own_word() -> None:
    """Nothing stays on the list that no test says any more."""
    said = "".join(path.read_text() for path in TESTS.rglob("*.py") if path.name not in {"skips.py", "test_skips.py"})
    of_systems = {f"{name} IS NOT TESTED" for name in ("CHIBIOS", "RTEMS", "NUTTX", "THREADX", "ZEPHYR", "SPACECHAIN")}
    assert [start for start in ALLOWED if start not in said and start not in of_systems] == []
    assert "apt-get" in why_not("no x: apt-get install x")
