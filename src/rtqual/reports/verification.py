# SPDX-License-Identifier: MIT
"""What `rtqual verify` played and what it says of the requirements: its figures, and the forms that machines read.

A pure function of the mission, its procedures and the records; no time stands in it. For people: control.py.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.figures import pool_figures
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.engine.analysis.figure.pool import pool_runs
from rtqual.engine.campaign.lost import Lost
from rtqual.engine.mission import Mission
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.compliance import Compliance, ControlRow, PlayedRun, RunResult
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.engine.procedure.played_log import LOG_SERIES, PREFIX
from rtqual.protocols.record.schema import Record, Series
from rtqual.reports.machine.junit import Case, Suite, as_xml
from rtqual.reports.trends import Trend

_WORSE = (RunResult.PASSED, RunResult.UNKNOWN, RunResult.FAILED)
_QUANTILES = ("p50", "p99", "p99.9")


@dataclass(frozen=True)
class Verified:
    """What was played and what it says. `records` are those of `runs`, in their order."""

    mission: Mission
    scale: str
    candidate: str
    camera: Camera
    load: str
    procedures: tuple[Described[TimedStep], ...]  # all there are
    runs: tuple[PlayedRun, ...]
    records: tuple[Record, ...]
    rows: tuple[ControlRow, ...]
    failures: Mapping[str, str]
    unasked: tuple[str, ...]
    trends: tuple[Trend, ...] = ()  # of a soak
    lost: tuple[Lost, ...] = ()  # runs that left no record, now or before they were played again
    digest: str = ""  # the campaign's, of all that it rests on
    files: tuple[Path, ...] = ()
    dictionary: str = ""  # of a program of the user's: its hash

    @property
    def program(self) -> str:
        """Of the user's: the hash of its binary, in the records."""
        hashes = [record.inputs.parameters.get("hashes", {}) for record in self.records]
        return listed(sorted({str(some[name])[:16] for some in hashes for name in some if name.startswith("binary")}))

    @property
    def untold(self) -> tuple[str, ...]:
        """The stages of telecommands that the program has no word for."""
        return tuple(dict.fromkeys(stage for run in self.runs for stage in run.judgement.untold))

    @property
    def titles(self) -> Mapping[str, str]:
        """What each procedure shows."""
        return {procedure.name: procedure.title for procedure in self.procedures}

    @property
    def first(self) -> tuple[tuple[PlayedRun, Record], ...]:
        """Without those that were played again: a second run is the same, and no new sample."""
        return tuple(pair for pair in zip(self.runs, self.records, strict=True) if not pair[0].repeat)

    def samples(self) -> dict[str, list[int]]:
        """Every latency by its kind, as "accepted PING", in ns and in order."""
        found: dict[str, list[int]] = {}
        tasks = [task.name for program in self.mission.programs for task in program.tasks]
        others = {LOG_SERIES, *(f"{task} {what}" for task in tasks for what in ("response", "start"))}
        for _, record in self.first:
            for series in record.series:
                if series.info.name not in others:
                    values = np.repeat(series.values, series.counts).tolist()
                    found.setdefault(series.info.name, []).extend(values)
        return {name: sorted(values) for name, values in sorted(found.items()) if values}

    @property
    def passed(self) -> bool:
        """Whether every procedure that was to be played was, and passed."""
        return bool(self.runs) and not self.unknown and all(run.passed for run in self.runs)

    @property
    def unknown(self) -> Mapping[str, str]:
        """Procedures that gave no record, or one without evidence, and why."""
        unknown = {r.procedure: r.why for r in self.runs if r.result is RunResult.UNKNOWN}
        return {**open_by(self.lost), **unknown, **self.failures}

    @property
    def again(self) -> tuple[str, ...]:
        """What is to be told of runs that left no record, be they played again or not."""
        return tuple(f"{_procedure(lost)}, {lost}" for lost in self.lost)


def open_by(lost: Sequence[Lost]) -> dict[str, str]:
    """Procedures of which nobody knows whether they hold: a run left no record, and not because rtqual was ended."""
    return {_procedure(lost_run): str(lost_run) for lost_run in lost if lost_run.alone}


def _procedure(lost: Lost) -> str:
    return lost.instrument.removeprefix(PREFIX)


@dataclass(frozen=True)
class LatencyOver:
    """A kind of latency over all runs, with a campaign's own statistics: a run is one draw, ten give an interval."""

    name: str
    samples: int
    figures: Mapping[str, Figure | None]  # None: too few samples for it
    most: int

    @property
    def ends(self) -> Mapping[str, tuple[float, float | None, float | None] | None]:
        """Value, lower and upper end of each, in ns; None where they are not known."""
        return {
            name: (figure.value, *_ends(figure.interval)) if figure else None for name, figure in self.figures.items()
        }


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    low, high = (interval.low, interval.high) if interval else (-math.inf, math.inf)
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def latencies(verified: Verified) -> tuple[LatencyOver, ...]:
    records = [record for _, record in verified.first]
    return tuple(_latency(name, [_series(record, name) for record in records]) for name in verified.samples())


