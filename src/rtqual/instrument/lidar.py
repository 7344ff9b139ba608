# SPDX-License-Identifier: MIT
# ruff: noqa: ARG003  every instrument takes the same arguments, whether it needs them or not
"""The docking camera's frames to ranges: one instrument for each way (docs/lidar.md). The camera is the software one.

The camera (`ds325-emulator`) and the threads that stand for the USB host's interrupts run beside what is measured, at
real-time priorities: a camera waits for no scheduler. What they cost is counted apart.

range               from a frame's end, as the camera stamped it, to its ranges
frames_per_s        frames that came, by the time from opening the camera to the last of them
..._unthrottled     the same of a second stream, whose camera sends as fast as it is read; 0 frames leave it out
frames_lost         counted by gaps in the driver's numbers and in the camera's stamps; by the ring's counters
cpu_*               run time of threads (/proc/PID/schedstat) in the first stream, by frame: `program` reads and, but
                    for the driver, decodes; `kernel` is the threads of workers and drivers; `usb` those of the USB
                    host, vhci_hcd's (transfers and their completion); cpu_per_frame is these three, without `emulator`
raw_copies          of a frame between the USB transfer and the decoder: how the way is built, not measured
range_copies        of decoded ranges
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from rtqual.board import Command, Job, Outcome
from rtqual.errors import RunFailed
from rtqual.instrument import Parameters
from rtqual.instrument.lidar_output import Stream, cpu_ns, of_emulator, sections, stream_of
from rtqual.instrument.output import clock_problems, require_success
from rtqual.instrument.planning import STARTUP_S
from rtqual.record.schema import Measurement, Scalar, Series

STREAM, EMULATOR, RING_MODULE, DRIVER_MODULE = "ds325-stream", "ds325-emulator", "ds325-ring.ko", "ds325-usb.ko"
MODULES_AT = "/lib/rtqual"  # in the guest
RECORDED = 8  # frames, spread over the approach, that the camera sends over and over
_STEP_S = 2.5  # of scene between two of them
_RENDERING_S, _PLUG_S = 2.0, 0.6
_MAIN_THREAD_FIFO = 1  # above the loads: the end of a stream does not wait for them
# The camera above all that is measured but the program that reads it; the USB host where PREEMPT_RT has interrupts.
COMMON = f"""\
fail() {{ echo "$*" >&2; exit 1; }}
awaited() {{ i=0; until "$@"; do i=$((i + 1)); [ $i -lt 300 ] || return 1; usleep 10000; done; }}
plug() {{
    {EMULATOR} --attach --daemon --priority 70 --report report "$@" || fail 'the camera did not start'
    for thread in vhci_rx vhci_tx; do
        awaited pidof $thread > /dev/null && chrt -f -p 50 "$(pidof $thread)" || fail "no thread $thread"
    done
}}
gone() {{ ! pidof {EMULATOR} > /dev/null && ! ls /dev/video* > /dev/null 2>&1; }}
unplug() {{ kill "$(pidof {EMULATOR})"; awaited gone || fail 'the camera did not go'; }}
"""
_CPU = """\
cpu() {
    for process in /proc/[0-9]*; do
        read -r name < "$process/comm" && read -r ns rest < "$process/schedstat" && echo "${process#/proc/} $ns $name"
    done 2> /dev/null
}
"""
UVC_NODE, RING_NODE = "/dev/video0", "/dev/ds325-0"


class LidarParameters(Parameters):
    """`unthrottled`: frames of the second stream, 0 for none."""

    frames: Annotated[int, Field(ge=10, le=100_000)] = 600
    unthrottled: Annotated[int, Field(ge=0, le=100_000)] = 600
    rate: Annotated[int, Field(ge=25, le=60)] = 60  # frames/s: 25, 30, 50 or 60
    priority: Annotated[int, Field(ge=2, le=95)] = 80


class _Path:
    """What all ways share: how frames come and what makes ranges of them."""

    program: ClassVar[str] = STREAM
    parameters: ClassVar[type[Parameters]] = LidarParameters
    disks: ClassVar[bool] = False
    caveats: ClassVar[tuple[str, ...]] = (
        "The camera is software and shares the CPU with what is measured; its own run time stands apart.",
    )
    options: ClassVar[tuple[str, ...]]
    raw_copies: ClassVar[int] = 1  # uvcvideo's, from the USB transfer to the buffer that is mapped
    node: ClassVar[str] = UVC_NODE
    modules: ClassVar[tuple[str, ...]] = ("uvcvideo", "vhci-hcd")
    own_modules: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def job(cls, parameters: LidarParameters, *, cpus: int, seed: int) -> Job:
        render = f"{EMULATOR} --write frames --frames {RECORDED} --step {_STEP_S} --seed {seed} || fail 'no frames'"
        replay = "plug --replay frames --stamp"
        there = f"awaited [ -e {cls.node} ] || fail 'no node {cls.node}'"
        inserted = [f"insmod {MODULES_AT}/{module} || fail 'no {module}'" for module in cls.own_modules]
        setup = [COMMON, render, *inserted, replay, there]
        measure = [COMMON + _CPU, "cpu > before", f"{cls._stream(parameters, parameters.frames)} --check=frames"]
        measure[-1] += " --output=stream || { cat stream; exit 1; }"
        measure += ["cpu > after", "unplug"]
        measure += [f"echo == {name}; cat {name}" for name in ("stream", "before", "after")]
        measure += ["echo == emulator; cat report"]
        if parameters.unthrottled:
            measure += [f"{replay} --unthrottled", there, "echo == unthrottled"]
            measure += [f"{cls._stream(parameters, parameters.unthrottled)} || exit", "unplug"]
        measure += ["echo == end"]
        return Job(
            setup=(Command(("sh", "-c", "\n".join(setup))),),
            measure=Command(("sh", "-c", "\n".join(measure)), fifo=_MAIN_THREAD_FIFO),
            modules=cls.modules,
            version=(STREAM, "--version"),
        )

    @classmethod
    def _stream(cls, parameters: LidarParameters, frames: int) -> str:
        asked = (f"--device={cls.node}", f"--frames={frames}", f"--priority={parameters.priority}", *cls.options)
        return " ".join((STREAM, *asked, *([f"--rate={parameters.rate}"] if cls.node == UVC_NODE else [])))

    @classmethod
    def read(cls, parameters: LidarParameters, outcome: Outcome, *, cpus: int) -> Measurement:
        require_success(STREAM, outcome)
        wanted = ("stream", "before", "after", "emulator", *(["unthrottled"] if parameters.unthrottled else []))
        parts = sections(outcome.stdout, wanted)
        stream = stream_of(parts["stream"], "the stream")
        _require_all(stream, parameters.frames)
        scalars = {**_counts(stream), **_cpu(stream, parts), **_emulators(parts["emulator"])}
        scalars["raw_copies"] = Scalar(value=cls.raw_copies, unit="1")
        if parameters.unthrottled:
            fastest = stream_of(parts["unthrottled"], "the unthrottled stream")
            _require_all(fastest, parameters.unthrottled)
            scalars["frames_per_s_unthrottled"] = Scalar(value=fastest.per_s, unit="1/s")
        series = (Series.raw(stream.latency_ns, name="range"), Series.raw(stream.cpu_ns, name="program CPU of a frame"))
        return Measurement(series, scalars, (*clock_problems(outcome), *_problems(stream, parameters)))

    @classmethod
    def seconds(cls, parameters: LidarParameters, load: str) -> float:
        return STARTUP_S + _RENDERING_S + 2 * _PLUG_S + parameters.frames / 25 + parameters.unthrottled / 150


class _Baseline(_Path):
    """The published pipeline with fewer and fewer of what it wastes."""

    switches: ClassVar[str]

    @classmethod
    def _stream(cls, parameters: LidarParameters, frames: int) -> str:
        return super()._stream(parameters, frames) + f" --decode=baseline --baseline-switches={cls.switches}"

    options: ClassVar[tuple[str, ...]] = ("--method=mmap",)


class LidarBaseline(_Baseline):
    name: ClassVar[str] = "lidar-baseline"
    title: ClassVar[str] = "Frames to ranges by the published driver's pipeline, rebuilt"
    switches: ClassVar[str] = "all"


class LidarNoSleep(_Baseline):
    name: ClassVar[str] = "lidar-no-sleep"
    title: ClassVar[str] = "The published pipeline without its sleep of 33 ms a frame"
    switches: ClassVar[str] = "decode,clear,copy,command,stamp"


class LidarNoCommand(_Baseline):
    name: ClassVar[str] = "lidar-no-command"
    title: ClassVar[str] = "And without its command to the camera before each of the first 82 frames"
    switches: ClassVar[str] = "decode,clear,copy,stamp"


class LidarNoClear(_Baseline):
    name: ClassVar[str] = "lidar-no-clear"
    title: ClassVar[str] = "And without clearing the frame that is handed out"
    switches: ClassVar[str] = "decode,copy,stamp"


class LidarNoCopy(_Baseline):
    name: ClassVar[str] = "lidar-no-copy"
    title: ClassVar[str] = "And without the copy of decoded frames, and with true times: its decoder is left"
    switches: ClassVar[str] = "decode"


class LidarMmap(_Path):
    name: ClassVar[str] = "lidar-mmap"
    title: ClassVar[str] = "Frames to ranges by mapped buffers and the scalar decoder"
    options: ClassVar[tuple[str, ...]] = ("--method=mmap", "--decode=scalar")


class LidarMmapSimd(_Path):
    name: ClassVar[str] = "lidar-mmap-simd"
    title: ClassVar[str] = "Frames to ranges by mapped buffers and the vector decoder"
    options: ClassVar[tuple[str, ...]] = ("--method=mmap", "--decode=simd")


class LidarDriver(_Path):
    name: ClassVar[str] = "lidar-driver"
    title: ClassVar[str] = "Frames to ranges by the camera's own kernel driver, decoded where USB put them"
    program: ClassVar[str] = DRIVER_MODULE
    options: ClassVar[tuple[str, ...]] = ("--method=ring",)
    raw_copies: ClassVar[int] = 0
    node: ClassVar[str] = RING_NODE
    modules: ClassVar[tuple[str, ...]] = ("vhci-hcd",)
    own_modules: ClassVar[tuple[str, ...]] = (RING_MODULE, DRIVER_MODULE)


def _require_all(stream: Stream, frames: int) -> None:
    if len(stream.latency_ns) != frames:
        raise RunFailed(f"{STREAM} took {len(stream.latency_ns)} of {frames} frames: {stream.ended}")


def _counts(stream: Stream) -> dict[str, Scalar]:
    counts = {
        "frames_lost": stream.lost,
        "frames_refused": stream.refused,
        "frames_checked": stream.matched,
        "range_copies": stream.range_copies / len(stream.latency_ns),
        "page_faults": stream.page_faults,
    }
    scalars = {name: Scalar(value=value, unit="1") for name, value in counts.items()}
    scalars["frames_per_s"] = Scalar(value=stream.per_s, unit="1/s")
    scalars["memory"] = Scalar(value=stream.memory_b, unit="B")
    if stream.stamp_error_ns is not None:
        scalars["time_stamp_error"] = Scalar(value=stream.stamp_error_ns, unit="ns")
    return scalars


def _cpu(stream: Stream, parts: Mapping[str, str]) -> dict[str, Scalar]:
    spent_ns = cpu_ns(parts["before"], parts["after"]) | {"program": sum(stream.cpu_ns)}
    frames = len(stream.latency_ns)
    scalars = {f"cpu_{who}": Scalar(value=spent / frames, unit="ns") for who, spent in spent_ns.items()}
    without = sum(spent for who, spent in spent_ns.items() if who != "emulator")
    scalars["cpu_per_frame"] = Scalar(value=without / frames, unit="ns")
    scalars["cpu_share"] = Scalar(value=100 * without / stream.elapsed_ns, unit="%")
    return scalars


def _emulators(text: str) -> dict[str, Scalar]:
    said = of_emulator(text)
    return {
        "emulator_late_most": Scalar(value=said["late_most_ns"], unit="ns"),
        "emulator_lost": Scalar(value=said["frames_lost_without_urb"], unit="1"),
    }


def _problems(stream: Stream, parameters: LidarParameters) -> Sequence[str]:
    problems = []
    if stream.wrong or stream.matched != parameters.frames:
        problems.append(f"{stream.matched} of {parameters.frames} frames are those that were sent")
    if not stream.stamped:
        problems.append("frames carry no stamp of their end: latencies count from the driver's time")
    return problems
