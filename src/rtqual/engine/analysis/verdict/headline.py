# SPDX-License-Identifier: MIT
"""What a board's figures support, in one sentence, and all boards' in one: the words never exceed the clock."""

from collections.abc import Sequence
from dataclasses import dataclass

from rtqual.base.words import count, listed, some
from rtqual.engine.analysis.figure.asked import RUNS_FOR_INTERVAL
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.losses import DIED
from rtqual.engine.analysis.verdict.chance import surely_out
from rtqual.engine.analysis.verdict.clock import clock_of
from rtqual.engine.analysis.verdict.gates import EVERY_RUN_ENDS, shortfall
from rtqual.engine.analysis.verdict.model import Gate, Ground, Outcome, Standing, Verdict
from rtqual.engine.analysis.verdict.score import ScoreTable, times
from rtqual.engine.boards.guest import why_no_hardware
from rtqual.engine.mission import PUBLISHED, Mission
from rtqual.protocols.record.schema import Timing

NOT_MEASURED = "nothing was measured"
TO_FLY = "To fly it, measure on the board."
MOST_BESIDE = 3  # candidates that a headline tells beside the first
LEAST_SHARE = 0.5  # of the criteria's weight: a score by less is shown and ranks, and the headline does not tell it
_RANKS_FIRST, _WAS_TRIED = "ranks first on the emulator", "was tried on the emulator"


@dataclass(frozen=True)
class Answer:
    """What a campaign says, over all its boards."""

    headline: str
    fly: str | None
    ground: Ground
    boards: tuple[str, ...]  # whose verdicts it rests on


def ground_of(mission: Mission, cells: Cells) -> Ground:
    """What the figures of a board can support."""
    if cells.board == PUBLISHED:
        return Ground.PUBLISHED
    here = any(candidate.is_here for candidate in mission.candidates if candidate.name in cells.candidates)
    if here or {clock_of(measured.summary) for measured in cells.measured.values()} == {Timing.REAL}:
        return Ground.REFERENCE if _why_no_flight_candidate(mission, cells) else Ground.FLIGHT
    return Ground.ACCEPTED if cells.accept_virtual else Ground.EMULATED


def _why_no_flight_candidate(mission: Mission, cells: Cells, what: str = "it") -> str:
    """What was measured in real time is for comparison, by whatever board; empty where it may fly."""
    guests = [measured.summary.hypervisor for measured in cells.measured.values() if measured.summary.hypervisor]
    if guests:
        return why_no_hardware(guests[0], what)
    stated = {
        candidate.name: candidate.release or candidate.preempt_rt is not None
        for candidate in mission.candidates
        if candidate.is_here
    }
    unstated = [name for name in cells.candidates if not stated.get(name, True)]
    return f"the mission states no release or preempt-rt for {listed(unstated)}" if unstated else ""


def result(verdict: Verdict, standing: Standing) -> tuple[str, Outcome]:
    """A candidate's in two or three words, for every table of candidates, and what it is as an outcome."""
    kept = "meets the limits there" if standing.seen == Outcome.MET else "breaks limits there"
    first = _RANKS_FIRST if len(verdict.standings) > 1 else _WAS_TRIED
    words = (
        (verdict.ground == Ground.REFERENCE, "for comparison", Outcome.UNDECIDED),
        (standing.candidate == verdict.fly, "passes" if verdict.ground == Ground.ACCEPTED else "fly", Outcome.MET),
        (standing.may_fly == Outcome.UNASKED, _unasked(verdict, standing), Outcome.UNDECIDED),
        (standing.candidate == verdict.first, first, Outcome.INDICATIVE),
        (standing.may_fly == Outcome.NOT_MET, "out", Outcome.NOT_MET),
        (bool(standing.refusals), "refused", Outcome.UNDECIDED),
        (bool(verdict.not_measured), "not judged", Outcome.UNDECIDED),
        (standing.may_fly == Outcome.INDICATIVE, kept, Outcome.INDICATIVE),
        (standing.may_fly == Outcome.MET, "meets the mission", Outcome.MET),
    )
    return next(((said, outcome) for holds, said, outcome in words if holds), ("undecided", Outcome.UNDECIDED))


