# SPDX-License-Identifier: MIT
"""The processors that guests run on, by Debian's names for them."""

import platform
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Architecture:
    """The names of its Debian packages and of our own programs for it."""

    name: str  # Debian's
    triplet: str  # the folder its libraries lie in
    suffix: str  # of our own programs for it
    machine: str  # in its programs' heads (ELF)

    @property
    def foreign(self) -> bool:
        """Whether it is not this machine's: apt gets lists of its own, and its programs do not run here."""
        return self.triplet.partition("-")[0] != platform.machine()


AMD64 = Architecture("amd64", "x86_64-linux-gnu", "", "EM_X86_64")
ARM64 = Architecture("arm64", "aarch64-linux-gnu", "-arm64", "EM_AARCH64")
ARMHF = Architecture("armhf", "arm-linux-gnueabihf", "-armhf", "EM_ARM")
ARCHITECTURES = (AMD64, ARM64, ARMHF)
HERE = next((architecture for architecture in ARCHITECTURES if not architecture.foreign), AMD64)


@cache
def of_kernel(package: str) -> Architecture:
    """Debian calls its 32-bit ARM kernels armmp (multiplatform), as linux-image-rt-armmp; the Raspberry Pi's own name
    the model, as linux-image-rpi-v8."""
    if re.search(r"-(arm64|rpi-v8|rpi-2712)\b", package):
        return ARM64
    return ARMHF if re.search(r"-armmp\b", package) else AMD64
