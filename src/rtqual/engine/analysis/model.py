# SPDX-License-Identifier: MIT
"""The results of an analysis. Reports print these and compute nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtqual.engine.analysis.difference.model import Comparison, ShiftFunction
from rtqual.engine.analysis.figure.model import Group, LeftOut, LostRun, Summary
from rtqual.engine.analysis.tails.model import Tails
from rtqual.engine.analysis.verdict.goals import Goals
from rtqual.engine.analysis.verdict.headline import Answer, answer
from rtqual.engine.analysis.verdict.model import Ground, Verdict


@dataclass(frozen=True)
class Evidence:
    """Everything a report shows."""

    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[Verdict, ...]
    failures: Mapping[Group, str] = field(default_factory=dict)  # cells that gave no record, and why
    lost: tuple[LostRun, ...] = ()  # the runs that gave no record, at least once
    left_out: tuple[LeftOut, ...] = ()  # what was measured and is not judged
    scale: str = ""  # of the mission, at which all was measured
    shifts: tuple[ShiftFunction, ...] = ()
    tails: Mapping[Group, Tails] = field(default_factory=dict)  # of groups whose samples have a rate
    goals: tuple[Goals, ...] = ()  # what parts judge beside requirements

    @property
    def answer(self) -> Answer | None:
        """What all verdicts come to; None without any."""
        return answer(self.verdicts)

    @property
    def headed(self) -> tuple[tuple[str, Verdict], ...]:
        """Every board's verdict under its heading: the one that is the answer first, the others as evidence."""
        deciding = self.answer.boards if self.answer else ()
        heading = "Verdict" if len(deciding) == 1 else "Evidence"
        first = [
            (f"{heading}, {verdict.board} board", verdict) for verdict in self.verdicts if verdict.board in deciding
        ]
        others = [
            (f"Evidence, {verdict.board} board", verdict) for verdict in self.verdicts if verdict.board not in deciding
        ]
        return (*first, *others)

    @property
    def lacking(self) -> dict[Group, str]:
        """The failures that leave something unjudged: not those of a machine that is there for comparison alone,
        beside others that are judged."""
        beside = {verdict.board for verdict in self.verdicts if verdict.ground == Ground.REFERENCE}
        if self.answer is None or self.answer.ground == Ground.REFERENCE:
            beside = set()
        return {group: why for group, why in self.failures.items() if group.board not in beside}
