# SPDX-License-Identifier: MIT
"""The software camera's frames to ranges and poses in guests: how long after a frame's end, and how many a second.

Latency: frames that are sent at once, as records have them, beside frames whose lines leave as a sensor reads them out,
so that transfers are copied and decoded while the frame still comes (`ds325-emulator --line-rate`).

Frames a second: by the camera's own driver, unthrottled, by scene and vectors. CPUs of the virtual board take turns
under one clock (docs/limits.md), so a second CPU, which the emulator has to itself, makes nothing faster there, and
threads' run times count the other CPU's turns. So beside what came on one CPU stands what its run times would allow
where the emulator runs elsewhere at the same time.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rtqual.base.apt import fetch
from rtqual.engine.initramfs.contents import guest_file
from rtqual_docking.guest_script import COMMON, CPU, flown
from rtqual_docking.stream_output import StreamRun, cpu_ns, sections, since_sent, stream_of
from support.kmod_guest import Guest, boot

KERNEL = "linux-image-rt-amd64"
LINE_RATE = 24_000  # lines/s: a frame's 240 in 10 ms
POSES, FRAMES = 180, 400
PACES = {"at once": "", "by lines": f"--line-rate {LINE_RATE}"}
RING = "--device=/dev/ds325-0 --method=ring"
UVC = "/dev/video0"
WAYS = {"uvcvideo": f"--method=mmap --decode=simd --rate=60 --device={UVC}", "driver": RING}
# Copies by bytes (erms) would count an instruction a byte, which no processor takes.
PROCESSORS = {"SSE2": "qemu64", "AVX2": "Haswell,erms=off"}
SCENES = {
    "1.2 m": "--at '0 0 0 1.2 0 0 0'",
    "0.6 m": "--at '0 0 0 0.6 0 0 0'",
    "wall": "--at '0 0 0 0.6 0 0 0' --wall 0.9",
}
DRIVER = "insmod /lib/rtqual/ds325-ring.ko && insmod /lib/rtqual/ds325-usb.ko || exit 1\n"
STREAM = "ds325-stream --priority=80 --timeout-ms=5000"


@dataclass(frozen=True)
class Fastest:
    """Unthrottled frames through the driver, on a machine of some CPUs."""

    per_s: float
    each_ns: dict[str, float]  # who -> run time a frame


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        guests = {
            (vectors, cpus): boot(KERNEL, Path(folder), programs(), cpu=cpu, cpus=cpus)
            for vectors, cpu in PROCESSORS.items()
            for cpus in (1, 2)
        }
        print(f"From a frame's end, {POSES} frames, ms, p50 / p99 / max:")
        for way in WAYS:
            for name, pace in PACES.items():
                stream = latencies(guests["SSE2", 1], way, pace)
                print(f"  {way:9} sent {name:9} ranges {spread(stream.latency_ns)}, poses {spread(stream.pose_ns)}")
        print(f"{FRAMES} frames by the driver, unthrottled: frames/s, and run time a frame in ms:")
        for vectors in PROCESSORS:
            for scene in SCENES:
                one, two = (fastest(guests[vectors, cpus], scene, cpus) for cpus in (1, 2))
                print(f"  {vectors} {scene:6} {rate(one)}; on two CPUs {two.per_s:.0f}")


def latencies(guest: Guest, way: str, pace: str, frames: int = POSES) -> StreamRun:
    """Of a stream with poses, of a moving target."""
    ring = way == "driver"
    script = COMMON + flown(1) + f"\n{DRIVER if ring else ''}plug --replay flown --stamp --log log {pace}\n"
    script += "" if ring else f"awaited [ -e {UVC} ] || exit 1\n"
    script += f"{STREAM} {WAYS[way]} --frames={frames} --pose --output=stream || exit 1\nunplug\n"
    script += "echo == stream; cat stream; echo == log; cat log; echo == end\n"
    modules = ("vhci-hcd",) if ring else ("uvcvideo", "vhci-hcd")
    told = sections(guest(script, modules=modules).stdout, ["stream", "log"])
    stream = stream_of(told["stream"], way)
    return since_sent(stream, told["log"]) if ring else stream


def fastest(guest: Guest, scene: str, cpus: int) -> Fastest:
    own = "taskset -p 2 $(pidof ds325-emulator) > /dev/null || exit 1\n" if cpus > 1 else ""
    script = COMMON + CPU + f"ds325-emulator --write scene --frames 4 {SCENES[scene]} || exit 1\n{DRIVER}"
    script += f"plug --replay scene --unthrottled\n{own}{STREAM} {RING} --frames=20 > /dev/null || exit 1\n"
    script += f"cpu > before\n{STREAM} {RING} --frames={FRAMES} --output=stream || exit 1\ncpu > after\nunplug\n"
    script += "for one in stream before after; do echo == $one; cat $one; done; echo == end\n"
    told = sections(guest(script).stdout, ["stream", "before", "after"])
    stream = stream_of(told["stream"], scene)
    spent = cpu_ns(told["before"], told["after"]) | {"program": sum(stream.cpu_ns)}
    return Fastest(stream.per_s, {who: ns / FRAMES for who, ns in spent.items()})


def programs() -> dict[str, Path]:
    own = {name: guest_file(name) for name in ("ds325-emulator", "ds325-stream")}
    return {**own, "chrt": fetch("util-linux").tree / "usr/bin/chrt"}


def spread(ns: tuple[int, ...]) -> str:
    p50, p99 = np.percentile(ns, (50, 99)) / 1e6
    return f"{p50:.2f} / {p99:.2f} / {max(ns) / 1e6:.2f}"


def rate(one: Fastest) -> str:
    without = sum(ns for who, ns in one.each_ns.items() if who != "emulator")
    shares = ", ".join(f"{who} {ns / 1e6:.3f}" for who, ns in one.each_ns.items())
    return f"{one.per_s:5.0f}; {shares}; without the emulator's {1e9 / without:.0f} frames/s"


if __name__ == "__main__":
    main()
