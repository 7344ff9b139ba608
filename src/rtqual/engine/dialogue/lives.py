# SPDX-License-Identifier: MIT
"""What becomes of each telecommand: answered once in each of its stages after it was sent, accepted before it is
completed, and nothing of it once it was refused or has ended. One that was sent twice has two lives. Where the program
does not tell which it means, all that may be meant are counted together."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from rtqual.engine.dialogue.meaning import BEGINS, ENDS, Meant
from rtqual.engine.mission.language_table import Stage
from rtqual.engine.procedure.line import Line

_Key = tuple[str | None, str]


class Lives:
    """`sent`: the telecommands with their places in the log, in order."""

    def __init__(self, sent: Sequence[tuple[int, Line]]) -> None:
        self._sent = sent
        self._of: dict[_Key, tuple[list[int], list[int]]] = {}
        self._seen: Counter[tuple[_Key, Stage]] = Counter()
        self._unnamed: Counter[tuple[_Key, tuple[Stage, ...]]] = Counter()  # answers that raw octets alone can have
        self._every: Counter[tuple[Stage, ...]] = Counter()  # of these

    def wrong(self, meant: Meant, place: int) -> str:
        """Take an answer; return of which telecommand it is and what is wrong with that, empty where nothing is."""
        key, stage = (meant.app, repr(meant.token)), meant.stage
        if stage is None:
            return ""
        named, unnamed = (bisect_left(places, place) for places in self._places(key, meant))
        sent = named + unnamed
        if not sent:
            return "a telecommand that had not been sent"
        self._seen[key, stage] += 1
        life = next((stages for stages in (BEGINS, ENDS) if stage in stages), (stage,))
        again = stage is not Stage.PROGRESS and self._again(key, life, named, unnamed)
        over = self._count(key, Stage.REFUSED, *ENDS) + (stage not in (*BEGINS, *ENDS)) > sent
        behind = stage is Stage.ACCEPTED and self._seen[key, stage] <= self._seen[key, Stage.COMPLETED]
        if not (again or behind or (over and stage is not Stage.ACCEPTED)):
            return ""
        command = next(line.command for at, line in reversed(self._sent) if at < place and self._means(meant, line))
        before = "answered" if again else "refused" if over and self._seen[key, Stage.REFUSED] else "completed"
        return f"{command}, which had been {before} before"

    def _again(self, key: _Key, life: tuple[Stage, ...], named: int, unnamed: int) -> bool:
        """Whether this is more than all that were sent can have. Raw octets have one answer, whatever it names."""
        if self._count(key, *life) - self._unnamed[key, life] <= named:
            return False
        self._unnamed[key, life] += 1
        self._every[life] += 1
        return self._every[life] > unnamed

    def _count(self, key: _Key, *stages: Stage) -> int:
        return sum(self._seen[key, stage] for stage in stages)

    def _places(self, key: _Key, meant: Meant) -> tuple[list[int], list[int]]:
        """Of the telecommands that may be meant: those that are, as far as is told, and octets that nobody knows."""
        if key not in self._of:
            of = [(place, line) for place, line in self._sent if self._means(meant, line)]
            unnamed = [place for place, line in of if not meant.tells(line.command, line.encoded)]
            self._of[key] = ([place for place, _ in of if place not in unnamed], unnamed)
        return self._of[key]

    @staticmethod
    def _means(meant: Meant, line: Line) -> bool:
        return meant.answers(line.command, line.encoded)
