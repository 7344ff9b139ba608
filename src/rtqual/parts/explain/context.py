# SPDX-License-Identifier: MIT
"""What the CPU does, block by block: the thread, its calls, interrupts and preemption.

Calls are followed by where they return to: a block at such a place ends the calls above it, whatever way the code
took there (tail calls, return thunks). An interrupt is a mark among the calls, which its iret takes away. Of a thread
that was in the kernel before the window begins, calls are known from there on only.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from rtqual.base.errors import RunFailed
from rtqual.parts.explain.processor import Processor
from rtqual.parts.explain.symbols import SWITCHES_OF_FREERTOS, Symbols
from rtqual.parts.explain.trace import KernelThread, Trace

_COUNT = (1 << 31) - 1
_MOST = 8_000_000  # records of a window that are held in memory: tens of ms
_SOFTIRQ = frozenset({"__do_softirq", "handle_softirqs", "do_softirq"})
_FINISH = "finish_task_switch"
_SCHEDULING = frozenset(
    {"__schedule", "schedule", "schedule_idle", "preempt_schedule_common", _FINISH, *SWITCHES_OF_FREERTOS}
)
UNKNOWN = "?"


@dataclass
class Call:
    """`mark`: the function that an interrupt, an exception or a system call enters by."""

    back: int
    at: int
    mark: str = ""
    kind: str = ""  # of a mark: I, X or E


@dataclass(frozen=True)
class Slice:
    """Time in which nothing of what is told here changes."""

    begin_ns: int
    end_ns: int
    thread: KernelThread | None
    chain: tuple[str, ...]  # functions, the outermost first; empty in user space
    user: bool
    entered: str  # by which interrupt, exception or system call; empty where it is not known
    kind: str  # its kind: I, X, E or nothing
    softirq: bool
    interrupts: bool
    preemptible: bool
    off_at: str  # where interrupts were switched off
    off_ns: int
    cpu: int = 0
    turn: "Slice | None" = None  # what another CPU runs meanwhile, whose turn it is; nothing changes here then

    @property
    def scheduling(self) -> bool:
        return any(name.partition(".")[0] in _SCHEDULING for name in self.chain)


@dataclass
class Context:
    """The state at a record of a window; begins at the window's first."""

    processor: Processor
    symbols: Symbols
    thread: KernelThread | None
    cpu: int = 0
    waiting: dict[int, list[Call]] = field(default_factory=dict)  # threads that do not run, of all CPUs
    calls: list[Call] = field(default_factory=list)
    pending: int = 0  # a call was the last thing: where it returns to
    user: bool = False
    halted: bool = False
    interrupts: bool = True
    count: int = 0
    off_at: str = ""
    off_ns: int = 0
    names: dict[int, str] = field(default_factory=dict)  # of addresses that were looked up
    entering: bool = False  # the last block began an entry of the kernel
    outside: tuple[bool, list[Call]] = (False, [])  # in user space? and the calls, before it

    def take(self, kind: str, ns: int, word: int, thread: KernelThread | None) -> None:
        """A record."""
        if kind == "b":
            self._block(word)
        elif kind == "k":
            self.pending = word
        elif kind in "IXE":
            self._enter(kind, ns, word)
        elif kind == "O":
            self._leave()
        elif kind == "S":
            self._switch(thread)
        elif kind == "v":
            self._interrupts_off(ns, word)
        elif kind in "wH":
            self.interrupts, self.halted = True, kind == "H"
            if kind == "w" and not self.processor.threads:
                self._over()
        elif kind == "m":
            self._counted(ns, word & _COUNT)

    def slice(self, begin_ns: int, end_ns: int) -> Slice:
        mark = next((call for call in reversed(self.calls) if call.mark), None)
        depth = self.calls.index(mark) if mark else 0
        chain = self.chain()
        return Slice(
            begin_ns, end_ns, self.thread, chain, self.user,
            entered=mark.mark if mark and not self.user else "",
            kind=mark.kind if mark and not self.user else "",
            softirq=any(name.partition(".")[0] in _SOFTIRQ for name in self.chain(depth)),
            interrupts=self.interrupts and not (self.processor.masks and self.count),
            preemptible=self.processor.masks or not self.count, off_at=self.off_at, off_ns=self.off_ns, cpu=self.cpu,
        )  # fmt: skip

    def chain(self, depth: int = 0) -> tuple[str, ...]:
        if self.user:
            return ()
        names = (call.mark if call.mark and not call.at else self._name(call.at) for call in self.calls[depth:])
        return tuple(name for name in names if not name.startswith(self.processor.thunks))

    def _name(self, address: int) -> str:
        known = self.names.get(address)
        if known is None:
            known = self.names[address] = self.symbols.named(address) or UNKNOWN
        return known

    def _block(self, at: int) -> None:
        self.halted = False
        if at < self.processor.kernel:
            self.user, self.calls, self.pending = True, [], 0
            return
        entering = self._name(at).startswith(self.processor.stubs)
        if entering:
            self.outside = self.outside if self.entering else (self.user, [replace(call) for call in self.calls])
        self.entering, self.user = entering, False
        called, self.pending = self.pending, 0
        if called and at != called:
            if entering:  # it was called, and had not begun
                self.outside[1].append(Call(called, called))
            self.calls.append(Call(called, at))
            return
        for place in range(len(self.calls) - 1, -1, -1):
            call = self.calls[place]
            if call.back == at:
                del self.calls[place:]
                break
            if call.mark:
                break
        if self.calls and not self.processor.threads and self._name(at) != self._name(self.calls[-1].at):
            self._unforeseen(at)
        elif self.calls:
            self.calls[-1].at = at
        else:
            self.calls.append(Call(0, at))

    def _unforeseen(self, at: int) -> None:
        """A block in another function, which no known call leads to. Within an interrupt a jump to a function's begin
        is the last call of the one before. All else is another thread's, or its caller's: who called it is not known,
        and the interrupt is over."""
        mark = next((place for place in range(len(self.calls) - 1, -1, -1) if self.calls[place].mark), None)
        if mark is not None and self._name(at) == self.calls[mark].mark:
            del self.calls[mark + 1 :]
        if mark is not None and (self._name(at) == self.calls[mark].mark or self.symbols.begins(at)):
            self.calls[-1].at = at
        else:
            self.calls = [Call(0, at)]

    def _over(self) -> None:
        """Interrupts are on: where nothing that the interrupt's function calls and will return from has switched them
        on, nor itself, that one is over."""
        last = self.calls[-1] if self.calls else None
        if last and last.mark and last.at and self._name(last.at) != last.mark:
            self.calls = [Call(0, last.at)]

    def _enter(self, kind: str, ns: int, word: int) -> None:
        """Its first block was told before it, as if of the function that it interrupts."""
        if self.entering:
            self.user, self.calls = self.outside
        if self.user or kind == "E":
            self.calls = []
        self.user = self.entering = False
        self.calls.append(Call(0, word, self._name(word), kind))
        self._interrupts_off(ns, word)

    def _interrupts_off(self, ns: int, word: int) -> None:
        if self.interrupts:
            chain = () if self.entering else self.chain()
            self.interrupts, self.off_ns = False, ns
            self.off_at = " < ".join(reversed(chain[-3:])) if chain else self._name(word)

    def _counted(self, ns: int, count: int) -> None:
        if self.processor.masks and count and not self.count:
            self.off_ns, self.off_at = ns, " < ".join(reversed(self.chain()[-3:]))
        self.count = count

    def _leave(self) -> None:
        for place in range(len(self.calls) - 1, -1, -1):
            if self.calls[place].mark:
                del self.calls[place:]
                break
        self.pending = 0
        self.interrupts = self.interrupts or not self.processor.mask_is_told

    def _switch(self, thread: KernelThread | None) -> None:
        """At the entry of finish_task_switch, which the thread before had called and the next one goes on in; where
        there is none, when the interrupt or call that switches ends."""
        here = bool(self.calls) and self._name(self.calls[-1].at).startswith(_FINISH)
        finish = [self.calls.pop()] if here else []
        if self.thread is not None:
            self.waiting[self.thread.task] = self.calls
        self.thread = thread
        self.calls = [*self.waiting.pop(thread.task if thread else 0, []), *finish]
        self.user = False


