# SPDX-License-Identifier: MIT
"""What a record of 10^8 raw samples costs, beside DuckDB's scan of its file, numpy, and scripts on cyclictest's text.

Each program of contestants/ runs in a process of its own, by turns, for several rounds; a ratio is to the scan of the
same round, so that a busy machine slows both. `inside` is the time from after a program's imports to its result,
`process` that from start to end, memory the largest resident set of any of its processes (getrusage). The files are in
the page cache. Programs that read text read a tenth of the samples, and their times are taken ten times.

What they find is compared, to the last digit.

This program imports nothing large: a child's largest resident set is at least that of the process it was forked from.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

TEXT_PART = 10
DISK_B = 25  # for a sample, in all its forms
RTQUAL = str(Path(sys.executable).with_name("rtqual"))
EXACT = ("min", "max", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999")


@dataclass(frozen=True)
class Contestant:
    """`part`: it reads one in so many samples."""

    title: str
    command: Sequence[str]
    part: int = 1


def program(name: str) -> str:
    return str(Path(__file__).parent / "contestants" / name)


def contestants(folder: Path, record: Path) -> list[Contestant]:
    """The first is what the others are compared with."""
    raw, array, text = str(record / "raw.parquet"), str(folder / "samples.npy"), str(folder / "samples.txt")

    def python(title: str, name: str, file: str, part: int = 1) -> Contestant:
        return Contestant(title, (sys.executable, program(name), file), part)

    imported = (RTQUAL, "import", text, "--unit", "ns", "--candidate", "x", "--out", str(folder / "text"), "--json")
    return [
        python("DuckDB scans the samples: count, min, max, avg", "duckdb_scan.py", raw),
        python("DuckDB, exact quantiles: `quantile_disc`", "duckdb_quantiles.py", raw),
        python("**rtqual reads and checks the record, all figures**", "rtqual_read.py", str(record)),
        Contestant("**`rtqual show`**", (RTQUAL, "show", "--json", str(record))),
        python("rtqual counts the samples anew, all figures", "rtqual_count.py", str(record)),
        python("numpy on the array: `min`, `max`, `mean`, `std`, `partition`", "numpy_array.py", array),
        Contestant("text, awk: min, avg, max", ("sh", program("text_awk.sh"), text), TEXT_PART),
        Contestant("text, awk and sort: quantiles", ("sh", program("text_sort.sh"), text), TEXT_PART),
        python("text, Python: a sorted list", "text_python.py", text, TEXT_PART),
        Contestant("text, `rtqual import`: counted, hashed and kept", imported, TEXT_PART),
    ]


@dataclass(frozen=True)
class Run:
    inside_s: float | None
    process_s: float
    peak_b: int
    found: dict[str, float]


def run(one: Contestant) -> Run:
    with tempfile.TemporaryFile("w+") as output:
        started = time.monotonic()
        child = subprocess.Popen(one.command, stdout=output)
        _, child.returncode, usage = os.wait4(child.pid, 0)
        process_s = time.monotonic() - started
        assert child.returncode == 0, f"failed: {one.title}"
        output.seek(0)
        said = json.load(output)
    if isinstance(said, list):  # as rtqual prints records
        said = {name: figure["value"] for name, figure in said[0].get("figures", {}).items()}
    return Run(said.pop("inside_s", None), process_s, usage.ru_maxrss * 1024, said)


def check(every: Sequence[Contestant], runs: Sequence[Run]) -> None:
    """Programs that read the same samples must agree."""
    for part in {one.part for one in every}:
        found = [one_run.found for one, one_run in zip(every, runs, strict=True) if one.part == part]
        for name in EXACT:
            values = {one[name] for one in found if name in one}
            assert len(values) <= 1, f"{name}: {values}"


def print_table(every: Sequence[Contestant], rounds: Sequence[Sequence[Run]]) -> None:
    scans = [runs[0] for runs in rounds]
    print("| | inside, s | / scan | process, s | / scan | peak, MB |\n|---|--:|--:|--:|--:|--:|")
    for i, one in enumerate(every):
        runs = [each[i] for each in rounds]
        inside = [one.part * each.inside_s for each in runs if each.inside_s is not None]
        process = [one.part * each.process_s for each in runs]
        cells = [
            one.title,
            f"{median(inside):.2f}" if inside else "",
            ratio(inside, [scan.inside_s or 0 for scan in scans]) if inside else "",
            f"{median(process):.2f}",
            ratio(process, [scan.process_s for scan in scans]),
            f"{max(each.peak_b for each in runs) / 1e6:,.0f}",
        ]
        print(f"| {' | '.join(cells)} |")


def ratio(times: Sequence[float], scans: Sequence[float]) -> str:
    ratios = sorted(one / scan for one, scan in zip(times, scans, strict=True))
    middle, low, high = (f"{one:.2g}" if one < 100 else f"{one:.0f}" for one in (median(ratios), ratios[0], ratios[-1]))
    return f"{middle} ({low} to {high})"


def main() -> None:
    parser = argparse.ArgumentParser(description="A record of many raw samples beside DuckDB, numpy and scripts.")
    parser.add_argument("--samples", type=float, default=1e8)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    number = int(asked.samples)
    with tempfile.TemporaryDirectory(prefix="rtqual-scale-") as name:
        folder = Path(name)
        needed_b = DISK_B * number
        assert shutil.disk_usage(folder).free > needed_b, f"{folder}: {needed_b / 1e9:.1f} GB of disk are needed"
        subprocess.run(
            [sys.executable, program("make_samples.py"), name, str(number), str(number // TEXT_PART)], check=True
        )
        parquet = ("samples.parquet", "--unit", "ns", "--candidate", "x", "--out", "out", "--json")
        once = run(Contestant("import", ("env", "-C", name, RTQUAL, "import", *parquet)))
        (record,) = (folder / "out" / "records").iterdir()
        every = contestants(folder, record)
        rounds = [[run(one) for one in every] for _ in range(asked.rounds)]
        for runs in rounds:
            check(every, runs)
        size_b = (record / "raw.parquet").stat().st_size
        print(f"{number:,} raw samples in {size_b / 1e6:.0f} MB of Parquet, {asked.rounds} rounds,", end=" ")
        print(f"{os.cpu_count()} CPUs, DuckDB {version('duckdb')}; text: a tenth of them, times ten:\n")
        print_table(every, rounds)
        print(f"\n`rtqual import` of the Parquet file, once: {once.process_s:.0f} s, {once.peak_b / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
