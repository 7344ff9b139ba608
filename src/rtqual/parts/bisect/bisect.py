# SPDX-License-Identifier: MIT
"""Which change moved the tail: between two candidates, kernels with some of the changes are made and measured alike.

Runs repeat, so a step has no noise of its own: it falls on one side of the middle between the two ends. A step is a
candidate like any other: its kernel comes from the cache where it was built before, its runs are records in the folder.
Which records are of which step is kept in bisect.json there, so the same command goes on where it stopped; figures are
read from the records alone.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, RunFailed, damaged
from rtqual.base.scratch import scratch
from rtqual.base.units import format_duration
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import Candidate
from rtqual.parts.bisect.axis import Packages, SettingsAxis, axis_of
from rtqual.parts.bisect.ends import Ends, figure
from rtqual.parts.bisect.isolate import at_most, halved, isolate, turning
from rtqual.protocols.record.schema import Record, digest
from rtqual.protocols.record.store import Store, read

STEPS = "bisect.json"
APART = 0.9  # of the runs of each end lie on its own side of the middle, or the ends are not apart


RunName = Annotated[str, Field(pattern=r"^[0-9a-f]{16}-0$")]


class _Measured(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    changes: tuple[int, ...]
    candidate: str
    records: Annotated[dict[RunName, str], Field(min_length=1)]  # and their hashes


class _Steps(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    of: str  # the hash of what they are steps of
    steps: tuple[_Measured, ...] = ()
    sha256: str = ""  # of the two

    def sealed(self) -> "_Steps":
        return self.model_copy(update={"sha256": digest(self.model_dump(mode="json", exclude={"sha256"}))})


@dataclass(frozen=True)
class BisectStep:
    """A kernel with some of the changes."""

    changes: tuple[str, ...]
    candidate: str  # as its records name it
    samples: int
    values: tuple[float, ...]  # the statistic of each run; none where it could not be measured, and why:
    why: str = ""
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)

    @property
    def value(self) -> float:
        """The median of its runs."""
        return median(self.values)


@dataclass(frozen=True)
class Foreseen:
    """What a bisection takes: kernels to measure, both ends included."""

    changes: tuple[str, ...]
    kernels: int  # at most, where one change acts
    more: int  # for each further one that acts with it
    builds: bool  # whether each of them is built


@dataclass(frozen=True)
class Bisection:
    ends: Ends
    unit: str
    changes: tuple[str, ...]
    steps: tuple[BisectStep, ...]  # the good end, the bad end, then as they were made
    acting: tuple[tuple[str, ...], ...] = ()  # what moves the figure, together; nothing where the ends are not apart
    alone: BisectStep | None = None  # the good end with only these changes; of packages the first bad one
    rest: BisectStep | None = None  # the bad end without them; of packages the last good one
    rest_moves: bool | None = None
    packages: bool = False

    @property
    def middle(self) -> float:
        return (self.steps[0].value + self.steps[1].value) / 2


def foresee(ends: Ends, folder: Path, watcher: Watcher) -> Foreseen:
    """Nothing is measured, and the folder stays as it is."""
    with scratch() as work:
        axis = axis_of(ends, folder, work, watcher.preparing)
    return Foreseen(axis.changes, *_kernels(axis), axis.builds)


def _kernels(axis: Packages | SettingsAxis) -> tuple[int, int]:
    """At most so many, both ends included, where one change acts; and for each further one that acts with it."""
    number = len(axis.changes)
    count, more = (halved(number), 0) if axis.chain else at_most(number)
    return 2 + count, more


def bisect(ends: Ends, folder: Path, watcher: Watcher, *, workers: int = 2) -> Bisection:
    """Raises RunFailed where an end cannot be measured."""
    with kept.alone(folder), scratch() as work:
        axis = axis_of(ends, folder, work, watcher.preparing)
        found = _Bisecting(ends, folder, watcher, workers, axis)
        number = len(axis.changes)
        good, bad = (found.step(range(some)) for some in (0, number))
        for step in (good, bad):
            if step.why:
                raise RunFailed(f"an end cannot be measured: {step.why}")
        told = Bisection(ends, ends.unit, axis.changes, (good, bad), packages=axis.chain)
        if not _apart(good, bad):
            return told
        return _of_chain(told, found) if axis.chain else _of_settings(told, found)


def _of_settings(told: Bisection, found: "_Bisecting") -> Bisection:
    names = told.changes

    def moves(some: frozenset[int]) -> bool | None:
        step = found.step(some)
        return None if step.why else step.value > told.middle

    isolated = isolate(len(names), moves)
    rest = {*range(len(names))} - {*isolated.changes}
    alone, others = found.step(isolated.changes), found.step(rest)
    acting = tuple(tuple(names[at] for at in group) for group in isolated.acting)
    return replace(
        told, steps=tuple(found.steps), acting=acting, alone=alone, rest=others, rest_moves=isolated.rest_moves
    )


def _of_chain(told: Bisection, found: "_Bisecting") -> Bisection:
    """The first package on the bad side."""

    def moves(number: int) -> bool | None:
        step = found.step(range(number))
        return None if step.why else step.value > told.middle

    low, high = turning(0, len(told.changes), moves)
    return replace(
        told, steps=tuple(found.steps), acting=(told.changes[low:high],), alone=found.step(range(high)),
        rest=found.step(range(low)), rest_moves=False,
    )  # fmt: skip


def _apart(good: BisectStep, bad: BisectStep) -> bool:
    middle = (good.value + bad.value) / 2
    lower = sum(value < middle for value in good.values) / len(good.values)
    higher = sum(value > middle for value in bad.values) / len(bad.values)
    return min(lower, higher) >= APART


@dataclass
class _Bisecting:
    ends: Ends
    folder: Path
    watcher: Watcher
    workers: int
    axis: Packages | SettingsAxis
    _made: dict[tuple[int, ...], BisectStep] = field(default_factory=dict)
    _took_s: list[float] = field(default_factory=list)  # each step that was made now

    def __post_init__(self) -> None:
        ends = self.ends
        figure(ends.good.records[0], ends.asked.statistic)  # before anything is built
        told = [ends.asked.statistic, [cell.seed for cell in ends.cells], self.axis.changes]
        told += [[record.manifest.hash for record in end.records] for end in (ends.good, ends.bad)]
        self._of = digest(told)
        self._store = Store(self.folder / kept.RECORDS)
        self._before = {measured.changes: measured for measured in self._kept()}

    @property
    def steps(self) -> list[BisectStep]:
        return list(self._made.values())

    def step(self, some: Iterable[int]) -> BisectStep:
        """A kernel with these of the changes, measured once."""
        chosen = tuple(sorted(some))
        if chosen not in self._made:
            self._made[chosen] = self._step(chosen)
            self._keep()
        return self._made[chosen]

    def _step(self, chosen: tuple[int, ...]) -> BisectStep:
        names = tuple(self.axis.changes[at] for at in chosen)
        if (before := self._before.get(chosen)) and (records := self._again(before)):
            return self._told(names, before.candidate, records)
        self.watcher.preparing(f"step {self._progress()}: {self._named(names)}")
        started = time.monotonic()
        try:
            candidate = self.axis.candidate(frozenset(chosen))
            records = self._measured(candidate)
        except RunFailed as error:
            return BisectStep(names, "", 0, (), str(error))
        finally:
            self._took_s.append(time.monotonic() - started)
        return self._told(names, candidate.name, records)

    def _progress(self) -> str:
        """Which step of how many, and how long they take at the pace of those before."""
        step, most = len(self._made) + 1, _kernels(self.axis)[0]
        if step > most:
            return f"{step}"
        left_s = (most - step + 1) * sum(self._took_s) / max(1, len(self._took_s))
        return f"{step} of at most {most}" + (f", at most {format_duration(left_s)} left" if left_s else "")

    def _told(self, names: tuple[str, ...], candidate: str, records: Sequence[Record]) -> BisectStep:
        drawn = [figure(record, self.ends.asked.statistic) for record in records]
        samples = sum(run.samples for run in drawn)
        return BisectStep(names, candidate, samples, tuple(run.value for run in drawn), records=tuple(records))

    def _again(self, before: _Measured) -> list[Record]:
        """The records of a step that was measured; nothing where they are not all there, as they were."""
        try:
            records = [read(unlinked.require(self._store.folder, name)) for name in before.records]
        except BadInput:
            return []
        seeds = [cell.seed for cell in self.ends.cells]
        same = [record.manifest.hash for record in records] == [*before.records.values()]
        own = {record.inputs.candidate for record in records} == {before.candidate}
        return records if same and own and [record.inputs.seed for record in records] == seeds else []

    def _named(self, names: Sequence[str]) -> str:
        if self.axis.chain:
            return names[-1] if names else str(self.ends.good.candidate.package)
        return f"{len(names)} of {len(self.axis.changes)} changes"

    def _measured(self, candidate: Candidate) -> list[Record]:
        """The runs of the cell with that candidate; those of the first seed twice. Raises RunFailed."""
        good = self.ends.good.campaign
        header = good.mission.mission.model_copy(update={"needs": ()})
        mission = good.mission.model_copy(update={"mission": header, "candidates": (candidate,)})
        cells = [replace(cell, candidate=candidate) for cell in self.ends.cells]
        cells.insert(1, replace(cells[0], repeat=1))
        campaign = Campaign(
            mission.derived_from(good.mission), good.scale, self.folder, workers=self.workers, cells=cells
        )
        result = campaign.run(self.watcher)
        for why in result.failures.values():
            raise RunFailed(why)
        first = [kept.manifest for kept in result.records if kept.inputs.seed == cells[0].seed]
        if len({manifest.samples_sha256 for manifest in first}) != 1:
            raise RunFailed(f"{candidate.name}: two runs of the same gave other samples, so no step would decide")
        for record in result.records:
            if record.manifest.problems:
                raise RunFailed(f"{candidate.name}, seed {record.inputs.seed}: {record.manifest.problems[0]}")
        return sorted((kept for kept in result.records if not kept.manifest.repeat), key=lambda kept: kept.inputs.seed)

    def _name(self, record: Record) -> str:
        return self._store.path(record.inputs.key(), record.manifest.repeat).name

    def _kept(self) -> tuple[_Measured, ...]:
        """What was measured before; nothing where it is of something else."""
        try:
            found = _Steps.model_validate_json(unlinked.read(self.folder, STEPS))
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError) as error:
            raise damaged(self.folder / STEPS, error, "delete it") from None
        if found != found.sealed():
            raise BadInput(f"{self.folder / STEPS}: was changed by hand (its hash differs): delete it")
        return found.steps if found.of == self._of else ()

    def _keep(self) -> None:
        made = [
            _Measured(
                changes=changes,
                candidate=step.candidate,
                records={self._name(r): r.manifest.hash for r in step.records},
            )
            for changes, step in self._made.items() if not step.why
        ]  # fmt: skip
        unkept = [measured for changes, measured in self._before.items() if changes not in self._made]
        text = _Steps(of=self._of, steps=(*made, *unkept)).sealed().model_dump_json(indent=1)
        unlinked.write(self.folder, STEPS, (text + "\n").encode())
