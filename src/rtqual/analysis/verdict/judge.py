# SPDX-License-Identifier: MIT
"""What the records support: gates first, then the weighted score, and never more than the intervals allow."""

from collections.abc import Iterator, Mapping, Sequence

from rtqual.analysis.difference.model import Comparison, ShiftFunction
from rtqual.analysis.difference.statement import fits
from rtqual.analysis.figure.cells import Asked, Cells, by_board
from rtqual.analysis.figure.intervals import RUNS_FOR_INTERVAL
from rtqual.analysis.figure.model import Group
from rtqual.analysis.figure.summary import DETAIL, Measured
from rtqual.analysis.figure.wording import span
from rtqual.analysis.verdict.change import would_change
from rtqual.analysis.verdict.findings import findings
from rtqual.analysis.verdict.gates import beyond, gates, limit_text, shortfall
from rtqual.analysis.verdict.model import Gate, Outcome, Standing, Verdict
from rtqual.analysis.verdict.score import ScoreTable, score_table, scores_of
from rtqual.base.words import count, listed, some, under
from rtqual.kernel.needs import Known
from rtqual.mission import Mission, Requirement
from rtqual.record.schema import Timing

INSTRUCTIONS_CAVEAT = (
    "Figures from the virtual board count instructions, not caches or memory contention: "
    "they rank kernels, they are no latencies for flight."
)
HOST_TIMED_CAVEAT = "host-timed, so the same run gives other figures another time"
NOT_MEASURED = "nothing was measured"
_MOST_PLACES = 4  # named in a caveat
_ORDER = (Outcome.MET, Outcome.UNDECIDED, Outcome.NOT_MET)


def judge(
    mission: Mission,
    scale: str,
    measured: Sequence[Measured],
    comparisons: Sequence[Comparison],
    shifts: Sequence[ShiftFunction],
    *,
    configs: Mapping[str, Known],
    failures: Mapping[Group, str],
) -> tuple[Verdict, ...]:
    """One verdict a board. `configs`: each candidate's kernel configuration, None where it was not read."""
    return tuple(
        _verdict(mission, cells, tuple(findings(mission, cells, comparisons, shifts)), configs)
        for cells in by_board(mission, scale, measured, failures)
    )


def _verdict(mission: Mission, cells: Cells, found: tuple[str, ...], configs: Mapping[str, Known]) -> Verdict:
    table = score_table(mission.criteria, cells)
    unplanned = tuple(one for one in mission.requirements if one.name in cells.unplanned)
    standings = _standings(mission, cells, table, configs)
    fly = _choice([one for one in standings if one.may_fly == Outcome.MET])
    return Verdict(
        board=cells.board,
        fly=fly,
        headline=_headline(standings, table, fly, [one.name for one in unplanned]),
        standings=standings,
        findings=found,
        would_change=would_change(mission, standings, table, fly),
        caveats=tuple(dict.fromkeys([*_not_measured(unplanned), *_caveats(mission, cells, table)])),
        not_measured=tuple(one.name for one in unplanned),
    )


def _choice(may: Sequence[Standing]) -> str | None:
    """The only candidate that may fly, or the only one that ranks first."""
    first = [one for one in may if one.rank is not None and one.rank == may[0].rank]
    if len(may) == 1 or len(first) == 1:
        return may[0].candidate
    return None


def _standings(mission: Mission, cells: Cells, table: ScoreTable, configs: Mapping[str, Known]) -> tuple[Standing, ...]:
    """All candidates: those that may fly first, then by total; equal ranks where no lead is certain."""
    asked = [one for one in mission.requirements if one.name not in cells.unplanned]
    judged = {name: gates(mission.mission.needs, asked, cells, name, configs.get(name)) for name in cells.candidates}
    may_fly = {name: _may_fly(judged[name], cells, name) for name in cells.candidates}
    totals = {name: table.total(name) for name in cells.candidates}
    ordered = sorted(cells.candidates, key=lambda name: (_ORDER.index(may_fly[name]), -(totals[name] or 0.0)))
    ranks = _ranks(ordered, may_fly, table)
    return tuple(
        Standing(
            candidate=name,
            may_fly=may_fly[name],
            rank=ranks.get(name),
            total=totals[name],
            gates=judged[name],
            scores=scores_of(table, mission.criteria, cells, name),
            refusals=tuple(_refusals(judged[name], cells, name)),
        )
        for name in ordered
    )


