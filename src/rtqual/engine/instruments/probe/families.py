# SPDX-License-Identifier: MIT
"""rtqual's own battery (target/probe/, docs/probe.md): one instrument for each of its families.

The families differ in what they measure, not in how they are run and read; each runs as a program, as one over
Xenomai's cores, and as a module inside the kernel, whose result lies in a file of /proc. The cost of reading the
counter, which the primitives family measures on an empty operation, is subtracted from every operation timed by that
counter, and shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs
from rtqual.engine.instruments.probe.probe_output import Benchmark, ProbeOutput, Sampled, Status, in_ns, parse
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import POLLS, clock_problems, last_line
from rtqual.protocols.instrument.planning import STARTUP_S, WAKEUP_S, slowdown
from rtqual.protocols.record.schema import Int64Array, Measurement, Scalar, Series

PROGRAM = "rtqual-probe"
MODULE = "rtqual-probe.ko"
_LOAD_READ_UNLOAD = 'insmod /lib/rtqual/rtqual-probe.ko "$@" && cat /proc/rtqual-probe > {} && rmmod rtqual_probe'
CONTROL = "empty"  # the benchmark of the operation that does nothing
_MAIN_THREAD_FIFO = 1  # above the loads, below all that is measured: the result does not wait for its turn
_PHASE_STEP_NS = 1_009  # a prime: seeds spread over the phases of any timer
_OVERFLOW_FROM = 2**32  # the probe's samples have 32 bits
_LOWER, _OWN = "lower thread's share", "own share"  # of the CPU, while a thread is asleep; in percent
_POLLING_FROM = 10  # of each 1 ms or more; the dearest wake-up here, there and back, takes 3
_WHOLE_RUN = ("page faults", "involuntary switches")  # counted for each benchmark, shown for all that take samples


OWN_INTERVAL_NS = (
    1_000_000  # of the families with an interval, unless another is given (target/probe/battery/battery.c)
)


class ProbeParameters(Parameters):
    """Samples of each series (iterations) and their interval are the family's unless given (docs/probe.md)."""

    iterations: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    interval: Annotated[DurationNs, Field(ge=1_000, le=60_000_000_000)] | None = None
    """1 us to 60 s."""
    priority: Annotated[int, Field(ge=4, le=95)] = 80
    """Of the measuring thread; others lie around it."""


class MemoryParameters(ProbeParameters):
    cpu: Annotated[int, Field(ge=0, le=63)] | None = None
    """Where the loop runs, an isolated CPU too; the first when left out. The others stream memory."""

    @model_serializer(mode="wrap")
    def _told(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if name != "cpu" or value is not None}


