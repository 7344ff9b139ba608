# SPDX-License-Identifier: MIT
"""Whether guests are at rest when they are measured: the same run begun at once, and at nine later moments.

    python bench/rest.py [--off] [--cpus 1,4] [--loads none,hackbench] [--seeds 2] [--kept FOLDER] [PACKAGE...]
    python bench/rest.py --cost 5 PACKAGE...
    python bench/rest.py --false-alarms 100

cyclictest alone, FIFO 80, wake-ups of 1 ms, of Debian's kernels: 1,000 a CPU idle, 100 under a load. What a guest gave
is kept in the folder, in a file a load, and not measured again; guests are kept there too. `--off`: with guests that do
not wait (init without `rtqual-agent rest` and `seed`, jobs without their second), as they were before.

Runs of a moment share what tick, timers and load are at, which seeds hardly move (by 20 ms at most), so a moment is one
draw however many seeds it has: the lower median over its seeds, since one run in seventeen at any moment is 3 % or more
above its row's median by a coincidence of tick and wake-up, and a guest that is not at rest is late in every run. Two
tests ask whether moments are alike: whether the first lies farther from the others than one more of these would
(Student's t of a further draw; S. Geisser, Predictive Inference, 1993, section 2.1; of three degrees, since moments
have longer tails than the normal), and whether they rise or fall (M. Kendall, Biometrika 30, 1938; exact).

A row of the table is a guest: how long it took to rest; idle and under a load a run's largest sample, in us, at once
and in brackets the lowest and the highest of the later moments; the same of its mean; how many seeds a moment has; and
`p`, the smallest of the four tests, after Holm over all tests of the table. What rtqual looks for in a campaign
(early.py of the analysis) has a line of its own where it is found between the runs at once and others.

`--false-alarms`: how many of so many made-up tables of 45 rows in which all moments are alike have a p below 0.05.

`--cost`: the CPU seconds of starting and saving a guest, and of a run of 1,000, with the wait and without, by turns.
"""

import argparse
import json
import math
import resource
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, median_low
from typing import Any

import numpy as np
from scipy.stats import kendalltau, t

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.base.errors import BadInput, RunFailed, SystemDied
from rtqual.engine.analysis.figure.early import early_runs
from rtqual.engine.analysis.figure.intervals import FINEST
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import make_ready
from rtqual.engine.initramfs.contents import guest_file, guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, Machine
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import LATER_S, RESET, WAITED_NS, Inputs, Measurement, Provenance, Record, Timing
from rtqual.protocols.record.store import make

ARCHITECTURES = {"amd64": AMD64, "arm64": ARM64, "armmp": ARMHF}
FLAVOURS = {"amd64": ("", "rt-", "cloud-"), "arm64": ("", "rt-", "cloud-"), "armmp": ("", "rt-")}
VERSIONS = ("", "6.12-")
DELAYS_S = (0, 2, 3, 5, 8, 10, 13, 20, 30, 40)
IDLE, LOADED = CyclictestParameters(cycles=1000), CyclictestParameters(cycles=100)
TIMEOUT_S = 1800
SURE = 0.05
WHAT = ("largest", "mean")
TAILS = 3  # degrees of freedom; those of the normal's, eight, call 20 to 95 % of tables with long tails different
WAIT, SEED = "rtqual-agent rest 10000 60000 > /run/rest", "rtqual-agent seed\n"


def every_package() -> list[str]:
    """Debian's kernels for the processors of the virtual boards; some releases lack some."""
    return [
        f"linux-image-{version}{flavour}{name}"
        for name in ARCHITECTURES
        for version in VERSIONS
        for flavour in FLAVOURS[name]
    ]


def board(package: str, cpus: int, folder: Path, *, off: bool) -> VirtualBoard:
    architecture = ARCHITECTURES[package.rpartition("-")[2]]
    extra = {}
    if off:
        text = guest_file("init").read_text()
        assert text.count(WAIT) == text.count(SEED) == 1
        extra = {"init": folder / "init"}
        extra["init"].write_text(text.replace(WAIT, f"echo {RESET}=1 > /run/rest").replace(SEED, ""))
        extra["init"].chmod(0o755)
    kernel = make_ready(
        package, fetch(package, kernel=True, architecture=architecture), boot=(), tools=guest_tools(architecture),
        architecture=architecture, extra=extra,
    )  # fmt: skip
    return VirtualBoard(kernel, Machine(cpus=cpus), folder / "scratch", guests=folder / "guests")


