# SPDX-License-Identifier: MIT
"""What is known of a board, and the failures that a session tells apart."""

from dataclasses import dataclass
from pathlib import Path

from rtqual.base.architecture import Architecture
from rtqual.base.errors import RunFailed

STORE = "rtqual"  # the folder on its boot partition where all that is rtqual's lies
CARD_SWITCHES = ("systemd-boot", "tryboot")  # by which a card starts one candidate after the other


@dataclass(frozen=True)
class Settings:
    """A board as the mission file states it."""

    name: str  # which one it is
    model: str  # what a verdict is about
    architecture: Architecture
    user: str
    host: str
    port: int
    host_key: str
    good: str  # the release of the system that it always comes back to
    switch: str  # a name of switch.SWITCHERS
    switch_command: tuple[str, ...] = ()
    serial: str = ""
    identity: Path | None = None
    cpus: int = 1
    parameters: tuple[str, ...] = ()  # for every candidate's kernel
    boot_timeout_s: float = 180.0
    watchdog_s: float = 0.0
    power_off: tuple[str, ...] = ()
    power_on: tuple[str, ...] = ()
    console: str = ""
    labgrid: tuple[str, ...] = ()  # coordinator and place, of a board in a farm
    tune: bool = False  # every candidate, before it is measured
    disks: tuple[tuple[str, str], ...] = ()  # that jobs may write to: "usb" and its device or UUID=
    card: Path | None = None  # the folder of its card, where that is read

    @property
    def by_card(self) -> bool:
        """It has no network: a card measures there by itself (card.py)."""
        return not self.host


class Unreachable(RunFailed):
    """The board does not answer; it may again."""


class BoardRefused(RunFailed):
    """What answers is not this board, or not ours to command."""


class Fell(RunFailed):
    """A candidate did not come up; the board is back on its known-good system."""


class Out(RunFailed):
    """The board does not come back: somebody must look at it."""
