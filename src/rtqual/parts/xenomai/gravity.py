# SPDX-License-Identifier: MIT
"""How early a core sets its timers, in ns: what it expects its own way from the interrupt to take (Xenomai's word is
gravity). A latency under gravity is what is left of the wake-up after that correction and can be negative; one with
all gravities 0 is the wake-up itself. The two are never figures of one kind, so the series' names tell them apart.
"""

import re
from enum import StrEnum

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, JobOutcome
from rtqual.protocols.record.schema import Scalar

FILE = "gravity.txt"
COBALT = "/proc/xenomai/clock/coreclk"
EVL = "/sys/devices/virtual/clock/monotonic/gravity"
_RAW = "0i 0k 0u"
_FORMS = (  # of the two files
    re.compile(r"^ *gravity: irq=(-?\d{1,9}) kernel=(-?\d{1,9}) user=(-?\d{1,9})$", re.MULTILINE | re.ASCII),
    re.compile(r"^(-?\d{1,9})i (-?\d{1,9})k (-?\d{1,9})u$", re.MULTILINE | re.ASCII),
)


class Gravity(StrEnum):
    RAW = "raw"  # none: timers fire when they are due
    CONFIGURED = "configured"  # as the core has it by itself


def settle(gravity: Gravity, place: str) -> Command:
    """Sets it in the core's file and keeps what the file says then."""
    first = f"echo {_RAW} > {place} && " if gravity is Gravity.RAW else ""
    return Command(("sh", "-c", f"{first}cat {place} > {FILE}"))


def series_name(gravity: Gravity) -> str:
    return "latency" if gravity is Gravity.RAW else "latency less gravity"


def found(gravity: Gravity, program: str, outcome: JobOutcome) -> dict[str, Scalar]:
    """What the core had, as scalars. Raises RunFailed where that is not known, or not what was asked for."""
    text = outcome.files.get(FILE, "")
    seen = next((match for form in _FORMS if (match := form.search(text))), None)
    if seen is None:
        raise RunFailed(f"{program}: the core's gravity is not known ({text.strip()[:60]!r}): check the core's version")
    values = {f"gravity, {what}": int(ns) for what, ns in zip(("irq", "kernel", "user"), seen.groups(), strict=True)}
    if gravity is Gravity.RAW and any(values.values()):
        raise RunFailed(f"{program}: the core kept its gravity ({seen[0].strip()}), so its latencies would not be raw")
    return {name: Scalar(value=ns, unit="ns") for name, ns in values.items()}
