# SPDX-License-Identifier: MIT
"""A cyclictest command line, as logs and JSON keep it: the options that say what its figures mean."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Options without a value may stand before another in one word: -qmN, -mp80.
_FLAGS = "MNSfmnqrsuvx"
_COMMAND = re.compile(r"\bcyclictest((?:\s+-[^#|&;<>`\n]*)+)")
_MOST_CPUS = 4096
COMMAND = "the command line in the file"


@dataclass(frozen=True)
class Invocation:
    argv: tuple[str, ...]

    @property
    def unit(self) -> str:
        short = rf"-[{_FLAGS}]*N[A-Za-z0-9]*"
        return "ns" if any(re.fullmatch(short, word) or word == "--nsecs" for word in self.argv) else "us"

    @property
    def histogram_limit(self) -> int | None:
        """In the unit of the values: the first value that overflows."""
        found = [self._number("h", "histogram"), self._number("H", "histofall")]
        return next((number for number in found if number), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """Interval and priority, named as rtqual's cyclictest names them."""
        interval_us, priority = self._number("i", "interval"), self._number("p", "prio(?:rity)?")
        told = {"interval": interval_us * 1_000 if interval_us else None, "priority": priority}
        return {name: value for name, value in told.items() if value is not None}

    def contradictions(self, cycles: Sequence[int | None], *, may_miss: int = 0, alike: bool = True) -> list[str]:
        """Where a run is not what was asked for; `cycles` of each thread, of which `may_miss` may be unprinted.

        `alike`: nothing tells that its threads have intervals of their own, as -S gave them once.
        """
        problems = []
        asked = self._number("t", "threads")
        if asked and asked != len(cycles):
            problems.append(f"its command line asks for {asked} threads, the file has {len(cycles)}")
        loops, taken = self._number("l", "loops"), [number for number in cycles if number is not None]
        if loops and taken and max(taken) > loops:
            problems.append(f"its command line asks for {loops} cycles, a thread took {max(taken)}")
        if loops and taken and max(taken) + may_miss < loops:
            problems.append(f"its command line asks for {loops} cycles, no thread took more than {max(taken)}")
        alike = alike and any(
            re.fullmatch(rf"-[{_FLAGS}]*S[A-Za-z0-9]*|--smp|-d0|--distance=0", word) for word in self.argv
        )
        if alike and taken and min(taken) + may_miss < 0.9 * max(taken):
            problems.append(f"a thread took {min(taken)} cycles, another with the same interval {max(taken)}")
        return problems

    def cpus(self, threads: int) -> dict[int, int] | None:
        """The CPU of each thread, where the command pins them."""
        for position, word in enumerate(self.argv):
            if re.fullmatch(rf"-[{_FLAGS}]*S[A-Za-z0-9]*|--smp", word):
                return {thread: thread for thread in range(threads)}
            match = re.fullmatch(rf"(?:-[{_FLAGS}]*a|--affinity=?)([0-9,-]*)", word)
            if match:
                following = self.argv[position + 1] if position + 1 < len(self.argv) else ""
                listed = match[1] or (following if re.fullmatch(r"[0-9][0-9,-]*", following) else "")
                return _pinned(listed, threads)
        return None

    def _number(self, short: str, long: str) -> int | None:
        for position, word in enumerate(self.argv):
            match = re.fullmatch(rf"(?:-[{_FLAGS}]*{short}|--{long}=?)(\d{{0,9}})", word)
            if match:
                following = self.argv[position + 1] if position + 1 < len(self.argv) else ""
                number = match[1] or following
                return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else None
        return None


def find(text: str) -> Invocation | None:
    """The first cyclictest command line in a text."""
    match = _COMMAND.search(text)
    return parse("cyclictest" + match[1]) if match else None


def parse(command: str) -> Invocation | None:
    try:
        argv = tuple(shlex.split(command))
    except ValueError:  # an open quote
        return None
    return Invocation(argv) if len(argv) > 1 else None


def _pinned(listed: str, threads: int) -> dict[int, int] | None:
    """cyclictest -a: thread N to CPU N, or round-robin over the listed CPUs."""
    cpus: list[int] = []
    for part in filter(None, listed.split(",")):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part)
        if match is None:
            return None
        cpus += range(int(match[1]), int(match[2] or match[1]) + 1)
    if not cpus:
        return None if listed else {thread: thread for thread in range(threads)}
    return {thread: cpus[thread % len(cpus)] for thread in range(threads)} if len(cpus) <= _MOST_CPUS else None
