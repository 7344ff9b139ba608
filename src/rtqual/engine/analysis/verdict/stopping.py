# SPDX-License-Identifier: MIT
"""What more runs could still decide, for campaigns that run until it is decided (runs = "auto").

A campaign looks after fixed numbers of runs, and every interval allows for all of these looks (asked.py), so that a
claim made at any of them is wrong in 5 of 100 campaigns at most. What is asked of a cell is decided when every
requirement on it is met or not met, the candidates that may fly differ from the others or are equal within the margin,
and the criteria leave one of them first. What no number of runs decides, as a refused record, is not waited for.
"""

from collections.abc import Iterator, Sequence

from rtqual.base.words import listed, under
from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.difference.statement import stands_for
from rtqual.engine.analysis.figure.asked import EXTREMES, Asked
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.verdict.chance import surely_out
from rtqual.engine.analysis.verdict.model import Open, Outcome, Standing
from rtqual.engine.analysis.verdict.score import ScoreTable
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Timing

_NUMBERED = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def undecided(
    mission: Mission,
    cells: Cells,
    standings: Sequence[Standing],
    table: ScoreTable,
    comparisons: Sequence[Comparison],
    first: str | None,
) -> tuple[Open, ...]:
    """What more runs of a cell could decide, a sentence each."""
    found = [*_gates(mission, cells, standings), *_pairs(mission, cells, standings, comparisons)]
    if first is None:
        found += [*_lead(mission, cells, standings, table), *_luck(mission, cells, standings)]
    return tuple(dict.fromkeys(found))


def _open(asked: Asked, cells: Cells, why: str) -> Open:
    return Open(asked.instrument, asked.load, cells.cpus(asked.instrument, asked.load), why)


def _gates(mission: Mission, cells: Cells, standings: Sequence[Standing]) -> Iterator[Open]:
    for requirement in mission.requirements:
        gates = [gate for standing in standings for gate in standing.gates if gate.requirement == requirement.name]
        names = [gate.candidate for gate in gates if gate.seen == Outcome.UNDECIDED and gate.measured is not None]
        if names:
            yield _open(requirement, cells, f"'{requirement.name}' of {listed(names)}")


def _pairs(
    mission: Mission, cells: Cells, standings: Sequence[Standing], comparisons: Sequence[Comparison]
) -> Iterator[Open]:
    """Pairs in a required figure, unless both are out."""
    out = {standing.candidate for standing in standings if standing.seen == Outcome.NOT_MET}
    for requirement in mission.requirements:
        wanted = stands_for(cells.compared(requirement))
        groups = {cells.group(requirement, name) for name in cells.candidates}
        for comparison in comparisons:
            pair = {comparison.a.candidate, comparison.b.candidate}
            asked = comparison.statistic == wanted and {comparison.a, comparison.b} <= groups and not pair <= out
            if asked and comparison.relation == Relation.UNDECIDED and _may_be_decided(comparison, cells):
                yield _open(requirement, cells, f"{listed(sorted(pair))} in '{requirement.name}'")


def _may_be_decided(comparison: Comparison, cells: Cells) -> bool:
    """Not where a record was refused, the two were measured otherwise, or no run shows a difference."""
    a, b = (cells.measured[group].summary for group in (comparison.a, comparison.b))
    if a.problems or b.problems or unlike(a, b, comparison.statistic) or comparison.statistic in EXTREMES:
        return False
    return comparison.difference.interval is None or not comparison.difference.interval.least


def _lead(mission: Mission, cells: Cells, standings: Sequence[Standing], table: ScoreTable) -> Iterator[Open]:
    """The criteria where they leave several candidates first."""
    tied = [standing.candidate for standing in standings if standing.rank == 1]
    if len(tied) < 2:
        return
    lead = table.lead(*tied[:2])
    if lead and lead[1] and lead[1].least:
        return
    for criterion in mission.criteria:
        timings = [measured.summary.timing for name in tied if (measured := cells.find(criterion, name))]
        if criterion.name not in table.missing and Timing.HOST_TIMED not in timings:
            yield _open(criterion, cells, f"which of {listed(tied)} leads by '{criterion.name}'")


def _luck(mission: Mission, cells: Cells, standings: Sequence[Standing]) -> Iterator[Open]:
    """What broke a limit in too few runs to be told from who kept it."""
    kept = [standing for standing in standings if standing.keeps]
    for standing in (standing for standing in standings if standing.seen == Outcome.NOT_MET):
        if any(not surely_out(standing.gates, other.gates) for other in kept):
            failed = {gate.requirement for gate in standing.gates if gate.seen == Outcome.NOT_MET}
            for requirement in (requirement for requirement in mission.requirements if requirement.name in failed):
                yield _open(requirement, cells, f"whether {standing.candidate} breaks '{requirement.name}' by chance")


def told(mission: Mission, cells: Cells, open_: Sequence[Open]) -> Iterator[str]:
    """Where runs were "auto" and something is asked: after how many looks they stopped, and why."""
    asked = {(requirement.instrument, requirement.load) for requirement in (*mission.requirements, *mission.criteria)}
    groups: dict[tuple[str, str, int], tuple[tuple[int, ...], int]] = {}
    for group, measured in cells.measured.items():
        looks = cells.looks.get(group, ())
        if len(looks) > 1 and measured.summary.planned and (group.instrument, group.load) in asked:
            groups.setdefault((group.instrument, group.load, group.cpus), (looks, measured.summary.planned))
    for (instrument, load, cpus), (looks, planned) in groups.items():
        left = [
            question.why
            for question in open_
            if (question.instrument, question.load, question.cpus) == (instrument, load, cpus)
        ]
        number = looks.index(planned)
        at = _NUMBERED[number] if number < len(_NUMBERED) else f"{number + 1}th"
        why = f"at the limit with {listed(left)} undecided" if left else "decided"
        yield (
            f"{instrument} {under(load)} stopped after {planned} runs, the {at} of {len(looks)} looks "
            f"({listed([str(look) for look in looks])} runs), {why}; its intervals allow for all of them."
        )
