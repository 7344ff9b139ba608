# SPDX-License-Identifier: MIT
"""The site's data: small files of JavaScript, each a call `rtq(KEY, VALUE)` with JSON, for a page from a disk can load
scripts and nothing else. What another board's campaign does not change stays the same, octet for octet: a board's file
names versions, and is itself named, by hashes."""

import base64
import json
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from rtqual.base.words import clean
from rtqual.engine.analysis.figure.model import Interval
from rtqual.engine.analysis.regression.changes import CONFIRMED
from rtqual.parts.site.lab import Lab, LabRow, SeenVersion, short_hash, worse

OUTCOMES = ("", "met", "not met", "undecided", "indicative", "no requirement")  # a letter each, by place
_MOST_CHANGES = 2000  # of changes.js, the newest first
_EXACT = 10**15  # whole numbers below it are shorter without their point
_MOST = 1e300
_MIDDLE, _STEP = 128, 100  # of a heat map's octet: 1 % a step


class Links:
    """Where the reports of campaigns lie, as seen from the site."""

    def __init__(self, out: Path, reports: str) -> None:
        self.out, self.reports = out, reports
        self._known: dict[Path, str] = {}  # boards share campaigns

    def of(self, folder: Path) -> str:
        """Empty where the campaign has no report."""
        if folder not in self._known:
            self._known[folder] = self._link(folder)
        return self._known[folder]

    def _link(self, folder: Path) -> str:
        if not (folder / "report.html").is_file():
            return ""
        if self.reports:
            return f"{self.reports.rstrip('/')}/{quote(os.fsencode(folder.resolve().name))}/report.html"
        return quote(os.fsencode(os.path.relpath(folder.resolve() / "report.html", self.out.resolve())))


def files(lab: Lab, links: Links) -> Iterator[tuple[str, bytes]]:
    """All files of data by their names below the site."""
    order = {version: n for n, version in enumerate(lab.versions)}
    systems = _systems(lab.rows)
    yield _file("data/index.js", "index", _index(lab, systems))
    yield _file("data/verdicts.js", "verdicts", _verdicts(systems, order))
    yield _file("data/changes.js", "changes", changes(lab))
    for n, figure in enumerate(lab.figures):
        yield _file(f"data/heat-{short_hash(figure)}.js", f"heat {n}", _heat(lab.rows, figure, order))
    by_board: defaultdict[tuple[str, str], list[LabRow]] = defaultdict(list)
    by_version: defaultdict[str, list[tuple[LabRow, SeenVersion]]] = defaultdict(list)
    for row in lab.rows:
        by_board[row.board, row.name].append(row)
        for seen in row.seen:
            by_version[seen.version].append((row, seen))
    for (board, name), rows in by_board.items():
        key = short_hash(board, name)
        yield _file(f"data/board-{key}.js", f"board {key}", _board(rows, lab.figures, links))
    for version, pairs in by_version.items():
        key = short_hash(version)
        yield _file(f"data/version-{key}.js", f"version {key}", _version(pairs, lab.figures))


def _file(name: str, key: str, value: Any) -> tuple[str, bytes]:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return name, f"rtq({json.dumps(key)},{text})\n".encode()


def _systems(rows: Sequence[LabRow]) -> dict[tuple[str, str, str], list[LabRow]]:
    """Boards with a candidate each, which verdicts are about."""
    found: defaultdict[tuple[str, str, str], list[LabRow]] = defaultdict(list)
    for row in rows:
        found[row.board, row.name, row.group.candidate].append(row)
    return dict(found)