def headline(
    mission: Mission,
    cells: Cells,
    ground: Ground,
    standings: Sequence[Standing],
    table: ScoreTable,
    first: str | None,
    unplanned: Sequence[str],
) -> str:
    """One board's, in a sentence or two."""
    if ground == Ground.REFERENCE:
        here = all(candidate.is_here for candidate in mission.candidates if candidate.name in cells.candidates)
        why = _why_no_flight_candidate(mission, cells, "it" if here else f"board {cells.board}")
        verb = "is not a flight candidate" if len(cells.candidates) == 1 else "are no flight candidates"
        return f"{listed(cells.candidates)} {verb}: {why}. What was measured there is for comparison."
    if unplanned and any(standing.seen == Outcome.UNDECIDED for standing in standings):
        told = [standing for standing in standings if standing.refusals or standing.seen == Outcome.NOT_MET]
        what = f"this scale does not measure {some(unplanned, 'requirements')}"
        return f"No verdict: {'; '.join([what, *(_beside(standing, table, first) for standing in told)])}."
    may = [standing for standing in standings if standing.keeps]
    may.sort(key=lambda standing: standing.candidate != first)
    if any(standing.seen == Outcome.UNASKED for standing in may):
        return _without_requirements(mission, ground, standings, may, table, first)
    others = _few([_beside(standing, table, first) for standing in standings if standing.candidate != first])
    if first is None:
        return _no_choice(ground, standings, may, table, others)
    return _chosen(first, ground, standings, may[0], others)


def _chosen(first: str, ground: Ground, standings: Sequence[Standing], best: Standing, others: str) -> str:
    found = f"it {_meets(best)}" + (f"; {others}." if others else ".")
    if ground == Ground.EMULATED or best.may_fly == Outcome.INDICATIVE:
        return f"{first} {_RANKS_FIRST if len(standings) > 1 else _WAS_TRIED}: {found} {TO_FLY}"
    if ground == Ground.ACCEPTED:
        leads = " and ranks first" if len(standings) > 1 else ""
        return f"{first} passes on the emulator{leads}: {found}{_by_what(ground)} {TO_FLY}"
    verb = "Fly" if len(standings) > 1 else "Cleared to fly"
    return f"{verb} {first}: {found}{_by_what(ground)}"


def _few(clauses: Sequence[str]) -> str:
    """A headline has room for some; the tables below it have all."""
    more = len(clauses) - MOST_BESIDE
    if more < 2:
        return "; ".join(clauses)
    return "; ".join([*clauses[:MOST_BESIDE], f"{more} more candidates stand below"])


def _unasked(verdict: Verdict, standing: Standing) -> str:
    return "ranks first" if standing.candidate == verdict.first and len(verdict.standings) > 1 else "no requirement"


def _without_requirements(
    mission: Mission,
    ground: Ground,
    standings: Sequence[Standing],
    may: Sequence[Standing],
    table: ScoreTable,
    first: str | None,
) -> str:
    """Nothing is met where nothing is required: at most the criteria rank."""
    tied = _tied(may)
    ranked = bool(mission.criteria and first)
    others = [standing for standing in standings if standing.candidate != first and (ranked or standing not in may)]
    told = "".join(f"; {_beside(standing, table, first)}" for standing in others)
    if not mission.criteria:
        return f"No verdict: the mission sets no requirement and no criterion. The figures are for comparison{told}."
    if len(may) == 1:
        return f"No verdict on {may[0].candidate}: the mission sets no requirement{told}."
    if first is None:
        return f"No verdict on {listed(tied)}: the mission sets no requirement, {_tie(tied, table)}{told}."
    where = " on the emulator" if ground == Ground.EMULATED else ""
    ranks = f"By its criteria {first} ranks first{where}{told}."
    return f"No verdict: the mission sets no requirement. {ranks}{_by_what(ground)}"


