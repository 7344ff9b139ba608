# SPDX-License-Identifier: MIT
"""The plugin's log: records of 16 bytes, which target/observers/watch.h explains."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rtqual.base.errors import RunFailed

_MOST_B = (32 << 20) * 16  # the plugin writes no more and ends QEMU (target/observers/watch_log.c)
_BUFFER_B = 1 << 16  # that it may not have written then
_RECORD = np.dtype([("when", "<u8"), ("word", "<u8")])
_NS_BITS = 56
_KINDS = b"SIEXORH" + b"agnyctpq" + b"bkvwms" + b"z"
EVENTS = b"SIEXORH"
_COMM_B = 16
MOST_CPUS = 16  # that the plugin watches

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class KernelThread:
    """As the kernel names it. `priority` counts as the kernel does: with Linux, 0 to 98 are real-time (99 - FIFO's)."""

    task: int
    name: str
    priority: int
    linux: bool = True

    @property
    def idle(self) -> bool:
        return self.name.startswith(("swapper/", "IDLE"))  # Linux's, FreeRTOS's

    def __str__(self) -> str:
        if not self.linux:
            return f"{self.name} (priority {self.priority})"
        return f"{self.name} (FIFO {99 - self.priority})" if 0 <= self.priority < 99 else self.name


NOBODY = KernelThread(0, "", -1, linux=False)  # of a system whose threads are not told


@dataclass(frozen=True)
class Trace:
    """kinds, times in ns of the guest, words: an entry each record."""

    kinds: npt.NDArray[np.uint8]
    ns: npt.NDArray[np.int64]
    words: Words
    linux: bool = True

    @cached_property
    def events(self) -> npt.NDArray[np.int64]:
        """Places of the events, by their numbers."""
        return np.flatnonzero(np.isin(self.kinds, np.frombuffer(EVENTS, np.uint8)))

    @cached_property
    def event_ns(self) -> npt.NDArray[np.int64]:
        return self.ns[self.events]

    @cached_property
    def cpus(self) -> npt.NDArray[np.uint8]:
        """Whose turn it is, by records."""
        turns = np.flatnonzero(self.kinds == ord("a"))
        whose = np.concatenate(([0], self.words[turns])).astype(np.uint8)
        return np.repeat(whose, np.diff([0, *turns, len(self.kinds)]))

    @cached_property
    def threads(self) -> tuple[tuple[int, KernelThread], ...]:
        """(place of a switch, the thread that runs from there on)."""
        known: dict[int, KernelThread] = {}
        found: list[tuple[int, KernelThread]] = []
        name, told = b"", None
        for place in np.flatnonzero(np.isin(self.kinds, np.frombuffer(b"nyS", np.uint8))).tolist():
            kind, word = chr(self.kinds[place]), int(self.words[place])
            if kind == "n":
                name = (name + word.to_bytes(8, "little"))[-_COMM_B:]
            elif kind == "y":
                priority = word - (1 << 32) if word >> 31 & 1 else word
                told = (name.partition(b"\0")[0].decode("ascii", "replace"), priority)
            else:
                if told or word not in known:
                    known[word] = KernelThread(word, *(told or ("?", -1)), linux=self.linux)
                    told = None
                found.append((place, known[word]))
        return tuple(found)

    def thread_at(self, place: int, cpu: int | None = None) -> KernelThread | None:
        """Who runs at a record, on its CPU or on another one."""
        own = self._switches.get(int(self.cpus[place]) if cpu is None else cpu, [])
        where = bisect_right(own, place, key=lambda pair: pair[0]) - 1
        return own[where][1] if where >= 0 else None

    def standing(self, cpu: int) -> tuple[KernelThread | None, int, int]:
        """Who runs on a CPU at the end, for how long in ns, and how many interrupts came meanwhile."""
        place, thread = next(reversed(self._switches.get(cpu, [])), (0, None))
        own = (self.kinds[place:] == ord("I")) & (self.cpus[place:] == cpu)
        return thread, self.ended_ns - int(self.ns[place]), int(own.sum())

    @property
    def ended_ns(self) -> int:
        """The latest time in the log, whose last entry may be of an earlier one."""
        return int(self.ns.max())

    @cached_property
    def _switches(self) -> dict[int, list[tuple[int, KernelThread]]]:
        """`threads`, by CPU."""
        found: dict[int, list[tuple[int, KernelThread]]] = {}
        for place, thread in self.threads:
            found.setdefault(int(self.cpus[place]), []).append((place, thread))
        return found

    @cached_property
    def clocks_ns(self) -> list[int]:
        """When the kernel took another clock, or the same at another rate."""
        return [int(ns) for ns in self.ns[self.kinds == ord("g")]]

    def readings(self, cpu: int | None = None) -> Iterator[tuple[int, int, KernelThread]]:
        """(event, ns, thread) of each reading of the time-stamp counter in user space, on a CPU or on any; of an image
        that says of nobody that he runs, all of them."""
        read = self.kinds[self.events] == ord("R")
        for event in np.flatnonzero(read if cpu is None else read & (self.cpus[self.events] == cpu)).tolist():
            thread = self.thread_at(int(self.events[event])) if self.linux or self.threads else NOBODY
            if thread is not None:
                yield event, int(self.event_ns[event]), thread


def require_room(path: Path) -> None:
    """Raises RunFailed where a log, of a run that failed, is as long as logs get."""
    if path.exists() and path.stat().st_size >= _MOST_B - _BUFFER_B:
        raise RunFailed("the run, or a sample to look closer at, is too long to be watched: explain a shorter one")


def read(path: Path, *, linux: bool = True) -> Trace:
    """Raises RunFailed where the log is not whole or not the plugin's."""
    size_b = path.stat().st_size if path.exists() else 0
    if size_b > _MOST_B:
        raise RunFailed(f"the watched run left {size_b:,} bytes of log, more than is read: explain a shorter run")
    return parse(path.read_bytes() if size_b else b"", linux=linux)


def parse(content: bytes, *, linux: bool = True) -> Trace:
    if not content or len(content) % _RECORD.itemsize:
        raise RunFailed(f"the log of the watched run is cut at byte {len(content)}: is the disk full?")
    records = np.frombuffer(content, _RECORD)
    kinds = (records["when"] >> np.uint64(_NS_BITS)).astype(np.uint8)
    strange = np.flatnonzero(~np.isin(kinds, np.frombuffer(_KINDS, np.uint8)))
    if len(strange):
        raise RunFailed(f"the log of the watched run is damaged: record {strange[0]} is of kind {kinds[strange[0]]}")
    if (records["word"][kinds == ord("a")] >= MOST_CPUS).any():
        raise RunFailed("the log of the watched run is damaged: it tells of a CPU that no board has")
    trace = Trace(kinds, (records["when"] & np.uint64((1 << _NS_BITS) - 1)).astype(np.int64), records["word"], linux)
    if kinds[-1] != ord("z") or int(trace.words[-1]) != len(trace.events):
        raise RunFailed("the log of the watched run has no end: was QEMU ended?")
    if len(trace.event_ns) and (np.diff(trace.event_ns) < 0).any():
        raise RunFailed("the log of the watched run is damaged: its clock goes back")
    return trace
