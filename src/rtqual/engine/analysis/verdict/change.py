# SPDX-License-Identifier: MIT
"""What would turn a verdict: other limits, other needs, other weights, more runs. All of it computed."""

import math
from collections.abc import Iterator, Sequence

from rtqual.base.units import format_value
from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.asked import (
    RUNS_AGAIN,
    RUNS_FOR_INTERVAL,
    RUNS_FOR_STD,
    RUNS_TO_JUDGE,
    figure_name,
)
from rtqual.engine.analysis.figure.model import Figure
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.analysis.figure.wording import digits
from rtqual.engine.analysis.verdict.model import Gate, Outcome, Standing, need_name
from rtqual.engine.analysis.verdict.score import ScoreTable, times
from rtqual.engine.mission import Mission, Requirement


def would_change(
    mission: Mission, standings: Sequence[Standing], table: ScoreTable, fly: str | None
) -> tuple[str, ...]:
    """Sentences, the most telling first. `standings` are best first."""
    flying = next((other_standing for other_standing in standings if other_standing.candidate == fly), None)
    others = [other_standing for other_standing in standings if other_standing.candidate != fly]
    sentences: list[str] = []
    if flying is not None:
        sentences += _own_margins(mission, flying)
    for standing in others:
        sentences += _readmission(mission, standing, table, fly)
    sentences += _weights(standings, table)
    for standing in standings:
        sentences += _more_runs(mission, standing)
    return tuple(dict.fromkeys(sentences))


def _own_margins(mission: Mission, flying: Standing) -> Iterator[str]:
    """How far each limit could tighten before the chosen candidate fell."""
    for requirement, gate in _measured(mission, flying):
        turn = _turning_limit(requirement, gate.measured)
        if turn is not None:
            way = "below" if requirement.at_most else "above"
            there = " on the emulator" if gate.outcome == Outcome.INDICATIVE else ""
            yield (
                f"{flying.candidate} would no longer meet '{requirement.name}'{there} with a limit {way} {turn} "
                f"(now {requirement.limit.text})."
            )


def _readmission(mission: Mission, standing: Standing, table: ScoreTable, fly: str | None) -> Iterator[str]:
    """What would let a candidate that fails fly."""
    unmet = [gate for gate in standing.gates if gate.seen != Outcome.MET]
    judged = {gate.requirement for gate in standing.gates}
    all_judged = all(requirement.name in judged for requirement in mission.requirements)
    then = _then(standing.candidate, table, fly) if len(unmet) == 1 and all_judged else ""
    for requirement, gate in _measured(mission, standing):
        turn = _turning_limit(requirement, gate.measured)
        if gate.outcome == Outcome.NOT_MET and turn is not None and not gate.lost:
            way = "or more" if requirement.at_most else "or less"
            now = f"(now {requirement.limit.text})"
            yield f"{standing.candidate} would meet '{requirement.name}' with a limit of {turn} {way} {now}{then}."
    failed = {gate.requirement for gate in unmet}
    needs = [need for need in mission.mission.needs if need_name(need) in failed]
    if needs and len(needs) == len(failed) and all_judged:
        lacking = f"need{'s' if len(needs) > 1 else ''} {listed(needs)}"
        then = _then(standing.candidate, table, fly) if fly else ""
        emulated = any(gate.on_emulator for gate in standing.gates)
        there = " on the emulator" if emulated else ""
        yield f"Without the {lacking} {standing.candidate} would meet every requirement{there}{then}."


def _then(candidate: str, table: ScoreTable, fly: str | None) -> str:
    """What readmission would come to in the score."""
    if fly is None:
        return ", its only unmet requirement"
    lead = table.lead(fly, candidate)
    if lead is None:
        return ""
    share = table.beside(fly, candidate).share
    of = "the score" if share == 1 else f"the score over {100 * share:.0f} % of the criteria's weight"
    interval = lead[1]
    if interval is None or interval.low <= 1 <= interval.high:
        return f", and {of} would not tell them apart"
    return f", and would lead {of}" if lead[0] < 1 else f", but {fly} would still lead {of}, {times(*lead)}"


def _weights(standings: Sequence[Standing], table: ScoreTable) -> Iterator[str]:
    """The weights at which the runner-up among those that may fly draws level."""
    may = [
        standing.candidate
        for standing in standings
        if standing.may_fly in (Outcome.MET, Outcome.UNASKED) and standing.total is not None
    ]
    if len(may) < 2:
        return
    leader, runner_up = may[:2]
    flips = table.flipping_weights(leader, runner_up)
    now = {criterion.name: criterion.weight for criterion in table.criteria}
    for name, weight in flips.items():
        way = "above" if weight > now[name] else "below"
        yield (f"{runner_up} would lead {leader} with a weight of '{name}' {way} {weight:.3g} (now {now[name]:.3g}).")
    if not flips:
        yield f"No other value of a single weight would put {runner_up} before {leader}."


def _more_runs(mission: Mission, standing: Standing) -> Iterator[str]:
    """How many runs would decide what is undecided."""
    for requirement, gate in _measured(mission, standing):
        if gate.outcome == Outcome.UNDECIDED and gate.measured is not None:
            more = _runs_missing(requirement, gate.measured)
            if more:
                about = "about " if gate.measured.runs >= RUNS_TO_JUDGE else ""
                yield (
                    f"'{requirement.name}' would be decided for {standing.candidate} by {about}"
                    f"{count(more, 'more run')} of {requirement.instrument}, if they spread like these."
                )


def _measured(mission: Mission, standing: Standing) -> Iterator[tuple[Requirement, Gate]]:
    gates = {gate.requirement: gate for gate in standing.gates}
    for requirement in mission.requirements:
        if requirement.name in gates:  # else the scale does not measure it
            yield requirement, gates[requirement.name]


def _turning_limit(requirement: Requirement, measured: Figure | None) -> str | None:
    """The limit at which the figure just meets it."""
    if measured is None:
        return None
    interval = measured.interval
    end = measured.value
    if interval is not None:
        end = interval.high if requirement.at_most else interval.low
    if measured.at_least and requirement.at_most:
        end = math.inf
    if not math.isfinite(end):
        return None
    return format_value(end, measured.unit, digits(end, requirement.limit.value))


def _runs_missing(requirement: Requirement, measured: Figure) -> int | None:
    """More runs needed: to be judged at all, or for the interval to leave the limit out.

    An interval shrinks with the square root of the runs, which a further look takes RUNS_AGAIN times as many of; None
    where it has no end to shrink.
    """
    if is_size(measured.unit):
        return None
    if measured.runs < RUNS_TO_JUDGE:
        return RUNS_TO_JUDGE - measured.runs
    if measured.interval is None:
        needed = RUNS_FOR_STD if figure_name(requirement) == "std" else RUNS_FOR_INTERVAL
        return max(0, needed - measured.runs) or None
    limit, value = requirement.limit.value, measured.value
    end = measured.interval.high if limit > value else measured.interval.low
    if math.isinf(end):
        close = measured.interval.runs_to_close
        return close - measured.runs if close else None
    if limit == value:
        return None
    return math.ceil(measured.runs * RUNS_AGAIN * ((end - value) / (limit - value)) ** 2) - measured.runs
