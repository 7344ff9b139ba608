# SPDX-License-Identifier: MIT
"""The lock of the Python libraries: whole, by hash, and without the address of whoever made it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def wanted(*extras: str) -> set[str]:
    command = [sys.executable, str(ROOT / "tools/requirements"), *extras]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return {re.sub(r"[._]", "-", re.split(r"[^\w.-]", line)[0].lower()) for line in lines if line}


@pytest.mark.parametrize(
    ("lock", "names"),
    [
        ("uv", {"uv"}),
        ("demo", wanted("analysis", "report")),
        ("dev", wanted("analysis", "report", "dev")),
        ("opencv", {"opencv-python-headless"}),
    ],
)
def test_every_library_is_locked_by_its_hash_and_no_registry_is_named(lock: str, names: set[str]) -> None:
    text = (ROOT / "tools/lock" / f"{lock}.txt").read_text()
    assert "://" not in text and "index" not in text.replace("jsonschema", "")
    entries = [one for one in re.split(r"\n(?=\S)", text) if not one.startswith("#")]
    locked = {re.match(r"([a-z0-9-]+)==\S+", one)[1] for one in entries}  # type: ignore[index]
    assert names <= locked
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", one) for one in entries)


def test_the_demo_and_the_tests_run_the_same_versions() -> None:
    demo, dev = (
        set(re.findall(r"^\S+==\S+.*", (ROOT / "tools/lock" / f"{name}.txt").read_text(), re.MULTILINE))
        for name in ("demo", "dev")
    )
    assert demo <= dev


def test_asking_what_newest_would_do_changes_nothing(tmp_path: Path) -> None:
    """make runs lines that name $(MAKE) even when it is to print only."""
    stamps = [tmp_path / name for name in (".created", ".installed", ".dev", ".built")]
    for stamp in stamps:
        stamp.touch()
    command = ["make", "-n", "newest", f"VENV={tmp_path}", "PYTHON=/usr/bin/python3"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "--upgrade-strategy eager" in said
    assert all(stamp.exists() for stamp in stamps)