def _no_choice(
    ground: Ground, standings: Sequence[Standing], may: Sequence[Standing], table: ScoreTable, others: str
) -> str:
    emulated = ground == Ground.EMULATED or any(standing.may_fly == Outcome.INDICATIVE for standing in standings)
    nothing = "No ranking on the emulator" if emulated else "No verdict"
    if luck := _by_luck(standings, may, table):
        them = "it" if len(luck) == 1 else "them"
        few = f"Too few runs of {listed(luck)} failed to tell {them} from {may[0].candidate} by more than chance."
        return f"{nothing}: {others}. {few}"
    if len(may) > 1:
        tied = _tied(may)
        open_ = "".join(
            f"; {_beside(standing, table, None)}" for standing in standings if standing.seen == Outcome.UNDECIDED
        )
        return f"{nothing}: {listed(tied)} {_meets(may[0], 'meet')}, {_tie(tied, table)}{open_}."
    if any(standing.seen == Outcome.UNDECIDED for standing in standings):
        return f"{nothing}: {others}."
    if emulated and any(standing.may_fly != Outcome.NOT_MET for standing in standings):
        return f"No candidate meets every limit on the emulator: {others}. To judge them, measure on the board."
    return f"No candidate may fly: {others}.{_by_what(ground)}"


def _by_luck(standings: Sequence[Standing], may: Sequence[Standing], table: ScoreTable) -> list[str]:
    """Those that are out, as far as was measured, and might be the equals of the best one; empty where others too are
    in its way."""
    if not may:
        return []
    best, *rest = may
    rest += [standing for standing in standings if standing.seen == Outcome.UNDECIDED]
    if not all(table.leads(best.candidate, standing.candidate) for standing in rest):
        return []
    return [
        standing.candidate
        for standing in standings
        if standing.seen == Outcome.NOT_MET
        and not surely_out(standing.gates, best.gates)
        and not table.leads(best.candidate, standing.candidate)
    ]


def _tied(may: Sequence[Standing]) -> list[str]:
    """Those that nobody leads for certain; all where nothing ranks them."""
    return [standing.candidate for standing in may if standing.rank in (None, 1)] or [
        standing.candidate for standing in may
    ]


def _by_what(ground: Ground) -> str:
    """Of a verdict that says "fly", "ranks first" or that nobody may, without a measurement in real time here."""
    return {
        Ground.ACCEPTED: " (The mission takes counted instructions for time.)",
        Ground.PUBLISHED: " (By the figures that a study printed.)",
    }.get(ground, "")


def answer(verdicts: Sequence[Verdict]) -> Answer | None:
    """All boards' headlines as one: real time before counted instructions, these before what a study printed.

    None without a verdict.
    """
    for ground in (Ground.FLIGHT, Ground.ACCEPTED, Ground.EMULATED, Ground.PUBLISHED, Ground.REFERENCE):
        found = [verdict for verdict in verdicts if verdict.ground == ground]
        if found:
            return _together(ground, found)
    return None


def _together(ground: Ground, verdicts: Sequence[Verdict]) -> Answer:
    boards = tuple(verdict.board for verdict in verdicts)
    if len(verdicts) == 1:
        return Answer(verdicts[0].headline, verdicts[0].fly, ground, boards)
    chosen = {verdict.fly for verdict in verdicts}
    fly = chosen.pop() if len(chosen) == 1 else None
    if fly is not None:
        said = f"{fly} passes on" if ground == Ground.ACCEPTED else f"Fly {fly}, on"
        return Answer(f"{said} each of the boards {listed(boards)}.{_by_what(ground)}", fly, ground, boards)
    every = " ".join(f"Board {verdict.board}: {verdict.headline}" for verdict in verdicts)
    return Answer(f"No one answer for {len(boards)} boards. {every}", None, ground, boards)


