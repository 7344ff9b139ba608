# SPDX-License-Identifier: MIT
"""`rtqual history`: each figure over the campaigns of several versions, and the versions that changed it."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import count
from rtqual.engine.analysis.difference.statement import Margins, margin_value, margins_of
from rtqual.engine.analysis.figure.asked import USUAL, asked_of, figure_name
from rtqual.engine.analysis.figure.cells import measured_of
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.model import Figure, Group, Summary
from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.analysis.regression.changes import BOARDS, LEAST, Change, Drift, Point, Shift, changes, drift, shifts
from rtqual.engine.campaign import folder as kept
from rtqual.engine.mission import Mission


@dataclass(frozen=True)
class Version:
    """A figure in one campaign; None where it was not measured, or is refused."""

    label: str
    figure: Figure | None
    again: bool = False  # its records are those of a version before: not one draw more


@dataclass(frozen=True)
class Series:
    """A figure over the versions, as they were named. All versions of a change are numbers of versions, from 0."""

    group: Group
    name: str
    versions: tuple[Version, ...]
    changes: tuple[Change, ...] = ()  # with those that later versions took back
    drift: Drift | None = None
    why_none: str = ""  # why no change can be looked for

    @property
    def points(self) -> list[tuple[int, Point]]:
        """The figures with an interval of two ends, by the number of their version."""
        return [(n, point) for n, one in enumerate(self.versions) if not one.again and (point := _point(one.figure))]

    @property
    def newest(self) -> int:
        """The number of the last version that counts."""
        return max((n for n, _ in self.points), default=0)

    def state(self, change: Change) -> str:
        """Of a change: 'new', 'stands', 'gone'. Versions without an interval confirm nothing."""
        order = {n: place for place, (n, _) in enumerate(self.points)}
        return replace(change, since=order[change.since]).state(len(order) - 1)


@dataclass(frozen=True)
class Together:
    """A version that moved a figure on many boards."""

    candidate: str
    name: str
    cell: str  # what was measured, without the board
    label: str
    shift: Shift


@dataclass(frozen=True)
class History:
    """Each figure over the versions, and what versions did to many boards."""

    series: tuple[Series, ...]
    together: tuple[Together, ...]


def history(folders: Sequence[Path]) -> History:
    """The folders of finished campaigns are the versions, the oldest first. Raises BadInput for any other folder."""
    if len(folders) < 2:
        raise BadInput("rtqual history: takes the folders of two campaigns or more, the oldest version first")
    campaigns = [kept.load(folder) for folder in folders]
    summaries = [
        {
            m.group: m.summary
            for m in measured_of(one.mission, one.scale, groups(one.result.records), looked=one.result.looked)
        }
        for one in campaigns
    ]
    hashes = [
        {group: frozenset(r.manifest.hash for r in members) for group, members in groups(one.result.records).items()}
        for one in campaigns
    ]
    labels = _labels(folders)
    missions = [one.mission for one in campaigns]
    found = []
    for group in dict.fromkeys(group for one in summaries for group in one):
        of_group = [one.get(group) for one in summaries]
        drawn = [one.get(group) for one in hashes]
        again = [one is not None and one in drawn[:n] for n, one in enumerate(drawn)]
        for name in _names(group, missions, of_group):
            figures = [None if one is None or one.problems else one.figures.get(name) for one in of_group]
            versions = tuple(map(Version, labels, figures, again))
            found.append(_explained(Series(group, name, versions), of_group))
    together = sum(not one.why_none for one in found)
    margins = margins_of(asked_of(missions))
    series = tuple(one if one.why_none else _marked(one, together, margins) for one in found)
    return History(series, tuple(_over_boards(series)))


def _over_boards(series: Sequence[Series]) -> Iterator[Together]:
    """Of figures that as many as BOARDS boards have."""
    alike: defaultdict[tuple[str, str, str, str, int], list[Series]] = defaultdict(list)
    for one in (one for one in series if not one.why_none):
        group = one.group
        alike[group.candidate, one.name, group.instrument, group.load, group.cpus].append(one)
    enough = {of: boards for of, boards in alike.items() if len(boards) >= BOARDS}
    for (candidate, name, *_), boards in enough.items():
        values = [[None if one.again or not one.figure else one.figure.value for one in s.versions] for s in boards]
        for shift in shifts(values, len(enough)):
            cell = replace(boards[0].group, board=f"{len(boards)} boards").title
            yield Together(candidate, name, cell, boards[0].versions[shift.at].label, shift)


def _labels(folders: Sequence[Path]) -> list[str]:
    """The folders' own names, where these tell them apart."""
    short = [folder.resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _names(group: Group, missions: Sequence[Mission], summaries: Sequence[Summary | None]) -> list[str]:
    """What the missions ask of the group; where they ask nothing, the usual figures or what the instrument printed."""
    names = [
        figure_name(one) for one in asked_of(missions) if (one.instrument, one.load) == (group.instrument, group.load)
    ]
    given = list(dict.fromkeys(name for one in summaries if one for name in one.figures))
    names = [name for name in dict.fromkeys([*names, *USUAL]) if name in given]
    return names or given


def _point(figure: Figure | None) -> Point | None:
    if figure is None or figure.interval is None:
        return None
    ends = figure.interval.low, figure.interval.high
    return Point(figure.value, *ends) if all(map(math.isfinite, ends)) else None


def _explained(series: Series, summaries: Sequence[Summary | None]) -> Series:
    """With the reason why no change can be looked for, if there is one."""
    measured = [one for one in summaries if one and series.name in one.figures]
    for before, one in pairwise(measured):
        if why := unlike(before, one, series.name):
            return replace(series, why_none=why)
    known = len(series.points)
    if known >= LEAST:
        return series
    reasons = [one.figure.why_no_interval for one in series.versions if one.figure and one.figure.why_no_interval]
    why = f"{count(known, 'version')} with an interval, {LEAST} are needed"
    return replace(series, why_none=f"{why} ({reasons[-1]})" if reasons else why)


def _marked(series: Series, together: int, margins: Margins) -> Series:
    """With its changes, but for those that the missions say do not matter."""
    where, points = [n for n, _ in series.points], [point for _, point in series.points]
    found = changes(points, together)
    return replace(series, changes=tuple(_mattering(series, where, found, margins)), drift=drift(points, together))


def _mattering(series: Series, where: Sequence[int], found: Sequence[Change], margins: Margins) -> Iterator[Change]:
    stated = margins.get((series.group.instrument, series.group.load, series.name), ())
    figure = next(one.figure for one in series.versions if one.figure)
    for one in found:
        before, after = (replace(figure, value=value) for value in (one.before, one.after))
        margin = margin_value(stated, before, after)
        if margin is None or abs(one.after - one.before) > margin:
            gone = None if one.gone is None else where[one.gone]
            yield replace(one, at=where[one.at], since=where[one.since], gone=gone)
