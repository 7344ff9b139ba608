# SPDX-License-Identifier: MIT
"""A board on the network as a row: all that a mission asks of it. What commands it is loaded when it is opened."""

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rtqual.base.user import user_at_host
from rtqual.engine.boards.remote.settings import Settings
from rtqual.protocols.board import Board
from rtqual.protocols.board.registry import BoardRow, Start, Starts
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.part import keyed

if TYPE_CHECKING:
    from rtqual.engine.boards.remote.session import Session


class _Opener:
    """Candidates of one campaign share a session."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._sessions: dict[Path, Session] = {}

    def __call__(self, start: Start) -> Board:
        from rtqual.engine.boards.remote.remote_board import RemoteBoard  # noqa: PLC0415 - slow to load
        from rtqual.engine.boards.remote.session import Session  # noqa: PLC0415

        assert isinstance(start.system, Kernel), "it was prepared"  # noqa: S101
        if self._settings.by_card:
            by_card = keyed("ways", "card", f"{self._settings.name}: a board without a network")
            board: Board = by_card(self._settings, start.system, start.programs)
            return board
        folder = start.scratch.parent
        if folder not in self._sessions:
            log = start.scratch / f"console-{self._settings.name}.log"
            self._sessions[folder] = Session(self._settings, owner_of(folder), log, start.tell)
        return RemoteBoard(self._sessions[folder], start.system, owner_of(folder), start.programs)


def owner_of(folder: Path) -> str:
    """Who commands the board: this campaign, on this machine; only one runs in a folder at a time."""
    return " ".join(shlex.quote(part) for part in (user_at_host(), str(folder)))


@cache
def row(settings: Settings) -> BoardRow:
    """The board's row: the same for all who ask, as cells are compared by it."""
    opener: Callable[[Start], Board] = _Opener(settings)
    return BoardRow(
        settings.model,
        (),
        opener,
        lambda board_s, *_: board_s + 5.0,
        Starts.KERNEL,
        settings.architecture,
        switched=True,
        disks=tuple(dict(settings.disks)),
        cpus=lambda: settings.cpus,
        why_cpus="a board runs with the CPUs that its table states",
    )
