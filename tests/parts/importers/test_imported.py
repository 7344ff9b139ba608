# SPDX-License-Identifier: MIT
"""What others measured stands in a mission as a candidate, and is judged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.provenance import replayed
from rtqual.parts.importers.imported import ImportedBoard
from rtqual.parts.importers.records import Circumstances, import_files
from rtqual.protocols.board import Command, Job
from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store, read
from support.command import Run

MISSION = """\
[mission]
name = "lab"
title = "What the lab measured last year"
purpose = "A test of imported candidates."
duration = "1 h"

[[candidate]]
name = "theirs"
title = "the lab's kernel"
imported = "{folder}"

[[requirement]]
name = "no late wake-up"
instrument = "cyclictest"
load = "none"
statistic = "max"
at_most = "{limit}"

[[scale.demo.plan]]
candidates = ["theirs"]
instruments = ["cyclictest"]
loads = ["none"]
runs = {runs}
cpus = [1]

[parameters.cyclictest]
cycles = 10000
interval = "{interval}"
"""
JOB = Job(Command(("true",)))
LINE = "T: 0 (  {0}) P:80 I:10000 C:  10000 Min:     37 Act:   44 Avg:   47 Max:      7{1}\n"


@pytest.fixture
def lab(tmp_path: Path) -> Callable[..., Path]:
    """Three runs imported, and a mission of them."""

    def write(limit: str = "100 us", runs: int = 3, interval: str = "10 ms", kernels: int = 1) -> Path:
        files = []
        for number in range(3):
            path = tmp_path / f"run{number}.txt"
            kernel = f"Linux board 6.6.{number % kernels}-rt31 #1 SMP PREEMPT_RT aarch64 GNU/Linux\n"
            path.write_text(kernel + LINE.format(900 + number, number))
            files.append(path)
        import_files(files, tmp_path / "theirs", Circumstances("theirs", load="none"))
        mission = tmp_path / "lab.toml"
        text = MISSION.format(folder=tmp_path / "theirs", limit=limit, runs=runs, interval=interval)
        mission.write_text(text)
        return mission

    return write


@pytest.mark.guest  # a report takes over two seconds
def test_imported_records_are_a_campaigns(rtqual: Run, lab: Callable[..., Path], tmp_path: Path) -> None:
    done = rtqual("select", lab(), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    records = list(Store(tmp_path / "out/records").read_all())
    assert sorted(one.series[0].info.reported["max"] for one in records) == [70_000, 71_000, 72_000]
    assert {(one.inputs.board, one.manifest.timing) for one in records} == {("imported", Timing.REAL)}
    assert all(one.manifest.problems == [] for one in records)
    assert kept.load(tmp_path / "out").result.records


FILED = ("cyclictest", "none")


def test_what_is_not_there_is_named(lab: Callable[..., Path], tmp_path: Path) -> None:
    lab()
    board = ImportedBoard(str(tmp_path / "theirs/theirs"), 1, held=kept.held)
    assert board.recorded(JOB, seed=3, filed=FILED).is_dir()
    with pytest.raises(RunFailed, match="3 records of cyclictest under none, run 4 asked for"):
        board.recorded(JOB, seed=4, filed=FILED)
    with pytest.raises(RunFailed, match="0 records of cyclictest under hackbench, run 1 asked for"):
        board.recorded(JOB, seed=1, filed=("cyclictest", "hackbench"))
    with pytest.raises(RunFailed, match=r"measured on 1 CPU: plan it with cpus = \[1\]"):
        ImportedBoard(str(tmp_path / "theirs"), 4, held=kept.held).recorded(JOB, seed=1, filed=FILED)
    with pytest.raises(BadInput, match="no records of candidate 'other'; it has theirs"):
        ImportedBoard(str(tmp_path / "theirs/other"), 1, held=kept.held).artefacts()


def test_kernels_and_machines_are_never_mixed(lab: Callable[..., Path], tmp_path: Path) -> None:
    lab(kernels=2)
    with pytest.raises(BadInput, match="records of 2 kernels"):
        ImportedBoard(str(tmp_path / "theirs"), 1, held=kept.held).recorded(JOB, seed=1, filed=FILED)


def test_other_parameters_than_the_missions_doubt_the_record(lab: Callable[..., Path], tmp_path: Path) -> None:
    lab()
    path = ImportedBoard(str(tmp_path / "theirs"), 1, held=kept.held).recorded(JOB, seed=1, filed=FILED)
    inputs = read(path).inputs.model_copy(update={"parameters": {"interval": 1_000_000, "cycles": 10_000}})
    (problem,) = replayed(inputs, path, "0" * 64).manifest.problems
    assert "interval 10000000" in problem and "asks for 1000000" in problem
