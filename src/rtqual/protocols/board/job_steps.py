# SPDX-License-Identifier: MIT
"""What a job does, step by step: one order for every board, whoever carries it out."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from rtqual.protocols.board import Command, Job

SETTLE_S = 0.1
_NOTHING = Command(())


class Do(Enum):
    RUN = auto()  # a program, whatever its exit code says
    PREPARE = auto()  # a program that must succeed: else nothing follows
    REST = auto()  # the board, after what was done until here
    DISTURB = auto()  # start a load
    SETTLE = auto()  # a load needs a moment before it disturbs
    PHASE = auto()  # wait as long as the seed says
    DISTURBED = auto()  # a load must still run: else it did not disturb


@dataclass(frozen=True)
class Step:
    do: Do
    name: str = ""  # of the files that it leaves
    command: Command = _NOTHING


def steps(job: Job) -> Iterator[Step]:
    """Yield them in their order; the job's folder and modules are there before the first."""
    loads = [(f"load{number}", command) for number, command in enumerate(job.loads)]
    if job.version:
        yield Step(Do.RUN, "version", Command(job.version))
    yield from (Step(Do.PREPARE, f"setup{number}", command) for number, command in enumerate(job.setup))
    yield Step(Do.REST)
    yield from (Step(Do.DISTURB, *load) for load in loads)
    if loads:
        yield Step(Do.SETTLE)
    yield Step(Do.PHASE)
    yield Step(Do.RUN, "measure", job.measure)
    yield from (Step(Do.DISTURBED, *load) for load in loads)
