# SPDX-License-Identifier: MIT
"""Whether boots of one kernel differ by what its runs do not show: the guest is saved once, so all seeds share a boot.

    python bench/boots.py [--boots 4] [--seeds 10] [PACKAGE...]

cyclictest under hackbench, 300 wake-ups of 1 ms a run. The boots differ by an inert parameter of the kernel alone,
whose length varies. A line for each figure of a run: the means of the boots in ns, the deviation of runs within a boot,
that between boots beyond what runs explain, the p-value (one-way analysis of variance), and the least width of an
interval. Then the CPU seconds of a boot and of a run.
"""

import argparse
import resource
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from rtqual.engine.analysis.figure.intervals import FINEST
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Machine
from rtqual.protocols.load.all_loads import all_loads

FIGURES = {"p50": 0.5, "avg": None, "p99": 0.99, "max": 1.0}
PARAMETERS = CyclictestParameters(cycles=300)
TIMEOUT_S = 3600


def spent_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(of: VirtualBoard, seed: int) -> list[float]:
    job, load = CYCLICTEST.job(PARAMETERS, cpus=1, seed=seed), all_loads()["hackbench"]
    loaded = replace(job, setup=(*job.setup, *load.setup), loads=load.commands(None))
    outcome = of.run(loaded, seed=seed, timeout_s=TIMEOUT_S)
    (series,) = CYCLICTEST.read(PARAMETERS, outcome, cpus=1).series
    every = np.repeat(series.values, series.counts)
    return [
        float(every.mean() if q is None else np.quantile(every, q, method="inverted_cdf")) for q in FIGURES.values()
    ]


def measured(package: str, boots: int, seeds: int, folder: Path) -> None:
    found: list[list[list[float]]] = []
    boot_s: list[float] = []
    run_s: list[float] = []
    for boot in range(boots):
        parameter = f"rtqual.inert={'x' * (1 + 37 * boot)}"
        kernel = prepare(f"boot-{boot}", package, preempt=None, boot=(parameter,), tools=guest_tools())
        board = VirtualBoard(kernel, Machine(), folder / "scratch", guests=folder / f"guests-{boot}")
        before = spent_s()
        board._boot_once()
        boot_s.append(spent_s() - before)
        before = spent_s()
        found.append([figures(board, seed) for seed in range(1, seeds + 1)])
        run_s.append((spent_s() - before) / seeds)
        board.close()
        print(f"  boot {boot}: {boot_s[-1]:.1f} s of CPU, a run {run_s[-1]:.1f} s", flush=True)
    table = np.array(found)  # boots, seeds, figures
    print(f"{package}: {boots} boots, {seeds} seeds of each")
    for place, name in enumerate(FIGURES):
        of = table[:, :, place]
        within, means = float(of.var(axis=1, ddof=1).mean()), of.mean(axis=1)
        between = max(0.0, float(means.var(ddof=1)) - within / seeds)
        p = float(stats.f_oneway(*of).pvalue) if within else float("nan")
        print(
            f"  {name}: {', '.join(f'{one:.1f}' for one in means)} ns; within {within**0.5:.1f}, between "
            f"{between**0.5:.1f}, p {p:.2g}; least width {max(1.0, FINEST * float(of.mean())):.1f}"
        )
    print(f"  a boot {np.median(boot_s):.1f} s of CPU, a run {np.median(run_s):.1f} s", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--boots", type=int, default=4)
    arguments.add_argument("--seeds", type=int, default=10)
    arguments.add_argument("packages", nargs="*", default=["linux-image-rt-amd64"], metavar="PACKAGE")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for package in given.packages:
            measured(package, given.boots, given.seeds, Path(folder))


if __name__ == "__main__":
    main()
