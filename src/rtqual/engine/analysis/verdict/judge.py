# SPDX-License-Identifier: MIT
"""What the records support: gates first, then the weighted score, and never more than the intervals allow."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from rtqual.base.units import format_duration
from rtqual.base.words import count, listed, some, under
from rtqual.engine.analysis.difference.model import Comparison, ShiftFunction
from rtqual.engine.analysis.difference.statement import fits
from rtqual.engine.analysis.figure.asked import LEVEL, Asked, ranked_by
from rtqual.engine.analysis.figure.cells import Cells, by_board
from rtqual.engine.analysis.figure.intervals import exceedance_bound
from rtqual.engine.analysis.figure.model import Figure, Group, LeftOut, LostRun
from rtqual.engine.analysis.figure.summary import Measured, without_counts
from rtqual.engine.analysis.figure.wording import value
from rtqual.engine.analysis.verdict.chance import surely_out
from rtqual.engine.analysis.verdict.change import would_change
from rtqual.engine.analysis.verdict.clock import clock_of
from rtqual.engine.analysis.verdict.differing import Besides
from rtqual.engine.analysis.verdict.findings import compared, findings
from rtqual.engine.analysis.verdict.gates import beyond, gates, limit_text
from rtqual.engine.analysis.verdict.headline import NOT_MEASURED, ground_of, headline
from rtqual.engine.analysis.verdict.model import Gate, Ground, Outcome, Standing, Verdict
from rtqual.engine.analysis.verdict.score import ScoreTable, score_table, scores_of
from rtqual.engine.analysis.verdict.stopping import told, undecided
from rtqual.engine.kernel.needs import Known
from rtqual.engine.mission import Mission, Requirement
from rtqual.protocols.record.schema import Timing

INSTRUCTIONS_CAVEAT = (
    "Figures from the virtual board count instructions, not caches or memory contention: "
    "they rank kernels, they are no latencies for flight."
)
MODELLED_CAVEAT = (
    "Figures with modelled memory or disks are not calibrated: they tell what these add and to whom, "
    "not microseconds of any real board, nor its worst case."
)
ACCEPTED_CAVEAT = (
    "The mission takes counted instructions for time (accept-virtual): good for continuous integration, not for flight."
)
ACCEPTED_LINE = "Judged on the emulator: the mission takes counted instructions for time (accept-virtual)"
HOST_TIMED_CAVEAT = "host-timed, so the same run gives other figures another time"
_NONE_SEEN = -math.log(1 - LEVEL)  # where so many are expected, none is drawn with 5 %
_MOST_PLACES = 4  # named in a caveat
_ORDER = (Outcome.MET, Outcome.UNASKED, Outcome.UNDECIDED, Outcome.NOT_MET)


def judge(
    mission: Mission,
    scale: str,
    measured: Sequence[Measured],
    comparisons: Sequence[Comparison],
    shifts: Sequence[ShiftFunction],
    *,
    configs: Mapping[str, Known],
    failures: Mapping[Group, str],
    lost: Sequence[LostRun] = (),
    left_out: Sequence[LeftOut] = (),
    apart: Mapping[str, Sequence[str]] = MappingProxyType({}),
    besides: Mapping[str, Besides] = MappingProxyType({}),
) -> tuple[Verdict, ...]:
    """One verdict a board. `configs`: each candidate's kernel configuration, None where it was not read. `apart`: of a
    model of boards, how its boards differ; `besides`: of a board, what its candidates have besides their kernels."""
    return tuple(
        _verdict(
            mission,
            cells,
            compared(mission, cells, comparisons, shifts),
            apart.get(cells.board, ()),
            configs,
            besides.get(cells.board, Besides()),
        )
        for cells in by_board(mission, scale, measured, failures, lost, left_out)
    )


def _verdict(
    mission: Mission,
    cells: Cells,
    pairs: tuple[Sequence[Comparison], Sequence[ShiftFunction]],
    apart: Sequence[str],
    configs: Mapping[str, Known],
    besides: Besides,
) -> Verdict:
    unplanned = tuple(requirement for requirement in mission.requirements if requirement.name in cells.unplanned)
    table, standings = _standings(mission, cells, configs)
    ground = ground_of(mission, cells)
    flies = ground != Ground.REFERENCE
    first = _choice(standings, table) if flies else None
    left = undecided(mission, cells, standings, table, pairs[0], first)
    return Verdict(
        board=cells.board,
        ground=ground,
        fly=first if ground.clears and _may_fly(standings, first) else None,
        first=first,
        headline=headline(
            mission, cells, ground, standings, table, first, [requirement.name for requirement in unplanned]
        ),
        standings=standings,
        findings=(*findings(mission, cells, *pairs), *apart),
        would_change=would_change(mission, standings, table, first) if flies else (),
        caveats=tuple(
            dict.fromkeys(
                [
                    *_not_measured(unplanned),
                    *told(mission, cells, left),
                    *_caveats(mission, cells, table),
                    *filter(None, [besides.text]),
                ]
            )
        ),
        differs=(*([ACCEPTED_LINE] if ground == Ground.ACCEPTED else []), *besides.differs),
        scored=table.share if mission.criteria else None,
        undecided=left,
        not_measured=tuple(requirement.name for requirement in unplanned),
    )


def _may_fly(standings: Sequence[Standing], first: str | None) -> bool:
    """Not where the mission takes counted instructions for time, and its figures are the host's."""
    return any(standing.candidate == first and standing.may_fly == Outcome.MET for standing in standings)


