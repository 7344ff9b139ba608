# SPDX-License-Identifier: MIT
"""An initial RAM file system with further files: a second archive behind the first, which Linux unpacks over it."""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from rtqual.base.cache import cache_dir, kept, sha256_file
from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.initramfs.contents import pack

_HEADER_B, _MAGIC, _TRAILER = 110, b"070701", "TRAILER!!!"
_SIZE_AT, _NAME_AT = 54, 94  # of its fields of eight digits


def overlaid(image: Path, files: Mapping[str, Path]) -> Path:
    """An image with these too, by path; files of Debian's packages give way to what is there. From the cache, if it was
    made before of the same bytes."""
    packages = cache_dir() / "unpacked"
    there = names(image)
    laid = {at: file for at, file in sorted(files.items()) if at not in there or not file.is_relative_to(packages)}
    identity = hashlib.sha256(f"overlay-1 {image.name}".encode())
    for at, file in laid.items():
        identity.update(f"\0{at}\0{sha256_file(file)}\0{file.stat().st_mode & 0o111}".encode())
    made = cache_dir() / "initramfs" / f"{identity.hexdigest()[:32]}.cpio"

    def make(fresh: Path) -> None:
        with scratch(made.parent) as folder:
            for at, file in laid.items():
                place = folder / "root" / at
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, place)
            further = pack(folder / "root", folder / "further")
            with fresh.open("wb") as out:
                for path in (image, further):
                    with path.open("rb") as content:
                        shutil.copyfileobj(content, out)

    try:
        return kept(made, make)
    except (OSError, shutil.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RunFailed(f"{made.parent}: a guest's image cannot be made: {why}") from None


def names(image: Path) -> frozenset[str]:
    """Of all that an archive (newc) holds; of several behind each other, of the first."""
    found: set[str] = set()
    with image.open("rb") as content:
        while (header := content.read(_HEADER_B)).startswith(_MAGIC):
            size, length = (int(header[at : at + 8], 16) for at in (_SIZE_AT, _NAME_AT))
            name = content.read(length)[:-1].decode(errors="replace")
            content.seek(-(_HEADER_B + length) % 4, 1)
            if name == _TRAILER:
                break
            content.seek(size + -size % 4, 1)
            found.add(name.removeprefix("./"))
    return frozenset(found)
