# SPDX-License-Identifier: MIT
"""The user's cache, which campaigns share, and the hashes by which its files are known."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path


def cache_dir() -> Path:
    """Where downloads and images are kept between campaigns (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "rtqual"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path`'s lock: two campaigns may fill the cache at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as file:
        flock(file, LOCK_EX)
        yield


@contextmanager
def idle(path: Path) -> Iterator[bool]:
    """Whether nobody holds `path`'s lock; it is ours meanwhile."""
    with path.with_name(path.name + ".lock").open("w") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
