# SPDX-License-Identifier: MIT
"""A board: one that a mission calls by a number. Here it is this machine."""

from rtqual.engine.boards.local import LocalBoard
from rtqual.protocols.board import Board, Job, JobOutcome
from rtqual.protocols.board.registry import BoardRow, CandidateKind, Start


class ShelfBoard(Board):
    """Programs run by the agent of this machine; the number stands in every record."""

    instruction_clock = False

    def __init__(self, start: Start) -> None:
        self._number, self._here = start.named, LocalBoard()

    def artefacts(self) -> dict[str, str]:
        return {**self._here.artefacts(), "shelf": self._number}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        return self._here.run(job, seed=seed, timeout_s=timeout_s)


SHELF = BoardRow(
    "shelf",
    (
        CandidateKind(
            "shelf", 'shelf = "NUMBER"', "on shelf {}", "shelf, which is a board of its own",
            "[0-9]{1,3}", "a shelf's number, as '3'", "Its shelf.",
        ),
    ),
    ShelfBoard, lambda board_s, *_: board_s,
)  # fmt: skip
