# SPDX-License-Identifier: MIT
"""How many CI jobs are red where nothing changed: at most 5 in 100 over all figures that a gate judges.

`python tests/engine/analysis/test_gate_alarms.py 40` writes its table (docs/verification/; PYTHONPATH=tests); with
`FOLDER...` of finished campaigns of one mission on the virtual board, each of many runs a cell, also the lines of jobs
that redraw their seeds: every job compares some runs of a cell with as many others, as a changed input does.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.analysis.regression.course import Course
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.campaign import folder as kept
from rtqual.protocols.record.schema import Record, Series, Timing
from support.analysis_records import record
from support.doc_tables import put

CELLS, RUNS, SAMPLES = 50, 10, 200
KINDS = ("quiet", "long tail", "late runs", "coarse")
Samples = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def drawn(kind: str, rng: np.random.Generator, runs: int = RUNS) -> Samples:
    """Of a noisy board; other shapes than those that intervals were tuned on."""
    place, noise = rng.gamma(30, 1 / 30, (runs, 1)), rng.normal(size=(runs, SAMPLES))
    if kind == "long tail":
        return np.rint(3_000 * place * rng.weibull(0.7, (runs, SAMPLES)) + 2_000).astype(np.int64)
    if kind == "late runs":  # one in four is half as late again
        place = place * np.where(rng.random((runs, 1)) < 0.25, 1.5, 1.0)
    found = 5_000 * place * np.exp(0.25 * noise)
    step = 1_000 if kind == "coarse" else 1
    return (found // step).astype(np.int64) * step


def side(kind: str, seed: int, cells: int = CELLS) -> list[Record]:
    return [
        record(Series.raw(run, name="latency"), candidate=f"c{cell}", seed=100 * seed + number, timing=Timing.REAL,
               board="pi")
        for cell in range(cells)
        for number, run in enumerate(drawn(kind, np.random.default_rng([41, seed, cell])))
    ]  # fmt: skip


def red(before: Sequence[Record], after: Sequence[Record]) -> tuple[bool, int]:
    """Whether a job fails, and how many figures it judged."""
    found = regressions(Side("baseline", before), Side("now", after))
    return bool(found.of(Course.WORSE)), len(found.figures)


def jobs(kind: str, number: int, cells: int = CELLS) -> tuple[int, int]:
    """Of so many jobs, each with a baseline of its own: those that are red, and the figures a job."""
    found = [red(side(kind, 2 * job, cells), side(kind, 2 * job + 1, cells)) for job in range(number)]
    return sum(failed for failed, _ in found), found[0][1]


def redrawn(folders: Sequence[Path], again: int = 0, runs: int = RUNS) -> Iterator[tuple[bool, int]]:
    """Jobs on the records of campaigns: disjoint runs of every cell, drawn by turns, as if an input had changed; or so
    many jobs that draw from all runs `again`, so that they share some."""
    every = [one for folder in folders for one in kept.load(folder).result.records]
    cells = list(groups(every).values())
    rng = np.random.default_rng(43)
    each = min(map(len, cells)) // (2 * runs)
    for job in range(again or each):
        if again or job == 0:
            orders = [rng.permutation(len(members)) for members in cells]
        both: list[list[Record]] = [[], []]
        for members, order in zip(cells, orders, strict=True):
            first = 0 if again else 2 * runs * job
            taken = [members[place] for place in order[first : first + 2 * runs]]
            for side_of, part in zip(both, (taken[:runs], taken[runs:]), strict=True):
                side_of += [_seeded(one, number) for number, one in enumerate(part)]
        both[0] = [*map(_otherwise, both[0])]
        yield red(*both)


def _seeded(one: Record, seed: int) -> Record:
    """As the run of that seed: without a seed in common nothing is judged."""
    inputs = one.inputs.model_copy(update={"seed": seed})
    return replace(one, manifest=one.manifest.model_copy(update={"inputs": inputs}))


def _otherwise(one: Record) -> Record:
    """Of an input that changed, so that nothing is to be equal."""
    inputs = one.inputs.model_copy(update={"artefacts": {**one.inputs.artefacts, "inert": "1"}})
    return replace(one, manifest=one.manifest.model_copy(update={"inputs": inputs}))


def table(number: int, folders: Sequence[Path]) -> Iterator[str]:
    yield "| board | figures a job | jobs | red |"
    yield "|---|---|---|---|"
    for kind in KINDS:
        failed, figures = jobs(kind, number)
        yield f"| made up, {kind} | {figures} | {number} | {failed} |"
    if folders:
        for what, again in (("seeds redrawn", 0), ("drawn again from these seeds", 5 * number)):
            found = list(redrawn(folders, again))
            yield f"| virtual, {what} | {found[0][1]} | {len(found)} | {sum(failed for failed, _ in found)} |"


@pytest.mark.guest
@pytest.mark.parametrize("kind", ["long tail", "late runs"])
def test_jobs_where_nothing_changed_are_green(kind: str) -> None:
    """Of 12 with 40 figures each; without an allowance for all of them most were red."""
    failed, figures = jobs(kind, 12, cells=10)
    assert figures >= 40
    assert failed <= 3


if __name__ == "__main__":
    put("verification/statistics.md", "gate", table(int(sys.argv[1]), [Path(one) for one in sys.argv[2:]]))
