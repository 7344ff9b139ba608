# SPDX-License-Identifier: MIT
"""What a board starts: a Linux kernel with its root, or the image of an RTOS, and what there is to say of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rtqual.base.architecture import AMD64, Architecture
from rtqual.protocols.record.schema import BOOT

_LONGER = 37  # characters, no multiple of what a kernel copies at once


@dataclass(frozen=True)
class HeldPackage:
    """A package that files of a guest are of."""

    name: str
    version: str
    architecture: str = ""  # of one of Debian's
    sha256: str = ""  # of its archive, where there was one


@dataclass(frozen=True)
class Kernel:
    """A bootable kernel with what its footprint and configuration say."""

    candidate: str
    image: Path
    initramfs: Path
    disk_initramfs: Path  # the same with the modules of the disks loaded at boot
    boot: tuple[str, ...]  # extra kernel parameters
    config: str  # the .config it was built with
    release: str
    package: str
    version: str
    image_size_b: int
    installed_size_b: int
    architecture: Architecture = AMD64
    facts: Mapping[str, str] = field(default_factory=dict)  # what else its files say, for records
    carried: Mapping[str, Path] = field(default_factory=dict)  # path in the guest -> file of ours
    packages: tuple[HeldPackage, ...] = ()  # that its guests are made of

    def booted(self, number: int) -> "Kernel":
        """As it is, but for a parameter that no kernel knows: another of its boots, from 1 on; 0 has none."""
        return replace(self, boot=(*self.boot, BOOT + "x" * (_LONGER * number))) if number else self

    @property
    def sizes(self) -> dict[str, str]:
        """As facts of its runs."""
        return {
            "image_size_b": str(self.image_size_b),
            "installed_size_b": str(self.installed_size_b),
            "package": f"{self.package} {self.version}",
            **self.facts,
        }


@dataclass(frozen=True)
class Rtos:
    """An image to start, and what there is to say of it."""

    candidate: str
    image: Path
    system: str  # "FreeRTOS V11.2.0"
    sizes: Mapping[str, str]  # image_size_b; ROM and RAM of the kernel's own objects; what its mark says
    steps_ns: tuple[int, int] = (1, 1)  # the least and the most between times that its timers can be set to
    starves: bool = False  # its sleep polls, and threads that sleep keep out what would end them