def slices(
    trace: Trace, processor: Processor, symbols: Symbols, first: int, last: int, cpu: int = 0
) -> Iterator[Slice]:
    """What a CPU does from a window's first record to its last one, without a gap; places of records.

    Raises RunFailed where it is too long to be told.
    """
    if last - first > _MOST:
        raise RunFailed(f"a sample takes {last - first:,} steps; explained are samples of {_MOST:,} at most")
    waiting: dict[int, list[Call]] = {}
    every = {
        item: Context(processor, symbols, trace.thread_at(first, item), item, waiting)
        for item in {cpu, *np.unique(trace.cpus[first : last + 1]).tolist()}
    }
    context = every[int(trace.cpus[first])]
    kinds, times, words = (column[first : last + 1].tolist() for column in (trace.kinds, trace.ns, trace.words))
    switches = {place: thread for place, thread in trace.threads if first <= place <= last}
    now_ns = times[0]
    begun = False
    for offset, (number, ns, word) in enumerate(zip(kinds, times, words, strict=True)):
        kind = chr(number)
        if kind == "s":
            context.interrupts, context.off_ns, begun = bool(word), ns, False
            continue
        if kind in "gnyctpqz":  # told afterwards, of another time
            continue
        if not begun and kind in "vm":  # how the window begins
            context.take(kind, ns, word, None)
            if kind == "v":
                context.off_ns = ns
            continue
        if kind == "a" and not begun:
            context = every[word]
            continue
        begun = True
        if ns > now_ns:
            own = every[cpu].slice(now_ns, ns)
            elsewhere = context.cpu != cpu and not context.halted  # the clock goes on for all that wait
            yield replace(own, turn=context.slice(now_ns, ns)) if elsewhere else own
            now_ns = ns
        if kind == "a":
            context = every[word]
            continue
        context.take(kind, ns, word, switches.get(first + offset))
