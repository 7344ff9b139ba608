# SPDX-License-Identifier: MIT
"""The user's cache, which campaigns share, and the hashes by which its files are known."""

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import IO, Any

from rtqual.base.errors import RunFailed
from rtqual.base.interrupt import registered

_POLL_S = 0.02


def cache_dir() -> Path:
    """Where downloads and images are kept between campaigns (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "rtqual"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path`'s lock: two campaigns may fill the cache at once. Raises RunFailed where rtqual is interrupted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    interrupted = threading.Event()
    with path.with_name(path.name + ".lock").open("w") as file:
        with registered(interrupted, interrupted.set):
            while not taken(file):
                if interrupted.wait(_POLL_S):
                    raise RunFailed(f"{path.name}: interrupted while another rtqual made it")
        yield


@contextmanager
def idle(path: Path) -> Iterator[bool]:
    """Whether nobody holds `path`'s lock; it is ours meanwhile."""
    with path.with_name(path.name + ".lock").open("w") as file:
        yield taken(file)


def taken(file: IO[Any]) -> bool:
    """Whether the lock of a file is ours now: nobody else holds it."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