def run(of: VirtualBoard, load: str, seed: int, delay_s: int) -> Record:
    """A run that begins so much later, by itself: odd seeds begin at once by the board's own rule."""
    parameters = IDLE if load == "none" else LOADED
    plain = CYCLICTEST.job(parameters, cpus=of.machine.cpus, seed=seed)
    beside, later = all_loads()[load], Command(("sleep", str(delay_s)))
    job = Job(
        measure=plain.measure, setup=(*beside.setup, later), collect=plain.collect, loads=beside.background
    )  # fmt: skip
    outcome = of.run(job, seed=2 * seed - 1, timeout_s=TIMEOUT_S)
    measured = CYCLICTEST.read(parameters, outcome, cpus=of.machine.cpus)
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
    return make(inputs, kept, told, timing=Timing.UNTESTED, repeat=0)


def cpu_s(work: Callable[[], object]) -> float:
    before, _ = resource.getrusage(resource.RUSAGE_CHILDREN), work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def figures(records: Sequence[Record]) -> dict[str, list[float]]:
    """Of each run, in us, over its CPUs."""
    told = [[one.info.reported for one in record.series] for record in records]
    return {
        "largest": [max(one["max"] for one in run) / 1e3 for run in told],
        "mean": [sum(one["avg"] for one in run) / len(run) / 1e3 for run in told],
    }


def measured(of: VirtualBoard, load: str, seeds: int) -> dict[str, Any]:
    every: dict[int, list[Record]] = {delay: [] for delay in DELAYS_S}
    found = []
    for delay, records in every.items():
        for seed in range(1, seeds + 1):
            try:
                records.append(run(of, load, seed, delay))
            except SystemDied as error:
                found.append(f"{load} after {delay} s, seed {seed}: {error}")
    if not all(every.values()):
        raise RunFailed(found[-1])
    facts = every[0][0].manifest.provenance.facts
    for delay, records in every.items():
        found += [f"{load} after {delay} s: {sign}" for sign in (early_runs([*every[0], *records]) if delay else ())]
    problems = {text for records in every.values() for one in records for text in one.manifest.problems}
    told = {name: text for name, text in facts.items() if "rest" in name}
    return {
        "kernel": facts["kernel"],
        "rest": told,
        "found": [*found, *(f"{load}: {text}" for text in sorted(problems))],
        "rows": {load: {delay: figures(records) for delay, records in every.items()}},
    }


def moments(of: Mapping[Any, Mapping[str, Sequence[float]]], what: str) -> list[float]:
    """The lower median over the seeds of each moment, in us."""
    return [median_low(figure[what]) for figure in of.values()]


def outlying(found: Sequence[float]) -> float:
    """The probability that the first of these lies as far from the others, were it one more of them."""
    first, others = math.log(found[0]), np.log(found[1:])
    spread = max(float(others.std(ddof=1)), FINEST) * math.sqrt(1 + 1 / len(others))
    return float(2 * t.sf(abs(first - float(others.mean())) / spread, TAILS))


def rising(found: Sequence[float]) -> float:
    """The probability that moments alike in law rise or fall as steadily."""
    return float(kendalltau(range(len(found)), found).pvalue) if len({*found}) > 1 else 1.0


def tests_of(row: Mapping[Any, Mapping[str, Sequence[float]]]) -> list[float]:
    return [test(moments(row, what)) for what in WHAT for test in (outlying, rising)]


def after_holm(tests: Sequence[float]) -> list[float]:
    """S. Holm, Scandinavian Journal of Statistics 6 (1979)."""
    judged, least = [1.0] * len(tests), 0.0
    for rank, number in enumerate(sorted(range(len(tests)), key=tests.__getitem__)):
        least = judged[number] = max(least, min(1.0, (len(tests) - rank) * tests[number]))
    return judged


def table(guests: Mapping[tuple[str, int], Sequence[dict[str, Any]]]) -> Iterator[str]:
    rows = {(*guest, load): row for guest, gave in guests.items() for one in gave for load, row in one["rows"].items()}
    loads = list(dict.fromkeys(load for *_, load in rows))
    tests = [p for row in rows.values() for p in tests_of(row)]
    judged = after_holm(tests)
    least = {key: min(judged[4 * number : 4 * number + 4]) for number, key in enumerate(rows)}
    heads = " | ".join(f"{'idle' if load == 'none' else load}: largest | mean | seeds | p" for load in loads)
    yield f"| kernel | CPUs | rest | {heads} |"
    yield "|---|---:|---:|" + "---|---|---:|---:|" * len(loads)
    for (package, cpus), gave in guests.items():
        cells = [f"{package.removeprefix('linux-image-')}, {gave[0]['kernel'].partition('-')[0]}", str(cpus)]
        cells.append(f"{int(gave[0]['rest'].get(WAITED_NS, 0)) / 1e9:.0f} s")
        for load in loads:
            if (row := rows.get((package, cpus, load))) is None:
                cells += [""] * 4
                continue
            for what in WHAT:
                first, *later = moments(row, what)
                cells.append(f"{first:,.2f} ({min(later):,.2f} to {max(later):,.2f})")
            p = least[package, cpus, load]
            seeds = min(len(one["mean"]) for one in row.values())
            cells += [str(seeds), f"**{p:.2g}**" if p < SURE else f"{p:.2g}"]
        yield f"| {' | '.join(cells)} |"
    told = [
        f"{package}, {cpus} CPU: {text}"
        for (package, cpus), gave in guests.items()
        for one in gave
        for text in one["found"]
    ]
    yield ""
    yield f"{len(tests)} tests, {sum(p < SURE for p in judged)} of them below {SURE}; found, and problems: {len(told)}"
    yield from told