def _index(lab: Lab, systems: dict[tuple[str, str, str], list[LabRow]]) -> dict[str, Any]:
    places = {key: n for n, key in enumerate(systems)}
    cells = {cell: n for n, cell in enumerate(dict.fromkeys(_cell(row) for row in lab.rows))}
    return {
        "campaigns": lab.campaigns,
        "versions": [[version, began[:10], short_hash(version)] for version, began in lab.versions.items()],
        "figures": [[figure, f"heat-{short_hash(figure)}"] for figure in lab.figures],
        "leftOut": len(lab.left_out),
        "cells": [*cells],
        "systems": [
            [some[0].place, clean(candidate), short_hash(board, name)]
            for (board, name, candidate), some in systems.items()
        ],
        "rows": [
            [row.id, places[row.board, row.name, row.group.candidate], cells[_cell(row)], row.seen[-1].began[:10]]
            for row in lab.rows
        ],
    }


def _cell(row: LabRow) -> str:
    group = row.group
    return clean(f"{group.instrument}, load {group.load}, {group.cpus} CPU")


def _verdicts(systems: dict[tuple[str, str, str], list[LabRow]], order: dict[str, int]) -> list[str]:
    """A line a system, a digit a version: the place in OUTCOMES."""
    lines = []
    for rows in systems.values():
        line = ["0"] * len(order)
        for row in rows:
            for seen in row.seen:
                outcome, _, _ = seen.campaign.of(row.group)
                line[order[seen.version]] = str(OUTCOMES.index(outcome)) if outcome in OUTCOMES else "0"
        lines.append("".join(line))
    return lines


def changes(lab: Lab) -> dict[str, Any]:
    """The newest first, by the versions that made them; what many boards have in common once."""
    order = {version: n for n, version in enumerate(lab.versions)}
    every: list[tuple[int, int, int, float, float, bool, str, int]] = []
    for n, row in enumerate(lab.rows):
        for figure, course in row.courses.items():
            known, unit = row.known(figure) if course.changes else [], _unit(row, figure)
            for change in course.changes:
                version = order[row.seen[known[change.at]].version]
                new = change.state(len(known) - 1) == "new"
                ends = digits(change.before), digits(change.after)
                every.append((version, n, lab.figures.index(figure), *ends, new, unit, worse(figure, unit)))
    every.sort(key=lambda change: (-change[0], -_apart(change[3], change[4])))
    drifts = [
        [n, lab.figures.index(figure), digits(course.drift.before), digits(course.drift.after), _unit(row, figure)]
        for n, row in enumerate(lab.rows)
        for figure, course in row.courses.items()
        if course.drift
    ]
    together = [
        [order[each.version], lab.figures.index(each.figure), each.candidate, f"{each.instrument}, load {each.load}",
         digits(each.shift.times), each.shift.boards]
        for each in lab.together
    ]  # fmt: skip
    return {"changes": every[:_MOST_CHANGES], "left": max(0, len(every) - _MOST_CHANGES), "confirmed": CONFIRMED,
            "drifts": drifts[:_MOST_CHANGES], "together": together[::-1]}  # fmt: skip


def _apart(before: float, after: float) -> float:
    return abs(math.log(after) - math.log(before)) if before > 0 and after > 0 else math.inf


def _unit(row: LabRow, figure: str) -> str:
    return next((its.unit for seen in reversed(row.seen) if (its := seen.figure(figure))), "")


def _heat(rows: Sequence[LabRow], figure: str, order: dict[str, int]) -> dict[str, Any]:
    """An octet a point: how far from the row's median, worse upwards; 0 not measured, 255 not comparable."""
    octets = bytearray(len(rows) * len(order))
    middles: list[float | None] = []
    units, ways = [], []
    for n, row in enumerate(rows):
        found = [(order[seen.version], its.value) for seen in row.seen if (its := seen.figure(figure))]
        middle = median([value for _, value in found]) if found else None
        unit = _unit(row, figure)
        way = worse(figure, unit)
        middles.append(None if middle is None else digits(middle))
        units.append(unit)
        ways.append(way)
        for version, value in found:
            if middle is not None and middle > 0 < value:
                far = (way or 1) * (math.log(value) - math.log(middle)) * _STEP
                octets[n * len(order) + version] = round(min(max(far + _MIDDLE, 1), 254))
            elif value == middle:
                octets[n * len(order) + version] = _MIDDLE
            else:
                octets[n * len(order) + version] = 255
    kinds = list(dict.fromkeys(units))
    return {
        "data": base64.b64encode(octets).decode(),
        "middle": middles,
        "units": kinds,
        "unit": [kinds.index(unit) for unit in units],
        "way": ways,
    }


