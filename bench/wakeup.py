# SPDX-License-Identifier: MIT
"""The probe's wake-up beside cyclictest's, on one kernel in the virtual board's time: paired seeds, by turns.

Virtual time counts instructions, so the figures do not depend on this machine's load, and every run repeats. What one
sample costs is what the CPU was busy for in a run of twice the cycles, less that of the cycles: all instructions of the
program and of the kernel for it, without start and end, with what a sample costs to write down.
"""

import re
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Series

PROBE_WAKEUP = all_instruments()["probe-wakeup"]

SEEDS = 20
CYCLES = 1000
SEEDS_COUNTED = 3
_FIGURES = ("min", "median", "max")
_NS_AN_INSTRUCTION = 2
# The kernel's own account of the CPU's idle time, to the nanosecond, and the time of reading it.
_LOOK = "grep -E '^now at|idle_sleeptime' /proc/timer_list"
_ACCOUNT = re.compile(r"now at (\d+) nsecs\s+\.idle_sleeptime\s*: (\d+) nsecs")


def main() -> None:
    package = sys.argv[1] if len(sys.argv) > 1 else "linux-image-rt-amd64"
    kernel = prepare("debian-rt", package, preempt=None, boot=(), tools=guest_tools())
    cyclic, own = _parameters(CYCLES)
    found: dict[str, list[tuple[float, ...]]] = {"cyclictest": [], "probe": []}
    with tempfile.TemporaryDirectory() as folder:
        board = VirtualBoard(kernel, Machine(), Path(folder) / "scratch")
        for seed in range(1, SEEDS + 1):
            outcome = board.run(CYCLICTEST.job(cyclic, cpus=1, seed=seed), seed=seed, timeout_s=300)
            found["cyclictest"].append(_figures(CYCLICTEST.read(cyclic, outcome, cpus=1).series[0]))
            outcome = board.run(PROBE_WAKEUP.job(own, cpus=1, seed=seed), seed=seed, timeout_s=300)
            found["probe"].append(_figures(PROBE_WAKEUP.read(own, outcome, cpus=1).series[0]))
        cost = [_instructions_a_sample(board, seed) for seed in range(1, SEEDS_COUNTED + 1)]
    print(f"Wake-up latency, {CYCLES:,} cycles of 1 ms, no load, {package}, {SEEDS} paired seeds, ns of virtual time:")
    for column, figure in enumerate(_FIGURES):
        values = {name: [row[column] for row in rows] for name, rows in found.items()}
        pairs = list(zip(values["probe"], values["cyclictest"], strict=True))
        wins = sum(probe <= cyclictest for probe, cyclictest in pairs)
        text = ", ".join(f"{name} {median(v):,.0f} ({min(v):,.0f} to {max(v):,.0f})" for name, v in values.items())
        print(f"  {figure:6} {text}; the probe's is no larger in {wins} of {SEEDS}")
    print(f"Instructions of the guest a sample ({SEEDS_COUNTED} seeds, cycles {CYCLES:,} and {2 * CYCLES:,}):")
    for name in cost[0]:
        counts = [one[name] for one in cost]
        print(f"  {name:10} {median(counts):,.0f} ({min(counts):,.0f} to {max(counts):,.0f})")


def _parameters(cycles: int) -> tuple[CyclictestParameters, ProbeParameters]:
    return CyclictestParameters(cycles=cycles), ProbeParameters(iterations=cycles)


def _instructions_a_sample(board: VirtualBoard, seed: int) -> dict[str, float]:
    busy_ns: dict[str, list[int]] = {"cyclictest": [], "probe": []}
    for cycles in (CYCLES, 2 * CYCLES):
        cyclic, own = _parameters(cycles)
        jobs = CYCLICTEST.job(cyclic, cpus=1, seed=seed), PROBE_WAKEUP.job(own, cpus=1, seed=seed)
        for name, job in zip(busy_ns, jobs, strict=True):
            argv = ("sh", "-c", f'{_LOOK}; "$@" > /dev/null || exit; {_LOOK}', "sh", *job.measure.argv)
            outcome = board.run(Job(measure=Command(argv, fifo=job.measure.fifo)), seed=seed, timeout_s=300)
            busy_ns[name].append(_busy_ns(outcome))
    return {name: (twice - once) / CYCLES / _NS_AN_INSTRUCTION for name, (once, twice) in busy_ns.items()}


def _busy_ns(outcome: JobOutcome) -> int:
    """How long the guest's CPU was not idle between the two looks."""
    looks = [(int(now), int(idle)) for now, idle in _ACCOUNT.findall(outcome.stdout)]
    if outcome.exit_code != 0 or len(looks) != 2:
        sys.exit(f"the guest's idle time could not be read: {outcome.stdout!r} {outcome.stderr!r}")
    (before, idle_before), (after, idle_after) = looks
    return after - before - (idle_after - idle_before)


def _figures(series: Series) -> tuple[float, float, float]:
    values = np.repeat(series.values, series.counts)
    return float(values.min()), float(np.median(values)), float(values.max())


if __name__ == "__main__":
    main()
