# SPDX-License-Identifier: MIT
"""What target/observers/program.c says of a program's run: lines of a word and its values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rtqual.base.errors import RunFailed

NAME = "program"  # of its files in a job's folder
_MOST_LINES = 10_000
_NUMBERS = ("started", "ready", "begin", "end", "pid", "exit", "signal", "never_ready")


@dataclass(frozen=True)
class Raised:
    """A thread of the kernel that was given a priority, and what it had before."""

    name: str
    policy: int
    before: int
    after: int


@dataclass(frozen=True)
class RunReport:
    """Times are the guest's CLOCK_MONOTONIC in ns."""

    started: int | None = None
    ready: int | None = None
    begin: int | None = None  # of what is judged
    end: int | None = None
    pid: int | None = None
    exit: int | None = None
    signal: int | None = None
    never_ready: int | None = None
    cannot: str = ""
    killed: bool = False
    raised: tuple[Raised, ...] = ()
    unraised: tuple[str, ...] = ()  # patterns that no thread of the kernel fits
    unleft: tuple[str, ...] = ()  # files that it did not leave
    faults: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # begin, end -> minor, major
    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # begin, end -> locked, resident, in KiB

    @property
    def lasted_ns(self) -> int:
        """From its start to the last that is known of it."""
        last = max(
            (number for number in (self.begin, self.end, self.ready) if number is not None), default=self.started or 0
        )
        return last - (self.started or 0)

    @property
    def faults_in_window(self) -> tuple[int, int] | None:
        """Minor and major page faults while it was judged; of its first process."""
        if not {"begin", "end"} <= {*self.faults}:
            return None
        a, b = self.faults["begin"], self.faults["end"]
        return b[0] - a[0], b[1] - a[1]


def read_report(text: str) -> RunReport:
    """Raises RunFailed where it is damaged."""
    found: dict[str, Any] = {"raised": [], "unraised": [], "unleft": [], "faults": {}, "memory": {}}
    for line in text.splitlines()[:_MOST_LINES]:
        word, _, rest = line.partition(" ")
        try:
            if word in _NUMBERS:
                found[word] = int(rest)
            elif word == "cannot":
                found[word] = rest
            elif word == "killed":
                found[word] = True
            elif word in ("unraised", "unleft"):
                found[word].append(rest)
            elif word == "raised":
                policy, before, after, name = rest.split(" ", 3)
                found[word].append(Raised(name, int(policy), int(before), int(after)))
            elif word in ("faults", "memory"):
                when, a, b = rest.split(" ")
                found[word][when] = (int(a), int(b))
        except ValueError:
            raise RunFailed(f"what was said of the program's run is damaged: {line[:60]!r}; run it again") from None
    whole: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in found.items()}
    return RunReport(**whole)
