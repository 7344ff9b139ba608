# SPDX-License-Identifier: MIT
"""The probe's result (target/probe/run.c), whatever it came through: a file, a module's file, a UART.

Every line ends with '#' and the CRC-32 of everything before the '#', earlier lines included: the first line whose CRC
is wrong is where the stream was damaged. A UART ends lines with a carriage return too, and a console may print before
the first and after the last of our lines.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from io import BytesIO

from rtqual.base.errors import RunFailed
from rtqual.protocols.record.schema import Int64Array

FORMAT = "rtqual-probe 1"
_MOST = 2**32 - 1  # the probe keeps 32-bit samples
_CHECKED = re.compile(rb"(.*)#([0-9a-f]{8})\r?", re.DOTALL)
_NAMED = re.compile(r'(\w+) "([^"]*)"(?: (.*))?')
_NS_PER_S = 10**9


class Status(StrEnum):
    OK = "ok"
    NOT_OFFERED = "not-offered"
    DENIED = "denied"
    FULL = "full"
    FAILED = "failed"


@dataclass(frozen=True)
class Sampled:
    """Samples in the order they were taken; `unit` is 'ns', or 'cycles' of the probe's counter."""

    name: str
    unit: str
    values: tuple[int, ...]
    overflows: int  # of 32 bits
    lost: int


@dataclass
class Benchmark:
    name: str
    status: Status
    why: str  # it is not ok
    facts: dict[str, tuple[int, str]] = field(default_factory=dict)  # name -> value, unit
    series: list[Sampled] = field(default_factory=list)


@dataclass
class ProbeOutput:
    system: str = ""
    family: str = ""
    facts: dict[str, tuple[int, str]] = field(default_factory=dict)
    benchmarks: list[Benchmark] = field(default_factory=list)

    @property
    def cycles_per_s(self) -> int:
        return self.facts["cycles"][0]

    @property
    def clock_step_ns(self) -> int:
        return self.facts["clock step"][0]


def in_ns(sampled: Sampled, cycles_per_s: int) -> Int64Array:
    """Its samples in whole nanoseconds."""
    import numpy as np  # noqa: PLC0415 - slow to load, and missions name instruments too

    values = np.array(sampled.values, np.int64)
    return values if sampled.unit == "ns" else (values * _NS_PER_S + cycles_per_s // 2) // cycles_per_s


def parse(text: str, where: str) -> ProbeOutput:
    """Read a whole result. Raises RunFailed that names the line where it is damaged, cut off or not the probe's."""
    output = ProbeOutput()
    lines = _Lines(text, where)
    for kind, name, rest in lines:
        if kind == "system":
            output.system = name
        elif kind == "family":
            output.family = name
        elif kind == "fact":
            facts = output.benchmarks[-1].facts if output.benchmarks else output.facts
            unit, value = lines.words(rest, 2)
            facts[name] = lines.number(value), unit
        elif kind == "benchmark":
            word, _, why = rest.partition(" ")
            if word not in [*Status]:
                raise lines.error(f"status {word[:40]!r} is none of {', '.join(Status)}")
            output.benchmarks.append(Benchmark(name, Status(word), why))
        elif kind == "series" and output.benchmarks:
            unit, *numbers = lines.words(rest, 4)
            if unit not in ("ns", "cycles"):
                raise lines.error(f"unit {unit!r} is neither ns nor cycles")
            count, overflows, lost = map(lines.number, numbers)
            output.benchmarks[-1].series.append(Sampled(name, unit, lines.values(count), overflows, lost))
        else:
            raise lines.error(f"{kind!r} is not expected here")
    if not output.system or not output.family or not {"clock step", "cycles"} <= {*output.facts}:
        raise lines.error("it does not say its system, its family, or how fast its clocks run")
    if output.cycles_per_s <= 0:
        raise lines.error("its cycle counter stands still")
    return output


class _Lines:
    """The checked lines from the first to the end, each as (kind, name, rest)."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        raw = text.encode("latin-1", "replace")
        start = raw.find(FORMAT.encode() + b"#")
        if start < 0:
            raise RunFailed(f"{where}: no line {FORMAT!r}: the probe did not start, or another version wrote it")
        self._number = raw.count(b"\n", 0, start)
        self._lines = (line.removesuffix(b"\n") for line in BytesIO(raw[start:]))  # there may be a hundred million
        self._crc = 0
        self._next()

    def error(self, what: str) -> RunFailed:
        return RunFailed(f"{self._where}: line {self._number}: {what}; run the probe again")

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        while (line := self._next()) != "end":
            found = _NAMED.fullmatch(line)
            if found is None:
                raise self.error(f"{line[:40]!r} is no line of the probe")
            yield found[1], found[2], found[3] or ""

    def _next(self) -> str:
        self._number += 1
        line = next(self._lines, b"")
        checked = _CHECKED.fullmatch(line)
        if checked is None:
            raise self.error(f"the result is cut off ({line[:40].decode('latin-1')!r})" if line else "the result ends")
        body, crc = checked.groups()
        self._crc = zlib.crc32(body, self._crc)
        if self._crc != int(crc, 16):
            raise self.error("it is damaged: its CRC does not fit")
        return body.decode("latin-1")

    def words(self, text: str, count: int) -> list[str]:
        words = text.split(" ")
        if len(words) != count:
            raise self.error(f"{text[:40]!r} has not {count} words")
        return words

    def number(self, word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) <= 20):
            raise self.error(f"{word[:40]!r} is no number")
        return int(word)

    def values(self, count: int) -> tuple[int, ...]:
        values: list[int] = []
        while len(values) < count:
            kind, *words = self._next().split(" ")
            if kind != "v" or not words or len(values) + len(words) > count:
                raise self.error(f"{count} samples were announced, {len(values)} came before it")
            values += map(self.number, words)
        if max(values, default=0) > _MOST:
            raise self.error(f"a sample is larger than {_MOST}")
        return tuple(values)