def _may_fly(judged: Sequence[Gate], cells: Cells, candidate: str) -> Outcome:
    outcomes = {gate.outcome for gate in judged}
    if Outcome.NOT_MET in outcomes:
        return Outcome.NOT_MET
    if Outcome.UNDECIDED in outcomes or cells.unplanned or not cells.of(candidate):
        return Outcome.UNDECIDED
    return Outcome.MET


def _ranks(ordered: Sequence[str], may_fly: Mapping[str, Outcome], table: ScoreTable) -> dict[str, int]:
    """1 for the first. A candidate that cannot be told from the best of a rank shares that rank."""
    ranks: dict[str, int] = {}
    best = ""
    for place, name in enumerate((name for name in ordered if table.total(name) is not None), start=1):
        if best and may_fly[best] == may_fly[name] and not table.leads(best, name):
            ranks[name] = ranks[best]
        else:
            ranks[name] = place
            best = name
    return ranks


def _refusals(judged: Sequence[Gate], cells: Cells, candidate: str) -> Iterator[str]:
    """Why no verdict can be given on a candidate: what was not, or not honestly, measured."""
    if not cells.of(candidate):
        yield NOT_MEASURED
    for gate in judged:
        if gate.outcome == Outcome.UNDECIDED:
            yield f"'{gate.requirement}': {gate.reason}"


def _headline(standings: Sequence[Standing], table: ScoreTable, fly: str | None, unplanned: Sequence[str]) -> str:
    if unplanned and any(one.may_fly == Outcome.UNDECIDED for one in standings):
        named = [one for one in standings if one.refusals or one.may_fly == Outcome.NOT_MET]
        what = f"this scale does not measure {some(unplanned, 'requirements')}"
        return f"No verdict: {'; '.join([what, *(_beside(one, table, fly) for one in named)])}."
    may = [one for one in standings if one.may_fly == Outcome.MET]
    others = "; ".join(_beside(one, table, fly) for one in standings if one.candidate != fly)
    if fly is not None:
        verb = "Fly" if len(standings) > 1 else "Cleared to fly:"
        return f"{verb} {fly}: it {_meets(may[0])}" + (f"; {others}." if others else ".")
    if len(may) > 1:
        tied = [one.candidate for one in may if one.rank == may[0].rank]
        return f"No verdict: {listed(tied)} {_meets(may[0]).replace('meets', 'meet')}, {_tie(tied, table)}."
    if any(one.may_fly == Outcome.UNDECIDED for one in standings):
        return f"No verdict: {others}."
    return f"No candidate may fly: {others}."


def _meets(one: Standing) -> str:
    if not one.gates:
        return "meets the mission, which sets no requirement"
    return f"meets all {len(one.gates)} requirements" if len(one.gates) > 1 else "meets the one requirement"


def _tie(tied: Sequence[str], table: ScoreTable) -> str:
    if not table.criteria:
        return "and no criterion was measured for all of them"
    lead, interval = table.lead(*tied[:2])
    if interval is None or interval.low > 0:
        return f"and the lead of {tied[0]} rests on criteria without an interval from {RUNS_FOR_INTERVAL} or more runs"
    return f"and their scores do not tell them apart (lead {lead:.3f}{span(interval, '1')})"


