# SPDX-License-Identifier: MIT
"""Whose procedures `rtqual verify` plays: a kind of program, as a part brings it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.answer_times import AnswerTime
from rtqual.engine.mission import Mission
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.kinds import KeptProcedures, kind_of
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.record.schema import Record
from rtqual.reports.trends import Trend


class Flown(Protocol):
    """A program as its procedures know it: all that there are, how they are played and judged."""

    @property
    def procedures(self) -> Sequence[Any]: ...

    @property
    def dictionary(self) -> str:
        """The hash of its dictionary, of a program of the user's."""

    @property
    def untried(self) -> Mapping[str, str]:
        """Telecommands that no procedure of a robustness campaign is made of, and why."""

    def kept(self) -> KeptProcedures[Any]: ...

    def instruments(self, played: Sequence[Any]) -> list[tuple[Instrument, Parameters]]: ...

    def judged(self, procedure: Any, record: Record) -> Judgement: ...

    def answers(self, procedure: Any, record: Record) -> Sequence[AnswerTime]:
        """How fast its telecommands were answered. Raises Unsound."""

    def trends(self, soaked: Sequence[tuple[Any, Record]]) -> tuple[Trend, ...]: ...


def flown(mission: Mission, verify: Verify, *, robustness: bool = False) -> Flown:
    """What [verify] names, with the procedures of its folder, or those for every telecommand. Raises BadInput."""
    found: Flown = kind_of(verify).flown(mission, verify, robustness)
    return found


def flown_before(mission: Mission, verify: Verify, kept: KeptProcedures[Any]) -> Flown:
    """What a folder keeps. Raises BadInput where that is of another kind."""
    kind = kind_of(verify)
    if not isinstance(kept, kind.kept):
        raise BadInput(f"{mission.path}: keeps procedures of another program: run `rtqual verify` there again")
    found: Flown = kind.before(mission, verify, kept)
    return found
