# SPDX-License-Identifier: MIT
"""Disks that fill up at once. Only root can mount them; without, the test is skipped."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest


@contextmanager
def mounted_disk(folder: Path, size: str) -> Iterator[Path]:
    """`size` as mount's tmpfs takes it: 256k, 20m."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted: run the tests as root ({mounted.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@dataclass(frozen=True)
class PrivateDisk:
    """A disk that only those programs see that are started by `command`: it goes with them, however they end."""

    place: Path  # as they see it
    seen: Path  # from outside
    holder: int

    def command(self, *words: object) -> list[str]:
        return ["nsenter", "-t", str(self.holder), "-m", "--", *map(str, words)]

    def fill(self, *, but_b: int = 0) -> Path:
        """A file that takes all the room, but for so much."""
        filler = self.seen / "filler"
        room = os.statvfs(self.seen)
        with filler.open("ab", buffering=0) as file:
            with suppress(OSError):  # at once: what works on this disk is quick, too
                os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize)
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                os.truncate(filler, max(0, filler.stat().st_size - but_b))
        return filler


@contextmanager
def private_disk(folder: Path, size: str) -> Iterator[PrivateDisk]:
    """In a mount namespace of its own, so nothing stays mounted even when the test is killed."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={size} tmpfs "$0" && echo mounted && exec cat'
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, str(folder)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdin and holder.stdout and holder.stderr
    if holder.stdout.readline() != "mounted\n":
        pytest.skip(f"no small disk can be mounted: run the tests as root ({holder.stderr.read().strip()})")
    try:
        yield PrivateDisk(folder, Path(f"/proc/{holder.pid}/root{folder}"), holder.pid)
    finally:
        holder.stdin.close()  # cat ends, and with it the namespace
        holder.wait()


def environment(**others: object) -> Mapping[str, str]:
    return {**os.environ, **{name: str(value) for name, value in others.items()}}
