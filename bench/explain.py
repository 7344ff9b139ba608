# SPDX-License-Identifier: MIT
"""What watching a run from outside of its guest costs the host (docs/explain.md).

The same run is made plain, with its events noted (entries of the kernel, switches of threads), and with every block
noted around its ten worst samples besides, from which functions follow. Other work on the host moves times, so the
kinds run by turns, and a ratio is taken to the plain run of its round. Then the ten worst samples of the candidate's
campaign are explained, guests and symbols being in the cache.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from rtqual.parts.explain.stage import Asked, _Run, choose, explain, worst_of
from rtqual.parts.explain.windows import apart, window
from rtqual.protocols.record.store import Store, read

ROUNDS, WORST = 7, 10
PLAIN = "plain"
MISSION = """\
[mission]
name = "watched"
title = "What watching costs"
purpose = "How much longer does a run take that is watched?"
duration = "1 min"

[[candidate]]
name = "debian"
title = "Debian, stock kernel"
package = "linux-image-amd64"

[[candidate]]
name = "debian-rt"
title = "Debian, PREEMPT_RT kernel"
package = "linux-image-rt-amd64"

[parameters.cyclictest]
cycles = 300

[parameters.hackbench]
loops = 10
repetitions = 3

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["none", "hackbench"]
runs = 3
"""


def cpu_s() -> float:
    """Of this process and the QEMUs that it waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.monotonic(), cpu_s()
    work()
    return time.monotonic() - wall, cpu_s() - cpu


def watched(path: Path, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Wall and CPU seconds of a record's run, by kind."""
    run = _Run(path, read(path), folder, lambda _: None)
    symbols = run.symbols()
    events = run._watched(symbols, ())
    worst = choose(run.measured.samples(events, linux=True), Asked(worst=WORST))
    windows = apart(window(events, one.expiry_ns, one.read_ns) for _, one in worst)
    kinds: dict[str, Callable[[], object]] = {
        PLAIN: lambda: run.outcome(run.board(run.machine), run.job),
        "interrupts and context switches": lambda: run._watched(symbols, ()),
        f"functions around its {WORST} worst": lambda: run._watched(symbols, windows),
    }
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, work in kinds.items():
            taken[kind].append(timed(work))
    return taken


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "watched.toml").write_text(MISSION)
        command = (Path(sys.executable).with_name("rtqual"), "select", folder / "watched.toml", "--out", folder / "out")
        subprocess.run(command, check=True, capture_output=True)
        records = {path: read(path) for path in Store(folder / "out/records").paths()}
        print(f"cyclictest, 300 cycles of 1 ms, {ROUNDS} interleaved rounds: medians, and of the ratios least to most")
        for path, record in records.items():
            if (record.inputs.seed, record.manifest.repeat) == (1, 0):
                print(f"{record.inputs.candidate}, load {record.inputs.load}:")
                _tell(watched(path, folder))
        for candidate in {record.inputs.candidate: 0 for record in records.values()}:
            own = {path: one for path, one in records.items() if one.inputs.candidate == candidate}
            for load in ("none", "hackbench"):
                asked = worst_of({path: one for path, one in own.items() if one.inputs.load == load}, WORST)
                explain(asked)
                took_s, taken_s = timed(lambda asked=asked: explain(asked))
                print(
                    f"explaining the {WORST} worst of {candidate}, load {load}, in {len(asked)} runs: {took_s:.1f} s, "
                    f"{taken_s:.1f} s of CPU"
                )


def _tell(taken: dict[str, list[tuple[float, float]]]) -> None:
    for kind, times in taken.items():
        pairs = list(zip(times, taken[PLAIN], strict=True))
        ratios = [sorted(one[place] / plain[place] for one, plain in pairs) for place in (0, 1)]
        wall, cpu = (f"{median(of):.2f} ({of[0]:.2f} to {of[-1]:.2f})" for of in ratios)
        took_s, taken_s = (median(column) for column in zip(*times, strict=True))
        print(f"  {kind:34s} {took_s:6.2f} s, {taken_s:6.2f} s of CPU; times plain: {wall}; CPU {cpu}")


if __name__ == "__main__":
    main()
