# SPDX-License-Identifier: MIT
"""A board of a farm: labgrid's place is acquired before the board is touched, and released in every way out.

labgrid's own program is used, as ssh is. Its coordinator forgets who has a place when it starts again (issue #1884), so
the place keeps people from each other, and the token on the board (lease.py) decides.
"""

import shutil
from contextlib import suppress

from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.words import clean
from rtqual.engine.boards.remote.settings import BoardRefused

_CLIENT_S = 60.0
_OURS, _THEIRS = "already acquired place", "already acquired by"


def client(coordinator: str, place: str, *words: str) -> tuple[str, ...]:
    """labgrid-client's command, as one that switches the power."""
    return ("labgrid-client", "-x", coordinator, "-p", place, *words)


class FarmPlace:
    """What was acquired here is released; a place that this user had acquired before stays his."""

    def __init__(self, name: str, coordinator: str, place: str) -> None:
        self._name, self._coordinator, self._place = name, coordinator, place
        self._acquired = False

    def take(self) -> None:
        """Raises Refused where another has it."""
        failed = self._run("acquire")
        if _THEIRS in failed:
            raise BoardRefused(f"board {self._name}: {failed}")
        if failed and _OURS not in failed:
            raise RunFailed(f"board {self._name}: labgrid's place {self._place}: {failed}")
        self._acquired |= not failed

    def give(self) -> None:
        if self._acquired:
            self._acquired = False
            with suppress(RunFailed):
                self._run("release")

    def _run(self, word: str) -> str:
        """What it complains of; empty where it does as it was told."""
        command = client(self._coordinator, self._place, word)
        if not shutil.which(command[0]):
            raise RunFailed("labgrid-client is missing: `pip install 'rtqual[labgrid]'`")
        try:
            done = run(command, timeout_s=_CLIENT_S)
        except RunFailed as error:
            raise RunFailed(f"board {self._name}: labgrid's coordinator {self._coordinator}: {error}") from None
        said = clean(" ".join(done.stderr.split()))[-300:]
        return (said or f"labgrid-client {word} {done.how}") if done.code else ""
