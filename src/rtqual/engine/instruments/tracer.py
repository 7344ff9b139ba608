# SPDX-License-Identifier: MIT
"""The kernel's own tracers of latency, timerlat and osnoise, to stand beside what is measured from outside the kernel.

Their whole trace is read through tracefs, so every sample is kept in its order. A kernel that was built without them
(CONFIG_TIMERLAT_TRACER, CONFIG_OSNOISE_TRACER) offers no figure and says so. Columns: Documentation/trace/
timerlat-tracer.rst and osnoise-tracer.rst of the kernel.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, last_line, require_success
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_NS_PER_US = 1_000
_MAIN_THREAD_FIFO = 1  # above the loads: the tracer is stopped in time
_MOST_LINES = 1_000_000  # of a trace: 100 bytes of text each
_SPARE_INTERVALS = 3  # the first begins a while after the tracer is switched on
_ENTRY_B = 128  # in the kernel's buffer, with room to spare
_NOT_OFFERED, END = "not offered", "end of the trace"
# $1 tracer, $2 CPUs, $3 KiB of buffer for each, $4 s; then pairs of a file below osnoise/ and its value. The threads'
# scheduling stands before the trace: what `stat` calls rt_priority and policy.
BEGIN = f"""
cd /sys/kernel/tracing || {{ echo '{_NOT_OFFERED}'; exit 0; }}
[ -e available_tracers ] || {{ mount -t tracefs tracefs . && cd /sys/kernel/tracing; }} || exit
grep -qw "$1" available_tracers || {{ echo '{_NOT_OFFERED}'; exit 0; }}
tracer=$1 seconds=$4
echo nop > current_tracer && echo "$3" > buffer_size_kb && echo "$2" > osnoise/cpus || exit
shift 4
while [ $# -gt 0 ]; do echo "$2" > "osnoise/$1" || exit; shift 2; done
"""
TRACE = """\
echo 1 > tracing_on && echo "$tracer" > current_tracer && sleep "$seconds" || exit
for process in /proc/[0-9]*; do
	read -r name < "$process/comm" || continue
	case $name in "$tracer"/*) cut -d ' ' -f 2,40,41 "$process/stat" ;; esac
done 2> /dev/null
echo 0 > tracing_on || exit
cat trace
"""
_SCRIPT = f'{BEGIN}{TRACE}echo nop > current_tracer && echo 1 > tracing_on && echo "{END}"\n'
_ON_CPU = r"^ *\S.*-\d+ +\[(\d+)\] +\S+ +\d+\.\d+:"
_TIMERLAT = re.compile(_ON_CPU + r" #(\d{1,18}) +context +(irq|thread) timer_latency +(\d{1,18}) ns$", re.M | re.A)
_OSNOISE = re.compile(_ON_CPU + r" (\d{1,12}) +(\d{1,12}) +[\d.]+ +(\d{1,12})((?: +\d{1,12}){5})$", re.M | re.A)
_SOURCES = ("hardware", "NMI", "IRQ", "softirq", "thread")


class TimerlatParameters(Parameters):
    interval: Annotated[DurationNs, Field(ge=100_000, le=1_000_000_000, multiple_of=_NS_PER_US)] = 1_000_000
    """100 us to 1 s, in whole microseconds."""
    cycles: Annotated[int, Field(ge=1, le=_MOST_LINES // 2)] = 1_000
    """On each CPU."""


class OsnoiseParameters(Parameters):
    interval: Annotated[DurationNs, Field(ge=1_000_000, le=60_000_000_000, multiple_of=_NS_PER_US)] = 50_000_000
    """1 ms to 60 s, in whole microseconds."""
    cycles: Annotated[int, Field(ge=1, le=_MOST_LINES)] = 20
    """Intervals; a load that takes the CPU leaves fewer."""


class _Timerlat(Instrument):
    """How late a timer's interrupt is, and the thread that it wakes."""

    def job(self, parameters: TimerlatParameters, *, cpus: int, seed: int) -> Job:
        period_us = parameters.interval // _NS_PER_US
        return tracing("timerlat", parameters, cpus, 2 * parameters.cycles, {"timerlat_period_us": period_us})

    def read(self, parameters: TimerlatParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("timerlat", outcome)
        if is_not_offered(outcome):
            return absent("timerlat", ("thread", "irq"))
        problems = [*clock_problems(outcome), *thread_problems("timerlat", outcome.stdout, cpus, fifo=True)]
        taken, missing = latencies(outcome.stdout, parameters.cycles, cpus)
        series = [Series.raw(samples, name=context, cpu=cpu) for (context, cpu), samples in taken.items()]
        return measured("timerlat", outcome, series, {}, [*problems, *missing])

    def seconds(self, parameters: TimerlatParameters, load: str) -> float:
        return seconds_of(parameters)


class _Osnoise(Instrument):
    """What a thread that only reads the clock loses to everything else."""

    def job(self, parameters: OsnoiseParameters, *, cpus: int, seed: int) -> Job:
        # The runtime first, since it may not be longer than the period, which is 1 s unless set.
        interval_us = parameters.interval // _NS_PER_US
        order = ("runtime_us", "period_us") if interval_us <= 10**6 else ("period_us", "runtime_us")
        return tracing("osnoise", parameters, cpus, parameters.cycles, dict.fromkeys(order, interval_us))

    def read(self, parameters: OsnoiseParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("osnoise", outcome)
        if is_not_offered(outcome):
            return absent("osnoise", ("noise", "largest part of it"))
        interval_us = parameters.interval // _NS_PER_US
        found = [(int(cpu), *map(int, some), counts) for cpu, *some, counts in _OSNOISE.findall(outcome.stdout)]
        problems = [*clock_problems(outcome), *thread_problems("osnoise", outcome.stdout, cpus, fifo=False)]
        series, counted = [], dict.fromkeys(_SOURCES, 0)
        for cpu in range(cpus):
            some = [pair for pair in found if pair[0] == cpu][: parameters.cycles]
            if any(runtime_us < interval_us for _, runtime_us, *_ in some):
                problems.append(f"osnoise on CPU {cpu}: an interval was cut short")
            series.append(Series.raw([noise * _NS_PER_US for _, _, noise, _, _ in some], name="noise", cpu=cpu))
            most = [largest * _NS_PER_US for _, _, _, largest, _ in some]
            series.append(Series.raw(most, name="largest part of it", cpu=cpu))
            for *_, counts in some:
                for source, number in zip(_SOURCES, counts.split(), strict=True):
                    counted[source] += int(number)
        scalars = {f"interruptions by {source}": Scalar(value=number, unit="1") for source, number in counted.items()}
        scalars["resolution"] = Scalar(value=_NS_PER_US, unit="ns")
        return measured("osnoise", outcome, series, scalars, problems)

    def seconds(self, parameters: OsnoiseParameters, load: str) -> float:
        return seconds_of(parameters)


def tracing(
    tracer: str,
    parameters: TimerlatParameters | OsnoiseParameters,
    cpus: int,
    lines: int,
    files: Mapping[str, int],
    script: str = _SCRIPT,
) -> Job:
    on = "0" if cpus == 1 else f"0-{cpus - 1}"
    buffer_kib = 64 + lines * _ENTRY_B // 1024
    options = [part for name, value in files.items() for part in (name, str(value))]
    taking_s = f"{(parameters.cycles + _SPARE_INTERVALS) * parameters.interval / 1e9:.6f}"
    argv = ("sh", "-c", script, "sh", tracer, on, str(buffer_kib), taking_s, *options)
    return Job(measure=Command(argv, fifo=_MAIN_THREAD_FIFO))


def latencies(trace: str, cycles: int, cpus: int) -> tuple[dict[tuple[str, int], list[int]], list[str]]:
    """timerlat's samples in ns by context and CPU, the thread's first, and what is missing of so many cycles."""
    seen: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for cpu, cycle, context, latency_ns in _TIMERLAT.findall(trace):
        seen.setdefault((context, int(cpu)), []).append((int(cycle), int(latency_ns)))
    taken, missing = {}, []
    for context in ("thread", "irq"):
        for cpu in range(cpus):
            samples = seen.get((context, cpu), [])[:cycles]
            if [cycle for cycle, _ in samples] != [*range(1, cycles + 1)]:
                taken_of = f"{len(samples)} of {cycles}"
                missing.append(f"timerlat on CPU {cpu}: {taken_of} samples of {context}, or not in a row")
            taken[context, cpu] = [ns for _, ns in samples]
    return taken, missing


def is_not_offered(outcome: JobOutcome) -> bool:
    return outcome.stdout.strip() == _NOT_OFFERED


def absent(tracer: str, names: Sequence[str]) -> Measurement:
    why = f"the kernel was built without the tracer {tracer} (CONFIG_{tracer.upper()}_TRACER)"
    return Measurement(absent=dict.fromkeys(names, why))


def thread_problems(tracer: str, trace: str, cpus: int, *, fifo: bool) -> Iterator[str]:
    """The kernel's threads must be there, and timerlat's be real-time threads."""
    seen = re.findall(rf"^\({tracer}/(\d+)\) (\d+) (\d+)$", trace, re.M | re.A)
    if sorted(int(cpu) for cpu, _, _ in seen) != [*range(cpus)]:
        yield f"{tracer}: its threads were seen on {len(seen)} of {cpus} CPUs"
    wrong = [f"{policy}, priority {priority}" for _, priority, policy in seen if (policy == "1") != fifo]
    if wrong:
        yield f"{tracer}: a thread has policy {wrong[0]}"


def measured(
    tracer: str, outcome: JobOutcome, series: Sequence[Series], scalars: Mapping[str, Scalar], problems: Sequence[str]
) -> Measurement:
    if not outcome.stdout.rstrip().endswith(END):
        raise RunFailed(f"{tracer}'s trace was cut off after {last_line(outcome.stdout)!r}; run it again")
    if not any(each.total for each in series):
        raise RunFailed(f"{tracer} gave no samples, last words: {last_line(outcome.stdout)!r}; read its trace by hand")
    return Measurement(tuple(series), scalars, tuple(problems))


def seconds_of(parameters: TimerlatParameters | OsnoiseParameters) -> float:
    return 0.2 + (parameters.cycles + _SPARE_INTERVALS) * parameters.interval / 1e9


TRACERS = (
    _Timerlat(
        several=True,
        name="timerlat",
        title="Latency of a timer's interrupt and of the thread that it wakes (the kernel's timerlat)",
        program="sh",
        parameters=TimerlatParameters,
        caveats=("The threads are the kernel's own, of priority 95, and do nothing.",),
    ),
    _Osnoise(
        several=True,
        name="osnoise",
        title="Time that a busy thread of normal priority loses in each interval (the kernel's osnoise)",
        program="sh",
        parameters=OsnoiseParameters,
        caveats=("Its thread has no real-time priority: a load takes its CPU like any other.",),
    ),
)