@dataclass(frozen=True, kw_only=True)
class Probe(Instrument):
    """What all families share: here, as a program."""

    family: str  # its name on the probe's command line
    program: str = PROGRAM
    parameters: type[Parameters] = ProbeParameters
    space: str = "user space"  # where it runs
    every_cpu: bool = False  # one probe on each CPU at the same time

    def job(self, parameters: ProbeParameters, *, cpus: int, seed: int) -> Job:
        commands = [self._command(_options(parameters, seed, cpu), _file(cpu)) for cpu in self._on(cpus)]
        argv = commands[0]
        if len(commands) > 1:
            started = "".join(f"{' '.join(command)} & p{cpu}=$!; " for cpu, command in enumerate(commands))
            argv = ("sh", "-c", started + "; ".join(f"wait $p{cpu} || exit" for cpu in range(len(commands))))
        return Job(
            measure=Command(argv, fifo=_MAIN_THREAD_FIFO),
            collect=tuple(_file(cpu) for cpu in self._on(cpus)),
            version=(PROGRAM, "--version"),
        )

    def _command(self, options: Sequence[str], file: str) -> tuple[str, ...]:
        return (self.program, self.family, *options, f"out={file}")

    def read(self, parameters: ProbeParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        said = last_line(outcome.stderr, outcome.stdout, outcome.console)
        series: list[Series] = []
        scalars: dict[str, Scalar] = {}
        problems = clock_problems(outcome)
        absent: dict[str, str] = {}
        for cpu in self._on(cpus):
            if _file(cpu) not in outcome.files:
                raise RunFailed(f"{PROGRAM} ended with exit code {outcome.exit_code} and no result: {said!r}")
            output = parse(outcome.files[_file(cpu)], _file(cpu))
            _require_success(output)
            if not self.every_cpu or cpu == 0:
                scalars |= _scalars(output)
            series += _series(output, cpu)
            problems += _problems(output)
            absent |= {
                benchmark.name: benchmark.why
                for benchmark in output.benchmarks
                if benchmark.status == Status.NOT_OFFERED
            }
        if outcome.exit_code != 0:
            raise RunFailed(f"{PROGRAM} ended with exit code {outcome.exit_code}, last words: {said!r}")
        return Measurement(tuple(series), scalars, tuple(dict.fromkeys(problems)), absent)

    def seconds(self, parameters: ProbeParameters, load: str) -> float:
        waits, interval_s, _ = _course(self.family, parameters)
        return slowdown(load) * STARTUP_S + waits * interval_s

    def busy_s(self, parameters: ProbeParameters) -> float:
        waits, interval_s, share = _course(self.family, parameters)
        return STARTUP_S + waits * (WAKEUP_S + share * interval_s)

    def _on(self, cpus: int) -> range:
        return range(cpus if self.every_cpu else 1)


@dataclass(frozen=True, kw_only=True)
class KernelProbe(Probe):
    """In kernel space: the module measures while it is loaded."""

    program: str = MODULE
    space: str = "kernel space"

    def _command(self, options: Sequence[str], file: str) -> tuple[str, ...]:
        return ("sh", "-c", _LOAD_READ_UNLOAD.format(file), "sh", f"family={self.family}", *options)


LOADED, MEMORY = "loaded", "memory"
_EVERY_CPU = "ffffffff"  # as taskset takes it
FAMILIES = {
    "wakeup": "Wake-up latency of a periodic real-time thread",
    "periodic": "Period and jitter of a periodic task",
    "itc": "Communication between two periodic tasks",
    "primitives": "Cost of the system's primitives",
    "loop": "Control loop of sensor, estimator, control and actuator tasks",
    LOADED: "Wake-up and semaphore beside threads that work",
    MEMORY: "Control loop while other CPUs stream memory",
    "beside": "Wake-ups by each of Linux's timers beside a thread of middle priority",
}
_IN_KERNEL_SPACE = {
    "wakeup": "Wake-up latency of a periodic real-time thread, in kernel space",
    "periodic": "Period and jitter of a periodic task, in kernel space",
    "itc": "Communication between two periodic tasks, in kernel space",
    "primitives": "Cost of the kernel's own primitives",
    "loop": "Control loop of four tasks, in kernel space",
}


@dataclass(frozen=True)
class Pace:
    """How a family passes its time: iterations and interval as the probe has them unless given
    (target/probe/battery/battery.c)."""

    iterations: int
    interval_ns: int = OWN_INTERVAL_NS
    intervals: int = 1  # that an iteration takes, in all of the family's benchmarks
    share: float = 0.0  # of an interval, in which it computes; a third of it: loops are emulated that much faster


COURSES = {
    "wakeup": Pace(3_000),
    "periodic": Pace(5_000),
    "itc": Pace(5_000, intervals=3),
    "primitives": Pace(500, intervals=7, share=0.07),  # six of the workload rows; all others take about one
    "loop": Pace(1_000, 4_000_000, intervals=5, share=0.13),
    LOADED: Pace(1_000, intervals=3, share=0.7),
    MEMORY: Pace(1_000, 4_000_000, intervals=4, share=0.3),
    "beside": Pace(1_000, intervals=3, share=0.17),  # target/probe/linux/beside.c
}


@dataclass(frozen=True, kw_only=True)
class MemoryProbe(Probe):
    """On the CPU that is asked for. A kernel that isolates it starts programs on the others alone, so ask for all."""

    parameters: type[Parameters] = MemoryParameters

    def job(self, parameters: ProbeParameters, *, cpus: int, seed: int) -> Job:
        made = super().job(parameters, cpus=cpus, seed=seed)
        if not isinstance(parameters, MemoryParameters) or parameters.cpu is None:
            return made
        argv = self._command(_options(parameters, seed, parameters.cpu), _file(0))
        return replace(made, measure=replace(made.measure, argv=("taskset", _EVERY_CPU, *argv)))


PROBES = tuple(
    Probe(
        name=f"probe-{family}",
        title=f"{title} (rtqual's probe)",
        family=family,
        every_cpu=family == "wakeup",
        several=family != "wakeup",
    )
    for family, title in FAMILIES.items()
    if family != MEMORY
)
MEMORY_PROBE = MemoryProbe(
    name=f"probe-{MEMORY}", title=f"{FAMILIES[MEMORY]} (rtqual's probe)", family=MEMORY, several=True
)
KERNEL_PROBES = tuple(
    KernelProbe(
        name=f"probe-kernel-{family}", title=f"{title} (rtqual's probe)", family=family, several=family != "wakeup"
    )
    for family, title in _IN_KERNEL_SPACE.items()
)


def _course(family: str, parameters: ProbeParameters) -> tuple[int, float, float]:
    """How many intervals a run takes; s of each; the share of it in which it computes."""
    own = COURSES[family]
    iterations, interval_ns = parameters.iterations or own.iterations, parameters.interval or own.interval_ns
    return iterations * own.intervals, interval_ns / 1e9, own.share


def _options(parameters: ProbeParameters, seed: int, cpu: int) -> list[str]:
    options = [f"priority={parameters.priority}", f"seed={seed * _PHASE_STEP_NS}", f"cpu={cpu}"]
    if parameters.iterations is not None:
        options.append(f"iterations={parameters.iterations}")
    if parameters.interval is not None:
        options.append(f"interval_ns={parameters.interval}")
    return options


def _file(cpu: int) -> str:
    return f"probe-{cpu}.txt"


def _require_success(output: ProbeOutput) -> None:
    for benchmark in output.benchmarks:
        if benchmark.status not in (Status.OK, Status.NOT_OFFERED):
            raise RunFailed(
                f"{PROGRAM} {output.family}: {benchmark.name}: {benchmark.status}: {benchmark.why or 'no reason given'}"
            )


def _series(output: ProbeOutput, cpu: int) -> Iterator[Series]:
    """Samples in ns, those of the cycle counter less the control's median."""
    control_ns = _control_ns(output)
    for benchmark in (measured for measured in output.benchmarks if measured.name != CONTROL):
        for sampled in benchmark.series:
            values = in_ns(sampled, output.cycles_per_s)
            if sampled.unit == "cycles":
                values = (values - control_ns).clip(0)
            info: dict[str, Any] = {"name": _name(output, benchmark, sampled), "cpu": cpu}
            if sampled.overflows:
                from_ns = _OVERFLOW_FROM if sampled.unit == "ns" else _OVERFLOW_FROM * 10**9 // output.cycles_per_s
                info |= {"overflow": sampled.overflows, "overflow_from": from_ns}
            yield Series.raw(values, **info)


def of_output(output: ProbeOutput) -> tuple[list[Series], dict[str, Scalar], list[str], dict[str, str]]:
    """What a result holds, of CPU 0: its series in ns, its figures, its problems, and what was not offered and why."""
    absent = {
        benchmark.name: benchmark.why for benchmark in output.benchmarks if benchmark.status == Status.NOT_OFFERED
    }
    return list(_series(output, 0)), _scalars(output), list(_problems(output)), absent


def lower_threads_percent(output: ProbeOutput) -> int:
    """What a lower thread got at least of the CPU while one slept; 100 where nobody looked."""
    shares = [share for ran in output.benchmarks for name, (share, _) in ran.facts.items() if name.startswith(_LOWER)]
    return min(shares, default=100)


def _control_ns(output: ProbeOutput) -> int:
    import numpy as np  # noqa: PLC0415 - slow to load, and missions name instruments too

    empty: list[Int64Array] = [
        in_ns(sampled, output.cycles_per_s)
        for benchmark in output.benchmarks
        for sampled in benchmark.series
        if benchmark.name == CONTROL
    ]
    return int(np.median(np.concatenate(empty))) if empty else 0


def _name(output: ProbeOutput, benchmark: Benchmark, sampled: Sampled) -> str:
    if sum(bool(each.series) for each in output.benchmarks) == 1 or sampled.name == benchmark.name:
        return sampled.name
    return f"{benchmark.name}: {sampled.name}" if len(benchmark.series) > 1 else benchmark.name


def _scalars(output: ProbeOutput) -> dict[str, Scalar]:
    scalars = {"clock step": Scalar(value=output.clock_step_ns, unit="ns")}
    if any(measured.name == CONTROL for measured in output.benchmarks):
        scalars["control (subtracted)"] = Scalar(value=_control_ns(output), unit="ns")
    for name in _WHOLE_RUN:
        counted = [
            measured.facts[name][0] for measured in output.benchmarks if name in measured.facts and measured.series
        ]
        if counted:
            scalars[name] = Scalar(value=sum(counted), unit="1")
    for benchmark in output.benchmarks:
        for name, (value, unit) in benchmark.facts.items():
            if name not in _WHOLE_RUN:
                scalars[f"{benchmark.name}: {name}"] = Scalar(value=value, unit=unit)
    return scalars


def _problems(output: ProbeOutput) -> Iterator[str]:
    for benchmark in output.benchmarks:
        lost = sum(sampled.lost for sampled in benchmark.series)
        if lost:
            yield f"{PROGRAM} lost {lost} samples of {benchmark.name}"
        yield from _polling(benchmark.facts)


def _polling(facts: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    """By what a lower thread got while one slept, and by what that one used itself, where the system tells that: then a
    load may have taken the rest."""
    for name, (share, _) in facts.items():
        if name.startswith(_LOWER):
            own, _ = facts.get(name.replace(_LOWER, _OWN, 1), (_POLLING_FROM, ""))
            if share <= 100 - _POLLING_FROM and own >= _POLLING_FROM:
                yield f"{POLLS}: a thread that waits by sleep keeps the CPU from those of lower priority"
