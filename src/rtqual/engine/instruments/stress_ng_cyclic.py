# SPDX-License-Identifier: MIT
"""stress-ng's own measure of wake-ups (--cyclic), as a second opinion on cyclictest's.

A real-time thread sleeps for an interval after each wake-up. stress-ng prints quantiles in ns, and how many samples lie
in each of the first 250 bins; what lies beyond is counted here as overflow.
"""

import re
from math import ceil
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, last_line, number, require_success
from rtqual.protocols.instrument.planning import STARTUP_S
from rtqual.protocols.instrument.version import VERSION_ARGV
from rtqual.protocols.record.schema import Measurement, Series, SeriesKind

_SAID = r"stress-ng: info: +\[\d+\] cyclic: +"
_BIN = re.compile(rf"^{_SAID}(\d{{1,15}}) +(\d{{1,10}})$", re.MULTILINE | re.ASCII)
_QUANTILES = {"p50": "50.00%", "p90": "90.00%", "p99": "99.00%", "p99.9": "99.90%", "p99.99": "99.99%"}
_FIGURES = {
    "min": r"min: (\d{1,15}) ns, .*",
    "avg": r"mean: (\d{1,15}\.\d\d) ns, .*",
    "max": r"min: .*, max: (\d{1,15}) ns, .*",
    "std": r"min: .* std\.dev\. (\d{1,15}\.\d\d)",
    **{name: rf"{label}: +(\d{{1,15}}) ns" for name, label in _QUANTILES.items()},
}


class CyclicParameters(Parameters):
    interval: Annotated[DurationNs, Field(ge=1_000, le=1_000_000_000)] = 1_000_000
    """Slept after each wake-up; 1 us to 1 s."""
    cycles: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    priority: Annotated[int, Field(ge=2, le=99)] = 80
    bin: Annotated[DurationNs, Field(ge=1, le=10_000_000)] = 1_000
    """A bin's width, at most 10 ms; what lies beyond 250 of them is counted as overflow."""

    @property
    def timeout_s(self) -> int:
        """stress-ng runs for a fixed time, whether it has its samples or not: twice the time they take."""
        return 1 + ceil(2 * self.cycles * self.interval / 1e9)


class _Cyclic(Instrument):
    def job(self, parameters: CyclicParameters, *, cpus: int, seed: int) -> Job:
        cycles = str(parameters.cycles)
        argv = (
            *("stress-ng", "--cyclic", "1", "--cyclic-method", "clock_ns", "--cyclic-policy", "fifo"),
            *("--cyclic-prio", str(parameters.priority), "--cyclic-sleep", str(parameters.interval)),
            *("--cyclic-samples", cycles, "--cyclic-ops", cycles, "--cyclic-dist", str(parameters.bin)),
            *("--taskset", "0", "--timeout", str(parameters.timeout_s), "--no-rand-seed", "--temp-path", "."),
        )
        return Job(measure=Command(argv, fifo=1), version=VERSION_ARGV["stress-ng"])

    def read(self, parameters: CyclicParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("stress-ng", outcome)
        text = outcome.stdout + outcome.stderr  # versions differ in where they print
        samples = int(number("stress-ng", text, rf"{_SAID}sched SCHED_FIFO: .*, (\d{{1,10}}) samples", "samples"))
        bins = int(number("stress-ng", text, rf"{_SAID}\(for the first (\d{{1,4}}) buckets of \d+\)", "buckets"))
        reported = {what: float(number("stress-ng", text, _SAID + line, what)) for what, line in _FIGURES.items()}
        counts = {int(edge) + parameters.bin // 2: int(count) for edge, count in _BIN.findall(text) if int(count)}
        overflow = samples - sum(counts.values())
        if samples < 1 or overflow < 0:
            raise RunFailed(f"stress-ng's bins do not hold its {samples} samples, last line: {last_line(text)!r}")
        series = Series.counted(
            counts,
            SeriesKind.BINNED,
            name="latency",
            cpu=0,
            overflow=overflow,
            overflow_from=bins * parameters.bin if overflow else None,
            reported=reported,
        )
        problems = clock_problems(outcome)  # that it runs under SCHED_FIFO is stress-ng's word: it has others measure
        if samples != parameters.cycles:
            problems.append(f"stress-ng took {samples} samples instead of {parameters.cycles}")
        if overflow and reported["max"] < bins * parameters.bin:
            problems.append(f"{overflow} samples are in no bin, but the maximum is {reported['max']:.0f} ns")
        return Measurement((series,), problems=tuple(problems))

    def samples(self, parameters: CyclicParameters, *, cpus: int) -> int:
        return parameters.cycles

    def seconds(self, parameters: CyclicParameters, load: str) -> float:
        return STARTUP_S + parameters.timeout_s


STRESS_NG_CYCLIC = _Cyclic(
    name="stress-ng-cyclic",
    title="Wake-up latency of a real-time thread that sleeps for an interval (stress-ng cyclic)",
    program="stress-ng",
    parameters=CyclicParameters,
    caveats=("stress-ng sorts its latencies into bins; minimum, average, maximum and quantiles are its own, in 1 ns.",),
)