def _meets(standing: Standing, verb: str = "meets") -> str:
    requirements = f"all {len(standing.gates)} requirements" if len(standing.gates) > 1 else "the one requirement"
    return f"{verb} {requirements}" + (" there" if standing.may_fly == Outcome.INDICATIVE else "")


def _tie(tied: Sequence[str], table: ScoreTable) -> str:
    if not table.criteria and table.loose:
        reasons = listed(list(dict.fromkeys(table.loose.values())))
        return f"and {some(list(table.loose), 'criteria')} cannot rank them ({reasons})"
    if not table.criteria:
        return "and no criterion was measured for all of them"
    lead = table.lead(*tied[:2]) if len(tied) > 1 else None
    if lead is None:
        return f"and no criterion compares {listed(tied[:2])}"
    if lead[1] is None:
        return f"and the lead of {tied[0]} rests on criteria without an interval from {RUNS_FOR_INTERVAL} or more runs"
    return f"and their scores do not tell them apart ({times(*lead)})"


def _scores(standing: Standing, table: ScoreTable, fly: str | None) -> str:
    """How many times less than the chosen one, where criteria of half of the weight or more compare them and it is less
    for certain."""
    pair = table.beside(fly, standing.candidate) if fly is not None else None
    lead = table.lead(str(fly), standing.candidate) if pair else None
    if pair is None or lead is None or pair.share < LEAST_SHARE:
        return ""
    if not (standing.keeps or table.leads(str(fly), standing.candidate)):
        return ""
    part = "" if pair.share == 1 else f", by {100 * pair.share:.0f} % of the criteria's weight"
    return f" and scores {times(*lead)} less{part}"


def _fails(failed: Sequence[Gate], broken: Sequence[Gate]) -> str:
    """What it does not meet, a hang before all else."""
    limits = [gate for gate in (*failed, *broken) if gate.requirement != EVERY_RUN_ENDS and not gate.lost_alone]
    ends = [gate.in_runs for gate in failed if gate.requirement == EVERY_RUN_ENDS]
    said = [f"{DIED} in {n[0]} of {count(n[1], 'run')}" if n else DIED for n in ends]
    more = len({gate.requirement for gate in limits}) - 1
    for first in limits[:1]:
        verb = "fails" if first.outcome == Outcome.NOT_MET else "breaks"
        said.append(f"{verb} {shortfall(first)}" + (f" and {more} more" if more > 0 else ""))
    return " and ".join(said)


def _beside(standing: Standing, table: ScoreTable, fly: str | None) -> str:
    """A candidate that was not chosen, in a clause."""
    if standing.seen == Outcome.UNASKED:
        return f"{standing.candidate} {_scores(standing, table, fly).removeprefix(' and ') or 'has no score'}"
    if standing.seen == Outcome.MET:
        return f"{standing.candidate} meets {'them too' if fly else 'every requirement'}{_scores(standing, table, fly)}"
    failed = [gate for gate in standing.gates if gate.outcome == Outcome.NOT_MET]
    broken = [gate for gate in standing.gates if gate.seen == Outcome.NOT_MET]
    if broken:
        scores = _scores(standing, table, fly) if all(gate.measured is None for gate in broken) else ""
        return f"{standing.candidate} {_fails(failed, broken)}{scores}"
    undecided = [gate for gate in standing.gates if gate.outcome == Outcome.UNDECIDED]
    if not undecided and NOT_MEASURED not in standing.refusals and standing.refusals:
        return f"{standing.candidate} is refused: {standing.refusals[0]}"
    if not undecided or NOT_MEASURED in standing.refusals:
        return f"{standing.candidate} was not measured"
    more = f" and {len(undecided) - 1} more" if len(undecided) > 1 else ""
    return f"{standing.candidate} is undecided on '{undecided[0].requirement}'{more}"
