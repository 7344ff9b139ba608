# SPDX-License-Identifier: MIT
"""A root file system as an ext4 image: no loop device, no privileges, the same bytes for the same files.

mke2fs copies a folder with its owners and times (the change time cannot be set); debugfs then writes those that the
image shall have.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid5

from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.parts.images.root import Root, epoch_s, write

_BLOCK_B = 4096
_INODE_B = 256
_CLOCK = "E2FSPROGS_FAKE_TIME"  # what these programs take for the time


def write_ext4(root: Root, out: Path, *, uuid: UUID, label: str, journal: bool, spare: float = 0.1) -> Path:
    """Write an image as large as the files need, with `spare` of that free.

    Without a journal it is for mounting read-only, which needs none; and a small root has no room for a journal.
    """
    blocks = sum(_blocks(root.folder / place) for place in root.paths())
    inodes = len(root.paths()) + 64
    size_b = int((blocks * _BLOCK_B + inodes * _INODE_B) * (1 + spare)) + 2**20 + (8 * 2**20 if journal else 0)
    size_b += -size_b % 2**20
    with out.open("wb") as file:
        file.truncate(size_b)
    features = [] if journal else ["-O", "^has_journal"]
    hashing = f"hash_seed={uuid5(uuid, 'hash')},lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0"
    command = [
        *("mke2fs", "-q", "-F", "-t", "ext4", *features, "-b", str(_BLOCK_B), "-I", str(_INODE_B)),
        *("-N", str(inodes + int(inodes * spare)), "-m", "0", "-U", str(uuid), "-L", label, "-E", hashing),
        *("-d", str(root.folder.absolute()), f"./{out.name}"),
    ]
    write(command, "e2fsprogs", out, clock=_CLOCK)
    with scratch() as work:
        script = work / "script"
        script.write_text("".join(f"{line}\n" for line in _commands(root, work)))
        told = write(["debugfs", "-w", "-f", script.absolute(), f"./{out.name}"], "e2fsprogs", out, clock=_CLOCK)
    # It echoes its commands; an error is a line that begins differently, and the exit code is 0 all the same.
    errors = [line for line in told.splitlines() if line and not line.startswith(("debugfs:", "debugfs "))]
    if errors:
        raise RunFailed(f"debugfs did not write {out.name} as asked: {errors[0][:200]}")
    return out


def _blocks(path: Path) -> int:
    """The space that a file takes, with room for its extents; a short link lies in its inode."""
    state = path.lstat()
    if stat.S_ISLNK(state.st_mode):
        return int(state.st_size >= 60)
    if stat.S_ISDIR(state.st_mode):
        return 1 + len(os.listdir(path)) // 64  # noqa: PTH208 - only how many
    return -(-state.st_size // _BLOCK_B)


def _commands(root: Root, work: Path) -> Iterator[str]:
    for place in ("", *root.paths()):
        name = _quoted(f"/{place}")
        mode = (root.folder / place).lstat().st_mode
        attributes = root.attributes(place) if place else None
        for time in ("atime", "ctime", "mtime"):
            yield f"sif {name} {time} @{epoch_s()}"
            yield f"sif {name} {time}_extra 0"
        bits = attributes.mode if attributes else 0o755
        yield f"sif {name} mode 0{stat.S_IFMT(mode) | bits:o}"
        yield f"sif {name} uid {attributes.uid if attributes else 0}"
        yield f"sif {name} gid {attributes.gid if attributes else 0}"
        if attributes and attributes.capability:
            value = work / f"capability-{len(list(work.iterdir()))}"
            value.write_bytes(attributes.capability)
            yield f"ea_set -f {_quoted(str(value))} {name} security.capability"


def _quoted(name: str) -> str:
    if "\n" in name:
        raise RunFailed(f"a file of the root has a line end in its name: {name!r}")
    return '"' + name.replace('"', '""') + '"'
