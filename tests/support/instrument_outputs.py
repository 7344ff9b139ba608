# SPDX-License-Identifier: MIT
"""Real outputs of the instruments (tests/data, captured on the virtual board) and how the tests have them read."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rtqual.protocols.board import JobOutcome
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Measurement

DATA = Path(__file__).parents[1] / "data"
FIFO_80 = {"tid": 108, "name": "cyclictest", "policy": "fifo", "priority": 80, "affinity": "0"}
MAIN = {"tid": 106, "name": "cyclictest", "policy": "fifo", "priority": 1, "affinity": "0"}
NOTHING = JobOutcome(
    exit_code=0,
    stdout="",
    stderr="",
    files={},
    facts={"clock_resolution_ns": "1"},
    status={},
    version="",
    threads=(MAIN, FIFO_80),
    console="",
    wall_s=1.0,
    command=(),
)
# instrument -> the captured output, and the parameters it was captured with
CAPTURED: dict[str, tuple[str, dict[str, Any]]] = {
    "cyclictest": ("cyclictest.json", {"cycles": 120}),
    "stress-ng-cyclic": ("stress-ng-cyclic.txt", {"cycles": 200}),
    "hackbench": ("hackbench.txt", {"repetitions": 3, "loops": 10}),
    "sysbench-cpu": ("sysbench-cpu.txt", {"events": 50}),
    "sysbench-threads": ("sysbench-threads.txt", {"events": 20}),
    "sysbench-threads-contended": ("sysbench-threads-contended.txt", {"events": 80, "yields": 10}),
    "sysbench-mutex": ("sysbench-mutex.txt", {"locks": 100, "loops": 1000}),
    "sysbench-fileio-root": ("sysbench-fileio.txt", {"threads": 4, "total_size": "4 MiB", "files": 16, "events": 200}),
    "sysbench-fileio-usb": ("sysbench-fileio.txt", {"threads": 4, "total_size": "4 MiB", "files": 16, "events": 200}),
    "footprint": ("footprint.txt", {}),
    "exercise": ("exercise.txt", {}),
    **{
        f"lidar-{name}": ("lidar-baseline.txt", {"frames": 12, "unthrottled": 10, "beside": 0})
        for name in ("baseline", "no-sleep", "no-command", "no-clear", "no-copy")
    },
    **{
        f"lidar-{name}": ("lidar-mmap-simd.txt", {"frames": 12, "unthrottled": 10, "beside": 0})
        for name in ("mmap", "mmap-simd", "mmap-raised")
    },
    "lidar-dmabuf": ("lidar-dmabuf.txt", {"frames": 60, "unthrottled": 0, "beside": 120}),
    "lidar-driver": ("lidar-driver.txt", {"frames": 60, "unthrottled": 0, "beside": 120}),
    **dict.fromkeys(("lidar-wifi", "lidar-wifi-lossy"), ("lidar-wifi.txt", {})),  # written by hand, of six poses
    "lidar-faults": ("lidar-faults.txt", {}),
    "lidar-faults-driver": ("lidar-faults-driver.txt", {}),
    **{
        f"{program}-{what}": (file, {"seconds": 2, "interval": 20_000_000})
        for program, file in (("latency", "xenomai-latency.txt"), ("latmus", "libevl-latmus.txt"))
        for what in ("user", "kernel", "irq")
    },
    # what the chaser prints with a perfect sensor, and a report of the camera that nobody asked for frames
    **{name: ("docking.txt", {}) for name in ("docking", "docking-20ms", "docking-50ms", "docking-100ms")},
    "timerlat": ("timerlat.txt", {"cycles": 8}),
    "timerlat-late": ("timerlat-late.txt", {"cycles": 8}),
    "osnoise": ("osnoise.txt", {"cycles": 4}),
}
SYSBENCH_NAMES = [name for name in CAPTURED if name.startswith("sysbench")]


GRAVITY = {"latency": "gravity: irq=0 kernel=0 user=0\n", "latmus": "0i 0k 0u\n"}


def outcome_of(name: str, text: str) -> JobOutcome:
    if gravity := GRAVITY.get(name.partition("-")[0]):
        return replace(NOTHING, files={"gravity.txt": gravity, "latmus.txt": text}, stdout=text)
    if name.startswith("docking"):
        return replace(NOTHING, files={"chaser.out": text, "report": text})
    return replace(NOTHING, files={"cyclictest.json": text}) if name == "cyclictest" else replace(NOTHING, stdout=text)


def captured_text(name: str) -> str:
    return (DATA / CAPTURED[name][0]).read_text()


def read(name: str, outcome: JobOutcome, *, cpus: int = 1, **changes: Any) -> Measurement:
    instrument = all_instruments()[name]
    return instrument.read(instrument.parameters(**{**CAPTURED[name][1], **changes}), outcome, cpus=cpus)


def read_text(name: str, text: str, **changes: Any) -> Measurement:
    return read(name, outcome_of(name, text), **changes)