def false_alarms(tables: int, rows: int = 45) -> Iterator[str]:
    """Of tables whose moments differ by a tenth, by shapes of other tails."""
    rng = np.random.default_rng(35)
    shapes: dict[str, Callable[[tuple[int, int]], Any]] = {
        "lognormal": rng.standard_normal,
        "Laplace": lambda size: rng.laplace(0, 1 / math.sqrt(2), size),
        "Student's t of three degrees": lambda size: rng.standard_t(3, size) / math.sqrt(3),
        "Gumbel": lambda size: rng.gumbel(0, math.sqrt(6) / math.pi, size),
        "one in ten that lies far off": lambda size: rng.standard_normal(size) + 10 * (rng.random(size) < 0.1),
    }
    for name, draw in shapes.items():
        red = 0
        for _ in range(tables):
            found = np.exp(0.1 * draw((2 * rows, len(DELAYS_S))))
            red += min(after_holm([test(moments) for moments in found.tolist() for test in (outlying, rising)])) < SURE
        yield f"moments that differ by {name}: {red} of {tables} tables ({100 * red / tables:.1f} %)"


def costs(package: str, cpus: int, boots: int, folder: Path) -> Iterator[str]:
    """With the wait, without, and the ratio: medians of CPU seconds, and the range of the ratio over the pairs."""
    boot: dict[bool, list[float]] = {False: [], True: []}
    cell: dict[bool, list[float]] = {False: [], True: []}
    for number in range(boots):
        for off in (False, True) if number % 2 else (True, False):
            place = folder / f"{package}-{cpus}-{number}-{off}"
            place.mkdir()
            of = board(package, cpus, place, off=off)
            boot[off].append(cpu_s(of._boot_once))
            cell[off] += [cpu_s(lambda of=of, seed=seed: run(of, "none", seed, 0)) for seed in (1, 2)]
            of.forget()
    for what, took in (("boot", boot), ("a run", cell)):
        ratios = [one / other for one, other in zip(took[False], took[True], strict=True)]
        yield (
            f"{package}, {cpus} CPU, {what}: {median(took[False]):.2f} s of processor, {median(took[True]):.2f} "
            f"without the wait; ratio {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), n = {len(ratios)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--off", action="store_true")
    parser.add_argument("--cpus", default="1,4")
    parser.add_argument("--loads", default="none,hackbench")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--false-alarms", type=int, metavar="TABLES")
    parser.add_argument("--cost", type=int, metavar="BOOTS", default=0)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    asked = parser.parse_args()
    if asked.false_alarms:
        print(*false_alarms(asked.false_alarms), sep="\n")
        return
    guests: dict[tuple[str, int], list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name:
        kept = (asked.kept or Path(name) / "kept").resolve()
        kept.mkdir(exist_ok=True)
        for package in asked.packages or every_package():
            for cpus in map(int, asked.cpus.split(",")):
                try:
                    if asked.cost:
                        print(*costs(package, cpus, asked.cost, Path(name)), sep="\n", flush=True)
                        continue
                    for load in asked.loads.split(","):
                        file = kept / f"{package}-{cpus}-{load}.json"
                        if not file.exists():
                            of = board(package, cpus, kept, off=asked.off)
                            gave: dict[str, Any] = {}
                            took_s = cpu_s(
                                lambda of=of, load=load, gave=gave: gave.update(measured(of, load, asked.seeds))
                            )
                            file.write_text(json.dumps(gave))
                            print(f"{package}, {cpus} CPU, {load}: {took_s:.0f} s of processor", flush=True)
                        guests.setdefault((package, cpus), []).append(json.loads(file.read_text()))
                except (BadInput, RunFailed) as error:  # some releases lack some
                    print(f"{package}, {cpus} CPU: {error}", flush=True)
    print(*table(guests), sep="\n")


if __name__ == "__main__":
    main()
