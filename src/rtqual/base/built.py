# SPDX-License-Identifier: MIT
"""Which rtqual this is: its version, the commit, and what compiled its programs."""

import platform
import subprocess
from pathlib import Path

from rtqual import __version__

_TOLD = Path(__file__).parents[1] / "built.txt"  # by meson.build
_CHECKOUT = Path(__file__).parents[3] / ".git"


def version() -> str:
    """As `rtqual --version` prints it; a checkout tells the commit that it stands at."""
    try:
        told = _TOLD.read_text().strip()
    except OSError:
        told = ""
    if _CHECKOUT.exists() and (now := _commit()):
        told = ", ".join([f"commit {now}", *told.split(", ")[1:]])
    return ", ".join(filter(None, (__version__, told, f"Python {platform.python_version()}")))


def _commit() -> str:
    """Empty where git does not tell, as in another user's folder."""
    command = ["git", "-C", str(_CHECKOUT.parent), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
