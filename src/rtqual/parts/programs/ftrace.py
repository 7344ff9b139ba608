# SPDX-License-Identifier: MIT
"""What rtqual-here left of the kernel's tracer (target/agent/here.c), as the log that the plugin of QEMU would write.

The tracer sees less: a moment that a thread asks for is known once the kernel starts a timer for it, and of others that
run only who takes a CPU from the program.
"""

import platform
import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from struct import error as StructError
from struct import unpack_from
from typing import NamedTuple

from rtqual.base.architecture import HERE, Architecture
from rtqual.base.errors import RunFailed
from rtqual.engine.boards.calls import AT_MOST, SLEEP, WAITING
from rtqual.parts.programs.thread_trace import UNTOLD

_WAKEUP = "hrtimer_wakeup"
_NEAR_NS = 10**6  # a timer whose clock is as near to the trace's is by that clock
_SAME_NS = 10**12
_PREEMPTED, _SLEEPS, _DEAD = 0x100, 1, 0x30  # of prev_state (include/trace/events/sched.h)
_ENDED, _LOCKED = 0x80, 2  # as the plugin's log says it
# Kinds of a ring buffer's entries (include/linux/ring_buffer.h); smaller ones are lengths.
_PADDING, _EXTENDED, _ABSOLUTE = 29, 30, 31
_INT = 0xFFFFFFFF
_NAME_B, _WORD_B = 16, 8  # of a thread's name; of what is longer and no name each
_FIELD = re.compile(r"field:([^;]{1,200});\s*offset:(\d{1,5});\s*size:(\d{1,5});\s*signed:(\d)")
_LABEL = re.compile(r"(\w+)(?:\[\d*\])?$")


class _Field(NamedTuple):
    """Of an event, and where it lies."""

    label: str
    offset: int
    size: int
    signed: bool


class _Event(NamedTuple):
    ns: int
    cpu: int
    name: str
    values: Mapping[str, int | str | tuple[int, ...]]

    def number(self, name: str) -> int:
        value = self.values.get(name, 0)
        return value if isinstance(value, int) else 0

    def text(self, name: str) -> str:
        return re.sub(r"[^ -~]", "?", str(self.values.get(name, "")))


@dataclass
class _Read:
    """What the file says, before it is put in order."""

    pid: int = 0
    functions: dict[int, str] = field(default_factory=dict)
    formats: dict[int, tuple[str, list[_Field]]] = field(default_factory=dict)
    pages: list[tuple[int, bytes]] = field(default_factory=list)
    lost: int | None = None


def of_this_machine() -> Architecture:
    """Raises RunFailed on a processor whose system calls are not known."""
    if HERE.foreign:
        raise RunFailed(f"jobs on this machine cannot be seen: its processor, {platform.machine()}, is not known here")
    return HERE


def as_log(text: str, architecture: Architecture) -> str:
    """Raises RunFailed where it is damaged."""
    try:
        found = _read(text)
        events = sorted(_events(found), key=lambda event: event.ns)
    except (ValueError, StructError, Error, IndexError) as error:
        raise RunFailed(f"what the kernel's tracer wrote is damaged ({error}): run it again") from None
    lines = _Log(found, events, architecture).lines()
    return "\n".join([*lines, "full" if found.lost is None or found.lost else "end", ""])


def _read(text: str) -> _Read:
    found = _Read()
    lines = iter(text.splitlines())
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "pid":
            found.pid = int(rest)
        elif word == "lost":
            found.lost = int(rest)
        elif word == "function":
            address, _, name = rest.partition(" ")
            found.functions[int(address, 16)] = name
        elif word == "format":
            _read_format(lines, found)
        elif word == "page":
            cpu, _, content = rest.partition(" ")
            found.pages.append((int(cpu), b64decode(content, validate=True)))
    return found


def _read_format(lines: Iterator[str], found: _Read) -> None:
    name, number, fields = "", 0, list[_Field]()
    for line in lines:
        if not line:
            break
        if line.startswith("name: "):
            name = line.removeprefix("name: ")
        elif line.startswith("ID: "):
            number = int(line.removeprefix("ID: "))
        elif (match := _FIELD.search(line)) and (label := _LABEL.search(match[1].strip())):
            fields.append(_Field(label[1], int(match[2]), int(match[3]), match[4] == "1"))
    found.formats[number] = (name, fields)


def _events(found: _Read) -> Iterator[_Event]:
    for cpu, page in found.pages:
        for ns, raw in _entries(page):
            known = found.formats.get(unpack_from("<H", raw)[0])
            if known:
                name, fields = known
                yield _Event(ns, cpu, name, {pair.label: _value(raw, pair) for pair in fields})


def _value(raw: bytes, of: _Field) -> int | str | tuple[int, ...]:
    piece = raw[of.offset : of.offset + of.size]
    if of.size == _NAME_B:
        return piece.partition(b"\0")[0].decode("ascii", "replace")
    if of.size > _WORD_B:
        return unpack_from(f"<{of.size // _WORD_B}Q", piece)
    return int.from_bytes(piece, "little", signed=of.signed)


