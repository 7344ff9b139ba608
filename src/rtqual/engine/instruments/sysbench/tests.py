# SPDX-License-Identifier: MIT
"""sysbench 1.0: the four tests of the AAReST study, with every setting spelled out.

The study ran sysbench 0.5, whose defaults differ from those of 1.0 (10,000 requests instead of 10 s, for one),
so nothing is left to a default: the parameters' defaults here are the study's command lines (section 3.3) with
the defaults of 0.5.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs, SizeB
from rtqual.engine.instruments.sysbench.sysbench_output import (
    FIGURE_STEP_NS,
    FILE_RATES,
    FILE_THROUGHPUTS,
    NS_PER_S,
    inconsistencies,
    latency_series,
    milliseconds_ns,
)
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import last_line, number, require_success
from rtqual.protocols.instrument.planning import STARTUP_S, slowdown
from rtqual.protocols.instrument.version import VERSION_ARGV
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_LATENCIES = {"min": "min", "avg": "avg", "max": "max", "p95": "95th percentile", "sum": "sum"}
_CAVEATS = (
    "sysbench sorts its latencies into bins 1.8 % wide from 1 us (shorter ones count as 1 us) to 100 s, "
    "printed in steps of 1 us.",
    "sysbench prints its own minimum, average, maximum and 95th percentile in steps of 0.01 ms.",
)

Positive = Annotated[int, Field(ge=1, lt=2**31)]


class TestParameters(Parameters):
    @property
    def due(self) -> int:
        """Events that a run must have done."""
        raise NotImplementedError

    @property
    def work_s(self) -> float:
        """About how long it works on an idle board."""
        raise NotImplementedError


class _EventParameters(TestParameters):
    events: Positive = 10_000
    threads: Positive = 1

    @property
    def due(self) -> int:
        return self.events


class CpuParameters(_EventParameters):
    max_prime: Annotated[int, Field(ge=3, lt=2**31)] = 2_000

    @property
    def work_s(self) -> float:
        # The test divides by odd numbers up to the root, for each number: 0.31 ms for 2,000.
        return float(self.events * 0.31e-3 * (self.max_prime / 2_000) ** 1.5)


class ThreadsParameters(_EventParameters):
    yields: Positive = 1_000
    locks: Positive = 1

    @property
    def work_s(self) -> float:
        return self.events * self.yields * (1.8e-6 if self.threads == 1 else 20e-6)


class ContendedThreadsParameters(ThreadsParameters):
    threads: Positive = 8


class MutexParameters(TestParameters):
    """Every thread takes `locks` times one of `mutexes` locks at random, after `loops` empty loops."""

    threads: Positive = 64
    mutexes: Positive = 4_096
    locks: Positive = 50_000
    loops: Positive = 10_000

    @property
    def due(self) -> int:
        return self.threads

    @property
    def work_s(self) -> float:
        return self.threads * self.locks * (0.2e-6 + self.loops * 6e-9)


class FileioParameters(TestParameters):
    """Ends after `events` requests or after `time`, whichever comes first."""

    threads: Positive = 16
    total_size: Annotated[SizeB, Field(ge=1)] = 3 * 2**30
    """At least files x block_size. The virtual board's disks have 2 GiB."""
    files: Positive = 128
    block_size: Annotated[SizeB, Field(ge=1)] = 16 * 2**10
    events: Positive = 10_000
    time: Annotated[DurationNs, Field(ge=NS_PER_S, multiple_of=NS_PER_S)] = 300 * NS_PER_S
    """In whole seconds."""
    read_write_ratio: Annotated[float, Field(gt=0, le=1000)] = 1.5
    fsync_every: Positive = 100
    """So many requests."""

    @property
    def due(self) -> int:
        return self.events

    @property
    def time_s(self) -> int:
        return self.time // NS_PER_S

    @property
    def work_s(self) -> float:
        prepare_s = self.total_size / 50e6
        final_fsyncs_s = self.threads * self.files * 2e-3  # each thread on each file
        return prepare_s + min(self.events * 0.3e-3, self.time / NS_PER_S) + final_fsyncs_s

    @model_validator(mode="after")
    def _files_hold_a_block(self) -> Self:
        if self.total_size < self.files * self.block_size:
            raise ValueError(
                f"total_size must be at least files x block_size = {self.files * self.block_size} B, "
                f"not {self.total_size} B"
            )
        return self


def _latency(stdout: str) -> Series:
    """The latency histogram and sysbench's own figures on it."""
    reported = {
        key: float(milliseconds_ns(number("sysbench", stdout, rf" +{label}: +(\d{{1,15}}\.\d\d)", f"Latency {label}")))
        for key, label in _LATENCIES.items()
    }
    series = latency_series(stdout, reported)
    if series is None:
        raise RunFailed(f"sysbench printed no latency histogram, last line: {last_line(stdout)!r}; check its version")
    return series


def _figures(stdout: str) -> tuple[int, dict[str, Scalar]]:
    """Events done, and the figures that every test prints."""
    total_s = number("sysbench", stdout, r" +total time: +(\d{1,15}\.\d{4})s", "total time")
    events = int(number("sysbench", stdout, r" +total number of events: +(\d{1,15})", "total number of events"))
    scalars = {
        "events": Scalar(value=events, unit="1"),
        "total_time": Scalar(value=float(total_s * NS_PER_S), unit="ns"),
        "resolution": Scalar(value=FIGURE_STEP_NS, unit="ns"),  # of the reported figures
    }
    if total_s > 0:  # else it ended within the 0.1 ms that are printed
        scalars["events_per_s"] = Scalar(value=float(events / total_s), unit="1/s")
    return events, scalars


