# SPDX-License-Identifier: MIT
"""Empty disks."""

import os
import shutil
import subprocess
from pathlib import Path

from rtqual.base.cache import cache_dir, locked
from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch

_UUID = "00000000-0000-4000-8000-000000000001"  # the same disk everywhere, made at the same time
_MADE = {"E2FSPROGS_FAKE_TIME": "1"}


def blank_disk(name: str, size_b: int) -> Path:
    """An empty ext4 disk with a journal, in the cache. Raises RunFailed without mke2fs."""
    path = cache_dir() / "disks" / f"{name}.img"
    with locked(path):
        if not path.exists():
            mke2fs = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin")
            if mke2fs is None:
                raise RunFailed("mke2fs is missing: `apt-get install e2fsprogs`")
            with scratch(path.parent) as folder:
                fresh = folder / path.name
                with fresh.open("wb") as file:
                    file.truncate(size_b)
                subprocess.run(
                    [mke2fs, "-q", "-F", "-t", "ext4", "-U", _UUID, "-E", f"hash_seed={_UUID}", str(fresh)],
                    env={**os.environ, **_MADE},
                    check=True,
                    capture_output=True,
                )
                fresh.rename(path)
    return path
