# SPDX-License-Identifier: MIT
"""The docking camera's frames to ranges: one instrument a way (docs/docking/lidar.md). The camera is the software one.

range               from a frame's end, as the camera handed it to the USB host, to its ranges
last transfer to range    of the driver, which knows no other end of a frame
pose                from the same end to the target's pose, or to knowing of none
wake-up             of a 1 kHz task beside the stream, above all of it
frames_per_s        frames that came, by the time from opening the camera to the last of them
..._unthrottled     the same of a second stream, whose camera sends as fast as it is read; 0 frames leave it out
frames_lost         counted by gaps in the driver's numbers and in the camera's stamps; by the ring's counters
cpu_*               run time (`rtqual-agent times`) in the first stream, by frame: `program` reads and, but
                    for the driver, decodes; `kernel` is the threads of workers and drivers; `usb` those of the USB
                    host, vhci_hcd's (transfers and their completion); cpu_per_frame is these three, without `emulator`
raw_copies          of a frame between the USB transfer and the decoder: how the way is built, not measured
range_copies        of decoded ranges

Poses and the task have a third stream, so that they are in no figure of the first: a pose takes more CPU than a
frame's ranges, and the task's timer interrupts whatever runs. The task is above the stream (priority 90), as a control
loop that steers by it would be: what still delays it is what the way does with interrupts or preemption off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.engine.instruments.cyclictest.json_output import parse
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import clock_problems, require_success
from rtqual.protocols.instrument.planning import STARTUP_S
from rtqual.protocols.record.schema import Measurement, Scalar, Series
from rtqual_docking.guest_script import (
    BESIDE,
    COMMON,
    CPU,
    DMABUF_MODULE,
    DRIVER_MODULE,
    EMULATOR,
    MODULES_AT,
    RAISED,
    RING_MODULE,
    RING_NODE,
    STREAM,
    UVC_NODE,
    flown,
    parts,
    rendered,
)
from rtqual_docking.stream_output import POSES, StreamRun, cpu_ns, fifo_of, of_emulator, sections, since_sent, stream_of

PREFIX = "lidar-"  # begins the names of the camera's instruments
_RENDERING_S, _PLUG_S = 2.0, 0.6
_MAIN_THREAD_FIFO = 1  # above the loads: the end of a stream does not wait for them
_TASK_MS = 10**8  # more cycles than any stream lasts: it is ended with the stream
# Figures of a way: what it has samples of, the ranges first, and the others with their units.
SERIES = ("range", "program CPU of a frame", "last transfer to range", "wake-up", "pose")
SCALARS = {
    **dict.fromkeys(("frames_lost", "frames_refused", "frames_checked", "frames_lost_beside"), "1"),
    **dict.fromkeys(("raw_copies", "range_copies", "page_faults", "skipped_periods", "emulator_lost"), "1"),
    **{f"poses_{name}": "1" for name in POSES},
    **dict.fromkeys(("frames_per_s", "frames_per_s_unthrottled"), "1/s"),
    **dict.fromkeys(("cpu_program", "cpu_kernel", "cpu_usb", "cpu_emulator", "cpu_per_frame", "pose_cpu"), "ns"),
    **dict.fromkeys(("time_stamp_error", "emulator_late_most"), "ns"),
    "cpu_share": "%",
    "memory": "B",
}


class LidarParameters(Parameters):
    """Frames of three streams."""

    frames: Annotated[int, Field(ge=10, le=100_000)] = 600
    unthrottled: Annotated[int, Field(ge=0, le=100_000)] = 200
    """Of the second stream, which nothing slows down; 0 for none."""
    beside: Annotated[int, Field(ge=0, le=100_000)] = 180
    """Of the third stream, which has a task beside it; 0 for none."""
    rate: Annotated[int, Field(ge=25, le=60)] = 60
    """Frames a second: 25, 30, 50 or 60."""
    priority: Annotated[int, Field(ge=2, le=95)] = 80
    task_priority: Annotated[int, Field(ge=2, le=99)] = 90
    """Of the task beside the third stream."""

    def task(self, cycles: int) -> CyclictestParameters:
        return CyclictestParameters(interval=1_000_000, cycles=cycles, priority=self.task_priority)


@dataclass(frozen=True, kw_only=True)
class Way(Instrument):
    """How frames come and what makes ranges of them: by default uvcvideo's mapped buffers."""

    options: str  # of the stream; {rate} stands for the frames asked for in a second
    program: str = STREAM
    parameters: type[Parameters] = LidarParameters
    several: bool = True
    between: tuple[str, str] | None = (EMULATOR, STREAM)
    caveats: tuple[str, ...] = (
        "The camera is software and shares the CPU with what is measured; its own run time stands apart.",
    )
    raw_copies: int = 1  # uvcvideo's, from the USB transfer to the buffer that is mapped
    node: str = UVC_NODE
    modules: tuple[str, ...] = ("uvcvideo", "vhci-hcd")
    own_modules: tuple[str, ...] = ()
    poses: bool = True  # whether a pose can be estimated from its ranges
    workers_priority: int = 0  # for uvcvideo's workers, which have no real-time priority by themselves

    def job(self, parameters: LidarParameters, *, cpus: int, seed: int) -> Job:
        inserted = [f"insmod {MODULES_AT}/{module} || fail 'no {module}'" for module in self.own_modules]
        setup = [COMMON, rendered(seed), *([flown(seed)] if parameters.beside else []), *inserted]
        setup.append(self._plugged(parameters, "frames --log log"))
        measure = [COMMON + CPU, "cpu > before"]
        measure.append(f"{self._stream(parameters, parameters.frames)} --check=frames --output=stream")
        measure[-1] += " || { cat stream; exit 1; }"
        measure += ["cpu > after", "unplug", *parts("stream", "before", "after"), "echo == emulator; cat report"]
        measure += parts("log") if self.node == RING_NODE else []
        if parameters.unthrottled:
            measure += [self._plugged(parameters, "frames --unthrottled"), "echo == unthrottled"]
            measure += [f"{self._stream(parameters, parameters.unthrottled)} || exit", "unplug"]
        if parameters.beside:
            stream = self._stream(parameters, parameters.beside) + (" --pose" if self.poses else "")
            task = " ".join(CYCLICTEST.job(parameters.task(_TASK_MS), cpus=cpus, seed=seed).measure.argv)
            measure += [self._plugged(parameters, "flown --log beside.log")]
            measure += [BESIDE.format(stream=stream, task=task, priority=parameters.task_priority), "unplug"]
            measure += [*parts("beside", "priorities"), "echo == wakeup; cat cyclictest.json; echo"]
            measure += ["echo == besidelog; cat beside.log"] if self.node == RING_NODE else []
        measure += ["echo == end"]
        return Job(
            setup=(Command(("sh", "-c", "\n".join(setup))),),
            measure=Command(("sh", "-c", "\n".join(measure)), fifo=_MAIN_THREAD_FIFO),
            modules=self.modules,
            version=(STREAM, "--version"),
        )

    def _plugged(self, parameters: LidarParameters, replayed: str) -> str:
        plugged = f"plug --replay {replayed} --stamp; awaited [ -e {self.node} ] || fail 'no node {self.node}'\n"
        if self.workers_priority:
            plugged += RAISED.format(stream=self._stream(parameters, 10), priority=self.workers_priority)
        return plugged

    def _stream(self, parameters: LidarParameters, frames: int) -> str:
        asked = f"--device={self.node} --frames={frames} --priority={parameters.priority}"
        return f"{STREAM} {asked} {self.options.format(rate=parameters.rate)}"

    def read(self, parameters: LidarParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success(STREAM, outcome)
        wanted = ["stream", "before", "after", "emulator", *(["unthrottled"] if parameters.unthrottled else [])]
        wanted += ["beside", "priorities", "wakeup"] if parameters.beside else []
        said = sections(outcome.stdout, wanted)
        taken = stream_of(said["stream"], "the stream")
        _require_all(taken, parameters.frames)
        stream = since_sent(taken, said.get("log", "")) if self.node == RING_NODE else taken
        numbers = {**_counts(stream), **_cpu(stream, said), **_emulators(said["emulator"])}
        scalars = _scalars({**numbers, "raw_copies": self.raw_copies})
        series = [Series.raw(stream.latency_ns, name="range"), Series.raw(stream.cpu_ns, name="program CPU of a frame")]
        if stream is not taken:
            series.append(Series.raw(taken.latency_ns, name="last transfer to range"))
        problems = [*clock_problems(outcome), *_problems(stream, parameters)]
        if parameters.unthrottled:
            fastest = stream_of(said["unthrottled"], "the unthrottled stream")
            _require_all(fastest, parameters.unthrottled)
            scalars |= _scalars({"frames_per_s_unthrottled": fastest.per_s})
        if parameters.beside:
            beside = self._beside(parameters, said, replace(outcome, stdout=""), cpus)
            series += beside.series
            scalars |= beside.scalars
            problems += beside.problems
        return Measurement(tuple(series), scalars, tuple(problems))

    def _beside(
        self, parameters: LidarParameters, said: Mapping[str, str], outcome: JobOutcome, cpus: int
    ) -> Measurement:
        """Poses, and the task's wake-ups."""
        stream = stream_of(said["beside"], "the stream with a task beside it")
        _require_all(stream, parameters.beside)
        if self.node == RING_NODE:
            stream = since_sent(stream, said.get("besidelog", ""))
        threads = tuple({"policy": "fifo", "priority": priority} for priority in fifo_of(said["priorities"]))
        ran = replace(outcome, files={"cyclictest.json": said["wakeup"]}, threads=threads)
        cycles = max(thread.cycles for thread in parse(said["wakeup"], "cyclictest.json").thread.values())
        task = CYCLICTEST.read(parameters.task(cycles), ran, cpus=cpus)
        series = [replace(one, info=one.info.model_copy(update={"name": "wake-up"})) for one in task.series]
        numbers: dict[str, float] = {f"poses_{name}": count for name, count in stream.poses.items()}
        if self.poses:
            if len(stream.pose_ns) != parameters.beside:
                raise RunFailed(f"{STREAM} told of {len(stream.pose_ns)} poses of {parameters.beside}")
            series.append(Series.raw(stream.pose_ns, name="pose"))
            numbers["pose_cpu"] = sum(stream.pose_cpu_ns) / parameters.beside
        numbers["frames_lost_beside"] = stream.lost
        numbers["skipped_periods"] = task.scalars["skipped_periods"].value
        return Measurement(tuple(series), _scalars(numbers), task.problems)

    def seconds(self, parameters: LidarParameters, load: str) -> float:
        streams_s = (parameters.frames + parameters.beside) / 25 + parameters.unthrottled / 150
        return STARTUP_S + 2 * _RENDERING_S + 3 * _PLUG_S + streams_s


def _published(name: str, title: str, switches: str) -> Way:
    """The published pipeline with some of its wastes. Its decoder sorts words into classes."""
    options = f"--method=mmap --rate={{rate}} --decode=baseline --baseline-switches={switches}"
    return Way(name=name, title=title, options=options, poses=False)


BASELINE = _published("lidar-baseline", "Frames to ranges by the published driver's pipeline, rebuilt", "all")
MMAP = Way(
    name="lidar-mmap",
    title="Frames to ranges by mapped buffers and the scalar decoder",
    options="--method=mmap --decode=scalar --rate={rate}",
)
MMAP_SIMD = Way(
    name="lidar-mmap-simd",
    title="Frames to ranges by mapped buffers and the vector decoder",
    options="--method=mmap --decode=simd --rate={rate}",
)
MMAP_RAISED = replace(
    MMAP_SIMD,
    name="lidar-mmap-raised",
    title="The same with uvcvideo's workers at a real-time priority, as one should fly it",
    workers_priority=60,  # above the USB host's, as the driver's own thread is
)
DMABUF = Way(
    name="lidar-dmabuf",
    title="Frames to ranges by a kernel module that decodes uvcvideo's buffers, shared as dma-bufs",
    program=DMABUF_MODULE,
    options="--method=dmabuf --decode=kernel --rate={rate}",
    own_modules=(RING_MODULE, DMABUF_MODULE),
)
DRIVER = Way(
    name="lidar-driver",
    title="Frames to ranges by the camera's own kernel driver, decoded where USB put them",
    program=DRIVER_MODULE,
    options="--method=ring",
    raw_copies=0,
    node=RING_NODE,
    modules=("vhci-hcd",),
    own_modules=(RING_MODULE, DRIVER_MODULE),
)
LADDER = (BASELINE, MMAP, MMAP_SIMD, MMAP_RAISED, DMABUF, DRIVER)
# From the published pipeline down, each without one more of its wastes.
WASTES = (
    BASELINE,
    _published(
        "lidar-no-sleep",
        "The published pipeline without its sleep of 33 ms a frame",
        "decode,clear,copy,command,stamp",
    ),
    _published(
        "lidar-no-command",
        "And without its command to the camera before each of the first 82 frames",
        "decode,clear,copy,stamp",
    ),
    _published("lidar-no-clear", "And without clearing the frame that is handed out", "decode,copy,stamp"),
    _published(
        "lidar-no-copy", "And without the copy of decoded frames, and with true times: its decoder is left", "decode"
    ),
    MMAP,
)
WAYS = tuple(dict.fromkeys((*WASTES, *LADDER)))


def _require_all(stream: StreamRun, frames: int) -> None:
    if len(stream.latency_ns) != frames:
        raise RunFailed(f"{STREAM} took {len(stream.latency_ns)} of {frames} frames: {stream.ended}")


def _scalars(numbers: Mapping[str, float]) -> dict[str, Scalar]:
    return {name: Scalar(value=value, unit=SCALARS[name]) for name, value in numbers.items()}


def _counts(stream: StreamRun) -> dict[str, float]:
    counts = {
        "frames_lost": stream.lost,
        "frames_refused": stream.refused,
        "frames_checked": stream.matched,
        "range_copies": stream.range_copies / len(stream.latency_ns),
        "page_faults": stream.page_faults,
        "frames_per_s": stream.per_s,
        "memory": stream.memory_b,
    }
    return counts if stream.stamp_error_ns is None else {**counts, "time_stamp_error": stream.stamp_error_ns}


def _cpu(stream: StreamRun, parts: Mapping[str, str]) -> dict[str, float]:
    spent_ns = cpu_ns(parts["before"], parts["after"]) | {"program": sum(stream.cpu_ns)}
    frames = len(stream.latency_ns)
    without = sum(spent for who, spent in spent_ns.items() if who != "emulator")
    each = {f"cpu_{who}": spent / frames for who, spent in spent_ns.items()}
    return {**each, "cpu_per_frame": without / frames, "cpu_share": 100 * without / stream.elapsed_ns}


def _emulators(text: str) -> dict[str, float]:
    said = of_emulator(text)
    return {"emulator_late_most": said["late_most_ns"], "emulator_lost": said["frames_lost_without_urb"]}


def _problems(stream: StreamRun, parameters: LidarParameters) -> Sequence[str]:
    problems = []
    if stream.wrong or stream.matched != parameters.frames:
        problems.append(f"{stream.matched} of {parameters.frames} frames are those that were sent")
    if not stream.stamped:
        problems.append("frames carry no stamp of their end: latencies count from the driver's time")
    return problems
