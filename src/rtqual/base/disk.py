# SPDX-License-Identifier: MIT
"""Empty disks."""

from pathlib import Path

from rtqual.base.cache import cache_dir, kept
from rtqual.base.program import run

_UUID = "00000000-0000-4000-8000-000000000001"  # the same disk everywhere, made at the same time
_MADE = {"E2FSPROGS_FAKE_TIME": "1"}


def blank_disk(name: str, size_b: int) -> Path:
    """An empty ext4 disk with a journal, in the cache. Raises RunFailed without mke2fs."""

    def make(fresh: Path) -> None:
        with fresh.open("wb") as file:
            file.truncate(size_b)
        command = ["mke2fs", "-q", "-F", "-t", "ext4", "-U", _UUID, "-E", f"hash_seed={_UUID}", str(fresh)]
        run(command, package="e2fsprogs", also=_MADE).require(f"{fresh.parent}: an empty disk cannot be made")

    return kept(cache_dir() / "disks" / f"{name}.img", make)
