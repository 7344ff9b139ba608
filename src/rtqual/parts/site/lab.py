# SPDX-License-Identifier: MIT
"""What a lab's campaigns say, by their digests: a row for each group of a board, a place in it for each version.

A row is never looked at across a difference that history refuses (figure/comparable.py): changes are looked for among
the versions since. The penalty of a mark is that of TOGETHER series or a power of two more, so that a board more does
not move the marks of others.
"""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import clean, count
from rtqual.engine.analysis.figure.asked import USUAL
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.model import Figure, Group, Summary
from rtqual.engine.analysis.regression.changes import LEAST, FigurePoint, SeriesCourse, Shift, courses, shifts
from rtqual.engine.analysis.regression.direction import better
from rtqual.engine.campaign.digest import Digest, GroupDigest
from rtqual.engine.campaign.digest import VerdictDigest as Judged
from rtqual.engine.mission import Better
from rtqual.stages.digests import digest_of

TOGETHER = 2048
MOST_FIGURES = 12  # of the site; each has a heat map
_MOST_OF_A_ROW = 4  # figures, where a mission asks for none and the usual ones are not measured
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class LabCampaign:
    """Where figures come from."""

    folder: Path
    name: str
    mission: str
    sha256: str
    verdicts: tuple[Judged, ...]

    def of(self, group: Group) -> tuple[str, str, str]:
        """The outcome for a candidate on its board, its headline and the gate that decides; empty without a verdict."""
        return self._standings.get((group.board, group.candidate), ("", "", ""))

    @cached_property
    def _standings(self) -> dict[tuple[str, str], tuple[str, str, str]]:
        found = {}
        for verdict in self.verdicts:
            for standing in verdict.standings:
                worst = next((gate for gate in standing.gates if gate.outcome == standing.may_fly), None)
                why = f"{worst.requirement}: {worst.reason}" if worst else ""
                found[verdict.board, standing.candidate] = standing.may_fly.value, verdict.headline, why
        return found


@dataclass(frozen=True)
class SeenVersion:
    """A row at a version."""

    version: str
    campaign: LabCampaign
    began: str
    kernel: str
    drawn: str
    problems: tuple[str, ...]
    facts: dict[str, str]
    summary: Summary  # with the site's figures alone

    def figure(self, name: str) -> Figure | None:
        return None if self.problems else self.summary.figures.get(name)


@dataclass(frozen=True)
class Comparable:
    """The places of a row whose figures, each with an interval of two ends, are compared; `why`: why too few, or since
    when only."""

    points: list[tuple[int, FigurePoint]]
    why: str


@dataclass(frozen=True)
class LabRow:
    """A group on one board; `seen` in the order of the versions."""

    board: str
    name: str  # which of the boards of this model; empty where several share the group, or it has none
    group: Group
    seen: tuple[SeenVersion, ...]
    courses: dict[str, SeriesCourse] = field(default_factory=dict)  # by figure; places are those of `known`
    _compared: dict[str, Comparable] = field(default_factory=dict)  # by figure

    @cached_property
    def id(self) -> str:
        return short_hash(self.board, self.name, *map(str, self.group.cell), self.group.candidate)

    @property
    def place(self) -> str:
        """The board, as people call it."""
        return f"{self.board} {self.name}" if self.name and self.name != self.board else self.board

    def known(self, figure: str) -> list[int]:
        """The places at which a change is looked for."""
        return [n for n, _ in self.compared(figure).points]

    def compared(self, figure: str) -> Comparable:
        """What is looked at of a figure."""
        if figure not in self._compared:
            self._compared[figure] = self._comparable(figure)
        return self._compared[figure]

    def _comparable(self, figure: str) -> Comparable:
        found: list[tuple[int, FigurePoint]] = []
        drawn: set[str] = set()
        before: Summary | None = None
        since = no_interval = ""
        for n, seen in enumerate(self.seen):
            its = seen.figure(figure)
            if its is None:
                continue
            if before is not None and (differs := _unlike(before, seen.summary, figure)):
                found, drawn = [], set()
                since = f"{differs}: changes are looked for since {seen.version} only"
            before = seen.summary
            if its.interval and seen.drawn not in drawn and math.isfinite(its.interval.low + its.interval.high):
                found.append((n, FigurePoint(its.value, its.interval.low, its.interval.high)))
            drawn.add(seen.drawn)
            no_interval = its.why_no_interval or no_interval
        few = f"{count(len(found), 'version')} with an interval, {LEAST} are needed" if len(found) < LEAST else ""
        return Comparable(found, since or (f"{few} ({no_interval})" if few and no_interval else few))


@dataclass(frozen=True)
class SharedChange:
    """A version that moved a figure on many boards."""

    version: str
    figure: str
    candidate: str
    instrument: str
    load: str
    shift: Shift


@dataclass(frozen=True)
class Lab:
    """All rows. `versions` in their order, each with when it was first measured; `figures` as the site shows them."""

    rows: tuple[LabRow, ...]
    versions: dict[str, str]
    figures: tuple[str, ...]
    left_out: tuple[str, ...]  # figures that are not shown
    together: tuple[SharedChange, ...]
    campaigns: int


