# SPDX-License-Identifier: MIT
"""The card of a Raspberry Pi without a network, on the one that QEMU emulates: does it measure?"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.parts.images import pi
from rtqual.parts.images.cards.card import Card
from rtqual.parts.images.image_trial import watch

_MEASURED = re.compile(r"rtqual: (?:measured )?(\d+) of \d+ cells")
_TIMEOUT_S = 1800.0
# The last word counts: no watchdog, for QEMU 7.2's resets as soon as it is armed (bcm2835_powermgt.c).
_TOLD = (f"console={pi.PORT}", "rtqual.watchdog=")


def boot(card: Card) -> pi.Tried:
    """Let a copy of the card measure its first cell. Raises RunFailed where it does not."""
    emulator = pi.version()  # says how to install it where it is missing
    with scratch() as folder:
        held = folder / "card"
        shutil.copyfile(card.path, held)
        for _ in starts(held, folder, 1):
            pass
    return pi.Tried(pi.MACHINE, emulator, ("console", "SD card", "a first cell"), ())


def starts(card: Path, folder: Path, enough: int, *, off: bool = False) -> Iterator[str]:
    """Start the machine from `card`, which it writes to, until `enough` cells are measured; what each start said.
    `off`: and then until it has switched itself off.

    A card writes to a screen, which is not looked at: here it is told the serial port. Raises RunFailed where a start
    measured nothing.
    """
    measured = -1
    while measured < enough:
        console = folder / "console"
        console.unlink(missing_ok=True)
        command = pi.command(card, folder, console, _TOLD)
        ran = watch(command, folder, console, lambda text: _cells(text) >= enough, timeout_s=_TIMEOUT_S, off=off)
        if not ran.done and (not ran.ended or _cells(ran.text) <= measured):
            raise RunFailed(f"the card {card} measured nothing on {pi.MACHINE}: it {ran.why(_TIMEOUT_S)}")
        measured = _cells(ran.text)
        yield ran.text


def _cells(text: str) -> int:
    """How many are measured, the last time it was said; -1 where it never was."""
    return max((int(count) for count in _MEASURED.findall(text)), default=-1)
