# SPDX-License-Identifier: MIT
"""What continuous integration may skip: any other skip there is a failure, as for a tool that nobody installed."""

ALLOWED = {
    "THE XENOMAI PORT IS NOT TESTED": "Debian has no package of Xenomai, and no tree of it is ours to build",
    "XENOMAI'S CORES ARE NOT TESTED": "likewise",
    "NO OTHER TREE IS RESOLVED": "the Raspberry Pi's kernel is not fetched by tests",
    "THE PUBLISHED DECODER IS NOT COMPARED WITH": "its source is not ours to fetch",
    "CHIBIOS IS NOT TESTED": "images of these are linked by hand (docs/systems.md)",
    "RTEMS IS NOT TESTED": "likewise",
    "NUTTX IS NOT TESTED": "likewise",
    "THREADX IS NOT TESTED": "likewise",
    "ZEPHYR IS NOT TESTED": "likewise",
    "SPACECHAIN IS NOT TESTED": "likewise",
    "EVERY KERNEL HERE TAKES A BOOT MODE": "Debian 13's; Debian 12's real-time kernel has none",
    "SEVERAL CPUS ARE NOT EXPLAINED": "on Debian 13; docs/limits.md says so",
    "THE DOCUMENTED FIGURES ARE OF DEBIAN 12": "another compiler gives others",
    "no text": "a file of octets has no text that could be changed",
    "SSE2's figures": "of another processor",
    "steps x86-64 instructions": "of another processor",
    "the code of QEMU for x86-64 is looked at": "of another processor",
    "only Debian 12's QEMU is known to the models of memory": "docs/memory.md says so",
    "A REAL REBOOT IS NOT TESTED: `setarch": "the machine's own kernel decides",
    "does not count what its threads spend (CONFIG_SCHEDSTATS)": "the machine's own kernel decides; guests have it",
}


def why_not(reason: str) -> str:
    """Say why a skip counts as a failure; empty where it may stand."""
    if any(start in reason for start in ALLOWED):
        return ""
    return f"skipped, which tests/support/skips.py does not allow: {reason}"
