# SPDX-License-Identifier: MIT
"""What an operating system brings besides scheduling, as a chooser asks for it: of an image, what its mark says."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtqual.engine.candidates.mark import Has, has


@dataclass(frozen=True)
class Offers:
    """`kin`: what counts as one system, whichever its version or configuration."""

    kin: str
    usb: Has
    wifi: Has
    protection: Has  # of a thread's memory from other threads
    licence: str  # of the kernel


LINUX = Offers("Linux", usb=Has.YES, wifi=Has.YES, protection=Has.YES, licence="GPL 2")


def of_image(facts: Mapping[str, str]) -> Offers:
    """By the facts of a record; older records tell the system's name alone."""
    kin = facts.get("system") or facts.get("kernel", "").partition(" ")[0]
    brings = {what: has(facts, what) for what in ("usb", "wifi", "protection")}
    return Offers(kin, **brings, licence=facts.get("licence", Has.UNTOLD.value))
