# SPDX-License-Identifier: MIT
"""Xenomai's latency over Cobalt: how late a periodic task, a kernel task or a timer's handler begins.

It runs for whole seconds after one of warming up, and counts every sample in a bin of 1 ns. The bins know no sign, so
a run with negative latencies (there can be some under gravity) keeps the tool's own figures only.
"""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs
from rtqual.parts.xenomai.gravity import COBALT, FILE, Gravity, found, series_name, settle
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, fifo_problems, last_line, require_success
from rtqual.protocols.instrument.planning import STARTUP_S
from rtqual.protocols.record.schema import Measurement, Scalar, Series, SeriesKind

_BINS = 100_000  # of 1 ns; the last one holds all that is later
_WARM_UP_S = 1
_ROUNDED_NS = 1  # between a time in ticks and in ns; in the kernel each figure is rounded by itself
_BIN = re.compile(r"^HSD\| +avg\| +(\d{1,6}) -\d{1,7} *\| +(\d{1,10})$", re.MULTILINE | re.ASCII)
_TOTAL = re.compile(r"^RTS" + r"\| *(-?\d{1,8}\.\d{3})" * 3 + r"\| *(\d{1,9})\| *(\d{1,9})\|", re.MULTILINE | re.ASCII)


class DualParameters(Parameters):
    interval: Annotated[DurationNs, Field(ge=10_000, le=1_000_000_000, multiple_of=1_000)] = 1_000_000
    """10 us to 1 s, in whole microseconds."""
    seconds: Annotated[int, Field(ge=2, le=86_400)] = 10
    """Measured, after one of warming up."""
    priority: Annotated[int, Field(ge=2, le=98)] = 80
    """Of the task; a timer's handler has none."""
    gravity: Annotated[Gravity, Field(strict=False)] = Gravity.RAW
    """"raw": timers fire when due; "configured": as early as the core is set to, which is another kind of latency."""

    @property
    def samples(self) -> int:
        """How many a run takes."""
        return int(self.seconds * 1_000_000_000 // self.interval)

    @property
    def run_s(self) -> float:
        return STARTUP_S + self.seconds + _WARM_UP_S


@dataclass(frozen=True, kw_only=True)
class Latency(Instrument):
    mode: int  # of its option -t

    def job(self, parameters: DualParameters, *, cpus: int, seed: int) -> Job:
        argv = (
            *("latency", f"-t{self.mode}", "-q", "-h", "-c", "0"),
            *("-p", str(parameters.interval // 1_000), "-T", str(parameters.seconds)),
            *("-P", str(parameters.priority), "-H", str(_BINS), "-B", "1"),
        )
        setup = (settle(parameters.gravity, COBALT),)
        return Job(Command(argv, fifo=1), setup=setup, collect=(FILE,), version=("latency", "--version"))

    def read(self, parameters: DualParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("latency", outcome)
        total = _TOTAL.search(outcome.stdout)
        if total is None:
            raise RunFailed(f"latency printed no sum (RTS), last line: {last_line(outcome.stdout)!r}")
        low, mean, high = (round(float(us) * 1_000) for us in total.groups()[:3])
        if low > high:
            raise RunFailed("latency was ended within its first second, with no figures of its own: run it longer")
        bins = {int(ns): int(count) for ns, count in _BIN.findall(outcome.stdout) if int(count)}
        problems = clock_problems(outcome)
        if self.mode == 0:
            problems += fifo_problems(outcome, parameters.priority, 1)
        reported = {"min": float(low), "avg": float(mean), "max": float(high), "n": float(sum(bins.values()))}
        series = Series.counted({}, SeriesKind.SUMMARY, name=series_name(parameters.gravity), cpu=0, reported=reported)
        if low >= 0:
            overflow = bins.pop(_BINS - 1, 0)
            series = Series.counted(
                bins,
                name=series_name(parameters.gravity),
                cpu=0,
                overflow=overflow,
                overflow_from=_BINS - 1 if overflow else None,
                reported=reported,
            )
            problems += _contradictions(series, low, high, parameters)
        scalars = {
            "overruns": Scalar(value=int(total[4]), unit="1"),
            "mode switches": Scalar(value=int(total[5]), unit="1"),
            **found(parameters.gravity, "latency", outcome),
        }
        return Measurement((series,), scalars, tuple(problems))

    def samples(self, parameters: DualParameters, *, cpus: int) -> int:
        return parameters.samples

    def seconds(self, parameters: DualParameters, load: str) -> float:
        return parameters.run_s


def _contradictions(series: Series, low: int, high: int, parameters: DualParameters) -> list[str]:
    """Where its histogram and its own figures disagree, or samples are missing. Its figures are of whole seconds; the
    histogram has the samples of the second that the end cuts off, too."""
    if not len(series.values):
        return ["latency counted no sample in its histogram"]
    first, last = int(series.values[0]), int(series.values[-1])
    wrong = []
    if low < first - _ROUNDED_NS or (not series.info.overflow and high > last + _ROUNDED_NS):
        wrong.append(f"latency's histogram, {first} to {last} ns, has not its own extremes, {low} and {high} ns")
    if series.total < 0.9 * parameters.samples:
        wrong.append(f"latency took {series.total} samples of {parameters.samples}")
    return wrong


_WHAT = {"user": "a periodic task in user space", "kernel": "a periodic task in the kernel", "irq": "a timer's handler"}
LATENCY = tuple(
    Latency(
        name=f"latency-{name}",
        title=f"How late {what} begins on Xenomai's Cobalt core (latency -t{mode})",
        program="latency",
        core="cobalt",
        parameters=DualParameters,
        mode=mode,
    )
    for mode, (name, what) in enumerate(_WHAT.items())
)
