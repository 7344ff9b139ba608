# SPDX-License-Identifier: MIT
"""Candidates: operating systems under evaluation, ready to be put on a board.

debian.py  Debian's own kernels, by package name
built.py   kernels tailored to the mission and built here
ready.py   from a kernel's files to what a board boots
rtos.py    FreeRTOS with the probe, in one image
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.architecture import AMD64, Architecture


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
