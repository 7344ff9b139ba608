# SPDX-License-Identifier: MIT
"""The probe's wake-up beside cyclictest's, on one kernel in the virtual board's time: paired seeds, by turns.

Virtual time counts instructions, so the figures do not depend on this machine's load, and every run repeats.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from rtqual.board import Machine
from rtqual.board.virtual import VirtualBoard
from rtqual.candidate.debian import prepare
from rtqual.image.guest import TOOL_PACKAGES
from rtqual.instrument.cyclictest import Cyclictest, CyclictestParameters
from rtqual.instrument.probe import ProbeParameters, ProbeWakeup
from rtqual.packages import fetch_closure
from rtqual.record.schema import Series

SEEDS = 20
CYCLES = 1000
_FIGURES = ("min", "median", "max")


def main() -> None:
    package = sys.argv[1] if len(sys.argv) > 1 else "linux-image-rt-amd64"
    kernel = prepare("debian-rt", package, preempt=None, boot=(), tools=fetch_closure(TOOL_PACKAGES))
    cyclic, own = CyclictestParameters(cycles=CYCLES), ProbeParameters(iterations=CYCLES)
    found: dict[str, list[tuple[float, ...]]] = {"cyclictest": [], "probe": []}
    with tempfile.TemporaryDirectory() as folder:
        board = VirtualBoard(kernel, Machine(), Path(folder) / "scratch")
        for seed in range(1, SEEDS + 1):
            outcome = board.run(Cyclictest.job(cyclic, cpus=1, seed=seed), seed=seed, timeout_s=300)
            found["cyclictest"].append(_figures(Cyclictest.read(cyclic, outcome, cpus=1).series[0]))
            outcome = board.run(ProbeWakeup.job(own, cpus=1, seed=seed), seed=seed, timeout_s=300)
            found["probe"].append(_figures(ProbeWakeup.read(own, outcome, cpus=1).series[0]))
    print(f"Wake-up latency, {CYCLES:,} cycles of 1 ms, no load, {package}, {SEEDS} paired seeds, ns of virtual time:")
    for column, figure in enumerate(_FIGURES):
        values = {name: [row[column] for row in rows] for name, rows in found.items()}
        pairs = list(zip(values["probe"], values["cyclictest"], strict=True))
        wins = sum(probe <= cyclictest for probe, cyclictest in pairs)
        text = ", ".join(f"{name} {median(v):,.0f} ({min(v):,.0f} to {max(v):,.0f})" for name, v in values.items())
        print(f"  {figure:6} {text}; the probe's is no larger in {wins} of {SEEDS}")


def _figures(series: Series) -> tuple[float, float, float]:
    values = np.repeat(series.values, series.counts)
    return float(values.min()), float(np.median(values)), float(values.max())


if __name__ == "__main__":
    main()
