# SPDX-License-Identifier: MIT
"""The user's cache, which campaigns share, and the hashes by which its files are known.

NAME       a file or folder, put there whole; a file is on the disk before it has its name
NAME.lock  locked by who makes it or looks at it; holds what NAME was when it was kept

What lies there is used only where it is what was kept; else it is made anew. A file is read for that each time. A
folder, which may hold a kernel's source, is read where its files' numbers, sizes or times changed, and once after each
start of the machine: a power cut may have taken anything, and to wait for the disk after each package takes minutes.
"""

import grp
import hashlib
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ELOOP
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import IO, Any

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.interrupt import registered
from rtqual.base.scratch import scratch
from rtqual.base.sparse import sparse_sha256
from rtqual.base.user import user_name

_POLL_S = 0.02
_MOST_LOCK_B = 4096
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def cache_dir() -> Path:
    """Where downloads and images are kept between campaigns (XDG base directories).

    Raises BadInput where another user may write there: what is kept there is booted, and run.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = base / "rtqual"
    base.mkdir(mode=0o700, parents=True, exist_ok=True)  # as the specification has it
    path.mkdir(mode=0o700, exist_ok=True)
    above, own = base.stat(), path.stat()
    if own.st_uid != os.geteuid():
        raise BadInput(f"{path}: belongs to another user: set XDG_CACHE_HOME to a folder of yours")
    for folder, status in ((base, above), (path, own)):
        if _others_may_write(status) and not (folder is base and status.st_mode & stat.S_ISVTX):
            raise BadInput(f"{folder}: other users may write there: `chmod go-w {folder}`, or set XDG_CACHE_HOME")
    return path


def _others_may_write(status: os.stat_result) -> bool:
    """A group that is the user's alone, as Debian gives each, is none of others."""
    if status.st_mode & stat.S_IWOTH:
        return True
    if not status.st_mode & stat.S_IWGRP:
        return False
    try:
        group = grp.getgrgid(status.st_gid)
    except KeyError:
        return True
    return group.gr_name != user_name() or bool({*group.gr_mem} - {group.gr_name})


@dataclass(frozen=True)
class CachePlace:
    """In the cache, locked by us."""

    path: Path
    _lock: IO[bytes]

    def is_sound(self) -> bool:
        """Whether what lies there is what was kept. A folder that an older rtqual kept is taken as it is."""
        if self.path.is_symlink() or not (self.path.is_dir() or self.path.is_file()):
            return False
        said, now = self._said(), _state(self.path)
        if now == _EMPTY:
            return False
        if self.path.is_dir() and (not said or said["state"] == now):
            if not said:
                self._note(content_of(self.path), now)
            return True
        sound = bool(said) and _content(self.path) == said["content"]
        if sound and self.path.is_dir():
            self._note(said["content"], now)
        return sound

    def take(self, fresh: Path) -> Path:
        """Put a file or folder there, in the place of what is there. Raises OSError."""
        if fresh.is_file():
            settle(fresh)
        self._note(content_of(fresh), "")
        if self.path.is_dir() and not self.path.is_symlink():
            with scratch(self.path.parent) as aside:
                self.path.rename(aside / "old")
        fresh.rename(self.path)
        if self.path.is_dir():
            self._note(self._said()["content"], _state(self.path))
        return self.path

    def _said(self) -> dict[str, str]:
        try:
            said = json.loads(os.pread(self._lock.fileno(), _MOST_LOCK_B, 0))
            return {name: str(said[name]) for name in ("content", "state")}
        except (ValueError, KeyError, TypeError):  # empty: of an older rtqual, or nothing was kept
            return {}

    def _note(self, content: str, state: str) -> None:
        said = json.dumps({"content": content, "state": state}).encode()
        os.pwrite(self._lock.fileno(), said, 0)
        os.ftruncate(self._lock.fileno(), len(said))


def kept(path: Path, make: Callable[[Path], object]) -> Path:
    """What is kept there; where it is not, or not what was kept, `make` makes it at the path that it is given.

    Raises what `make` and locked() raise.
    """
    with locked(path) as place:
        if not place.is_sound():
            with scratch(path.parent) as beside:
                make(beside / path.name)
                place.take(beside / path.name)
    return path


@contextmanager
def locked(path: Path) -> Iterator[CachePlace]:
    """Hold `path`'s lock: two campaigns may fill the cache at once. Raises RunFailed where rtqual is interrupted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    interrupted = threading.Event()
    with lock_file(path.with_name(path.name + ".lock")) as file:
        with registered(interrupted, interrupted.set):
            while not taken(file):
                if interrupted.wait(_POLL_S):
                    raise RunFailed(f"{path.name}: interrupted while another rtqual made it")
        yield CachePlace(path, file)


@contextmanager
def idle(path: Path) -> Iterator[bool]:
    """Whether nobody holds `path`'s lock; it is ours meanwhile."""
    with lock_file(path.with_name(path.name + ".lock")) as file:
        yield taken(file)


def lock_file(path: Path) -> IO[bytes]:
    """Open a lock, which is made where it is missing, and never emptied. Raises BadInput for what is no file there."""
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno != ELOOP:
            raise
        raise BadInput(f"{path}: is a link, and locks are files: delete it") from None
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return os.fdopen(opened, "r+b")
    os.close(opened)
    raise BadInput(f"{path}: is a pipe or a device, and locks are files: delete it")


def taken(file: IO[Any] | int) -> bool:
    """Whether the lock of a file is ours now: nobody else holds it."""
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def held(path: Path) -> bool:
    """Whether somebody holds a lock, as far as one can see: what is no file there is held by nobody."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return stat.S_ISREG(os.fstat(opened).st_mode) and not taken(opened)
    finally:
        os.close(opened)


def settle(file: Path) -> None:
    """On the disk before it takes its name: a power cut leaves it whole or not at all."""
    opened = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


_EMPTY = "empty"


def _state(path: Path) -> str:
    """What of a folder changes when somebody writes there (names, numbers, sizes, times) or the machine starts anew.
    Nothing of a file, for the disk itself may change it."""
    if path.is_file():
        return "" if path.stat().st_size else _EMPTY
    whole, files = hashlib.sha256(_BOOT.read_bytes()), 0
    for name, status in _below(path):
        files += 1
        told = (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        whole.update(f"{name}\0{told}\n".encode(errors="surrogateescape"))
    return whole.hexdigest() if files else _EMPTY


def content_of(path: Path) -> str:
    """Hash a file (sparse_sha256), or the names, modes and contents in a folder. Raises OSError."""
    if path.is_file():
        return sparse_sha256(path)
    whole = hashlib.sha256()
    for name, status in _below(path):
        file, link = path / name, stat.S_ISLNK(status.st_mode)
        what = str(file.readlink()) if link else sha256_file(file) if stat.S_ISREG(status.st_mode) else ""
        whole.update(f"{name}\0{status.st_mode} {what}\n".encode(errors="surrogateescape"))
    return whole.hexdigest()


def _content(path: Path) -> str | None:
    try:
        return content_of(path)
    except OSError:
        return None


def _below(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """All but folders, in order."""
    for where, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(f"{where}/{name}")]  # noqa: PTH114 80,000 files
        folders[:] = sorted(name for name in folders if name != "__pycache__")  # of a kernel's own scripts
        for name in sorted([*files, *links]):
            place = f"{where}/{name}"
            yield place[len(str(folder)) + 1 :], os.lstat(place)


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