def _read(outcome: JobOutcome, *, expected: int, at_most: bool = False) -> Measurement:
    """`expected` events must be there; `at_most`: a time limit may have ended the test before."""
    require_success("sysbench", outcome)
    events, scalars = _figures(outcome.stdout)
    series = _latency(outcome.stdout)
    problems = inconsistencies(series, events)
    if events > expected or (events < expected and not at_most):
        problems.append(f"sysbench did {events} events instead of {expected}")
    return Measurement((series,), scalars, tuple(problems))


@dataclass(frozen=True, kw_only=True)
class Sysbench(Instrument):
    test: str
    options: str  # of the command line, {p} standing for the parameters
    program: str = "sysbench"
    caveats: tuple[str, ...] = _CAVEATS

    def job(self, parameters: TestParameters, *, cpus: int, seed: int) -> Job:
        return Job(measure=self._command("run", parameters, seed), version=VERSION_ARGV["sysbench"])

    def _command(self, command: str, parameters: TestParameters, seed: int) -> Command:
        # sysbench takes a seed of 0 for "use the current time".
        common = (f"--rand-seed={1 + seed % (2**31 - 1)}", "--histogram=on", "--percentile=95")
        return Command(("sysbench", self.test, *self.options.format(p=parameters).split(), *common, command))

    def read(self, parameters: TestParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        return _read(outcome, expected=parameters.due)

    def samples(self, parameters: TestParameters, *, cpus: int) -> int:
        return parameters.due

    def seconds(self, parameters: TestParameters, load: str) -> float:
        return slowdown(load) * (STARTUP_S + parameters.work_s)


@dataclass(frozen=True, kw_only=True)
class Fileio(Sysbench):
    """The files are written just before, so what fits in the board's memory is read from its page cache."""

    folder: Literal["root", "usb"]
    test: str = "fileio"
    options: str = (
        "--threads={p.threads} --events={p.events} --time={p.time_s} --file-test-mode=rndrw "
        "--file-total-size={p.total_size} --file-num={p.files} --file-block-size={p.block_size} --file-io-mode=sync "
        "--file-rw-ratio={p.read_write_ratio} --file-fsync-freq={p.fsync_every} --file-fsync-mode=fsync "
        "--file-fsync-all=off --file-fsync-end=on"
    )
    parameters: type[Parameters] = FileioParameters
    disks: bool = True
    caveats: tuple[str, ...] = (
        *_CAVEATS,
        "Files that fit in the board's memory are read from its page cache; the study's 3 GB did not fit.",
    )

    def job(self, parameters: TestParameters, *, cpus: int, seed: int) -> Job:
        prepare, cleanup = (self._command(command, parameters, seed) for command in ("prepare", "cleanup"))
        job = super().job(parameters, cpus=cpus, seed=seed)
        return replace(job, setup=(prepare,), teardown=(cleanup,), folder=self.folder)

    def read(self, parameters: TestParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        common = _read(outcome, expected=parameters.due, at_most=True)
        rate = r" +{}: +(\d{{1,15}}\.\d\d)"
        rates, throughputs = (
            {key: float(number("sysbench", outcome.stdout, rate.format(label), label)) for key, label in labels.items()}
            for labels in (FILE_RATES, FILE_THROUGHPUTS)
        )
        # The study's "requests/s" (0.5) are reads and writes; the events of 1.0 have the fsyncs among them.
        scalars = {
            **common.scalars,
            **{key: Scalar(value=value, unit="1/s") for key, value in rates.items()},
            "requests_per_s": Scalar(value=rates["reads_per_s"] + rates["writes_per_s"], unit="1/s"),
            **{key: Scalar(value=value, unit="MiB/s") for key, value in throughputs.items()},
        }
        return Measurement(common.series, scalars, common.problems)


_THREADS = "--threads={p.threads} --events={p.events} --time=0 --thread-yields={p.yields} --thread-locks={p.locks}"
SYSBENCH = (
    Sysbench(
        name="sysbench-cpu",
        title="Time to find prime numbers (sysbench cpu)",
        parameters=CpuParameters,
        test="cpu",
        options="--threads={p.threads} --events={p.events} --time=0 --cpu-max-prime={p.max_prime}",
    ),
    # The study's scheduler test: it ran one thread, so it yields to nobody.
    Sysbench(
        name="sysbench-threads",
        title="Time to lock, yield and unlock, one thread (sysbench threads)",
        parameters=ThreadsParameters,
        test="threads",
        options=_THREADS,
    ),
    # The same with threads that compete for the lock: what the study meant to measure.
    Sysbench(
        name="sysbench-threads-contended",
        title="Time to lock, yield and unlock, competing threads (sysbench threads)",
        parameters=ContendedThreadsParameters,
        test="threads",
        options=_THREADS,
    ),
    # Each thread does one event and stops. A limit on events would count the stopping threads' last look
    # for work too, and leave late threads without any (seen: 33 of 64 events).
    Sysbench(
        name="sysbench-mutex",
        title="Time for a thread's round of mutex locks (sysbench mutex)",
        parameters=MutexParameters,
        test="mutex",
        options="--threads={p.threads} --events=0 --time=0 --mutex-num={p.mutexes} --mutex-locks={p.locks} "
        "--mutex-loops={p.loops}",
    ),
    Fileio(
        name="sysbench-fileio-root",
        title="Random reads and writes on the root disk (sysbench fileio)",
        folder="root",
    ),
    Fileio(
        name="sysbench-fileio-usb",
        title="Random reads and writes on a USB disk (sysbench fileio)",
        folder="usb",
    ),
)