def lab(folders: Sequence[Path], *, by_kernel: bool = False, tell: Callable[[str], None] = lambda _: None) -> Lab:
    """Of the folders of finished campaigns. Versions are the names of their folders in the order in which they were
    measured, or the kernels' releases in theirs. Raises BadInput as digest_of, and where nothing was measured."""
    found: dict[tuple[str, str, Group], dict[str, SeenVersion]] = defaultdict(dict)
    names: Counter[str] = Counter()
    for n, folder in enumerate(folders, 1):
        tell(f"{n} of {len(folders)} campaigns")
        digest = digest_of(folder)
        for row, seen in _seen(folder, digest, by_kernel):
            of_row = found[row]
            old = of_row.get(seen.version)
            if old is None or old.began <= seen.began:
                of_row[seen.version] = seen
            names.update(dict.fromkeys(seen.summary.figures, 1))
    if not names:
        raise BadInput(f"{folders[0]}: no figure there, nor in the other folders: measure with rtqual select")
    versions = _ordered(found.values(), by_kernel)
    figures = [name for name, _ in sorted(names.items(), key=lambda pair: (-pair[1], pair[0]))]
    order = {version: n for n, version in enumerate(versions)}
    rows = [
        LabRow(clean(group.board), name, group, tuple(sorted(its.values(), key=lambda seen: order[seen.version])))
        for (_, name, group), its in sorted(found.items())
    ]
    shown = tuple(sorted(figures[:MOST_FIGURES], key=_figure_order))
    marked = _marked(rows, shown)
    together = tuple(_over_boards(marked, shown, order))
    return Lab(tuple(marked), versions, shown, tuple(figures[MOST_FIGURES:]), together, len(folders))


def short_hash(*parts: str) -> str:
    """A name of a file for what strangers named: safe and distinct."""
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:16]


def worse(figure: str, unit: str) -> int:
    """1 where more is worse, -1 where less is, 0 where neither is known."""
    return {Better.LOWER: 1, Better.HIGHER: -1, None: 0}[better(figure, unit)]


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts 6.9 before 6.12, and a release candidate before its release."""
    text = re.sub(r"[-~]rc(?=\d)", " rc", text)
    key = [
        (1, int(part[:300]), "") if part.isascii() and part.isdigit() else (0 if part == " rc" else 2, 0, part)
        for part in _NUMBER.split(text)
        if part
    ]
    return (*key, (1, -1, ""))


def _seen(folder: Path, digest: Digest, by_kernel: bool) -> Iterator[tuple[tuple[str, str, Group], SeenVersion]]:
    name = clean(folder.resolve().name)
    campaign = LabCampaign(folder, name, clean(digest.body.mission), digest.campaign, tuple(digest.body.verdicts))
    wanted: dict[tuple[tuple[int, int], ...], Collection[str]] = {}  # groups have the same figures, mostly
    for of in digest.body.groups:
        names = tuple((row[0], row[-1]) for row in of.figures)
        if names not in wanted:
            wanted[names] = _wanted(digest, of)
        kernel = clean((of.kernels[0].split() or [""])[0]) if len(of.kernels) == 1 else ""
        board = clean(of.names[0]) if len(of.names) == 1 else ""
        seen = SeenVersion(
            version=(kernel or name) if by_kernel else name,
            campaign=campaign,
            began=clean(of.began or ""),
            kernel=kernel,
            drawn=of.drawn,
            problems=digest.texts(of.problems),
            facts=digest.facts(of),
            summary=digest.summary(of, wanted[names]),
        )
        yield (clean(of.board), board, of.group), seen


def _wanted(digest: Digest, of: GroupDigest) -> Collection[str]:
    given = [digest.text(row[0]) for row in of.figures]
    wanted = {*digest.asked(of), *USUAL} & {*given}
    return wanted or given[:_MOST_OF_A_ROW]


def _ordered(found: Iterable[dict[str, SeenVersion]], by_kernel: bool) -> dict[str, str]:
    """The versions in their order, each with when it was first measured."""
    first: dict[str, str] = {}
    for seen in (seen for its in found for seen in its.values()):
        began = first.get(seen.version, "")
        first[seen.version] = min(began, seen.began) if began and seen.began else began or seen.began
    if by_kernel:
        return dict(sorted(first.items(), key=lambda pair: natural(pair[0])))
    return dict(sorted(first.items(), key=lambda pair: (pair[1], natural(pair[0]))))


def _unlike(before: Summary, after: Summary, figure: str) -> str:
    if before.conditions is after.conditions and before.timing == after.timing:
        return ""
    return unlike(before, after, figure)


def _figure_order(name: str) -> tuple[int, str]:
    usual = ("p99", "max", "p50")
    return (usual.index(name) if name in usual else len(usual), name)


def _marked(rows: Sequence[LabRow], figures: Sequence[str]) -> list[LabRow]:
    """With the changes of every series, looked for in all of them together."""
    series = [
        (row, name, row.compared(name).points)
        for row in rows
        for name in figures
        if any(seen.figure(name) for seen in row.seen)
    ]
    together = max(TOGETHER, 1 << (len(series) - 1).bit_length())
    found = courses([[point for _, point in points] for _, _, points in series], together)
    for (row, name, _), course in zip(series, found, strict=True):
        row.courses[name] = course
    return list(rows)


def _over_boards(rows: Sequence[LabRow], figures: Sequence[str], order: dict[str, int]) -> Iterator[SharedChange]:
    alike: defaultdict[tuple[str, str, str, int], list[LabRow]] = defaultdict(list)
    for row in rows:
        alike[row.group.candidate, row.group.instrument, row.group.load, row.group.cpus].append(row)
    labels = list(order)
    for (candidate, instrument, load, _), some in alike.items():
        for name in figures:
            table: list[list[float | None]] = [[None] * len(order) for _ in some]
            for values, row in zip(table, some, strict=True):
                for place, point in row.compared(name).points:
                    values[order[row.seen[place].version]] = point.value
            for shift in shifts(table, len(figures) * len(alike)):
                yield SharedChange(labels[shift.at], name, clean(candidate), clean(instrument), clean(load), shift)