def _choice(standings: Sequence[Standing], table: ScoreTable) -> str | None:
    """The candidate beside which every other is out or surely behind: of equal ones that were judged by luck, the one
    that was decided first would fly. Nobody is the only one if nothing is asked."""
    for standing in (other_standing for other_standing in standings if other_standing.keeps):
        others = [
            other.candidate
            for other in standings
            if other is not standing and not surely_out(other.gates, standing.gates)
        ]
        if all(table.leads(standing.candidate, other) for other in others) and (others or standing.seen == Outcome.MET):
            return standing.candidate
    return None


def _standings(mission: Mission, cells: Cells, configs: Mapping[str, Known]) -> tuple[ScoreTable, tuple[Standing, ...]]:
    """The scores of those that are not out; and all candidates: those that may fly first, then by total."""
    asked = [requirement for requirement in mission.requirements if requirement.name not in cells.unplanned]
    judged = {name: gates(mission.mission.needs, asked, cells, name, configs.get(name)) for name in cells.candidates}
    may_fly = {name: _worst((gate.outcome for gate in judged[name]), cells, name) for name in cells.candidates}
    seen = {name: _worst((gate.seen for gate in judged[name]), cells, name) for name in cells.candidates}
    left = [name for name in cells.candidates if seen[name] != Outcome.NOT_MET]
    table = score_table(mission.criteria, cells, left)
    totals = {name: table.total(name) for name in cells.candidates}
    ordered = sorted(cells.candidates, key=lambda name: (_ORDER.index(seen[name]), -(totals[name] or 0.0)))
    ranks = {name: 1 + sum(table.leads(other, name) for other in left) for name in left if totals[name] is not None}
    return table, tuple(
        Standing(
            candidate=name,
            may_fly=may_fly[name],
            seen=seen[name],
            rank=ranks.get(name),
            total=totals[name],
            gates=judged[name],
            scores=scores_of(table, mission.criteria, cells, name),
            refusals=tuple(_refusals(judged[name], cells, name)),
        )
        for name in ordered
    )


def _worst(of_gates: Iterable[Outcome], cells: Cells, candidate: str) -> Outcome:
    outcomes = {*of_gates}
    if Outcome.NOT_MET in outcomes:
        return Outcome.NOT_MET
    if Outcome.UNDECIDED in outcomes or cells.unplanned or not _usable(cells, candidate):
        return Outcome.UNDECIDED
    if not outcomes:
        return Outcome.UNASKED
    return Outcome.INDICATIVE if Outcome.INDICATIVE in outcomes else Outcome.MET


def _usable(cells: Cells, candidate: str) -> bool:
    return any(not measured.summary.problems for measured in cells.of(candidate))