def _series(record: Record, name: str) -> list[Series]:
    return [series for series in record.series if series.info.name == name]


def _latency(name: str, runs: Sequence[Sequence[Series]]) -> LatencyOver:
    pool = pool_runs([run for run in runs if run])
    assert pool is not None  # noqa: S101 it has samples
    known = pool_figures(pool)
    return LatencyOver(name, pool.samples, {label: known.get(label) for label in _QUANTILES}, int(pool.highs.max()))


def headline(verified: Verified) -> str:
    """'11 of 13 requirements compliant; 1 not compliant, 1 open'."""
    rows = verified.rows
    of = {kind: sum(row.compliance is kind for row in rows) for kind in Compliance}
    rest = [f"{of[kind]} {kind}" for kind in (Compliance.NO, Compliance.OPEN) if of[kind]]
    return f"{of[Compliance.YES]} of {count(len(rows), 'requirement')} compliant{'; ' * bool(rest)}{', '.join(rest)}"


def as_dict(verified: Verified) -> dict[str, Any]:
    return {
        "mission": verified.mission.mission.name,
        "scale": verified.scale,
        "candidate": verified.candidate,
        **({} if verified.dictionary else {"camera": verified.camera}),
        "load": verified.load,
        "passed": verified.passed,
        **({"program": verified.program, "dictionary": verified.dictionary} if verified.dictionary else {}),
        **({"not_told_by_this_program": verified.untold} if verified.untold else {}),
        "requirements": [
            {
                "id": row.requirement.id,
                "text": row.requirement.text,
                "method": row.requirement.method,
                "level": row.requirement.level,
                "stage": row.requirement.stage,
                "procedures": row.procedures,
                "evidence": [run.record for run in row.runs],
                "compliance": row.compliance,
                "why": row.why,
                "close_out": row.closed,
            }
            for row in verified.rows
        ],
        "procedures": [_run(run) for run in verified.runs],
        "failures": dict(verified.failures),
        "lost": [
            lost.model_dump(exclude={"instrument", "inputs"}) | {"procedure": _procedure(lost)}
            for lost in verified.lost
        ],
        "without_requirement": verified.unasked,
        "latencies_ns": [
            {"name": latency.name, "samples": latency.samples, **latency.ends, "max": latency.most}
            for latency in latencies(verified)
        ],
        "trends": [
            {
                "name": trend.name,
                "unit": f"{trend.unit}/h",
                "segments": len(trend.slopes),
                "value": trend.per_hour,
                "interval": trend.interval,
                "why_none": trend.why_none,
                "said": trend.said,
            }
            for trend in verified.trends
        ],
        "figures": [
            {"procedure": run.procedure, **{name: scalar.value for name, scalar in record.manifest.scalars.items()}}
            for run, record in verified.first
        ],
    }


def _run(run: PlayedRun) -> dict[str, Any]:
    return {
        "procedure": run.procedure,
        "passed": run.passed,
        "result": run.result,
        "why": run.why,
        "record": run.record,
        "seed": run.seed,
        "repeat": run.repeat,
        "timing": run.timing,
        "board": run.board,
        "checks": [
            {
                "step": check.step + 1,
                "action": check.action,
                "what": check.what,
                "passed": check.passed,
                "after_ns": check.after_ns,
            }
            for check in run.judgement.checks
        ],
        "wrong": run.judgement.wrong,
        **({"unknown_packets": len(run.judgement.unknown)} if run.judgement.unknown else {}),
    }


def to_junit(verified: Verified) -> str:
    """A case a procedure and a case a requirement; what is open is an error: nobody knows."""
    worst: dict[str, PlayedRun] = {}
    for run in verified.runs:
        before = worst.get(run.procedure)
        if before is None or _WORSE.index(run.result) > _WORSE.index(before.result):
            worst[run.procedure] = run
    said = {RunResult.PASSED: "", RunResult.UNKNOWN: "error", RunResult.FAILED: "failure"}
    without = {n: why for n, why in verified.unknown.items() if n not in worst or worst[n].result is RunResult.PASSED}
    played = [Case(n, said[r.result], r.result, r.why) for n, r in sorted(worst.items()) if n not in without]
    played += [Case(name, "error", "no record", why) for name, why in sorted(without.items())]
    results = {Compliance.YES: "", Compliance.NO: "failure", Compliance.OPEN: "error"}
    asked = [Case(r.requirement.id, results[r.compliance], r.compliance, r.why) for r in verified.rows]
    header = verified.mission.mission
    name = f"{header.name}.verify"
    suites = [Suite("procedures", f"{name}.procedures", tuple(played)), Suite("requirements", name, tuple(asked))]
    return as_xml(f"rtqual verify: {header.title}, scale {verified.scale}", suites)
