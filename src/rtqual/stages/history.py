# SPDX-License-Identifier: MIT
"""`rtqual history`: each figure over the campaigns of several versions, and the versions that changed it."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import count
from rtqual.engine.analysis.difference.statement import Margins, margin_value, margins_of
from rtqual.engine.analysis.figure.asked import USUAL, asked_of, figure_name
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.model import Figure, Group, Summary
from rtqual.engine.analysis.regression.changes import (
    BOARDS,
    LEAST,
    Change,
    Drift,
    FigurePoint,
    Shift,
    changes,
    drift,
    shifts,
)
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.manifest import opened
from rtqual.engine.mission import Mission
from rtqual.stages.digests import digest_of


@dataclass(frozen=True)
class Version:
    """A figure in one campaign; None where it was not measured, or is refused."""

    label: str
    figure: Figure | None
    again: bool = False  # its records are those of a version before: not one draw more


@dataclass(frozen=True)
class FigureHistory:
    """A figure over the versions, as they were named. All versions of a change are numbers of versions, from 0."""

    group: Group
    name: str
    versions: tuple[Version, ...]
    changes: tuple[Change, ...] = ()  # with those that later versions took back
    drift: Drift | None = None
    why_none: str = ""  # why no change can be looked for

    @property
    def points(self) -> list[tuple[int, FigurePoint]]:
        """The figures with an interval of two ends, by the number of their version."""
        return [
            (n, point)
            for n, version in enumerate(self.versions)
            if not version.again and (point := _point(version.figure))
        ]

    @property
    def newest(self) -> int:
        """The number of the last version that counts."""
        return max((n for n, _ in self.points), default=0)

    def state(self, change: Change) -> str:
        """Of a change: 'new', 'stands', 'gone'. Versions without an interval confirm nothing."""
        order = {n: place for place, (n, _) in enumerate(self.points)}
        return replace(change, since=order[change.since]).state(len(order) - 1)


@dataclass(frozen=True)
class SharedShift:
    """A version that moved a figure on many boards."""

    candidate: str
    name: str
    cell: str  # what was measured, without the board
    label: str
    shift: Shift


@dataclass(frozen=True)
class History:
    """Each figure over the versions, and what versions did to many boards."""

    series: tuple[FigureHistory, ...]
    together: tuple[SharedShift, ...]


@dataclass(frozen=True)
class _Campaign:
    """What a campaign says of each group: its figures, and a hash of its records."""

    summaries: Mapping[Group, Summary]
    drawn: Mapping[Group, str]


def history(folders: Sequence[Path], *, records: bool = False) -> History:
    """The folders of finished campaigns are the versions, the oldest first; by their digests, or anew from their
    `records`. Raises BadInput for any other folder."""
    if len(folders) < 2:
        raise BadInput("rtqual history: takes the folders of two campaigns or more, the oldest version first")
    missions = _missions(folders)
    wanted = {*map(figure_name, asked_of(missions)), *USUAL}
    campaigns = [_campaign(folder, wanted, records) for folder in folders]
    labels = _labels(folders)
    found = []
    for group in dict.fromkeys(group for campaign in campaigns for group in campaign.summaries):
        of_group = [campaign.summaries.get(group) for campaign in campaigns]
        drawn = [campaign.drawn.get(group) for campaign in campaigns]
        again = [hash_ is not None and hash_ in drawn[:n] for n, hash_ in enumerate(drawn)]
        for name in _names(group, missions, of_group):
            figures = [
                None if summary is None or summary.problems else summary.figures.get(name) for summary in of_group
            ]
            versions = tuple(map(Version, labels, figures, again))
            found.append(_explained(FigureHistory(group, name, versions), of_group))
    together = sum(not series.why_none for series in found)
    margins = margins_of(asked_of(missions))
    series = tuple(series if series.why_none else _marked(series, together, margins) for series in found)
    return History(series, tuple(_over_boards(series)))


def _missions(folders: Sequence[Path]) -> list[Mission]:
    """The missions that were measured; the same bytes are read once."""
    read: dict[tuple[str, str, str], Mission] = {}
    for folder in folders:
        campaign = opened(folder)
        key = campaign.mission_sha256, campaign.scale, (campaign.files or {}).get(kept.DERIVED, "")
        if key not in read or campaign.files is None:
            read[key] = kept.planned_in(folder)[0]
    return list(read.values())


def _campaign(folder: Path, wanted: Collection[str], records: bool) -> _Campaign:
    """With the figures that are wanted; of a group that has none of them, all."""
    found = digest_of(folder, anew=records)
    summaries, drawn = {}, {}
    for of in found.body.groups:
        some = found.summary(of, wanted)
        summaries[of.group] = some if some.figures else found.summary(of)
        drawn[of.group] = of.drawn
    return _Campaign(summaries, drawn)


def _over_boards(series: Sequence[FigureHistory]) -> Iterator[SharedShift]:
    """Of figures that as many as BOARDS boards have."""
    alike: defaultdict[tuple[str, str, str, str, int], list[FigureHistory]] = defaultdict(list)
    for trend in (trend for trend in series if not trend.why_none):
        group = trend.group
        alike[group.candidate, trend.name, group.instrument, group.load, group.cpus].append(trend)
    enough = {of: boards for of, boards in alike.items() if len(boards) >= BOARDS}
    for (candidate, name, *_), boards in enough.items():
        values = [
            [None if version.again or not version.figure else version.figure.value for version in s.versions]
            for s in boards
        ]
        for shift in shifts(values, len(enough)):
            cell = replace(boards[0].group, board=f"{len(boards)} boards").title
            yield SharedShift(candidate, name, cell, boards[0].versions[shift.at].label, shift)


def _labels(folders: Sequence[Path]) -> list[str]:
    """The folders' own names, where these tell them apart."""
    short = [folder.resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _names(group: Group, missions: Sequence[Mission], summaries: Sequence[Summary | None]) -> list[str]:
    """What the missions ask of the group; where they ask nothing, the usual figures or what the instrument printed."""
    names = [
        figure_name(requirement)
        for requirement in asked_of(missions)
        if (requirement.instrument, requirement.load) == (group.instrument, group.load)
    ]
    given = list(dict.fromkeys(name for summary in summaries if summary for name in summary.figures))
    names = [name for name in dict.fromkeys([*names, *USUAL]) if name in given]
    return names or given


def _point(figure: Figure | None) -> FigurePoint | None:
    if figure is None or figure.interval is None:
        return None
    ends = figure.interval.low, figure.interval.high
    return FigurePoint(figure.value, *ends) if all(map(math.isfinite, ends)) else None


def _explained(series: FigureHistory, summaries: Sequence[Summary | None]) -> FigureHistory:
    """With the reason why no change can be looked for, if there is one."""
    measured = [summary for summary in summaries if summary and series.name in summary.figures]
    for before, other in pairwise(measured):
        if why := unlike(before, other, series.name):
            return replace(series, why_none=why)
    known = len(series.points)
    if known >= LEAST:
        return series
    reasons = [
        version.figure.why_no_interval
        for version in series.versions
        if version.figure and version.figure.why_no_interval
    ]
    why = f"{count(known, 'version')} with an interval, {LEAST} are needed"
    return replace(series, why_none=f"{why} ({reasons[-1]})" if reasons else why)


def _marked(series: FigureHistory, together: int, margins: Margins) -> FigureHistory:
    """With its changes, but for those that the missions say do not matter."""
    where, points = [n for n, _ in series.points], [point for _, point in series.points]
    found = changes(points, together)
    return replace(series, changes=tuple(_mattering(series, where, found, margins)), drift=drift(points, together))


def _mattering(
    series: FigureHistory, where: Sequence[int], found: Sequence[Change], margins: Margins
) -> Iterator[Change]:
    stated = margins.get((series.group.instrument, series.group.load, series.name), ())
    figure = next(version.figure for version in series.versions if version.figure)
    for change in found:
        before, after = (replace(figure, value=value) for value in (change.before, change.after))
        margin = margin_value(stated, before, after)
        if margin is None or abs(change.after - change.before) > margin:
            gone = None if change.gone is None else where[change.gone]
            yield replace(change, at=where[change.at], since=where[change.since], gone=gone)