def _refusals(judged: Sequence[Gate], cells: Cells, candidate: str) -> Iterator[str]:
    """Why no verdict can be given on a candidate: what was not, or not honestly, measured."""
    if not cells.of(candidate):
        yield NOT_MEASURED
    elif not judged and not _usable(cells, candidate):
        yield f"nothing that was measured can be used: {cells.of(candidate)[0].summary.problems[0]}"
    for gate in judged:
        if gate.outcome == Outcome.UNDECIDED:
            yield f"'{gate.requirement}': {gate.reason}"


def _not_measured(unplanned: Sequence[Requirement]) -> Iterator[str]:
    if unplanned:
        asked = [
            f"'{requirement.name}' ({requirement.instrument} {under(requirement.load)}, {limit_text(requirement)})"
            for requirement in unplanned
        ]
        yield f"Not measured at this scale: {listed(asked)}."


def _caveats(mission: Mission, cells: Cells, table: ScoreTable) -> Iterator[str]:
    timings = {measured.summary.timing for measured in cells.measured.values()}
    if any(timing.counted for timing in timings):
        yield INSTRUCTIONS_CAVEAT
    if any(timing.modelled for timing in timings):
        yield MODELLED_CAVEAT
    if cells.accept_virtual and any(not timing.modelled for timing in timings - {Timing.REAL}):
        yield ACCEPTED_CAVEAT
    for text, groups in _remarks(cells).items():
        yield f"{_where(groups, cells)}: {text}."
    for group in dict.fromkeys((*cells.lost, *cells.failures)):
        if group not in cells.measured:
            why = cells.losses(group).text or f"gave no record: {cells.failures[group]}"
            yield f"{group.instrument} {under(group.load)}, {group.candidate}: {why}."
    yield from _exposure(mission, cells)
    yield from _missing(cells)
    for left_out in cells.left_out:
        yield f"{left_out.group.instrument} {under(left_out.group.load)}: {left_out.text}."
    yield from _left_out(table)
    yield from _unused_margins([*mission.requirements, *mission.criteria], cells)
    yield from _on_other_cpus(mission, cells)


def _exposure(mission: Mission, cells: Cells) -> Iterator[str]:
    """What no miss among the samples says of the mission's duration, at the rate of the instrument."""
    for requirement in (
        requirement for requirement in mission.requirements if requirement.at_most and requirement.statistic == "max"
    ):
        alike: dict[str, list[str]] = {}
        for name in cells.candidates:
            found = cells.find(requirement, name)
            if cells.losses(cells.group(requirement, name)).died:
                continue  # the rest of its runs say nothing of those that hung
            interval_ns = found.summary.conditions.parameters.get("interval") if found else None
            if found is None or not isinstance(interval_ns, int) or interval_ns <= 0 or found.summary.problems:
                continue
            summary, wakeups = found.summary, mission.mission.duration // interval_ns
            drawn = summary.distribution
            if not wakeups or drawn is None or drawn.overflow or beyond(drawn, requirement.limit.value):
                continue
            shown = math.ceil(wakeups * exceedance_bound(0, summary.samples, LEVEL))
            enough = math.ceil(_NONE_SEEN * wakeups)
            lasts, took, takes = (
                format_duration(ns / 1e9)
                for ns in (mission.mission.duration, summary.samples * interval_ns, enough * interval_ns)
            )
            emulated = "" if clock_of(summary) == Timing.REAL else " and the board is no later than the emulator"
            told = (
                f"{took} were measured, {summary.samples:,} wake-ups without a miss. The critical phase, {lasts}, has "
                f"{wakeups:,}, and fewer than {shown:,} misses (95 %, if wake-ups are independent{emulated}). To show "
                f"fewer than one takes {enough:,} wake-ups without a miss, {takes} of measurement."
            )
            alike.setdefault(told, []).append(name)
        for told, names in alike.items():
            yield f"'{requirement.name}' of {listed(names)}{', each' if len(names) > 1 else ''}: {told}"


def _missing(cells: Cells) -> Iterator[str]:
    """Planned cells of which there is neither a record nor a reason."""
    known = {(group.candidate, group.instrument, group.load) for group in (*cells.measured, *cells.failures)}
    for candidate, instrument, load in sorted(cells.planned - known):
        yield f"{instrument} {under(load)}, {candidate}: the plan's runs are missing."


