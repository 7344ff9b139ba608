# SPDX-License-Identifier: MIT
"""The small initial file system of kernels that have the drivers of the root's disk as modules, as Debian's have."""

from pathlib import Path
from uuid import UUID

from rtqual.base.architecture import Architecture
from rtqual.engine.candidates.roots import ROOT_MODULES
from rtqual.engine.initramfs import contents
from rtqual.engine.kernel.config import Config
from rtqual.parts.images.archive import write_cpio
from rtqual.parts.images.minimal import busybox
from rtqual.parts.images.own_files import own_text
from rtqual.parts.images.root import Root

# Without one of these no disk is found: then an initial file system is made even where the others are built in.
_NEEDED = ("EXT4_FS", "VIRTIO_BLK", "SATA_AHCI", "BLK_DEV_SD", "MMC_BLOCK", "MMC_SDHCI_IPROC", "MMC_BCM2835")


def is_needed(config: Config) -> bool:
    return any(config.get(symbol) == "m" for symbol in _NEEDED)


def write_initrd(folder: Path, out: Path, kernel: Path, release: str, architecture: Architecture, uuid: UUID) -> Path:
    """`kernel` is a tree as Debian's packages have it; `uuid` the root's."""
    for name in ("dev", "proc", "sys", "root", "etc"):
        (folder / name).mkdir(parents=True)
    root = Root(folder)
    busybox(folder, architecture)
    contents.copy_modules(folder, kernel, release, ROOT_MODULES)
    root.write("etc/modules", "".join(f"{name}\n" for name in ROOT_MODULES))
    root.write("etc/root", f"{uuid}\n")
    root.write("init", own_text("initrd"), executable=True)
    return write_cpio(root, out, compress=True)