def _beside(one: Standing, table: ScoreTable, fly: str | None) -> str:
    """A candidate that was not chosen, in a clause."""
    if one.may_fly == Outcome.MET:
        if fly is None or one.total is None or table.total(fly) is None:
            return f"{one.candidate} meets them too"
        lead, interval = table.lead(fly, one.candidate)
        return f"{one.candidate} meets them too and scores {lead:.3f}{span(interval, '1')} less"
    failed = [gate for gate in one.gates if gate.outcome == Outcome.NOT_MET]
    if failed:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return f"{one.candidate} fails {shortfall(failed[0])}{more}"
    undecided = [gate for gate in one.gates if gate.outcome == Outcome.UNDECIDED]
    if not undecided or NOT_MEASURED in one.refusals:
        return f"{one.candidate} was not measured"
    more = f" and {len(undecided) - 1} more" if len(undecided) > 1 else ""
    return f"{one.candidate} is undecided on '{undecided[0].requirement}'{more}"


def _not_measured(unplanned: Sequence[Requirement]) -> Iterator[str]:
    if unplanned:
        asked = [f"'{one.name}' ({one.instrument} {under(one.load)}, {limit_text(one)})" for one in unplanned]
        yield f"Not measured at this scale: {listed(asked)}."


def _caveats(mission: Mission, cells: Cells, table: ScoreTable) -> Iterator[str]:
    timings = {one.summary.timing for one in cells.measured.values()}
    if timings & {Timing.INSTRUCTIONS, Timing.UNTESTED}:
        yield INSTRUCTIONS_CAVEAT
    for text, groups in _remarks(cells).items():
        yield f"{_where(groups, cells)}: {text}."
    for group, why in cells.failures.items():
        yield f"{group.instrument} {under(group.load)}, {group.candidate}: gave no record: {why}."
    yield from _left_out(table)
    loose = [one.name for one, firm in zip(table.criteria, table.firm, strict=True) if not firm]
    if loose:
        verb = "has" if len(loose) == 1 else "have"
        yield (
            f"{some(loose, f'of {len(table.criteria)} criteria')} {verb} no interval from {RUNS_FOR_INTERVAL} or more "
            "runs: in the score as measured."
        )
    yield from _unused_margins([*mission.requirements, *mission.criteria], cells)
    yield from _on_other_cpus(mission, cells)


def _remarks(cells: Cells) -> dict[str, list[Group]]:
    """Remarks on the cells, each once; details that differ from cell to cell are left to the report."""
    remarked: dict[str, list[Group]] = {}
    for group, one in cells.measured.items():
        remarks = [HOST_TIMED_CAVEAT] if one.summary.timing == Timing.HOST_TIMED else []
        remarks += [text.partition(DETAIL)[0] for text in one.summary.caveats]
        remarks += [f"not used: {text}" for text in one.summary.problems]
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
        there = [one for one in cells.measured if (one.instrument, one.load, one.cpus) == (instrument, load, cpus)]
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


def _unused_margins(asked: Sequence[Asked], cells: Cells) -> Iterator[str]:
    """Margins in a unit that their figures do not have."""
    for one in asked:
        units = {figure.unit for name in cells.candidates if (figure := cells.figure(one, name))}
        if one.margin and units and not any(fits(one.margin, unit) for unit in units):
            found = listed(sorted(units))
            yield f"The margin of '{one.name}' is not used: it is in {one.margin.unit}, the figure in {found}."


def _on_other_cpus(mission: Mission, cells: Cells) -> Iterator[str]:
    """Limits broken on numbers of CPUs that the verdict does not rest on."""
    for requirement in mission.requirements:
        counted = cells.cpus(requirement.instrument, requirement.load)
        if requirement.statistic is None or requirement.at_most is None:
            continue
        for group, one in cells.measured.items():
            same = (group.instrument, group.load) == (requirement.instrument, requirement.load)
            if same and group.cpus != counted and one.summary.distribution is not None:
                misses = beyond(one.summary.distribution, requirement.limit.value)
                if misses and requirement.statistic == "max":
                    yield (
                        f"On {count(group.cpus, 'CPU')} {group.candidate} breaks '{requirement.name}' "
                        f"({misses:,} of {count(one.summary.samples, 'sample')}); the verdict rests on "
                        f"{count(counted, 'CPU')}."
                    )
