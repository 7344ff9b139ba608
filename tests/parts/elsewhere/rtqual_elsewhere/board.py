# SPDX-License-Identifier: MIT
"""A board: its class, and its row."""

from rtqual.engine.boards.local import LocalBoard
from rtqual.protocols.board import Board, Job, JobOutcome
from rtqual.protocols.board.registry import BoardProgram, BoardRow, CandidateKind, Start


class FarBoard(Board):
    """Another machine, named by a line to it. Here the line is short: the programs run on this machine."""

    instruction_clock = False

    def __init__(self, start: Start) -> None:
        self._line, self._here = start.named, LocalBoard()

    def artefacts(self) -> dict[str, str]:
        return {**self._here.artefacts(), "line": self._line}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        return self._here.run(job, seed=seed, timeout_s=timeout_s)


FAR = BoardRow(
    "far",
    (CandidateKind(
        "far", 'far = "LINE"', "reached by {}", "far, which is elsewhere",
        "tty[A-Z]+[0-9]", "a line, as 'ttyS0'", "Its line.",
    ),),
    FarBoard, lambda board_s, *_: board_s,
    why_not=lambda line: f"{line} is a console" if line == "ttyAMA0" else "",
    programs=(BoardProgram("ld-of-far", "far-tools", "the far board"),),
    cpus=lambda: 1, why_cpus="what {} leads to has one CPU",
)  # fmt: skip