def _remarks(cells: Cells) -> dict[str, list[Group]]:
    """Remarks on the cells, each once; details that differ from cell to cell are left to the report."""
    remarked: dict[str, list[Group]] = {}
    for group, measured in cells.measured.items():
        remarks = [HOST_TIMED_CAVEAT] if measured.summary.timing == Timing.HOST_TIMED else []
        remarks += [without_counts(text) for text in measured.summary.caveats]
        remarks += [f"not used: {text}" for text in measured.summary.problems]
        for remark in remarks:
            remarked.setdefault(remark, []).append(group)
    return remarked


def _where(groups: Sequence[Group], cells: Cells) -> str:
    """The cells of some groups in few words: candidates unless it is all of them, CPUs where they differ."""
    if len(groups) == len(cells.measured) > 1:
        return "Everything measured"
    several = len({group.cpus for group in cells.measured}) > 1
    places: dict[tuple[str, str, int], list[str]] = {}
    for group in groups:
        places.setdefault((group.instrument, group.load, group.cpus), []).append(group.candidate)
    names = []
    for (instrument, load, cpus), candidates in places.items():
        there = [
            group for group in cells.measured if (group.instrument, group.load, group.cpus) == (instrument, load, cpus)
        ]
        on_cpus = f" on {count(cpus, 'CPU')}" if several else ""
        of = f" of {listed(candidates)}" if len(candidates) < len(there) else ""
        names.append(f"{instrument} {under(load)}{on_cpus}{of}")
    more = len(names) - _MOST_PLACES
    return listed([*names[:_MOST_PLACES], f"{more} more"] if more > 1 else names)


def _left_out(table: ScoreTable) -> Iterator[str]:
    """Criteria that not all candidates have a figure for, by the candidates that lack one."""
    for absent in dict.fromkeys(table.missing.values()):
        names = [name for name, lacking in table.missing.items() if lacking == absent]
        yield f"Not in the score, for want of a usable figure of {listed(absent)}: {some(names, 'criteria')}."
    for why in dict.fromkeys(table.loose.values()):
        names = [name for name, reason in table.loose.items() if reason == why]
        yield f"Not in the score: {some(names, 'criteria')} ({why})."


def _unused_margins(asked: Sequence[Asked], cells: Cells) -> Iterator[str]:
    """Margins in a unit that their figures do not have."""
    for asks in asked:
        units = {figure.unit for name in cells.candidates if (figure := cells.figure(asks, name))}
        if asks.margin and units and not any(fits(asks.margin, unit) for unit in units):
            found = listed(sorted(units))
            yield f"The margin of '{asks.name}' is not used: it is in {asks.margin.unit}, the figure in {found}."


def _on_other_cpus(mission: Mission, cells: Cells) -> Iterator[str]:
    """Limits broken on numbers of CPUs that the verdict does not rest on."""
    for requirement in mission.requirements:
        counted = cells.cpus(requirement.instrument, requirement.load)
        for group, measured in cells.measured.items():
            same = (group.instrument, group.load) == (requirement.instrument, requirement.load)
            figure = measured.summary.figures.get(ranked_by(requirement, measured.summary.series))
            if not same or group.cpus == counted or figure is None or not _is_broken(requirement, figure):
                continue
            misses = (
                beyond(measured.summary.distribution, requirement.limit.value) if measured.summary.distribution else 0
            )
            of = f"{misses:,} of {count(measured.summary.samples, 'sample')}"
            told = of if misses and requirement.statistic == "max" else value(figure, requirement.limit.value)
            yield (
                f"On {count(group.cpus, 'CPU')} {group.candidate} breaks '{requirement.name}' ({told}); the verdict "
                f"rests on {count(counted, 'CPU')}."
            )


def _is_broken(requirement: Requirement, figure: Figure) -> bool:
    """By the figure as it is, whatever its interval: a reader must know."""
    limit = requirement.limit
    if limit.unit not in (None, figure.unit):
        return False
    return figure.value > limit.value if requirement.at_most else figure.value < limit.value
