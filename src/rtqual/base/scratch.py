# SPDX-License-Identifier: MIT
"""Scratch folders, and what is left of them when rtqual was killed.

Whoever uses one holds a lock on the mark in it, which the system takes back when he dies, however he dies. So a marked
folder whose lock is free belongs to nobody, and goes. One that was not marked yet, or no longer, names its process. The
next scratch folder beside it clears it away, as does the next campaign. Nothing is followed out of it: neither links
nor other owners.
"""

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from rtqual.base.words import whole

_PREFIX, _MARK = "rtqual-", ".rtqual-scratch"
# What nobody else calls a folder of his: one without a mark goes by its name alone.
_NAMED = re.compile(_PREFIX + r"([1-9]\d{0,6})-(?:scratch-[a-z0-9_]{8}|duckdb)", re.ASCII)


@contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """A folder that is there for as long as the block, and no longer than until the next sweep."""
    where = parent or Path(tempfile.gettempdir())
    where.mkdir(parents=True, exist_ok=True)
    sweep({where})
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-scratch-", dir=where) as name:
        folder = Path(name)
        with (folder / f"{_MARK}.new").open("w") as mark:
            flock(mark, LOCK_EX)
            (folder / f"{_MARK}.new").rename(folder / _MARK)  # a mark is never seen without its lock
            yield folder


def place_of(library: str) -> Path:
    """Where a library may make a scratch folder itself, should it need one; it is swept as others are."""
    return Path(tempfile.gettempdir()) / f"{_PREFIX}{os.getpid()}-{library}"


def sweep(parents: set[Path]) -> list[Path]:
    """Remove the scratch folders there whose users are dead."""
    found = [folder for parent in parents if parent.is_dir() for folder in parent.glob(f"{_PREFIX}*")]
    return [folder for folder in found if _swept(folder)]


def _swept(folder: Path) -> bool:
    opened: list[int] = []
    try:
        opened.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
        if os.fstat(opened[0]).st_uid != os.geteuid():
            return False
        try:
            opened.append(os.open(_MARK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened[0]))
            flock(opened[1], LOCK_EX | LOCK_NB)
        except FileNotFoundError:
            named = _NAMED.fullmatch(folder.name)
            if not named or _lives(int(named[1])):
                return False
        shutil.rmtree(folder)  # which does not follow links, and refuses one in the folder's place
    except OSError:  # it has no mark, or somebody uses it
        return False
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return True


def sweep_fresh(folder: Path, name: str = ".+") -> list[Path]:
    """Remove what a process that is dead began to write there: `.NAME.PID`, folders and files. `name`: a pattern."""
    found = []
    for path in folder.glob(".*") if folder.is_dir() and not folder.is_symlink() else ():
        named = re.fullmatch(rf"\.(?:{name})\.([1-9]\d{{0,9}})", path.name, re.ASCII)
        if named and path.lstat().st_uid == os.geteuid() and not path.is_symlink() and not _lives(int(named[1])):
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                found.append(path)
    return found


def sweep_named(folder: Path, name: str, age_s: float) -> list[Path]:
    """Remove files `NAMEPID` of ours that a program left there which is dead. Who writes one may be in a container of
    his own, whose processes are not seen, so a file stays until it is so old."""
    found = []
    for path in folder.glob(f"{name}[0-9]*"):
        pid = whole(path.name.removeprefix(name))
        with suppress(OSError):
            status = path.lstat()
            left = pid and stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not _lives(pid)
            if left and time.time() - status.st_mtime > age_s:
                path.unlink()
                found.append(path)
    return found


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # no process has such a number
        return False
    except OSError:
        pass  # somebody else's
    return True
