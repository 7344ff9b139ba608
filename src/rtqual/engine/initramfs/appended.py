# SPDX-License-Identifier: MIT
"""An initial RAM file system with further files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from rtqual.base.cache import cache_dir, sha256_file
from rtqual.engine.initramfs.contents import image_of, lay, names


def overlaid(image: Path, files: Mapping[str, Path]) -> Path:
    """An image with these too, by path; files of Debian's packages give way to what is there. From the cache, if it was
    made before of the same bytes."""
    packages = cache_dir() / "unpacked"
    there = names(image)
    laid = {at: file for at, file in sorted(files.items()) if at not in there or not file.is_relative_to(packages)}
    identity = hashlib.sha256(f"overlay-1 {image.name}".encode())
    for at, file in laid.items():
        identity.update(f"\0{at}\0{sha256_file(file)}\0{file.stat().st_mode & 0o111}".encode())
    return image_of(f"{identity.hexdigest()[:32]}.cpio", lambda root: lay(root, laid), behind=image)
