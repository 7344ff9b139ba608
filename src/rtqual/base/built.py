# SPDX-License-Identifier: MIT
"""Which rtqual this is: its version, the commit, and what compiled its programs."""

import platform
from pathlib import Path

from rtqual import __version__
from rtqual.base.errors import RunFailed
from rtqual.base.program import run

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
    try:
        done = run(["git", "-C", _CHECKOUT.parent, "rev-parse", "--short=12", "HEAD"])
    except RunFailed:
        return ""
    return "" if done.code else done.stdout.strip()
