# SPDX-License-Identifier: MIT
"""A program that finds out that it is watched, and does something else then, is told of."""

from dataclasses import replace
from typing import cast

import pytest

from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.run import _disturbed
from rtqual.protocols.board import Board, Command, Job, JobOutcome

_ALONE = JobOutcome(
    exit_code=0, stdout="", stderr="", files={"program.out": "late_ns\n8000\n"}, facts={}, status={"minor_faults": 7},
    version="", threads=(), console="", wall_s=1, command=(),
)  # fmt: skip


class _Alone:
    """Runs a job that nobody watches."""

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        assert (job.watched, seed, timeout_s) == (False, 3, 9)
        return _ALONE


class _Cell:
    seed, timeout_s = 3, 9


@pytest.mark.parametrize(
    ("watched", "says"),
    [
        ({}, []),
        ({"files": {**_ALONE.files, "jobs.log": "end\n"}}, []),  # what the watching itself left
        ({"files": {"program.out": "late_ns\n8001\n"}}, ["program.out differs"]),
        ({"files": {}}, ["program.out differs"]),
        ({"exit_code": 9}, ["ended otherwise"]),
        ({"status": {"minor_faults": 8}}, ["ended otherwise"]),
    ],
)
def test_what_it_does_with_nobody_watching_must_be_the_same(watched: dict[str, object], says: list[str]) -> None:
    job = Job(Command(("program",)), watched=True)
    outcome = replace(_ALONE, **watched)  # type: ignore[arg-type] # fields of it, one at a time
    told = [*_disturbed(cast(Board, _Alone()), job, cast(Cell, _Cell()), outcome)]
    assert len(told) == len(says)
    for line, part in zip(told, says, strict=True):
        assert part in line
