# SPDX-License-Identifier: MIT
"""A folder that is a root file system, opened as the booted system will see it: no link in it leads out of it.

A path of the host, root/var/run/x, follows a link /run in the root onto the host. Here every part of a place is opened
from the part before it without following links (openat, O_NOFOLLOW); a link is read and resolved inside the root.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rtqual.base.errors import RunFailed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_LINKS = 40  # as the kernel


@dataclass(frozen=True)
class Spot:
    """A name in an opened folder of the root. `place`: where that is when all links are resolved."""

    folder: int
    name: str
    place: str

    def mode(self) -> int | None:
        """As lstat reports it, None where there is nothing."""
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None


@dataclass(frozen=True)
class Inside:
    folder: Path

    @contextmanager
    def spot(self, place: str, *, make: bool = False, follow: bool = False) -> Iterator[Spot]:
        """The last part of a place; its parents must exist, or are made.

        `follow`: a link at the end is followed too. Raises RunFailed for a place outside of the root.
        """
        if make:
            self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            root = os.open(self.folder, _FOLDER)
            opened.callback(os.close, root)
            yield _walk(place, [(root, "")], opened, make=make, follow=follow)

    def write(self, place: str, content: IO[bytes] | bytes, mode: int) -> str:
        """A new file in the place of what is there. The place where it is, all links resolved."""
        with self.spot(place, make=True) as spot:
            _clear(spot)
            with os.fdopen(os.open(spot.name, _NEW, 0o600, dir_fd=spot.folder), "wb") as file:
                if isinstance(content, bytes):
                    file.write(content)
                else:
                    shutil.copyfileobj(content, file)
                os.fchmod(file.fileno(), mode)
            return spot.place

    def link(self, place: str, target: str) -> str:
        """A symbolic link in the place of what is there; its target is not looked at."""
        with self.spot(place, make=True) as spot:
            _clear(spot)
            os.symlink(target, spot.name, dir_fd=spot.folder)
            return spot.place

    def hard_link(self, place: str, target: str) -> str:
        with self.spot(target) as old, self.spot(place, make=True) as spot:
            if not stat.S_ISREG(old.mode() or 0):
                raise RunFailed(f"{place!r} is a hard link to {target!r}, which is no file of the root")
            if old.place != spot.place:
                _clear(spot)
                os.link(old.name, spot.name, src_dir_fd=old.folder, dst_dir_fd=spot.folder, follow_symlinks=False)
            return spot.place

    def make(self, place: str) -> str:
        """A folder, or a link to one, that is there afterwards."""
        with self.spot(place, make=True, follow=True) as spot:
            mode = spot.mode()
            if mode is None:
                os.mkdir(spot.name, 0o755, dir_fd=spot.folder)
            elif not stat.S_ISDIR(mode):
                raise RunFailed(f"{place!r} shall be a folder, but there is something else in the root")
            return spot.place

    def remove(self, place: str) -> None:
        """A file, a link (not what it points to) or a folder with all that is in it, where there is one."""
        with self._old(place) as spot:
            if spot is None:
                return
            if stat.S_ISDIR(spot.mode() or 0):
                shutil.rmtree(spot.name, dir_fd=spot.folder)
            else:
                os.unlink(spot.name, dir_fd=spot.folder)

    def take(self, tree: Path, place: str) -> None:
        """Move a folder of the same disk to a place where nothing is."""
        with self.spot(place, make=True) as spot:
            os.rename(tree, spot.name, dst_dir_fd=spot.folder)

    def read(self, place: str) -> bytes | None:
        """Of a file, links to it followed inside the root; None where there is none."""
        with self._old(place, follow=True) as spot:
            if spot is None or not stat.S_ISREG(spot.mode() or 0):
                return None
            with os.fdopen(os.open(spot.name, _OLD, dir_fd=spot.folder), "rb") as file:
                return file.read()

    def exists(self, place: str) -> bool:
        """Whether a place leads to something in the root."""
        with self._old(place, follow=True) as spot:
            return spot is not None

    @contextmanager
    def _old(self, place: str, *, follow: bool = False) -> Iterator[Spot | None]:
        """What is there, or None."""
        with ExitStack() as opened:
            try:
                spot = opened.enter_context(self.spot(place, follow=follow))
            except _Absent:
                yield None
                return
            yield None if spot.mode() is None else spot


class _Absent(RunFailed):
    """A folder on the way is not there."""


def _walk(place: str, way: list[tuple[int, str]], opened: ExitStack, *, make: bool, follow: bool) -> Spot:
    """`way`: the opened folders from the root on, with their places."""
    parts, links, of_links = _parts(place), 0, 0
    if not parts or ".." in parts or "\0" in place:
        raise RunFailed(f"{place!r} names a place outside of the root file system")
    while True:
        name = parts.pop(0)
        from_link, of_links = of_links > 0, max(0, of_links - 1)
        folder, above = way[-1]
        if name == "..":
            if len(way) == 1:
                raise RunFailed(f"{place!r} leads outside of the root file system")
            way.pop()
            if not parts:  # a link that ends in ".."
                return Spot(way[-1][0], ".", way[-1][1])
            continue
        spot = Spot(folder, name, f"{above}/{name}".lstrip("/"))
        mode = spot.mode()
        if mode is not None and stat.S_ISLNK(mode) and (parts or follow):
            links += 1
            if links > _MOST_LINKS:
                raise RunFailed(f"{place!r} leads in a circle of links")
            target = os.readlink(name, dir_fd=folder)
            of_links += len(_parts(target))
            parts = [*_parts(target), *parts]
            if target.startswith("/"):
                del way[1:]
            if not parts:
                return Spot(way[-1][0], ".", way[-1][1])
            continue
        if not parts:
            return spot
        descriptor = _enter(place, spot, mode, make and not from_link)
        opened.callback(os.close, descriptor)
        way.append((descriptor, spot.place))


def _enter(place: str, spot: Spot, mode: int | None, make: bool) -> int:
    """Opens a folder on the way; a folder that only a link names is not made."""
    if mode is None:
        if not make:
            raise _Absent(f"{place!r} leads to {spot.place!r}, which is not in the root file system")
        os.mkdir(spot.name, 0o755, dir_fd=spot.folder)
    elif not stat.S_ISDIR(mode):
        raise _Absent(f"{place!r} leads through {spot.place!r}, which is no folder")
    return os.open(spot.name, _FOLDER, dir_fd=spot.folder)


def _parts(place: str) -> list[str]:
    return [part for part in place.split("/") if part not in ("", ".")]


def _clear(spot: Spot) -> None:
    mode = spot.mode()
    if mode is None:
        return
    if stat.S_ISDIR(mode):
        raise RunFailed(f"{spot.place!r} is a folder of the root; nothing else can take its place")
    os.unlink(spot.name, dir_fd=spot.folder)
