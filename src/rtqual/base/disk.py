# SPDX-License-Identifier: MIT
"""Empty disks."""

import os
import shutil
import subprocess
from pathlib import Path

from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import RunFailed

_UUID = "00000000-0000-4000-8000-000000000001"  # the same disk everywhere, made at the same time
_MADE = {"E2FSPROGS_FAKE_TIME": "1"}


def blank_disk(name: str, size_b: int) -> Path:
    """An empty ext4 disk with a journal, in the cache. Raises RunFailed without mke2fs."""

    def make(fresh: Path) -> None:
        mke2fs = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin")
        if mke2fs is None:
            raise RunFailed("mke2fs is missing: `apt-get install e2fsprogs`")
        with fresh.open("wb") as file:
            file.truncate(size_b)
        subprocess.run(
            [mke2fs, "-q", "-F", "-t", "ext4", "-U", _UUID, "-E", f"hash_seed={_UUID}", str(fresh)],
            env={**os.environ, **_MADE},
            check=True,
            capture_output=True,
        )

    return kept(cache_dir() / "disks" / f"{name}.img", make)
