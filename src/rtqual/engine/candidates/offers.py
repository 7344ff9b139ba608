# SPDX-License-Identifier: MIT
"""What an operating system brings besides scheduling, as a chooser asks for it: a row each (docs/systems.md)."""

from dataclasses import dataclass
from enum import Enum

from rtqual.engine.mission import Candidate
from rtqual.engine.mission.candidate import Rtos


class Has(Enum):
    YES = "in what was measured"
    SOURCES = "in its sources, not in what was measured"
    NO = "none"


@dataclass(frozen=True)
class Offers:
    """`kin`: what counts as one system, whichever its version or configuration."""

    kin: str
    usb: Has
    wifi: Has
    protection: Has  # of a thread's memory from other threads
    licence: str  # of the kernel


# Looked up in the trees that were measured. FreeRTOS's ports with a memory protection unit, NuttX's protected build and
# ChibiOS's sandboxes are for other processors or builds than these. RTEMS has USB and Wi-Fi in a library of its own.
_LINUX = Offers("Linux", usb=Has.YES, wifi=Has.YES, protection=Has.YES, licence="GPL 2")
_RTOS = {
    Rtos.FREERTOS: Offers("FreeRTOS", usb=Has.NO, wifi=Has.NO, protection=Has.SOURCES, licence="MIT"),
    Rtos.NUTTX: Offers("NuttX", usb=Has.SOURCES, wifi=Has.SOURCES, protection=Has.SOURCES, licence="Apache 2"),
    Rtos.RTEMS: Offers("RTEMS", usb=Has.NO, wifi=Has.NO, protection=Has.NO, licence="BSD 2"),
    Rtos.CHIBIOS: Offers("ChibiOS", usb=Has.SOURCES, wifi=Has.NO, protection=Has.SOURCES, licence="GPL 3"),
}


def offers(candidate: Candidate) -> Offers:
    return _RTOS[candidate.rtos] if candidate.rtos else _LINUX
