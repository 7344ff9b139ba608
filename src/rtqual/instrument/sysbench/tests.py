# SPDX-License-Identifier: MIT
# ruff: noqa: ARG003, ARG004  every instrument takes the same arguments, whether it needs them or not
"""sysbench 1.0: the four tests of the AAReST study, with every setting spelled out.

The study ran sysbench 0.5, whose defaults differ from those of 1.0 (10,000 requests instead of 10 s, for one),
so nothing is left to a default: the parameters' defaults here are the study's command lines (section 3.3) with
the defaults of 0.5.
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs, SizeB
from rtqual.board import Command, Job, Outcome
from rtqual.instrument import Parameters
from rtqual.instrument.output import last_line, number, require_success
from rtqual.instrument.planning import STARTUP_S, slowdown
from rtqual.instrument.sysbench.output import (
    FIGURE_STEP_NS,
    FILE_RATES,
    FILE_THROUGHPUTS,
    NS_PER_S,
    inconsistencies,
    latency_series,
    milliseconds_ns,
)
from rtqual.instrument.version import VERSION_ARGV
from rtqual.record.schema import Measurement, Scalar, Series

_LATENCIES = {"min": "min", "avg": "avg", "max": "max", "p95": "95th percentile", "sum": "sum"}
_CAVEATS = (
    "sysbench sorts its latencies into bins 1.8 % wide from 1 us (shorter ones count as 1 us) to 100 s, "
    "printed in steps of 1 us.",
    "sysbench prints its own minimum, average, maximum and 95th percentile in steps of 0.01 ms.",
)

Positive = Annotated[int, Field(ge=1, lt=2**31)]


class CpuParameters(Parameters):
    events: Positive = 10_000
    threads: Positive = 1
    max_prime: Annotated[int, Field(ge=3, lt=2**31)] = 2_000


class ThreadsParameters(Parameters):
    events: Positive = 10_000
    threads: Positive = 1
    yields: Positive = 1_000
    locks: Positive = 1


class ContendedThreadsParameters(ThreadsParameters):
    threads: Positive = 8


class MutexParameters(Parameters):
    """Every thread takes `locks` times one of `mutexes` locks at random, after `loops` empty loops."""

    threads: Positive = 64
    mutexes: Positive = 4_096
    locks: Positive = 50_000
    loops: Positive = 10_000


class FileioParameters(Parameters):
    """Ends after `events` requests or after `time`, whichever comes first."""

    threads: Positive = 16
    total_size: Annotated[SizeB, Field(ge=1)] = 3 * 2**30
    files: Positive = 128
    block_size: Annotated[SizeB, Field(ge=1)] = 16 * 2**10
    events: Positive = 10_000
    time: Annotated[DurationNs, Field(ge=NS_PER_S, multiple_of=NS_PER_S)] = 300 * NS_PER_S
    read_write_ratio: Annotated[float, Field(gt=0, le=1000)] = 1.5
    fsync_every: Positive = 100

    @model_validator(mode="after")
    def _files_hold_a_block(self) -> Self:
        if self.total_size < self.files * self.block_size:
            raise ValueError(
                f"total_size must be at least files x block_size = {self.files * self.block_size} B, "
                f"not {self.total_size} B"
            )
        return self


def _argv(test: str, seed: int, command: str, **options: object) -> tuple[str, ...]:
    # sysbench takes a seed of 0 for "use the current time".
    common = {"rand-seed": 1 + seed % (2**31 - 1), "histogram": "on", "percentile": 95}
    written = (f"--{name.replace('_', '-')}={value}" for name, value in {**options, **common}.items())
    return ("sysbench", test, *written, command)


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


def _read(outcome: Outcome, *, expected: int, at_most: bool = False) -> Measurement:
    """`expected` events must be there; `at_most`: a time limit may have ended the test before."""
    require_success("sysbench", outcome)
    events, scalars = _figures(outcome.stdout)
    series = _latency(outcome.stdout)
    problems = inconsistencies(series, events)
    if events > expected or (events < expected and not at_most):
        problems.append(f"sysbench did {events} events instead of {expected}")
    return Measurement((series,), scalars, tuple(problems))


class _Sysbench:
    program: ClassVar[str] = "sysbench"
    disks: ClassVar[bool] = False
    caveats: ClassVar[tuple[str, ...]] = _CAVEATS


class SysbenchCpu(_Sysbench):
    name: ClassVar[str] = "sysbench-cpu"
    title: ClassVar[str] = "Time to find prime numbers (sysbench cpu)"
    parameters: ClassVar[type[Parameters]] = CpuParameters

    @staticmethod
    def job(parameters: CpuParameters, *, cpus: int, seed: int) -> Job:
        options: dict[str, Any] = {"threads": parameters.threads, "events": parameters.events, "time": 0}
        argv = _argv("cpu", seed, "run", **options, cpu_max_prime=parameters.max_prime)
        return Job(measure=Command(argv), version=VERSION_ARGV["sysbench"])

    @staticmethod
    def read(parameters: CpuParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        return _read(outcome, expected=parameters.events)

    @staticmethod
    def seconds(parameters: CpuParameters, load: str) -> float:
        # The test divides by odd numbers up to the root, for each number: 0.31 ms for 2,000.
        event_s: float = 0.31e-3 * (parameters.max_prime / 2_000) ** 1.5
        return slowdown(load) * (STARTUP_S + parameters.events * event_s)


class SysbenchThreads(_Sysbench):
    """The study's scheduler test: it ran one thread, so it yields to nobody."""

    name: ClassVar[str] = "sysbench-threads"
    title: ClassVar[str] = "Time to lock, yield and unlock, one thread (sysbench threads)"
    parameters: ClassVar[type[Parameters]] = ThreadsParameters

    @staticmethod
    def job(parameters: ThreadsParameters, *, cpus: int, seed: int) -> Job:
        options: dict[str, Any] = {"threads": parameters.threads, "events": parameters.events, "time": 0}
        own = {"thread_yields": parameters.yields, "thread_locks": parameters.locks}
        return Job(measure=Command(_argv("threads", seed, "run", **options, **own)), version=VERSION_ARGV["sysbench"])

    @staticmethod
    def read(parameters: ThreadsParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        return _read(outcome, expected=parameters.events)

    @staticmethod
    def seconds(parameters: ThreadsParameters, load: str) -> float:
        yield_s = 1.8e-6 if parameters.threads == 1 else 20e-6
        return slowdown(load) * (STARTUP_S + parameters.events * parameters.yields * yield_s)


class SysbenchThreadsContended(SysbenchThreads):
    """The same with threads that compete for the lock: what the study meant to measure."""

    name: ClassVar[str] = "sysbench-threads-contended"
    title: ClassVar[str] = "Time to lock, yield and unlock, competing threads (sysbench threads)"
    parameters: ClassVar[type[Parameters]] = ContendedThreadsParameters


class SysbenchMutex(_Sysbench):
    name: ClassVar[str] = "sysbench-mutex"
    title: ClassVar[str] = "Time for a thread's round of mutex locks (sysbench mutex)"
    parameters: ClassVar[type[Parameters]] = MutexParameters

    @staticmethod
    def job(parameters: MutexParameters, *, cpus: int, seed: int) -> Job:
        # Each thread does one event and stops. A limit on events would count the stopping threads' last look
        # for work too, and leave late threads without any (seen: 33 of 64 events).
        options: dict[str, Any] = {"threads": parameters.threads, "events": 0, "time": 0}
        own = {
            "mutex_num": parameters.mutexes,
            "mutex_locks": parameters.locks,
            "mutex_loops": parameters.loops,
        }
        return Job(measure=Command(_argv("mutex", seed, "run", **options, **own)), version=VERSION_ARGV["sysbench"])

    @staticmethod
    def read(parameters: MutexParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        return _read(outcome, expected=parameters.threads)

    @staticmethod
    def seconds(parameters: MutexParameters, load: str) -> float:
        lock_s = 0.2e-6 + parameters.loops * 6e-9
        return slowdown(load) * (STARTUP_S + parameters.threads * parameters.locks * lock_s)


class SysbenchFileio(_Sysbench):
    """The files are written just before, so what fits in the board's memory is read from its page cache."""

    name: ClassVar[str] = "sysbench-fileio-root"
    title: ClassVar[str] = "Random reads and writes on the root disk (sysbench fileio)"
    parameters: ClassVar[type[Parameters]] = FileioParameters
    disks: ClassVar[bool] = True
    caveats: ClassVar[tuple[str, ...]] = (
        *_CAVEATS,
        "Files that fit in the board's memory are read from its page cache; the study's 3 GB did not fit.",
    )
    folder: ClassVar[str] = "root"

    @classmethod
    def job(cls, parameters: FileioParameters, *, cpus: int, seed: int) -> Job:
        options: dict[str, Any] = {
            "threads": parameters.threads,
            "events": parameters.events,
            "time": parameters.time // NS_PER_S,
            "file_test_mode": "rndrw",
            "file_total_size": parameters.total_size,
            "file_num": parameters.files,
            "file_block_size": parameters.block_size,
            "file_io_mode": "sync",
            "file_rw_ratio": parameters.read_write_ratio,
            "file_fsync_freq": parameters.fsync_every,
            "file_fsync_mode": "fsync",
            "file_fsync_all": "off",
            "file_fsync_end": "on",
        }
        prepare, run, cleanup = (
            Command(_argv("fileio", seed, command, **options)) for command in ("prepare", "run", "cleanup")
        )
        return Job(
            setup=(prepare,),
            measure=run,
            teardown=(cleanup,),
            folder=cls.folder,
            version=VERSION_ARGV["sysbench"],
        )

    @staticmethod
    def read(parameters: FileioParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        common = _read(outcome, expected=parameters.events, at_most=True)
        rate = r" +{}: +(\d{{1,15}}\.\d\d)"
        rates = {
            key: float(number("sysbench", outcome.stdout, rate.format(label), label))
            for key, label in FILE_RATES.items()
        }
        throughputs = {
            key: float(number("sysbench", outcome.stdout, rate.format(label), label))
            for key, label in FILE_THROUGHPUTS.items()
        }
        # The study's "requests/s" (0.5) are reads and writes; the events of 1.0 have the fsyncs among them.
        scalars = {
            **common.scalars,
            **{key: Scalar(value=value, unit="1/s") for key, value in rates.items()},
            "requests_per_s": Scalar(value=rates["reads_per_s"] + rates["writes_per_s"], unit="1/s"),
            **{key: Scalar(value=value, unit="MiB/s") for key, value in throughputs.items()},
        }
        return Measurement(common.series, scalars, common.problems)

    @staticmethod
    def seconds(parameters: FileioParameters, load: str) -> float:
        prepare_s = parameters.total_size / 50e6
        run_s = min(parameters.events * 0.3e-3, parameters.time / NS_PER_S)
        final_fsyncs_s = parameters.threads * parameters.files * 2e-3  # each thread on each file
        return slowdown(load) * (STARTUP_S + prepare_s + run_s + final_fsyncs_s)


class SysbenchFileioUsb(SysbenchFileio):
    name: ClassVar[str] = "sysbench-fileio-usb"
    title: ClassVar[str] = "Random reads and writes on a USB disk (sysbench fileio)"
    folder: ClassVar[str] = "usb"
