# SPDX-License-Identifier: MIT
"""The model of caches and memory (target/observers/caches.c) beside the same model in Python."""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

import pytest

from support.caches import Caches, Shape

ROOT = Path(__file__).parents[2]
SMALL = Shape((4, 2), (4, 2), (16, 4), 1000, 9000, 1100, 179, 64, 128)  # what is rare in a large one is common here
LARGE = Shape((256, 3), (256, 2), (1024, 16), 11040, 143040, 12288, 179, 64, 128)
Event = tuple[str, int, int]  # kind, CPU, number: as tests/support/caches_run.c takes them


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the sanitizers in it: what they find ends it."""
    made = tmp_path_factory.mktemp("caches") / "caches"
    sources = [ROOT / "tests/support/caches_run.c", ROOT / "target/observers/caches.c"]
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'target'}"]
    flags += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["gcc", *flags, *sources, "-o", made], check=True)
    return made


def told(program: Path, shape: Shape, n_cpus: int, events: list[Event]) -> list[str]:
    """What C says: a line for each access, one for each CPU's counts, and the lines to and from DRAM."""
    text = "".join(f"{kind} {cpu} {number}\n" for kind, cpu, number in events)
    command = [program, str(n_cpus), *map(str, shape.members)]
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}  # it lives as long as its model
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


def expected(shape: Shape, n_cpus: int, events: list[Event]) -> Iterator[str]:
    model = Caches(shape, n_cpus)
    for kind, cpu, number in events:
        if kind == "t":
            model.ran(cpu, number)
        elif kind == "h":
            model.halted(cpu)
        elif kind == "e":
            model.end_round(number)
        else:
            yield str(model.fetch(cpu, number) if kind == "f" else model.access(cpu, number, write=kind == "w"))
    for each in model.cpus:
        yield " ".join(map(str, astuple(each.counts)))
    yield str(model.dram_lines)


def drawn(seed: int, n_cpus: int, n_accesses: int, shape: Shape) -> list[Event]:
    """Streams, hot lines, lines anywhere, code that runs on; a line in both caches, and what several CPUs write."""
    draw = random.Random(seed)  # noqa: S311
    reach = 3 * shape.l2[0] * shape.l2[1]
    places = [draw.randrange(reach) for _ in range(2 * n_cpus)]
    events: list[Event] = []
    accesses = 0
    while accesses < n_accesses:
        cpu, kind = draw.randrange(n_cpus), draw.random()
        if kind < 0.05:
            events.append(("t", cpu, draw.randrange(20_000)))
        elif kind < 0.06:
            events.append(("h", cpu, 0))
        elif kind < 0.08:
            events.append(("e", 0, draw.choice((960_000, 480_000))))
        else:
            for _ in range(draw.randrange(1, 8)):
                which = 2 * cpu + draw.randrange(2)
                step = draw.choice((1, 1, 1, -1)) if draw.random() < 0.9 else draw.randrange(reach)
                places[which] = (places[which] + step) % reach
                line = places[which] if draw.random() < 0.7 else draw.randrange(reach if draw.random() < 0.3 else 24)
                events.append((draw.choice("ffrrrw"), cpu, line))
                accesses += 1
    return events


@pytest.mark.parametrize("shape", [SMALL, LARGE])
@pytest.mark.parametrize("n_cpus", [1, 2, 4])
def test_ten_thousand_accesses_are_those_of_the_reference(program: Path, shape: Shape, n_cpus: int) -> None:
    events = drawn(n_cpus, n_cpus, 10_000, shape)
    assert told(program, shape, n_cpus, events) == list(expected(shape, n_cpus, events))


@pytest.mark.full
@pytest.mark.parametrize("shape", [SMALL, LARGE])
def test_a_million_accesses_are_those_of_the_reference(program: Path, shape: Shape) -> None:
    events = drawn(42, 4, 1_000_000, shape)
    assert told(program, shape, 4, events) == list(expected(shape, 4, events))


def stalls(program: Path, events: list[Event], shape: Shape = LARGE, n_cpus: int = 1) -> list[int]:
    n_accesses = sum(kind in "frw" for kind, _, _ in events)
    return [int(line) for line in told(program, shape, n_cpus, events)[:n_accesses]]


def test_a_line_costs_dram_then_nothing_and_from_l2_its_latency(program: Path) -> None:
    far = LARGE.l1d[0]  # lines so far apart share a set of L1D
    asked = [0, 0, far, 2 * far, 0]
    full, l2 = (ticks * LARGE.load_share // 256 for ticks in (LARGE.dram_ticks, LARGE.l2_ticks))
    events = [event for line in asked for event in (("r", 0, line), ("t", 0, 10**6))]
    assert stalls(program, events) == [full, 0, full, full, l2]


def test_a_stream_is_foreseen_from_its_fourth_line_on_and_anew_in_each_page(program: Path) -> None:
    events = [event for line in range(128) for event in (("r", 0, line), ("t", 0, 10**6))]
    late = [line for line, ticks in enumerate(stalls(program, events)) if ticks]
    assert late == [0, 1, 2, 64, 65, 66]


def test_a_hog_beside_makes_dram_slower(program: Path) -> None:
    def last(beside: bool) -> int:
        hog = [event for line in range(2000) for event in (("r", 1, 10_000 + 7 * line), ("t", 1, 100))]
        rounds: list[Event] = []
        for number, event in enumerate(hog if beside else []):
            rounds += [event, *([("e", 0, 960_000)] if number % 140 == 139 else [])]
        return stalls(program, [*rounds, ("r", 0, 0)], n_cpus=2)[-1]

    assert last(beside=True) > 1.2 * last(beside=False)


def test_what_another_cpu_writes_is_not_in_this_one_s_cache(program: Path) -> None:
    events: list[Event] = [("r", 0, 5), ("r", 0, 5), ("w", 1, 5), ("r", 0, 5)]
    first, again, _, after = stalls(program, events, n_cpus=2)
    assert first and not again
    assert after == LARGE.l2_ticks * LARGE.load_share // 256
