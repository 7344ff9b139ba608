# SPDX-License-Identifier: MIT
"""How each program on a board is asked for its version. rt-tests print theirs as the first line of --help."""

import re

from rtqual.base.errors import RunFailed

VERSION_ARGV: dict[str, tuple[str, ...]] = {
    "cyclictest": ("cyclictest", "--help"),
    "hackbench": ("hackbench", "--help"),
    "sysbench": ("sysbench", "--version"),
    "stress-ng": ("stress-ng", "--version"),
    "iw": ("iw", "--version"),
    "iperf3": ("iperf3", "--version"),
}
_VERSION = re.compile(r"(?:\b|(?<=\bv))\d+(?:\.\d+)+")


def parse_version(text: str) -> str:
    """'cyclictest V 2.40' -> '2.40': the first dotted number of the first line that has one."""
    match = _VERSION.search(text)
    if match is None:
        raise RunFailed(f"no version in {text[:60]!r}: check that the program runs on the board")
    return match[0]
