# SPDX-License-Identifier: MIT
"""Runs that gave no record: whose fault it was, and how many of those planned."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.model import Group, LostRun

# What campaigns before version 4 kept of a run that failed is a sentence; these begin those of a system that died.
_DIED = re.compile(
    r"\b(?:hung and was ended at its deadline|no result came back|restarted while it measured|panick?ed)\b"
)
_MOST_SEEDS = 6  # named
DIED = "hung or died"


@dataclass(frozen=True)
class Losses:
    """Of a group: `planned` runs, of which some gave a record. What is not known is zero."""

    planned: int
    died: tuple[LostRun, ...] = ()  # the system under test ended them, once at least, whatever they gave later
    failed: tuple[LostRun, ...] = ()  # gave no record for another reason, and none later
    missing: int = 0  # gave no record, and nobody knows why
    untold: int = 0  # runs that a reason stands for that is told of the group alone

    @property
    def text(self) -> str:
        """'2 of 10 runs hung or died (seeds 4 and 9): WHY'; empty where nothing was lost."""
        return "; ".join(filter(None, (self.of_candidate, self.of_others)))

    @property
    def of_candidate(self) -> str:
        """What counts against the candidate."""
        return f"{self.many_died}: {self.died[0].why}" if self.died else ""

    @property
    def many_died(self) -> str:
        """'2 of 10 runs hung or died (seeds 4 and 9)'; empty where none did."""
        return self._of(self.died, DIED) if self.died else ""

    @property
    def of_others(self) -> str:
        """What leaves it undecided."""
        failed = f"{self._of(self.failed, 'gave no record')}: {self.failed[0].why}" if self.failed else ""
        missing = f"{self._runs(self.missing)} {'is' if self.missing == 1 else 'are'} missing" if self.missing else ""
        return "; ".join(filter(None, (failed, missing)))

    @property
    def runs_died(self) -> int:
        """How many runs, however often each was made."""
        return self._number(self.died)

    def _number(self, runs: Sequence[LostRun]) -> int:
        return sum(1 if seed is not None else self.untold for seed in {run.seed for run in runs})

    def _of(self, runs: Sequence[LostRun], verb: str) -> str:
        seeds = sorted({run.seed for run in runs if run.seed is not None})
        more = [f"{len(seeds) - _MOST_SEEDS} more"] if len(seeds) > _MOST_SEEDS else []
        named = listed([*map(str, seeds[:_MOST_SEEDS]), *more])
        where = f" (seed{'s' if len(seeds) > 1 else ''} {named})" if seeds else ""
        often = max(run.played for run in runs)
        again = f", made up to {often} times" if often > 1 else ""
        return f"{self._runs(self._number(runs))} {verb}{where}{again}"

    def _runs(self, number: int) -> str:
        return f"{number} of {count(self.planned, 'run')}" if self.planned >= number else count(number, "run")


def losses(lost: Iterable[LostRun], seeds: Iterable[int], planned: int | None) -> Losses:
    """`seeds`: of the runs that gave a record."""
    every, recorded = [*lost], {*seeds}
    died = tuple(lost_run for lost_run in every if lost_run.died)
    gone = {lost_run.seed for lost_run in every if lost_run.seed is not None and not lost_run.repeat} - recorded
    failed = tuple(lost_run for lost_run in every if not lost_run.died and lost_run.seed not in recorded)
    missing = max(0, (planned or 0) - len(recorded) - len(gone))
    planned = max(planned or 0, len(recorded) + len(gone))
    if any(lost_run.seed is None for lost_run in every):
        return Losses(planned, died, failed, untold=max(missing, 1))
    return Losses(planned, died, failed, missing)


def with_reasons(lost: Sequence[LostRun], failures: Mapping[Group, str]) -> tuple[LostRun, ...]:
    """With what is told of groups alone: by campaigns before version 4, and of cells that could not begin."""
    known = {lost_run.group for lost_run in lost}
    told = (
        LostRun(group, None, 0, 1, (why,), int(bool(_DIED.search(why))))
        for group, why in failures.items()
        if group not in known
    )
    return (*lost, *told)


def by_group(lost: Iterable[LostRun]) -> dict[Group, tuple[LostRun, ...]]:
    found: dict[Group, tuple[LostRun, ...]] = {}
    for lost_run in lost:
        found[lost_run.group] = (*found.get(lost_run.group, ()), lost_run)
    return found
