# SPDX-License-Identifier: MIT
"""The Makefile: what it does on machines other than this."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A make that runs this test hands its own settings down.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}


def commands(*arguments: str) -> str:
    """Give the commands that make would run, none of which runs."""
    done = subprocess.run(
        ["make", "--dry-run", *arguments], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_setting_has_a_key_of_its_own() -> None:
    """Debian 12's pip, 23.0.1, keeps the last of equal keys and says nothing."""
    keys = re.findall(r"--config-settings=([\w-]+)=", commands("-W", "pyproject.toml", ".venv/.installed"))
    assert keys == ["build-dir", "setup-args"]
