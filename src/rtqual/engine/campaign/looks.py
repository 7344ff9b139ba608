# SPDX-License-Identifier: MIT
"""How far a campaign with runs = "auto" goes: to a look, and on to the next where it is not decided there.

What is decided at a look rests on the runs up to it and on nothing else, so a campaign that was interrupted, or has
more records than it needs, ends where an undisturbed one ends.
"""

from collections.abc import Mapping, Sequence

from rtqual.engine.analysis.evidence import verdicts_of
from rtqual.engine.analysis.figure.cells import Looked, planned_looks
from rtqual.engine.analysis.figure.model import Group, LostRun
from rtqual.engine.kernel.needs import Known
from rtqual.engine.mission import Mission, PlannedCell
from rtqual.protocols.record.schema import Record


class Looks:
    """`runs`: how often each cell runs until the look that comes next."""

    def __init__(self, mission: Mission, scale: str) -> None:
        self._mission, self._scale = mission, scale
        self._looks = planned_looks(mission, scale)
        self.runs: dict[PlannedCell, int] = {cell: looks[0] for cell, looks in self._looks.items()}

    @property
    def may_go_on(self) -> bool:
        """Whether any cell has another look before it."""
        return any(self.runs[cell] < looks[-1] for cell, looks in self._looks.items())

    def look(
        self,
        records: Sequence[Record],
        configs: Mapping[str, Known],
        failures: Mapping[Group, str],
        lost: Sequence[LostRun],
        looked: Looked,
    ) -> tuple[str, ...]:
        """What is not decided and may be by more runs, which `runs` then has; nothing where all is decided."""
        verdicts = verdicts_of(self._mission, self._scale, records, configs, failures, lost, looked)
        told: list[str] = []
        for cell, looks in self._looks.items():
            board, _, instrument, load, cpus = cell
            left = [
                question.why
                for verdict in verdicts
                for question in verdict.undecided
                if (verdict.board, question.instrument, question.load) == (board, instrument, load)
                and cpus in (0, question.cpus)
            ]
            further = [look for look in looks if look > self.runs[cell]]
            if left and further:
                self.runs[cell] = further[0]
                told += left
        return tuple(dict.fromkeys(told))
