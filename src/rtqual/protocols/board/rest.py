# SPDX-License-Identifier: MIT
"""Whether a system had come to rest after its boot when it was measured: what rtqual-agent tells (rest.h)."""

from collections.abc import Mapping

from rtqual.base.words import whole
from rtqual.protocols.record.schema import RESET, WAITED_NS

FILE = "/run/rest"  # on a candidate, whose first process waits
_NO_ENTROPY = "the random generator"  # target/agent/rest.c says so
_ADVICE = (
    ": it has no seed, so each system call takes longer (19.5 us on an emulated Raspberry Pi 3): give the kernel its "
    "chip's driver (HW_RANDOM), or the device tree an rng-seed"
)
START, BUSY = "start", "busy"  # why there is no rest: what the kernel or systemd starts, a process that runs


def problems(facts: Mapping[str, str]) -> tuple[str, ...]:
    """Say why the figures of a system that was not at rest decide nothing; nothing where it was, or was reset."""
    if RESET in facts:
        return ()
    waited_ns = whole(facts.get(WAITED_NS, ""))
    if waited_ns is None:
        return ("nothing tells whether it had come to rest after its boot",)
    if "unrest" not in facts:
        return ()
    why = facts.get("rest_awaited", "nothing was told")
    why += _ADVICE if why == _NO_ENTROPY else ""
    how = "still busy" if facts["unrest"] == BUSY else "still starting"
    return (f"measured before it had come to rest: {how} after a wait of {waited_ns / 1e9:.0f} s: {why}",)
