# SPDX-License-Identifier: MIT
"""`rtqual explain` names the time of the worst wake-ups: on Debian's stock and PREEMPT_RT kernels, and on the one
tailored to the docking mission, which tells no symbols itself. That is built where it is not in the cache.
"""

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from rtqual.protocols.record.store import Store, read
from support.command import Run

MISSIONS = Path(__file__).parents[3] / "docking/missions"
KERNELS, LOADS, WORST = ("debian", "debian-rt", "tailored"), ("none", "hackbench", "wifi"), 20
SCALE = f"""
[scale.named.parameters.cyclictest]
cycles = 1_000

[scale.named.parameters.hackbench]
loops = 10
repetitions = 3

[[scale.named.plan]]
candidates = {json.dumps(KERNELS)}
instruments = ["cyclictest"]
loads = {json.dumps(LOADS)}
runs = 2
"""


@pytest.fixture(scope="module")
def measured(rtqual: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("named")
    text = (MISSIONS / "docking.toml").read_text().replace("../procedures", str(MISSIONS.with_name("procedures")))
    (folder / "docking.toml").write_text(text + SCALE)
    done = rtqual("select", folder / "docking.toml", "--scale", "named", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.mark.full
def test_the_time_of_the_latest_samples_is_named(rtqual: Run, measured: Path) -> None:
    done = rtqual("explain", measured, "--worst", WORST, "--json")
    assert done.returncode == 0, done.stderr
    told: dict[tuple[str, str], list[Any]] = {}
    for run in json.loads(done.stdout)["runs"]:
        told.setdefault((run["candidate"], run["load"]), []).extend(run["timelines"])
    assert {*told} == {(kernel, load) for kernel in KERNELS for load in LOADS}
    for lines in told.values():
        named = [line["named"] for line in lines]
        print(len(named), min(named), median(named))
        assert len(named) == WORST and median(named) >= 0.99
        assert all(sum(part["duration_ns"] for part in line["parts"]) == line["value_ns"] for line in lines)


@pytest.mark.full
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_record_is_explained_alike_twice(rtqual: Run, measured: Path, kernel: str) -> None:
    path = next(
        path for path in Store(measured / "records").paths()
        if ((one := read(path).inputs).candidate, one.load) == (kernel, "hackbench")
    )  # fmt: skip
    first, second = (rtqual("explain", path, "--worst", "3", "--json") for _ in range(2))
    assert first.returncode == 0 and first.stdout == second.stdout
