# SPDX-License-Identifier: MIT
"""Booted guests, saved in rtqual's cache, so that the next campaign boots nothing.

NAME/memory   the guest's memory. QEMU maps it and keeps what it writes to itself, so nothing is read that is not used
NAME/devices  all else, as QEMU migrates it
NAME/sums     the sha256 of both
NAME/used     locked (shared) by everyone who starts guests from it; its time is that of the last use
NAME.lock     locked by who looks at it, makes it or removes it
NAME.part/    what is being made, or what a killed rtqual left; renamed when it is whole

NAME is the hash of all that decides how the guest comes out. A saved guest whose sums do not fit is made again, so
neither a kill nor a damaged disk is ever restored. Beyond the bound those go that were not used for longest.
"""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from fcntl import LOCK_SH, flock
from pathlib import Path
from typing import BinaryIO

from rtqual.base.cache import lock_file, locked, taken
from rtqual.base.errors import RunFailed
from rtqual.base.sparse import sparse_sha256

AT_MOST_B = 4 * 2**30
_POLL_S = 0.05


class Saved:
    """A guest that nobody removes until it is released."""

    def __init__(self, folder: Path, used: BinaryIO) -> None:
        self.memory, self.devices, self._used = folder / "memory", folder / "devices", used

    def release(self) -> None:
        self._used.close()


def saved(folder: Path, name: str, make: Callable[[Path], None], *, at_most_b: int = AT_MOST_B) -> Saved:
    """The guest of that name; where there is none, `make` fills a folder with its memory and devices.

    Raises what `make` raises, and RunFailed where it cannot be kept.
    """
    place, part = folder / name, folder / f"{name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(place):
            made = place.is_symlink() or not _is_sound(place)
            if made:
                if place.is_symlink() or place.is_file():
                    place.unlink()
                shutil.rmtree(place, ignore_errors=True)
                shutil.rmtree(part, ignore_errors=True)
                part.mkdir()
                make(part)
                (part / "used").touch()
                (part / "sums").write_text(json.dumps({"name": name, **_sums(part)}))
                part.rename(place)
            used = (place / "used").open("rb")
            flock(used, LOCK_SH)
            os.utime(place / "used", ns=(time.time_ns(), time.time_ns()))  # the system's own stamp may be 10 ms old
        if made:
            with suppress(FileNotFoundError):  # another rtqual removes them too
                _prune(folder, at_most_b)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise RunFailed(
            f"the booted guest cannot be saved in {folder} ({error.strerror}): make room or set XDG_CACHE_HOME"
        ) from None
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return Saved(place, used)


def _sums(folder: Path) -> dict[str, str]:
    return {name: sparse_sha256(folder / name) for name in ("memory", "devices")}


def _is_sound(place: Path) -> bool:
    try:
        said = json.loads((place / "sums").read_bytes())
        return bool(said == {"name": place.name, **_sums(place)}) and (place / "used").is_file()
    except (OSError, ValueError, RecursionError):
        return False


def _prune(folder: Path, at_most_b: int) -> None:
    """Remove what killed campaigns left, then saved guests that nobody uses, until the others fit."""
    for part in folder.glob("*.part"):
        _remove(part, part.with_suffix(".lock"))
    kept = [path for path in folder.iterdir() if (path / "used").exists() and path.suffix != ".part"]
    sizes_b = {path: sum(file.stat().st_blocks * 512 for file in path.iterdir()) for path in kept}
    for path in sorted(kept, key=lambda path: (path / "used").stat().st_mtime_ns):
        if sum(sizes_b.values()) <= at_most_b:
            return
        if _remove(path, path.with_name(f"{path.name}.lock")):
            del sizes_b[path]


def _remove(path: Path, lock: Path) -> bool:
    """Whether it is gone: not while somebody makes or uses it."""
    with lock_file(lock) as file:
        if not taken(file):
            return False
        if (path / "used").exists() and path.suffix != ".part":
            with (path / "used").open("rb") as used:
                if not taken(used):
                    return False
        shutil.rmtree(path, ignore_errors=True)
    return True
