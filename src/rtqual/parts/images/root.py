# SPDX-License-Identifier: MIT
"""A root file system on its way into an image: a folder of files, and what a folder without privileges cannot keep.

Owners, modes and capabilities stand beside the folder, so that root and everybody else make the same image.
"""

import os
import stat
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import IO

from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.parts.images.inside import Inside

_CAPABILITY = "SCHILY.xattr.security.capability"  # how a pax archive calls a file's capabilities
# Every time in an image, unless SOURCE_DATE_EPOCH (reproducible-builds.org) says another: where the virtual
# board's clock begins, 2026-01-01.
_EPOCH_S = 1_767_225_600


def epoch_s() -> int:
    """The one time that all files of an image carry, in seconds since 1970."""
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(text) if text.isascii() and text.isdigit() else _EPOCH_S


def write(command: Sequence[str | Path], package: str, out: Path, given: bytes | None = None, clock: str = "") -> str:
    """Run what makes a part of the image, and return what it said.

    In the image's folder: in the name of that, as in `a@@1M` or `a?b`, the programs would find options of their own.
    """
    also = {clock or "SOURCE_DATE_EPOCH": str(epoch_s()), "LC_ALL": "C", "TZ": "UTC"}
    done = run(command, package=package, folder=out.parent, given=given, also=also)
    done.require(f"{command[0]} could not write the image's {out.name}")
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Attributes:
    """Of one file. `mode` holds the permission bits with setuid, setgid and sticky."""

    mode: int
    uid: int = 0
    gid: int = 0
    capability: bytes = b""


@dataclass
class Root:
    """`folder` holds the files; `special` the attributes of those that are not as `attributes` has it by rule."""

    folder: Path
    special: dict[str, Attributes] = field(default_factory=dict)

    def paths(self) -> list[str]:
        """Every file, folder and link by its place, "usr/bin/env", folders before what is in them."""
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*"))
        return [str(path) for path in sorted(found, key=lambda path: path.parts)]

    def attributes(self, place: str) -> Attributes:
        if place in self.special:
            return self.special[place]
        mode = (self.folder / place).lstat().st_mode
        if stat.S_ISLNK(mode):
            return Attributes(0o777)
        return Attributes(0o755 if stat.S_ISDIR(mode) or mode & 0o111 else 0o644)

    @property
    def inside(self) -> Inside:
        """Everything is written through it: a link in the root never leads out of the root."""
        return Inside(self.folder)

    def write(self, place: str, text: str, *, executable: bool = False) -> None:
        self._set(self.inside.write(place, text.encode(), 0o755 if executable else 0o644))

    def secret(self, place: str, text: str) -> None:
        """A file for root alone, and its folder, wherever links of the root lead."""
        self.special[self.inside.make(str(PurePath(place).parent))] = Attributes(0o700)
        self.special[self.inside.write(place, text.encode(), 0o600)] = Attributes(0o600)

    def copy(self, source: Path, place: str) -> None:
        """Take a file as it is; of its mode only the executable bit."""
        with source.open("rb") as file:
            self.take(file, place)

    def take(self, file: IO[bytes], place: str) -> None:
        executable = os.fstat(file.fileno()).st_mode & 0o111
        self._set(self.inside.write(place, file, 0o755 if executable else 0o644))

    def link(self, place: str, target: str) -> None:
        self._set(self.inside.link(place, target))

    def make(self, place: str) -> None:
        self._set(self.inside.make(place))

    def _set(self, place: str) -> None:
        """What is new has the attributes by rule."""
        self.special.pop(place, None)


@dataclass(frozen=True)
class TreeSize:
    """What a tree holds. `content_b` is the sum of the files' lengths, hard links counted once."""

    content_b: int
    files: int


def size(folder: Path) -> TreeSize:
    seen: dict[tuple[int, int], int] = {}
    files = 0
    for path in folder.rglob("*"):
        state = path.lstat()
        if not stat.S_ISDIR(state.st_mode):
            files += 1
            seen[state.st_dev, state.st_ino] = state.st_size
    return TreeSize(sum(seen.values()), files)


def unpack_tar(archive: Path, folder: Path) -> Root:
    """A tree from an archive, without privileges; device nodes are left out, for the kernel makes them."""
    root = Root(folder)
    folder.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            place = member.name.removeprefix("./").strip("/")
            if not place or place == ".":
                continue
            made = _unpack(tar, member, root.inside, place)
            if made is not None:
                capability = member.pax_headers.get(_CAPABILITY, "").encode("utf-8", "surrogateescape")
                mode = 0o777 if member.issym() else member.mode & 0o7777
                root.special[made] = Attributes(mode, member.uid, member.gid, capability)
    return root


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, inside: Inside, place: str) -> str | None:
    """Where it is in the root. None: a device node, which is left out."""
    if member.isdir():
        return inside.make(place)
    if member.issym():
        return inside.link(place, member.linkname)
    if member.islnk():
        return inside.hard_link(place, member.linkname.removeprefix("./").lstrip("/"))
    if not member.isfile():
        return None
    content = tar.extractfile(member)
    if content is None:
        raise RunFailed(f"{place!r} cannot be unpacked: the archive is damaged")
    with content:
        return inside.write(place, content, 0o755 if member.mode & 0o111 else 0o644)


def gathered(folder: Path, files: Mapping[str, Path]) -> Root:
    """Files by their places, in a folder of their own."""
    root = Root(folder)
    for place, path in files.items():
        root.copy(path, place)
    return root
