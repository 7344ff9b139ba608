# SPDX-License-Identifier: MIT
"""Whether what is measured now got worse than a baseline: the regression gate, a pure function of records.

Groups equal in candidate, instrument, load, board and CPUs are paired (pairs.py); kernels and their parameters may
differ, for that is what is tried (origin.py). Each side's requirements are judged by its own mission.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from rtqual.base.errors import BadInput
from rtqual.base.words import count
from rtqual.engine.analysis.figure.asked import LEVEL
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.regression.course import Course, LostSince, Moved, Regressions, RequirementCourse
from rtqual.engine.analysis.regression.direction import asked_of
from rtqual.engine.analysis.regression.origin import Groups, cell_name, check_comparable, input_changes
from rtqual.engine.analysis.regression.pairs import GateRule, figures_judged, judge_pair, seeds_text
from rtqual.engine.analysis.verdict.clock import as_judged
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record


@dataclass(frozen=True)
class Side:
    """The baseline, or what is measured now. Records without a campaign have no requirements to compare."""

    name: str  # as the user gave it
    records: Sequence[Record]
    mission: Mission | None = None
    evidence: Evidence | None = None
    failures: Mapping[Group, str] = field(default_factory=dict)


def regressions(
    before: Side, after: Side, *, tolerance: float = 0.0, mission_only: bool = False, strict: bool = False
) -> Regressions:
    """See GateRule for `tolerance` and `mission_only`. Raises BadInput where the two cannot be compared."""
    asked = {**asked_of(before.mission), **asked_of(after.mission)}
    if mission_only and not asked:
        raise BadInput(f"{after.name}: --mission-only needs a finished campaign with a requirement or a criterion")
    rule = GateRule(asked, tolerance, mission_only)
    old, new = groups(before.records), groups(after.records)
    both = [group for group in old if group in new]
    if not both:
        raise BadInput(
            f"{before.name} and {after.name}: nothing to compare: candidate, instrument, load, board and number of "
            "CPUs must be the same"
        )
    check_comparable(old, new, (before.name, after.name))
    rule = replace(rule, family=sum(figures_judged(rule, group, old[group], new[group]) for group in both))
    judged = [judge_pair(rule, group, old[group], new[group]) for group in both]
    figures = tuple(chain.from_iterable(pair.figures for pair in judged))
    gone = [
        LostSince(group, cell_name(group), after.failures.get(group, "no record")) for group in old if group not in new
    ]
    return Regressions(
        before=before.name,
        after=after.name,
        figures=figures,
        answers=tuple(_answers(before.evidence, after.evidence)),
        lost=(*gone, *chain.from_iterable(pair.lost for pair in judged)),
        added=(
            *(cell_name(group) for group in new if group not in old),
            *chain.from_iterable(pair.added for pair in judged),
        ),
        inputs=input_changes(old, new),
        notes=(*_unsteady(old, new), *_by_chance(figures), *_not_asked(before, after)),
        strict=strict,
    )


def _answers(before: Evidence | None, after: Evidence | None) -> Iterator[RequirementCourse]:
    """Every requirement that either side asks, in the order of the baseline's; by whatever clock it was judged."""
    if before is None or after is None:
        return
    old, new = _gates(before), _gates(after)
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key), new.get(key)
        course = _course(was, now)
        if was and now:
            if course == Course.SAME and was.outcome != now.outcome:  # seen alike, by clocks that support other words
                course = Course.CHANGED
            limit = f"; the limit was '{was.limit}'" if was.limit != now.limit and was.limit else ""
            if limit and course == Course.SAME:
                course = Course.CHANGED
            reason = now.reason + limit
        else:
            reason = now.reason if now else "not asked any more"
        yield RequirementCourse(*key, course, as_judged(was) if was else None, as_judged(now) if now else None, reason)


def _gates(evidence: Evidence) -> dict[tuple[str, str, str], Gate]:
    return {
        (verdict.board, standing.candidate, gate.requirement): gate
        for verdict in evidence.verdicts
        for standing in verdict.standings
        for gate in standing.gates
    }


def _course(was: Gate | None, now: Gate | None) -> Course:
    """Only what was met can get worse; what is not asked any more cannot be judged."""
    then, seen = was.seen if was else None, now.seen if now else None
    if then == seen:
        return Course.SAME
    if now is None:
        return Course.UNDECIDED
    if was is not None and then == Outcome.MET:
        by_chance = seen == Outcome.UNDECIDED and was.limit == now.limit and _holds_limit(now)
        return Course.UNDECIDED if by_chance else Course.WORSE
    return Course.BETTER if seen == Outcome.MET and was is not None else Course.CHANGED


def _holds_limit(gate: Gate) -> bool:
    """Whether chance alone may have undecided it: beside a limit that is near, one campaign in two may be."""
    interval = gate.measured.interval if gate.measured else None
    return interval is not None and gate.limit_value is not None and interval.low <= gate.limit_value <= interval.high


def _unsteady(old: Groups, new: Groups) -> Iterator[str]:
    """Runs that should have repeated."""
    for group in (group for group in old if group in new):
        then = {record.inputs.key(): record for record in old[group] if record.manifest.timing.repeats}
        now = [record for record in new[group] if record.manifest.timing.repeats and record.inputs.key() in then]
        seeds = [
            record.inputs.seed for record in now if record.manifest.hash != then[record.inputs.key()].manifest.hash
        ]
        if seeds:
            yield (
                f"{cell_name(group)}: equal inputs gave other samples on {seeds_text(seeds)}; `rtqual reproduce` "
                "tells whether a run is deterministic here"
            )


def _by_chance(figures: Sequence[Moved]) -> Iterator[str]:
    """What a reader must expect of so many intervals."""
    judged = sum(
        not moved.exact and moved.course != Course.UNDECIDED and moved.before != moved.after for moved in figures
    )
    if judged:
        yield (
            f"{count(judged, 'figure')} judged by intervals that allow for all of them: where nothing changed, any is "
            f"called worse or better in at most {100 * (1 - LEVEL):.0f} of 100 jobs"
        )


def _not_asked(before: Side, after: Side) -> Iterator[str]:
    without = [side.name for side in (before, after) if side.evidence is None]
    if without:
        yield f"requirements are not compared: there is no finished campaign in {' nor in '.join(without)}"
