# SPDX-License-Identifier: MIT
"""Campaigns while they run: which runs are under way, what the last ones gave, and what is the latest so far.

All of it is read from the folders as they grow, so a campaign may run anywhere and knows nothing of who watches it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.cache import held
from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.campaign.folder import CAMPAIGN, LOCK, RECORDS
from rtqual.engine.campaign.lost import INTERRUPTED, all_in
from rtqual.protocols.record.schema import Manifest
from rtqual.protocols.record.store import Store, largest_sample, read_manifest


@dataclass(frozen=True)
class Largest:
    """The largest sample of a run's first series, in `unit`; `beyond`: it lies above the histogram's end."""

    value: float
    unit: str
    beyond: bool
    record: str  # the record's hash


@dataclass
class Seen:
    """What the runs of a group gave so far."""

    group: Group
    runs: int = 0
    refused: int = 0  # with problems: they decide nothing
    last: Largest | None = None
    worst: Largest | None = None


@dataclass(frozen=True)
class Worse:
    """A run that is later than all before it of its group, which were there."""

    folder: Path
    group: Group
    before: Largest
    now: Largest


@dataclass
class Watched:
    """A campaign's folder, looked at again and again. Raises BadInput where it is none."""

    folder: Path
    groups: dict[Group, Seen] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)  # a sentence each
    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not self.folder.is_dir() or not any((self.folder / name).exists() for name in (LOCK, RECORDS, CAMPAIGN)):
            raise BadInput(f"{self.folder}: no campaign there: give the folder that `rtqual select` works in")
        unlinked.require_all(self.folder, RECORDS)

    @property
    def works(self) -> bool:
        """Whether a rtqual works in the folder."""
        return held(self.folder / LOCK)

    def running(self) -> list[str]:
        """The runs under way; what is damaged in their place stops nobody from looking."""
        try:
            noted = all_in(self.folder).values() if self.works else ()
        except BadInput as error:
            return [str(error)]
        return [
            f"{ran.candidate}: {ran.instrument}, load {ran.load}, {ran.cpus} CPU, seed {ran.seed}"
            f"{', again' if lost.repeat else ''}"
            for lost in noted
            if (ran := lost.inputs) and lost.reasons[-1] == INTERRUPTED
        ]

    def look(self) -> Iterator[Worse]:
        """Take in the records that are new, and say which are later than all before them."""
        fresh = [path for path in Store(self.folder / RECORDS).paths() if path.name not in self._known]
        for path in sorted(fresh, key=_changed_ns):
            self._known.add(path.name)
            try:
                manifest = read_manifest(path)
                if manifest.repeat:  # a second run tests whether the first repeats
                    continue
                largest = largest_of(path, manifest)
            except BadInput as error:
                self.damaged.append(str(error))
            else:
                yield from self._take(manifest, largest)

    def _take(self, manifest: Manifest, largest: Largest | None) -> Iterator[Worse]:
        ran = manifest.inputs
        group = Group(ran.instrument, ran.load, ran.board, ran.cpus, ran.candidate)
        seen = self.groups.setdefault(group, Seen(group))
        seen.runs += 1
        seen.refused += bool(manifest.problems)
        seen.last = largest
        if largest is None:
            return
        before = seen.worst
        if before is None or (largest.value, largest.beyond) > (before.value, before.beyond):
            seen.worst = largest
            if before is not None:
                yield Worse(self.folder, group, before, largest)


def _changed_ns(path: Path) -> int:
    """When a record was written; 0 where it has been set aside since it was listed."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def largest_of(path: Path, manifest: Manifest) -> Largest | None:
    """The largest sample of the record's first series that is a time; None where there is none. Raises BadInput."""
    for number, info in enumerate(manifest.series):
        if info.unit != "ns":
            continue
        if info.overflow and info.overflow_from is not None:
            return Largest(float(info.overflow_from), info.unit, True, manifest.hash)
        largest = largest_sample(path, manifest, number)
        value = info.reported.get("max") if largest is None else largest
        return None if value is None else Largest(float(value), info.unit, False, manifest.hash)
    return None
