# SPDX-License-Identifier: MIT
"""What commands cost before they do anything: the least CPU seconds of ROUNDS calls, beside Python's own start.

CPU seconds, not wall seconds, and the least of them: another program on the machine makes both larger.
"""

import resource
import subprocess
import sys
from pathlib import Path

ROUNDS = 5
_COMMANDS = (("--version",), ("--help",), ("mission", "check", "missions/uav-250hz.toml"), ("doctor",))


def main() -> None:
    rtqual = str(Path(sys.executable).with_name("rtqual"))
    campaigns = sorted(Path("out").glob("*/campaign.json"))
    commands = [*_COMMANDS, *(("show", str(path.parent)) for path in campaigns[:1])]
    start_s = _cpu_s([sys.executable, "-c", "pass"])
    print(f"CPU seconds of a command (and as a multiple of Python's start, {start_s:.3f} s), least of {ROUNDS}:")
    for command in commands:
        took_s = _cpu_s([rtqual, *command])
        print(f"  rtqual {' '.join(command):45} {took_s:.2f} s ({took_s / start_s:.0f})")


def _cpu_s(command: list[str]) -> float:
    """Of the program and all that it started."""
    least = float("inf")
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


if __name__ == "__main__":
    main()