def _entries(page: bytes) -> Iterator[tuple[int, bytes]]:
    """Time and content of each entry of a page of the kernel's ring buffer."""
    ns, used = unpack_from("<QQ", page)
    at, end = 16, 16 + (used & 0xFFFFF)
    while at < end:
        head = unpack_from("<I", page, at)[0]
        kind, delta = head & 31, head >> 5
        at += 4
        if kind == _PADDING:
            if not delta:
                return
            at += unpack_from("<I", page, at)[0]
            ns += delta
        elif kind in (_EXTENDED, _ABSOLUTE):
            far = (unpack_from("<I", page, at)[0] << 27) + delta
            ns = ns + far if kind == _EXTENDED else (ns & ~((1 << 59) - 1)) | far
            at += 4
        else:
            size = 4 * kind if kind else unpack_from("<I", page, at)[0] - 4
            if size <= 0:
                raise ValueError("an entry without a length")
            at += 0 if kind else 4
            ns += delta
            yield ns, page[at : at + size]
            at += size


class _Log:
    """The lines, in the order of time."""

    def __init__(self, found: _Read, events: list[_Event], architecture: Architecture) -> None:
        self._events, self._functions = events, found.functions
        self._calls = WAITING[architecture.name]
        own = {event.number("common_pid") for event in events if event.name == "sys_enter"}
        self._own = own - {found.pid}  # that is the supervisor
        self._timers: dict[int, tuple[int, int]] = {}  # address -> who started it, and the moment it is to expire
        self._names: dict[int, tuple[str, int]] = {}
        self._lines: list[list[object]] = []
        self._sleeps: dict[int, int] = {}  # a thread -> the line of its call of clock_nanosleep
        self._off: set[int] = set()  # threads that left their CPU, and were not seen to come back

    def lines(self) -> Iterator[str]:
        take = {
            "sys_enter": self._enters, "hrtimer_start": self._starts, "hrtimer_expire_entry": self._expires,
            "sched_waking": self._wakes, "sched_switch": self._switches,
        }  # fmt: skip
        for event in self._events:
            take.get(event.name, lambda _: None)(event)
        return (" ".join(map(str, line)) for line in self._lines)

    def _put(self, pair: _Event, kind: str, tid: int, a: int = 0, b: int = 0, c: int = 0, *name: str) -> None:
        self._lines.append([pair.ns, kind, pair.cpu, tid, a, b, c, *name])

    def _enters(self, pair: _Event) -> None:
        tid, number, arguments = pair.number("common_pid"), pair.number("id"), pair.values.get("args")
        self._sleeps.pop(tid, None)
        self._runs(pair, tid)
        if tid not in self._own or number not in self._calls or not isinstance(arguments, tuple):
            return
        name = self._calls[number]
        argument, by_address = AT_MOST.get(name, (0, True))
        if not by_address and not arguments[argument] & _INT:
            return
        if name == SLEEP:
            self._sleeps[tid] = len(self._lines)
        self._put(pair, "s", tid, number, arguments[0], 0 if name == SLEEP else arguments[1])

    def _starts(self, pair: _Event) -> None:
        tid, due_ns = pair.number("common_pid"), pair.number("softexpires")
        self._timers[pair.number("hrtimer")] = tid, due_ns
        if tid in self._sleeps and abs(due_ns - pair.ns) < _SAME_NS:
            self._lines[self._sleeps.pop(tid)][6] = due_ns

    def _expires(self, pair: _Event) -> None:
        timer = pair.number("hrtimer")
        if timer not in self._timers:
            return
        tid, due_ns = self._timers[timer]
        now_ns = pair.number("now")
        due_ns = due_ns if abs(pair.ns - now_ns) < _NEAR_NS else pair.ns - (now_ns - due_ns)
        if self._functions.get(pair.number("function")) != _WAKEUP:
            self._put(pair, "t", 0, due_ns, timer, pair.number("common_pid"))
        elif tid in self._own:
            self._put(pair, "x", tid, due_ns)

    def _wakes(self, pair: _Event) -> None:
        if (tid := pair.number("pid")) in self._own:
            self._put(pair, "w", tid, pair.number("common_pid"))

    def _switches(self, pair: _Event) -> None:
        last, following = pair.number("prev_pid"), pair.number("next_pid")
        if last in self._own:
            self._named(pair, last, "prev")
            self._runs(pair, last)
            state = pair.number("prev_state")
            ended, waits = state & _DEAD, state and not state & _PREEMPTED
            left = _ENDED if ended else 0 if not waits else _SLEEPS if state & _SLEEPS else _LOCKED
            self._put(pair, "o", last, left, following)
            self._off.add(last)
        if following in self._own:
            self._off.discard(following)
            self._named(pair, following, "next")
            self._put(pair, "i", following)
        elif last in self._own:
            self._put(pair, "r", following, pair.number("next_prio"), 0, 0, pair.text("next_comm"))

    def _runs(self, pair: _Event, tid: int) -> None:
        """A kernel may tell no switch from its idle thread (6.18 in a virtual machine): by now it ran."""
        if tid in self._off:
            self._off.remove(tid)
            self._put(pair, "i", tid, UNTOLD)

    def _named(self, pair: _Event, tid: int, which: str) -> None:
        now = pair.text(f"{which}_comm"), pair.number(f"{which}_prio")
        if self._names.get(tid) != now:
            self._names[tid] = now
            self._put(pair, "n", tid, 0, now[1], 0, now[0])
