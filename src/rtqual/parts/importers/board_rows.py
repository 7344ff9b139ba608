# SPDX-License-Identifier: MIT
"""The board that gives out imported records, as others see it."""

from pathlib import Path

from rtqual.protocols.board import Board
from rtqual.protocols.board.registry import BoardRow, CandidateKind, Start


def place(named: str) -> tuple[Path, str]:
    """The folder with the records, and the candidate in it; empty where the folder alone is named."""
    folder = Path(named)
    return (folder, "") if (folder / "records").is_dir() else (folder.parent, folder.name)


def _open(start: Start) -> Board:
    from rtqual.parts.importers.imported import ImportedBoard  # noqa: PLC0415 - duckdb is slow to load

    assert start.held is not None, "a campaign opens it"  # noqa: S101
    return ImportedBoard(start.named, start.machine.cpus, held=start.held)


BOARD = BoardRow(
    "imported",
    (
        CandidateKind(
            "imported",
            'imported = "FOLDER"',
            "imported from {}",
            "imported, whose runs others measured",
            r".+",
            "a folder that `rtqual import` wrote, as 'out/theirs'",
            'What others measured, as "out/theirs" of `rtqual import --out`: its records are taken, nothing runs.',
        ),
    ),
    _open,
    lambda *_: 0.1,
    why_not=lambda named: "" if (place(named)[0] / "records").is_dir() else f"there is nothing imported at {named}",
    why_not_again="others made its run: import their file again",
)