def _board(rows: Sequence[LabRow], figures: Sequence[str], links: Links) -> dict[str, Any]:
    campaigns = list({id(seen.campaign): seen.campaign for row in rows for seen in row.seen}.values())
    places = {id(campaign): n for n, campaign in enumerate(campaigns)}
    newest = max((seen for row in rows for seen in row.seen), key=lambda seen: seen.began)
    return {
        "title": rows[0].place,
        "facts": sorted(newest.facts.items()),
        "since": newest.began[:19],
        "campaigns": [[c.name, c.mission, links.of(c.folder), c.sha256[:12]] for c in campaigns],
        "rows": {row.id: _row(row, figures, places) for row in rows},
    }


def _row(row: LabRow, figures: Sequence[str], places: dict[int, int]) -> dict[str, Any]:
    last = row.seen[-1]
    outcome, headline, reason = last.campaign.of(row.group)
    return {
        "candidate": clean(row.group.candidate),
        "cell": _cell(row),
        "versions": [short_hash(seen.version) for seen in row.seen],
        "campaign": [places[id(seen.campaign)] for seen in row.seen],
        "began": [seen.began[:10] for seen in row.seen],
        "kernel": last.kernel,
        "verdict": [outcome, clean(headline), clean(reason)],
        "problems": [clean(text) for text in last.problems],
        "figures": {figure: _figure(row, figure) for figure in figures if figure in row.courses},
    }


def _figure(row: LabRow, figure: str) -> dict[str, Any]:
    """Arrays over the places at which it is known."""
    found = [(n, its) for n, seen in enumerate(row.seen) if (its := seen.figure(figure))]
    course, known = row.courses[figure], row.known(figure)
    unit = _unit(row, figure)
    return {
        "unit": unit,
        "way": worse(figure, unit),
        "at": [n for n, _ in found],
        "value": [digits(its.value) for _, its in found],
        "low": [_end(its.interval.low) if its.interval else None for _, its in found],
        "high": [_end(its.interval.high) if its.interval else None for _, its in found],
        "runs": [its.runs for _, its in found],
        "samples": found[-1][1].n,
        "least": [n for n, its in found if its.at_least],
        "changes": [
            [known[change.at], digits(change.before), digits(change.after), change.state(len(known) - 1)]
            for change in course.changes
        ],
        "since": known[0] if known else None,
        "odd": [known[n] for n in course.odd],
        "drift": [digits(course.drift.before), digits(course.drift.after)] if course.drift else None,
        "why": clean(row.compared(figure).why),
        "noInterval": clean(found[-1][1].why_no_interval),
    }


def _version(pairs: Sequence[tuple[LabRow, SeenVersion]], figures: Sequence[str]) -> dict[str, Any]:
    """By row and figure: value, ends of its interval, kernel."""
    return {
        row.id: {
            figure: [digits(its.value), *_ends(its.interval), seen.kernel]
            for figure in figures
            if (its := seen.figure(figure))
        }
        for row, seen in pairs
    }


def _ends(interval: Interval | None) -> list[float | int | None]:
    return [_end(interval.low), _end(interval.high)] if interval else [None, None]


def _end(value: float) -> float | int | None:
    return digits(value) if math.isfinite(value) else None


def digits(value: float) -> float | int:
    """Four of them, as short as JSON has them, which has no infinity."""
    short = float(f"{value:.4g}")
    if abs(short) < _EXACT:
        return int(short) if short.is_integer() else short
    return min(max(short, -_MOST), _MOST)
