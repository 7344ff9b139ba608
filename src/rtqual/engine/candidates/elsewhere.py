# SPDX-License-Identifier: MIT
"""Where a kernel lies that was built elsewhere: its image, configuration and release, by how others lay them out.

a folder it was built in    arch/x86/boot/bzImage (arch/arm64/boot/Image.gz), .config, include/config/kernel.release
Buildroot's output folder   build/linux-VERSION/ is such a folder
a folder with an image      as Yocto deploys, and Buildroot's images/
the image itself
a .deb                      as Debian's, or of the kernel's own `make bindeb-pkg`; its modules are used too

What lies beside an image says nothing for sure: the release is read in the image, and so is the configuration, where
the kernel carries it (CONFIG_IKCONFIG) and the mission names none.
"""

import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from rtqual.base import named
from rtqual.base.architecture import AMD64, ARM64
from rtqual.base.errors import BadInput

CONFIG, RELEASE = ".config", "include/config/kernel.release"
IMAGES = {AMD64.name: "arch/x86/boot/bzImage", ARM64.name: "arch/arm64/boot/Image.gz"}
_DEPLOYED = {AMD64.name: ("bzImage",), ARM64.name: ("Image.gz", "Image")}
_NAME = re.compile(rb"[A-Za-z0-9][\w.+~-]{0,63}", re.ASCII)
_TOLD = re.compile(rb"Linux version ([A-Za-z0-9][\w.+~-]{0,63}) \(", re.ASCII)
_MAGIC, _MAGIC_AT, _RELEASE_AT = b"HdrS", 0x202, 0x20E  # Documentation/arch/x86/boot.rst
_KEPT, _GZIP = b"IKCFG_ST", b"\x1f\x8b"  # kernel/configs.c; of RFC 1952
_MOST_IMAGE_B, _MOST_CONFIG_B = 1 << 28, 1 << 22


@dataclass(frozen=True)
class FoundKernel:
    """Without a configuration or a release where these are read in the image."""

    image: Path
    config: Path | None = None
    release: Path | None = None

    @property
    def is_package(self) -> bool:
        return self.image.suffix == ".deb"


def locate(kernel: Path, architecture: str, config: Path | None = None) -> FoundKernel:
    """Look at names alone. Raises BadInput that says what is to be there."""
    place = kernel.expanduser()
    if place.is_file():
        return FoundKernel(place, config)
    trees = [tree for tree in (place, *sorted(place.glob("build/linux-*"))) if (tree / IMAGES[architecture]).is_file()]
    if len(trees) > 1:
        raise BadInput(f"{place}: holds kernels in {trees[0].name} and {trees[1].name}: name the folder of one")
    if trees:
        return FoundKernel(trees[0] / IMAGES[architecture], config or trees[0] / CONFIG, trees[0] / RELEASE)
    for name in _DEPLOYED[architecture]:
        if (place / name).is_file():
            return FoundKernel(place / name, config)
    looked_for = ", ".join((IMAGES[architecture], f"build/linux-*/{IMAGES[architecture]}", *_DEPLOYED[architecture]))
    raise BadInput(
        f"there is no kernel for {architecture} at {place}: no .deb, no image, and no folder with {looked_for}"
    )


def read(built: FoundKernel) -> tuple[bytes, bytes, str]:
    """Image, configuration and release. Raises OSError, and BadInput where the image does not tell what is missing."""
    image = named.read(built.image)
    said = named.read(built.release).strip() if built.release else release_in(image)
    if not said or not _NAME.fullmatch(said):
        raise BadInput(f"{built.release or built.image} holds no kernel release")
    config = named.read(built.config, _MOST_CONFIG_B) if built.config else config_in(image)
    if config is None:
        raise BadInput(
            f'{built.image} does not carry its configuration (CONFIG_IKCONFIG): write config = "PATH", its .config'
        )
    return image, config, said.decode()


def release_in(image: bytes) -> bytes:
    """What `uname -r` will print; empty where the image does not tell it."""
    if image[_MAGIC_AT : _MAGIC_AT + 4] == _MAGIC and len(image) >= _RELEASE_AT + 2:
        at: int = struct.unpack_from("<H", image, _RELEASE_AT)[0] + 0x200
        return image[at : at + 128].partition(b"\0")[0].partition(b" ")[0]
    found = _TOLD.search(_plain(image))
    return found[1] if found else b""


def config_in(image: bytes) -> bytes | None:
    """The configuration that a kernel with CONFIG_IKCONFIG carries."""
    from rtqual.engine.boards.unpacked import unpack  # noqa: PLC0415 - pyelftools is slow to load

    plain = unpack(image) or _plain(image)
    at = plain.find(_KEPT + _GZIP)
    return _inflated(plain[at + len(_KEPT) :], _MOST_CONFIG_B) if at >= 0 else None


def _plain(image: bytes) -> bytes:
    """An image for ARM is packed as a whole."""
    return _inflated(image, _MOST_IMAGE_B) or b"" if image.startswith(_GZIP) else image


def _inflated(packed: bytes, most_b: int) -> bytes | None:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        content = unpacking.decompress(packed, most_b)
    except zlib.error:
        return None
    return content if unpacking.eof else None
