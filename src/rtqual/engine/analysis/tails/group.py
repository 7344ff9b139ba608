# SPDX-License-Identifier: MIT
"""The tails of one group: of every thread, or why there are none; and how often a requirement's limit was passed."""

from collections.abc import Sequence

from rtqual.engine.analysis.figure.intervals import exceedance_bound
from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.tails.estimate import estimate
from rtqual.engine.analysis.tails.model import Exceedance, Refusal, Tails, Why
from rtqual.engine.analysis.tails.streams import interval_ns, streams
from rtqual.engine.analysis.verdict.gates import beyond
from rtqual.engine.mission import Mission, Requirement, Statistic
from rtqual.protocols.instrument.about import about_record
from rtqual.protocols.record.schema import Record, Timing

# Statistics that are not a place among the samples.
_SPREADS = (Statistic.STD, Statistic.RANGE, Statistic.P95_AVG)


def tails(summary: Summary, records: Sequence[Record], mission: Mission) -> Tails | None:
    """Of a group's records; None where its samples are not taken at an interval, so that they have no rate."""
    interval = interval_ns(records)
    periodic = any(about_record(record.manifest).periodic for record in records)  # even where none says how often
    if summary.distribution is None or summary.distribution.unit != "ns" or not (interval or periodic):
        return None
    asked_ns = float(mission.mission.duration)
    refused = _refused(summary, interval)
    if refused:
        return Tails(asked_ns, (refused,))
    assert interval is not None  # noqa: S101 else it is refused
    found = tuple(estimate(stream, asked_ns) for stream in streams(records, interval))
    limits = [requirement for requirement in mission.requirements if _limits(requirement, summary)]
    return Tails(asked_ns, found, tuple(_exceedance(requirement, summary, interval) for requirement in limits))


def _refused(summary: Summary, interval: int | None) -> Refusal | None:
    if summary.timing != Timing.REAL:
        reason = "its time is not real: a virtual board's rare events say nothing of a real board's"
        return Refusal(None, Why.CLOCK, reason)
    if summary.problems:
        return Refusal(None, Why.PROBLEMS, summary.problems[0])
    if interval is None:
        reason = "the records do not state one sampling interval, so there is no time to count in"
        return Refusal(None, Why.NO_INTERVAL, reason)
    return None


def _limits(requirement: Requirement, summary: Summary) -> bool:
    same = (requirement.instrument, requirement.load) == (summary.group.instrument, summary.group.load)
    return bool(same and requirement.at_most and requirement.statistic and requirement.statistic not in _SPREADS)


def _exceedance(requirement: Requirement, summary: Summary, interval: int) -> Exceedance:
    """Where their order is known, samples count as the independent samples they are worth."""
    assert summary.distribution is not None  # noqa: S101 asked before
    exceeding = beyond(summary.distribution, requirement.limit.value)
    effective = summary.dependence.effective_late if summary.dependence else None
    worth = effective or float(summary.samples)
    bound = exceedance_bound(exceeding * worth / summary.samples, worth)
    return Exceedance(
        requirement=requirement.name,
        limit=requirement.limit.value,
        exceeding=exceeding,
        samples=summary.samples,
        effective=effective,
        bound=bound,
        once_in_ns=interval / bound,
    )
