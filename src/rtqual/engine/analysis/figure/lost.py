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
        return f"{self._of(self.died, DIED)}: {self.died[0].why}" if self.died else ""

    @property
    def of_others(self) -> str:
        """What leaves it undecided."""
        failed = f"{self._of(self.failed, 'gave no record')}: {self.failed[0].why}" if self.failed else ""
        missing = f"{self._runs(self.missing)} {'is' if self.missing == 1 else 'are'} missing" if self.missing else ""
        return "; ".join(filter(None, (failed, missing)))

    def _of(self, runs: Sequence[LostRun], verb: str) -> str:
        seeds = sorted({one.seed for one in runs if one.seed is not None})
        more = [f"{len(seeds) - _MOST_SEEDS} more"] if len(seeds) > _MOST_SEEDS else []
        named = listed([*map(str, seeds[:_MOST_SEEDS]), *more])
        where = f" (seed{'s' if len(seeds) > 1 else ''} {named})" if seeds else ""
        often = max(one.played for one in runs)
        again = f", made up to {often} times" if often > 1 else ""
        number = sum(1 if one.seed is not None else self.untold for one in {run.seed: run for run in runs}.values())
        return f"{self._runs(number)} {verb}{where}{again}"

    def _runs(self, number: int) -> str:
        return f"{number} of {count(self.planned, 'run')}" if self.planned > number else count(number, "run")


def losses(lost: Iterable[LostRun], seeds: Iterable[int], planned: int | None) -> Losses:
    """`seeds`: of the runs that gave a record."""
    every, recorded = [*lost], {*seeds}
    died = tuple(one for one in every if one.died)
    gone = {one.seed for one in every if one.seed is not None and not one.repeat} - recorded
    failed = tuple(one for one in every if not one.died and one.seed not in recorded)
    missing = max(0, (planned or 0) - len(recorded) - len(gone))
    planned = max(planned or 0, len(recorded) + len(gone))
    if any(one.seed is None for one in every):
        return Losses(planned, died, failed, untold=max(missing, 1))
    return Losses(planned, died, failed, missing)


def with_reasons(lost: Sequence[LostRun], failures: Mapping[Group, str]) -> tuple[LostRun, ...]:
    """With what is told of groups alone: by campaigns before version 4, and of cells that could not begin."""
    known = {one.group for one in lost}
    told = (
        LostRun(group, None, 0, 1, (why,), int(bool(_DIED.search(why))))
        for group, why in failures.items()
        if group not in known
    )
    return (*lost, *told)


def by_group(lost: Iterable[LostRun]) -> dict[Group, tuple[LostRun, ...]]:
    found: dict[Group, tuple[LostRun, ...]] = {}
    for one in lost:
        found[one.group] = (*found.get(one.group, ()), one)
    return found
