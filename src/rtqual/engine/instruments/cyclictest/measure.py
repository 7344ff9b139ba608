# SPDX-License-Identifier: MIT
"""cyclictest (rt-tests 2.x): how late a periodic real-time thread wakes up, every value in nanoseconds."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from rtqual.base.errors import RunFailed
from rtqual.base.scratch import sweep_named
from rtqual.base.units import DurationNs
from rtqual.engine.instruments.cyclictest.json_output import MeasuredThread, parse
from rtqual.engine.instruments.cyclictest.verbose import in_order
from rtqual.engine.instruments.cyclictest.verbose import samples as printed_samples
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, fifo_problems, require_success
from rtqual.protocols.instrument.planning import STARTUP_S, WAKEUP_S
from rtqual.protocols.instrument.version import VERSION_ARGV
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_FILE = "cyclictest.json"
_NS_PER_US = 1_000
# cyclictest silently cuts a longer histogram (HIST_MAX buckets, of 1 ns here).
_LONGEST_HISTOGRAM_NS = 1_000_000
# The main thread only starts the others and writes the result, but does so while the load runs:
# above the load and below everything measured, the report does not wait for its turn.
_MAIN_THREAD_FIFO = 1
# cyclictest ends all its threads when the first has done its cycles (`allstopped` in its main loop), so those that
# started a little later have taken a few samples less. If a thread has less than this share of its samples, it was held
# up.
_LEAST_PART_OF_CYCLES = 0.9
_MOST_IN_ORDER = 5_000_000  # cycles: 27 bytes of text each
_PRINTING_NS = 50_000_000  # samples taken in this time may be left unprinted: the main thread prints every 10 ms


class Samples(StrEnum):
    COUNTED = "counted"  # how often each value came
    ORDERED = "ordered"  # every sample in its order, which estimates of the tail need


_STATUS = Path("/dev/shm")  # noqa: S108 - where each cyclictest keeps a file for who asks how it is getting on
_LEFT_S = 86_400.0


class CyclictestParameters(Parameters):
    interval: Annotated[DurationNs, Field(ge=_NS_PER_US, multiple_of=_NS_PER_US)] = 1_000_000
    """In whole microseconds."""
    cycles: Annotated[int, Field(ge=1, lt=2**31)] = 10_000
    priority: Annotated[int, Field(gt=_MAIN_THREAD_FIFO, le=99)] = 80
    histogram_limit: Annotated[DurationNs, Field(ge=1, le=_LONGEST_HISTOGRAM_NS)] = _LONGEST_HISTOGRAM_NS
    """At most 1 ms; later samples are counted as overflow."""
    samples: Annotated[Samples, Field(strict=False)] = Samples.COUNTED
    """"counted": how often each value came; "ordered": every sample in its order, for tails (docs/tails.md), at most
    5,000,000 cycles."""

    @model_validator(mode="after")
    def _fit_in_memory(self) -> Self:
        if self.samples == Samples.ORDERED and self.cycles > _MOST_IN_ORDER:
            raise ValueError(f'samples = "ordered" takes at most {_MOST_IN_ORDER:,} cycles; make more runs')
        return self


class _Cyclictest(Instrument):
    def job(self, parameters: CyclictestParameters, *, cpus: int, seed: int) -> Job:
        # Threads on several CPUs start together, spread over the interval: else each would start when the previous
        # thread had its memory, and all would end with the first.
        spread_us = str(max(1, parameters.interval // _NS_PER_US // cpus))
        affinity = ("-a", "0", "-t", "1") if cpus == 1 else ("-a", "-t", str(cpus), "-A", spread_us)
        argv = (
            *("cyclictest", "-v" if parameters.samples == Samples.ORDERED else "-q", "-m", "-N"),
            *("-p", str(parameters.priority)),
            *("-i", str(parameters.interval // _NS_PER_US)),
            *("-l", str(parameters.cycles)),
            *("-h", str(parameters.histogram_limit)),
            # The text histogram has a line for each bucket, a million here. A folder cannot be opened for
            # writing, so cyclictest says so on stderr and goes on: the JSON has the filled buckets.
            "--histfile=.",
            f"--json={_FILE}",
            *affinity,
        )
        return Job(
            measure=Command(argv, fifo=_MAIN_THREAD_FIFO),
            collect=(_FILE,),
            version=VERSION_ARGV["cyclictest"],
        )

    def read(self, parameters: CyclictestParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("cyclictest", outcome)
        text = outcome.files.get(_FILE)
        if text is None:
            raise RunFailed(f"cyclictest left no {_FILE}: check that the job's folder can be written")
        result = parse(text, _FILE)
        problems = clock_problems(outcome) + fifo_problems(outcome, parameters.priority, cpus)
        if result.resolution_in_ns != 1:
            problems.append(f"cyclictest counted in units of {result.resolution_in_ns} ns instead of 1 ns")
        on_cpus = sorted(thread.cpu for thread in result.thread.values())
        if on_cpus != list(range(cpus)):
            problems.append(f"cyclictest measured on CPUs {on_cpus} instead of {list(range(cpus))}")
        longest = max(thread.cycles for thread in result.thread.values())
        if longest != parameters.cycles:
            problems.append(f"cyclictest took {longest} samples instead of {parameters.cycles}")
        for thread in result.thread.values():
            problems += [f"cyclictest on CPU {thread.cpu}: {text}" for text in _problems(thread, parameters)]
        series = [_series(thread, parameters.histogram_limit) for thread in result.thread.values()]
        if parameters.samples == Samples.ORDERED:
            most_unprinted = _PRINTING_NS // parameters.interval
            lines = printed_samples(outcome.stdout.encode("ascii", "replace"))
            for place, (number, thread) in enumerate(result.thread.items()):
                printed = lines[lines[:, 0] == number, 2]
                every, lost = in_order(printed, thread, parameters.histogram_limit, most_unprinted)
                series[place] = Series.raw(every, name="latency", cpu=thread.cpu, reported=series[place].info.reported)
                problems += [f"cyclictest on CPU {thread.cpu}: {text}" for text in lost]
        skipped = sum(_skipped_periods(thread, parameters) for thread in result.thread.values())
        return Measurement(tuple(series), {"skipped_periods": Scalar(value=skipped, unit="1")}, tuple(problems))

    def sweep(self) -> None:
        sweep_named(_STATUS, "cyclictest", _LEFT_S)

    def samples(self, parameters: CyclictestParameters, *, cpus: int) -> int:
        return parameters.cycles * cpus

    def seconds(self, parameters: CyclictestParameters, load: str) -> float:
        return 0.2 + parameters.cycles * parameters.interval / 1e9

    def busy_s(self, parameters: CyclictestParameters) -> float:
        return STARTUP_S + parameters.cycles * WAKEUP_S


CYCLICTEST = _Cyclictest(
    name="cyclictest",
    title="Wake-up latency of a periodic real-time thread (cyclictest)",
    program="cyclictest",
    parameters=CyclictestParameters,
)


def _problems(thread: MeasuredThread, parameters: CyclictestParameters) -> list[str]:
    """Where the tool's own figures disagree with its histogram, or samples are missing."""
    problems: list[str] = []
    if thread.cycles < _LEAST_PART_OF_CYCLES * parameters.cycles:
        problems.append(f"only {thread.cycles} of {parameters.cycles} samples")
    overflow, limit_ns = thread.overflow, parameters.histogram_limit
    if overflow < 0:
        problems.append(f"{-overflow} more samples in the histogram than cycles")
    lowest_ns, highest_ns = min(thread.histogram, default=None), max(thread.histogram, default=None)
    if lowest_ns is not None and lowest_ns != thread.min:
        problems.append(f"minimum {thread.min} ns, but the histogram starts at {lowest_ns} ns")
    if overflow > 0 and thread.max < limit_ns:
        problems.append(f"{overflow} samples overflowed {limit_ns} ns, but the maximum is {thread.max} ns")
    if overflow == 0 and highest_ns != thread.max:
        problems.append(f"maximum {thread.max} ns, but the histogram ends at {highest_ns} ns")
    return problems


def _skipped_periods(thread: MeasuredThread, parameters: CyclictestParameters) -> int:
    """Wake-ups that never took place, at least: after one that is late by a whole interval or more, cyclictest
    goes on with the next period that lies ahead. Of the samples that overflowed only the largest is known."""
    late_ns = {**thread.histogram}
    overflow = thread.overflow
    if overflow > 0:
        late_ns[parameters.histogram_limit] = overflow - 1
        late_ns[thread.max] = late_ns.get(thread.max, 0) + 1
    return sum(max(0, (ns - 1) // parameters.interval) * count for ns, count in late_ns.items())


def _series(thread: MeasuredThread, limit_ns: int) -> Series:
    overflow = max(0, thread.overflow)
    info: dict[str, Any] = {
        "name": "latency",
        "cpu": thread.cpu,
        "overflow": overflow,
        "overflow_from": limit_ns if overflow else None,
        "reported": {"min": thread.min, "avg": thread.avg, "max": thread.max},
    }
    return Series.counted(thread.histogram, **info)
