# SPDX-License-Identifier: MIT
"""Whether a program lives: not only its process, but each of its threads. One that has lost a thread may go on to
answer pings, and do nothing else."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase

from rtqual.engine.procedure.log import Entry, What

THREADS, THREADS_ENDED, THREAD = "threads", "threads ended", "thread "  # figures of a record; the last begins its name
_TOLD = (What.AT_BEGIN, What.AT_END)


def gone(entries: Sequence[Entry], may_end: Collection[str] = ()) -> Iterator[str]:
    """Names of threads of which there are fewer at the end than there were at the beginning. None where the whole
    program has ended: that is told otherwise. `may_end`: patterns of names."""
    before, after = _names(entries, What.AT_BEGIN), _names(entries, What.AT_END)
    for name, count in before.items() if after else ():
        if after[name] < count and not any(fnmatchcase(name, pattern) for pattern in may_end):
            yield name if count == 1 else f"{name} ({after[name]} of {count} are left)"


def shares(entries: Sequence[Entry]) -> dict[str, float]:
    """How much of a CPU each thread took from the script's beginning to its end, in percent; of the same name
    together."""
    ran: Counter[str] = Counter()
    times = [entry.at_ns for entry in entries if entry.what in _TOLD]
    for entry in entries:
        if entry.what in _TOLD:
            ran[_name(entry)] += entry.ran_ns if entry.what is What.AT_END else -entry.ran_ns
    lasted_ns = max(times) - min(times) if times else 0
    there = _names(entries, What.AT_END)
    return {name: max(100 * ran[name] / lasted_ns, 0.0) for name in sorted(there)} if lasted_ns else {}


def count(entries: Sequence[Entry], when: What) -> int:
    """How many threads there were then."""
    return sum(entry.what is when for entry in entries)


def _names(entries: Sequence[Entry], when: What) -> Counter[str]:
    return Counter(_name(entry) for entry in entries if entry.what is when)


def _name(entry: Entry) -> str:
    return entry.octets.decode(errors="replace")
