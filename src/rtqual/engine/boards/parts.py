# SPDX-License-Identifier: MIT
"""The parts of a recorded run, found in rtqual's cache by their hashes. What a record says of places is a hint only."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rtqual.base.cache import cache_dir, sha256_file
from rtqual.base.errors import BadInput

_PLACES = {
    "kernel": ("unpacked/*/boot/vmlinu*", "kernels/*/boot/*", "given/*/boot/*"),
    "initramfs": ("initramfs/*.cpio",),
    "device tree": ("device-trees/*.dtb",),
    "image": ("freertos/*/*.elf", "freertos/*/probe*", "images/*/*.elf"),
}


def part(kind: str, artefacts: Mapping[str, str], named: Sequence[str]) -> Path:
    """The file whose hash the artefacts have; files of a name in `named` are looked at first. Raises BadInput."""
    wanted = artefacts.get(kind, "")
    for path in sorted(_files(kind), key=lambda path: (path.name not in named, path)):
        if sha256_file(path) == wanted:
            return path
    raise BadInput(f"its {kind} (sha256 {wanted[:16]}...) is not in rtqual's cache here: run its campaign again")


def _files(kind: str) -> Iterator[Path]:
    for pattern in _PLACES[kind]:
        yield from (path for path in cache_dir().glob(pattern) if path.is_file() and not path.is_symlink())
