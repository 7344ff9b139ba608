# SPDX-License-Identifier: MIT
"""Whether guests are at rest when they are measured: the same run begun at once, and after 2, 10 and 40 s in the guest.

    python bench/rest.py [--off] [--cpus 1,4] [--loads none,hackbench] [--seeds 10] [PACKAGE...]

cyclictest alone, FIFO 80, 1,000 wake-ups of 1 ms a CPU, of Debian's kernels. A line each: the median over the seeds of
a run's largest and mean sample in us, their range, and whether what rtqual looks for in a campaign (early.py of the
analysis) is found between the runs at once and those of the row. `--off`: with guests that do not wait (init
without `rtqual-agent rest` and `seed`), as they were. Boot: the CPU seconds of starting and saving the guest.
"""

import argparse
import resource
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.base.errors import RunFailed
from rtqual.engine.analysis.figure.early import early_runs
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import make_ready
from rtqual.engine.initramfs.contents import guest_file, guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, Machine, rest
from rtqual.protocols.load.registry import all_loads
from rtqual.protocols.record.schema import LATER_S, Inputs, Measurement, Provenance, Record, Timing
from rtqual.protocols.record.store import make

ARCHITECTURES = {"amd64": AMD64, "arm64": ARM64, "armmp": ARMHF}
FLAVOURS = {"amd64": ("", "rt-", "cloud-"), "arm64": ("", "rt-", "cloud-"), "armmp": ("", "rt-")}
VERSIONS = {"amd64": ("", "6.12-"), "arm64": ("", "6.12-"), "armmp": ("", "6.12-")}
DELAYS_S = (0, 2, 10, 40)
PARAMETERS = CyclictestParameters(cycles=1000)
TIMEOUT_S = 1800


def every_package() -> list[str]:
    """Debian's kernels for the processors of the virtual boards; some releases lack some."""
    return [
        f"linux-image-{version}{flavour}{name}"
        for name in ARCHITECTURES
        for version in VERSIONS[name]
        for flavour in FLAVOURS[name]
    ]


def board(package: str, cpus: int, folder: Path, *, off: bool) -> VirtualBoard:
    architecture = ARCHITECTURES[package.rpartition("-")[2]]
    extra = {}
    if off:
        lines = guest_file("init").read_text().splitlines(keepends=True)
        extra = {"init": folder / "init"}
        extra["init"].write_text("".join(line for line in lines if not line.strip().startswith("rtqual-agent seed")))
        text = (
            extra["init"]
            .read_text()
            .replace("rtqual-agent rest 10000 60000 > /run/rest", "echo rest_reset=1 > /run/rest")
        )
        extra["init"].write_text(text)
        extra["init"].chmod(0o755)
    kernel = make_ready(
        package, fetch(package, kernel=True, architecture=architecture), boot=(), tools=guest_tools(architecture),
        architecture=architecture, extra=extra,
    )  # fmt: skip
    return VirtualBoard(kernel, Machine(cpus=cpus), folder / "scratch", guests=folder / "guests")


def run(of: VirtualBoard, load: str, seed: int, delay_s: int) -> tuple[Record, dict[str, str]]:
    """A run that begins so much later, by itself: odd seeds begin at once by the board's own rule."""
    plain = CYCLICTEST.job(PARAMETERS, cpus=of.machine.cpus, seed=seed)
    beside, later = all_loads()[load], Command(("sleep", str(delay_s)))
    job = Job(
        measure=plain.measure, setup=(*beside.setup, later), collect=plain.collect, loads=beside.background
    )  # fmt: skip
    outcome = of.run(job, seed=2 * seed - 1, timeout_s=TIMEOUT_S)
    measured = CYCLICTEST.read(PARAMETERS, outcome, cpus=of.machine.cpus)
    facts = dict(outcome.facts) | ({LATER_S: str(delay_s)} if delay_s else {})
    told = Provenance(rtqual="", mission_sha256="", started=None, wall_s=None, command=[], facts=facts)
    inputs = Inputs(
        candidate=of.kernel.candidate,
        instrument="cyclictest",
        load=load,
        board="virtual",
        cpus=of.machine.cpus,
        seed=seed,
    )
    kept = Measurement(measured.series, measured.scalars, (*measured.problems, *outcome.problems))
    return make(inputs, kept, told, timing=Timing.UNTESTED, repeat=0), dict(outcome.facts)


def row(records: Sequence[Record]) -> str:
    largest = [max(one.info.reported["max"] for one in record.series) / 1e3 for record in records]
    means = [sum(one.info.reported["avg"] for one in record.series) / len(record.series) / 1e3 for record in records]
    return (
        f"largest {median(largest):,.1f} ({min(largest):,.1f} to {max(largest):,.1f})  "
        f"mean {median(means):.2f} ({min(means):.2f} to {max(means):.2f})"
    )


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(package: str, cpus: int, loads: Sequence[str], seeds: int, folder: Path, *, off: bool) -> None:
    of, before_s = board(package, cpus, folder, off=off), cpu_s()
    _, facts = run(of, "none", 1, 0)
    took_s = cpu_s() - before_s
    told = {name: value for name, value in facts.items() if "rest" in name}
    print(f"{package}, {cpus} CPU: boot and a run {took_s:.1f} s of CPU; {told} {rest.problems(facts)}", flush=True)
    for load in loads:
        every = {delay: [run(of, load, seed, delay)[0] for seed in range(1, seeds + 1)] for delay in DELAYS_S}
        for delay_s, records in every.items():
            signs = list(early_runs([*every[0], *records])) if delay_s else []
            print(
                f"  {load:9} after {delay_s:2} s  {row(records)}  {'DIFFERS: ' + signs[0] if signs else ''}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--cpus", default="1,4")
    parser.add_argument("--loads", default="none,hackbench")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for package in asked.packages or every_package():
            for cpus in map(int, asked.cpus.split(",")):
                try:
                    table(package, cpus, asked.loads.split(","), asked.seeds, Path(name), off=asked.off)
                except RunFailed as error:
                    print(f"{package}, {cpus} CPU: {error}", flush=True)


if __name__ == "__main__":
    main()
