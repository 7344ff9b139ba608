# SPDX-License-Identifier: MIT
"""The checks every reader makes first: did the program succeed, and did it run as it was asked to?"""

import re
from collections.abc import Sequence
from decimal import Decimal

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import JobOutcome

_JIFFY_NS = 1_000_000  # the shortest tick Linux can be built with (HZ=1000)


def last_line(*texts: str) -> str:
    """The last line with something on it, of the first text that has one: the evidence in an error."""
    lines = (line.strip() for text in texts for line in reversed(text.splitlines()))
    return next((line for line in lines if line), "(nothing)")[:200]


def require_success(program: str, outcome: JobOutcome) -> None:
    """Raises RunFailed with the program's last words unless it ended with 0."""
    if outcome.exit_code != 0:
        said = last_line(outcome.stderr, outcome.stdout, outcome.console)
        raise RunFailed(
            f"{program} ended with exit code {outcome.exit_code}, last words: {said!r}; "
            f"run it by hand on the board to see why"
        )


def number(program: str, text: str, pattern: str, what: str) -> Decimal:
    """The one number that `pattern` (a line, one group) finds. Raises RunFailed naming `what` is missing."""
    found = re.findall(rf"^{pattern}$", text, re.MULTILINE | re.ASCII)
    if len(found) != 1:
        problem = "no" if not found else f"{len(found)} times"
        raise RunFailed(f"{program} printed {problem} {what!r}, last line: {last_line(text)!r}; check its version")
    return Decimal(found[0])


def fifo_problems(outcome: JobOutcome, priority: int, threads: int) -> list[str]:
    """Reasons to refuse when fewer than `threads` ran under SCHED_FIFO at exactly `priority`."""
    right = [t for t in outcome.threads if t.get("policy") == "fifo" and t.get("priority") == priority]
    if len(right) >= threads:
        return []
    seen = ", ".join(sorted({f"{t.get('policy')} {t.get('priority')}" for t in outcome.threads})) or "none"
    return [f"{len(right)} of {threads} measuring threads seen at fifo {priority} (threads seen: {seen})"]


POLLS = "polls"  # begins the problem of a system that waits by looking at the clock


def refused(problems: Sequence[str]) -> str:
    """In a word, for tables: "polls", or "refused" for any other reason."""
    return POLLS if any(problem.startswith(f"{POLLS}: ") for problem in problems) else "refused"


def clock_problems(outcome: JobOutcome) -> list[str]:
    """Reasons to refuse when timers fire on ticks only, that could not be read, or a CPU without work polls."""
    polls = f"{POLLS}: with idle=poll a CPU without work never sleeps, so nothing wakes it"
    return [*_steps(outcome), *([polls] if "idle=poll" in outcome.facts.get("cmdline", "").split() else [])]


def _steps(outcome: JobOutcome) -> list[str]:
    resolution_ns = outcome.facts.get("clock_resolution_ns", "")
    if not (resolution_ns.isascii() and resolution_ns.isdigit()):
        return ["the clock's resolution is not known"]
    if int(resolution_ns) >= _JIFFY_NS:
        return [f"the clock has jiffy resolution ({resolution_ns} ns): no high-resolution timers"]
    return []
