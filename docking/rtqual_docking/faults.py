# SPDX-License-Identifier: MIT
"""What the docking camera's faults cost, one after the other: frames lost, refused or wrong, and the time to come back.

Each fault (docs/docking/emulator.md) strikes at frame STRUCK of a stream that wants FRAMES good ones. Of each are kept:

FAULT: frames         good frames that came; FRAMES, or what came before the stream ended
FAULT: lost           counted as lost; `emulated` is what the camera itself counted as lost, dropped and cut
FAULT: estimated      lost too, by how long nothing came; their numbers are not known
FAULT: refused        counted as damaged
FAULT: wrong          taken as good, but not the bytes that were sent
FAULT: first lost     the number of the first frame in a gap, where there is one
FAULT: replug         from the camera's return to its first good frame, in ns
FAULT: unplugged      how often the camera went

Descriptors that are wrong get a stream each too, of as many frames as it takes to tell: `descriptors KIND: frames`.
`descriptors none` is the right camera after all of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import last_line, require_success
from rtqual.protocols.record.schema import Measurement, Scalar
from rtqual_docking.guest_script import (
    COMMON,
    DRIVER_MODULE,
    EMULATOR,
    MODULES_AT,
    RING_MODULE,
    RING_NODE,
    STREAM,
    UVC_NODE,
    rendered,
)
from rtqual_docking.stream_output import of_emulator, values_of

STRUCK, FRAMES, DESCRIBED = 20, 60, 5
FAULTS = ("drop", "short", "corrupt", "error", "header", "late", "stall", "unplug", "unplug:0")
DESCRIPTORS = (
    "truncated", "total-length", "zero-length", "length", "intervals", "interval-0", "size", "format", "no-format",
    "no-endpoint", "endpoint", "no-unit", "loop", "class",
)  # fmt: skip
RIGHT = "none"
_MAIN_THREAD_FIFO = 1
_PART = re.compile(r"^== (.+)\n", re.MULTILINE)
_GAP = re.compile(r"^gap=(\d{1,10}) ", re.MULTILINE | re.ASCII)


class LidarFaultsParameters(Parameters):
    priority: Annotated[int, Field(ge=2, le=95)] = 80


@dataclass(frozen=True, kw_only=True)
class Faults(Instrument):
    """Through one driver; `load` and `unload` are its modules' commands."""

    node: str
    options: str  # of the stream
    modules: tuple[str, ...]
    load: str = ":"
    unload: str = ":"
    parameters: type[Parameters] = LidarFaultsParameters

    def job(self, parameters: LidarFaultsParameters, *, cpus: int, seed: int) -> Job:
        asked = f"--device={self.node} --priority={parameters.priority} --check=frames --timeout-ms=1000 {self.options}"
        one = [
            COMMON,
            f"stream() {{ {STREAM} {asked} --replug-ms=1500 --frames=$1 2>&1 | grep -vE '^(latency|frame_cpu)_ns='; }}",
            f"there() {{ [ -e {self.node} ]; }}",
            "one() {",
            '    echo "== $1"; frames=$2; shift 2',
            f'    {self.load} && plug --replay frames --stamp "$@" && awaited there',
            "    stream $frames 2>&1; unplug; cat report",
            f"    {self.unload} || fail 'the modules cannot be unloaded'",
            "}",
            "described() {",
            '    echo "== descriptors $1"',
            f"    {self.load}",
            f"    {EMULATOR} --attach --daemon --replay frames --stamp --descriptors $1 --report report",
            f"    as_interrupts; usleep 400000; if there; then stream {DESCRIBED} 2>&1; fi; unplug; cat report",
            f"    {self.unload} || fail 'the modules cannot be unloaded'",
            "}",
            *(f"one {fault} {FRAMES} --fault {_asked(fault)}" for fault in FAULTS),
            *(f"described {kind}" for kind in DESCRIPTORS),
            f"one 'descriptors {RIGHT}' {DESCRIBED}",
            "echo == end",
        ]
        render = COMMON + rendered(seed)
        return Job(
            setup=(Command(("sh", "-c", render)),),
            measure=Command(("sh", "-c", "\n".join(one)), fifo=_MAIN_THREAD_FIFO),
            modules=self.modules,
            version=(STREAM, "--version"),
        )

    def read(self, parameters: LidarFaultsParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success(STREAM, outcome)
        pieces = _PART.split(outcome.stdout)
        parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
        described = [f"descriptors {kind}" for kind in (*DESCRIPTORS, RIGHT)]
        missing = [name for name in (*FAULTS, *described, "end") if name not in parts]
        if missing:
            raise RunFailed(f"nothing was said of {missing[0]!r}, last line: {last_line(outcome.stdout)!r}")
        scalars: dict[str, Scalar] = {}
        for name in FAULTS:
            scalars |= {f"{name}: {what}": scalar for what, scalar in _told(parts[name], name)}
        for name in described:
            frames = values_of(parts[name]).get("frames", "0")
            if not (frames.isascii() and frames.isdigit() and len(frames) < 10):
                raise RunFailed(f"{name}: frames is {frames[:40]!r}, a number was due")
            scalars[f"{name}: frames"] = Scalar(value=int(frames), unit="1")
        problems = []
        if scalars[f"descriptors {RIGHT}: frames"].value != DESCRIBED:
            problems.append("after the faults, the camera without one does not stream")
        return Measurement(scalars=scalars, problems=tuple(problems))

    def seconds(self, parameters: LidarFaultsParameters, load: str) -> float:
        return 3.0 + len(FAULTS) * (FRAMES / 60 + 0.6) + (len(DESCRIPTORS) + 1) * 0.8 + 3


WITH_FAULTS = (
    Faults(
        name="lidar-faults",
        title="What each fault of the camera costs, through uvcvideo and mapped buffers",
        program=STREAM,
        node=UVC_NODE,
        options="--method=mmap --decode=simd --rate=60",
        modules=("uvcvideo", "vhci-hcd"),
    ),
    Faults(
        name="lidar-faults-driver",
        title="What each fault of the camera costs, through its own driver",
        program=DRIVER_MODULE,
        node=RING_NODE,
        options="--method=ring",
        modules=("vhci-hcd",),
        load=f"insmod {MODULES_AT}/{RING_MODULE} && insmod {MODULES_AT}/{DRIVER_MODULE}",
        unload="rmmod ds325_usb && rmmod ds325_ring",
    ),
)


def _asked(fault: str) -> str:
    kind, _, argument = fault.partition(":")
    return f"{kind}@{STRUCK}" + (f":{argument}" if argument else "")


def _told(text: str, fault: str) -> Iterator[tuple[str, Scalar]]:
    values = values_of(text)

    def number(*names: str) -> int:
        said = [values[name] for name in names if name in values]
        if not said or not all(one.isascii() and one.isdigit() and len(one) < 19 for one in said):
            shown = (said or ["missing"])[0][:40]
            raise RunFailed(f"fault {fault}: {names[0]} is {shown!r}; last line: {last_line(text)!r}")
        return sum(map(int, said))

    emulated = of_emulator(text)
    counts = {
        "frames": number("frames"),
        "lost": number("lost", "lost_unseen_by_driver", "ring_lost", "ring_missed", "ring_torn"),
        "refused": number("refused", "ring_refused"),
        "estimated": number("lost_estimated") if "lost_estimated" in values else 0,
        "wrong": number("check_wrong"),
        "unplugged": number("disconnections") if "disconnections" in values else number("ring_connections") - 1,
        "emulated": sum(emulated.get(name, 0) for name in ("frames_lost_without_urb", "frames_dropped", "frames_cut")),
    }
    yield from ((what, Scalar(value=count, unit="1")) for what, count in counts.items())
    gap = _GAP.search(text)
    if gap:
        yield "first lost", Scalar(value=int(gap[1]), unit="1")
    if "replug_to_frame_ns" in values:
        yield "replug", Scalar(value=number("replug_to_frame_ns"), unit="ns")
