# SPDX-License-Identifier: MIT
"""Prometheus' text format, for the node exporter's textfile collector or a push gateway.

Base units in the names, as Prometheus asks (prometheus.io/docs/practices/naming). An interval is two more metrics,
`_low` and `_high`; an end that the data do not give is infinite. Figures of runs that are refused are left out, and
rtqual_problems says how many reasons there are.
"""

import math
from collections.abc import Iterator

from rtqual.base.units import DURATIONS_NS, SIZES_B
from rtqual.base.words import clean
from rtqual.engine.analysis.figure.losses import by_group
from rtqual.engine.analysis.figure.model import Figure, Group, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.goals import Goals
from rtqual.engine.analysis.verdict.model import Ground, Outcome, Verdict
from rtqual.engine.mission import Mission

Metric = tuple[str, str, dict[str, str], float]  # name, what it is about, labels, value


def to_prometheus(mission: Mission, evidence: Evidence) -> str:
    from prometheus_client import CollectorRegistry, Gauge, generate_latest  # noqa: PLC0415 - for this format only

    registry = CollectorRegistry()
    gauges: dict[str, Gauge] = {}
    for name, about, labels, value in _metrics(mission, evidence):
        if name not in gauges:
            gauges[name] = Gauge(name, about, list(labels), registry=registry)
        gauges[name].labels(**{label: clean(text) for label, text in labels.items()}).set(value)
    return generate_latest(registry).decode()


def _metrics(mission: Mission, evidence: Evidence) -> Iterator[Metric]:
    whole = {"mission": mission.mission.name, "scale": evidence.scale}
    for summary in evidence.summaries:
        yield from _cell(summary, whole)
    for verdict in evidence.verdicts:
        yield from _verdict(verdict, whole)
    for goals in evidence.goals:
        yield from _goals(goals, whole)
    for group, runs in by_group(evidence.lost).items():
        about = "Runs that gave no record, at least once."
        for blame, number in (
            ("candidate", sum(run.died > 0 for run in runs)),
            ("other", sum(not run.died for run in runs)),
        ):
            yield "rtqual_lost_runs", about, {**_labels(group, whole), "counts_against": blame}, number
    for requirement in (needed for needed in mission.requirements if needed.origin):
        known = {
            name: requirement.origin.get(name, "") for name in ("id", "parent", "rationale", "deviation", "waiver")
        }
        about = "1: where a requirement comes from, and what was agreed on it; it changes no outcome."
        yield "rtqual_requirement_origin", about, {**whole, "requirement": requirement.name, **known}, 1.0
    about = "1: the mission takes counted instructions for time (accept-virtual), so rtqual_fly clears nothing to fly."
    yield "rtqual_accept_virtual", about, whole, float(mission.mission.accept_virtual)
    yield "rtqual_failed_cells", "Cells that gave no record.", whole, len(evidence.failures)


def _goals(goals: Goals, whole: dict[str, str]) -> Iterator[Metric]:
    about = f"1: this is how the {goals.name}'s goal was judged."
    for place in goals.places:
        where = _labels(place.group, whole)
        del where["instrument"]  # it is the way
        for way, reach in place.reaches.items():
            for goal, gate in reach.gates.items():
                for outcome in Outcome:
                    labels = {**where, "way": way, "goal": goal, "outcome": str(outcome)}
                    yield "rtqual_goal", about, labels, float(gate.outcome == outcome)


def _verdict(verdict: Verdict, whole: dict[str, str]) -> Iterator[Metric]:
    accepted = verdict.ground == Ground.ACCEPTED
    for standing in verdict.standings:
        who = {**whole, "candidate": standing.candidate, "board": verdict.board}
        yield (
            "rtqual_fly",
            "1: the candidate to fly.",
            who,
            float(standing.candidate == verdict.fly and not accepted),
        )
        about = "1: ranks first by counted instructions or a figure in time; only rtqual_fly clears it to fly."
        yield "rtqual_first", about, who, float(standing.candidate == verdict.first)
        about = "1: passes by counted instructions, which the mission takes for time; no clearance to fly."
        passes = standing.candidate == verdict.fly and accepted
        yield "rtqual_passes_on_emulator", about, who, float(passes)
        if verdict.scored is not None:
            about = "Share of the criteria's weight that the score rests on."
            yield "rtqual_score_share", about, who, verdict.scored
        if standing.total is not None:
            yield "rtqual_score", "Weighted mean over the criteria; 1 is best.", who, standing.total
        for gate in standing.gates:
            for outcome in Outcome:
                labels = {**who, "requirement": gate.requirement, "outcome": str(outcome)}
                about = "1: this is how the requirement was judged."
                yield "rtqual_requirement", about, labels, float(gate.outcome == outcome)


def _labels(group: Group, whole: dict[str, str]) -> dict[str, str]:
    return {
        **whole,
        "candidate": group.candidate,
        "board": group.board,
        "instrument": group.instrument,
        "load": group.load,
        "cpus": str(group.cpus),
    }


def _cell(summary: Summary, whole: dict[str, str]) -> Iterator[Metric]:
    cell = _labels(summary.group, whole)
    clock = {"clock": str(summary.timing)}
    yield "rtqual_runs", "Runs of a cell, and what their clock counts.", {**cell, **clock}, summary.runs
    yield "rtqual_samples", "Samples of a cell.", cell, summary.samples
    yield "rtqual_problems", "Reasons to refuse a cell's figures.", cell, len(summary.problems)
    for name, figure in () if summary.problems else summary.figures.items():
        yield from _figure(name, figure, cell)


def _figure(name: str, figure: Figure, cell: dict[str, str]) -> Iterator[Metric]:
    metric, unit, (times, over) = _named(figure.unit)
    labels = {**cell, "figure": name, **({"unit": figure.unit} if metric == "number" else {})}
    low, high = (figure.value, math.inf) if figure.at_least else (math.nan, math.nan)
    if figure.interval:
        low, high = figure.interval.low, figure.interval.high
    about = f"A figure over all runs of a cell{', in ' + unit.replace('_', ' ') if unit else ''}"
    for part, value in (("", figure.value), ("_low", low), ("_high", high)):
        if not math.isnan(value):
            end = {"": ".", "_low": "; lower end of its interval.", "_high": "; upper end of its interval."}[part]
            yield f"rtqual_{metric}{part}{'_' + unit if unit else ''}", about + end, labels, value * times / over


def _named(unit: str) -> tuple[str, str, tuple[float, float]]:
    """The metric, its base unit, and what to multiply and divide by to get there."""
    if unit in DURATIONS_NS:
        return "duration", "seconds", (DURATIONS_NS[unit], DURATIONS_NS["s"])
    if unit in SIZES_B:
        return "size", "bytes", (SIZES_B[unit], 1)
    if unit.removesuffix("/s") in SIZES_B:
        return "throughput", "bytes_per_second", (SIZES_B[unit.removesuffix("/s")], 1)
    return ("rate", "per_second", (1, 1)) if unit == "1/s" else ("number", "", (1, 1))
