# SPDX-License-Identifier: MIT
"""What booting once saves: a cell from the saved guest, beside the same cell booted each time.

By hand one would boot the kernel's file, run cyclictest and read its output from the serial port: the uninterrupted
command that records keep does just that. Wall times of a shared machine are noisy, so all kinds run by turns and the
result is the ratio of their medians; CPU times are QEMU's own.
"""

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import JobOutcome, Machine
from rtqual.protocols.board.jobscript import unpack

ROUNDS = 3
JSON = "cyclictest.json"


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    took_s, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def booted(outcome: JobOutcome, folder: Path) -> str:
    subprocess.run(outcome.command, cwd=folder, check=False, stdin=subprocess.DEVNULL, timeout=900)
    return unpack((folder / "result").read_bytes(), "booted")[f"file.{JSON}"]


def main() -> None:
    kernel = prepare("debian-rt", "linux-image-rt-amd64", preempt=None, boot=(), tools=guest_tools())
    job = CYCLICTEST.job(CyclictestParameters(cycles=300), cpus=1, seed=1)
    times: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def board(number: object, *, whole: bool = False) -> VirtualBoard:
            guests = folder / f"guests-{number}"
            return VirtualBoard(kernel, Machine(whole_boot=whole), folder / "scratch", guests=guests)

        at_once, whole = board("kept"), board("whole", whole=True)
        outcomes = [one.run(job, seed=1, timeout_s=600) for one in (at_once, whole)]
        for number in range(ROUNDS):
            works: dict[str, Callable[[], object]] = {
                "a cell, from the saved guest": lambda: at_once.run(job, seed=1, timeout_s=600),
                "the same, booted each time": lambda: booted(outcomes[0], folder),
                "by hand: the kernel's file booted each time": lambda: booted(outcomes[1], folder),
                "booting and saving": board(number)._boot_once,
                "booting and saving, from the kernel's file": board(f"whole-{number}", whole=True)._boot_once,
            }
            for what, work in works.items():
                times.setdefault(what, []).append(timed(work))
        again = at_once.run(job, seed=1, timeout_s=600)
        assert again.files[JSON] == booted(again, folder) == outcomes[0].files[JSON], "other samples"
    print(f"cyclictest, 300 cycles of 1 ms, no load, Debian's RT kernel, {ROUNDS} interleaved rounds, same samples:")
    first_s, first_cpu_s = (median(kind) for kind in zip(*next(iter(times.values())), strict=True))
    for what, taken in times.items():
        wall_s, cpu_s = (median(kind) for kind in zip(*taken, strict=True))
        ratios = f"{wall_s / first_s:5.1f} and {cpu_s / first_cpu_s:5.1f} times a cell's"
        print(f"  {what:45s} {wall_s:6.2f} s, {cpu_s:6.2f} s of CPU: {ratios}")


if __name__ == "__main__":
    main()
