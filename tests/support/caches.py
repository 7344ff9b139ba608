# SPDX-License-Identifier: MIT
"""The model of caches once more, written from its description (target/observers/caches.h): slow and plain."""

from dataclasses import dataclass, field

WHOLE, MOST_BUSY, MOST_WAITING = 65536, 65536 * 96 // 100, 32
STREAMS, TRAINED, PAGE_LINES = 8, 3, 64


@dataclass(frozen=True)
class Shape:
    """Sets and ways of L1I, L1D and L2; ticks; shares in 1/256. In the order of C's struct shape."""

    l1i: tuple[int, int]
    l1d: tuple[int, int]
    l2: tuple[int, int]
    l2_ticks: int
    dram_ticks: int
    line_ticks: int
    load_share: int
    store_share: int
    next_line_share: int

    @property
    def members(self) -> tuple[int, ...]:
        shares = (self.load_share, self.store_share, self.next_line_share)
        return (*self.l1i, *self.l1d, *self.l2, self.l2_ticks, self.dram_ticks, self.line_ticks, *shares)


class Level:
    """Lines of a cache and whether they are dirty; of each set the one used last comes last."""

    def __init__(self, geometry: tuple[int, int]) -> None:
        self.ways = geometry[1]
        self.sets: list[dict[int, bool]] = [{} for _ in range(geometry[0])]

    def set_of(self, line: int) -> dict[int, bool]:
        return self.sets[line % len(self.sets)]

    def use(self, line: int, *, dirty: bool = False) -> bool:
        """Whether it was there, as the last used from now on."""
        lines = self.set_of(line)
        if line not in lines:
            return False
        lines[line] = lines.pop(line) or dirty
        return True

    def put(self, line: int, *, dirty: bool) -> None:
        self.set_of(line)[line] = dirty

    def full(self, line: int) -> bool:
        return len(self.set_of(line)) == self.ways

    def oldest(self, line: int) -> tuple[int, bool]:
        lines = self.set_of(line)
        first = next(iter(lines))
        return first, lines.pop(first)


@dataclass
class Counts:
    l1i_misses: int = 0
    l1i_dram: int = 0
    l1d_misses: int = 0
    l1d_dram: int = 0
    prefetched: int = 0
    stalled: int = 0
    waited: int = 0


@dataclass
class Cpu:
    l1i: Level
    l1d: Level
    fetched: int | None = None
    next_stream: int = 1
    slots: dict[int, list[int]] = field(default_factory=dict)
    own: int = 0
    dram_free: int = 0
    lines: int = 0
    busy: int = 0
    counts: Counts = field(default_factory=Counts)


class Caches:
    def __init__(self, shape: Shape, n_cpus: int) -> None:
        self.shape = shape
        self.l2 = Level(shape.l2)
        self.cpus = [Cpu(Level(shape.l1i), Level(shape.l1d)) for _ in range(n_cpus)]
        self.busy = self.dram_lines = 0

    def _use_dram(self, cpu: Cpu) -> None:
        cpu.lines += 1
        self.dram_lines += 1
        cpu.dram_free = max(cpu.dram_free, cpu.own) + self.shape.line_ticks

    def _queue(self, cpu: Cpu) -> int:
        wait = min(max(cpu.dram_free - cpu.own, 0), MOST_WAITING * self.shape.line_ticks)
        wait += self.shape.line_ticks * max(self.busy - cpu.busy, 0) // (2 * (WHOLE - self.busy))
        self._use_dram(cpu)
        cpu.counts.waited += wait
        return wait

    def _second(self, cpu: Cpu, line: int, *, dirty: bool) -> bool:
        if self.l2.use(line, dirty=dirty):
            return True
        if self.l2.full(line):
            out, was_dirty = self.l2.oldest(line)
            for other in self.cpus:
                was_dirty |= other.l1d.set_of(out).pop(out, False)
            if was_dirty:
                self._use_dram(cpu)
        self.l2.put(line, dirty=dirty)
        return False

    def _foreseen(self, cpu: Cpu, line: int) -> bool:
        for number in range(STREAMS):
            stream = cpu.slots.get(number)
            if stream and abs(stream[0] - line) == 1:
                within = stream[0] // PAGE_LINES == line // PAGE_LINES
                stream[:] = [line, min(stream[1] + 1, TRAINED) if within else 0]
                return stream[1] == TRAINED
        cpu.slots[cpu.next_stream % STREAMS] = [line, 0]
        cpu.next_stream += 1
        return False

    def _stall(self, cpu: Cpu, ticks: int, share: int) -> int:
        ticks = ticks * share // 256
        cpu.own += ticks
        cpu.counts.stalled += ticks
        return ticks

    def access(self, number: int, line: int, *, write: bool) -> int:
        cpu, shape = self.cpus[number], self.shape
        others = [other for other in self.cpus if other is not cpu]
        held = cpu.l1d.set_of(line)
        if line in held:
            if write and not held[line]:
                for other in others:
                    other.l1d.set_of(line).pop(line, None)
            cpu.l1d.use(line, dirty=write)
            return 0
        theirs = False
        for other in others:
            lines = other.l1d.set_of(line)
            theirs |= lines.get(line, False)
            if line in lines and write:
                del lines[line]
            elif line in lines:
                lines[line] = False
        known = self._foreseen(cpu, line)
        cpu.counts.l1d_misses += 1
        cpu.counts.prefetched += known
        if self._second(cpu, line, dirty=theirs):
            ticks = 0 if known else shape.l2_ticks
        else:
            cpu.counts.l1d_dram += 1
            ticks = self._queue(cpu) + (0 if known else shape.dram_ticks)
        out = cpu.l1d.oldest(line) if cpu.l1d.full(line) else (0, False)
        cpu.l1d.put(line, dirty=write)
        if out[1]:
            self._second(cpu, out[0], dirty=True)
        return self._stall(cpu, ticks, shape.store_share if write else shape.load_share)

    def fetch(self, number: int, line: int) -> int:
        cpu, shape = self.cpus[number], self.shape
        last, cpu.fetched = cpu.fetched, line
        if last == line or cpu.l1i.use(line):
            return 0
        if cpu.l1i.full(line):
            cpu.l1i.oldest(line)
        cpu.l1i.put(line, dirty=False)
        cpu.counts.l1i_misses += 1
        ticks = shape.l2_ticks
        if not self._second(cpu, line, dirty=False):
            cpu.counts.l1i_dram += 1
            ticks = self._queue(cpu) + shape.dram_ticks
        return self._stall(cpu, ticks, shape.next_line_share if last is not None and last + 1 == line else 256)

    def ran(self, number: int, ticks: int) -> None:
        self.cpus[number].own += ticks

    def halted(self, number: int) -> None:
        self.cpus[number].dram_free = self.cpus[number].own

    def end_round(self, ticks: int) -> None:
        for cpu in self.cpus:
            cpu.busy = (9 * cpu.busy + cpu.lines * self.shape.line_ticks * WHOLE // ticks) // 10
            cpu.lines = 0
        self.busy = min(sum(cpu.busy for cpu in self.cpus), MOST_BUSY)
