# SPDX-License-Identifier: MIT
"""Programs that `make` builds for the tests: kept in the environment, so that a run builds only what changed, and one
at a time, since tests run in several processes."""

import fcntl
import subprocess
import sys
from pathlib import Path


def built(source: Path, *programs: str) -> Path:
    """The folder with programs of a source folder's Makefile."""
    folder = Path(sys.prefix) / "build-tests" / source.name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            ["make", "-s", "-j2", "-C", source, f"BUILD={folder}", *(folder / name for name in programs)], check=True
        )
    return folder
