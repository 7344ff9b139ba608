# SPDX-License-Identifier: MIT
"""The verification control document (ECSS-E-ST-10-02C, annex B) of what `rtqual verify` played: Markdown, JSON, JUnit.

A pure function of the mission, its procedures and the records; no time stands in it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rtqual.analysis.figure.intervals import quantile_ranks
from rtqual.base import unlinked
from rtqual.base.units import format_ns, format_value
from rtqual.procedure.compliance import Compliance, Row, Run
from rtqual.procedure.instrument import LOG_SERIES
from rtqual.record.schema import Record, Timing
from rtqual.report.machine.junit import Case, Suite, as_xml
from rtqual.report.page.markdown import literal, table

MARKDOWN, JSON, JUNIT = "verification.md", "verification.json", "verification.xml"
_QUANTILES = {"p50": Fraction(1, 2), "p99": Fraction(99, 100)}
_FIGURES = (
    "frames", "frames_lost", "frames_refused", "emulator_lost", "deadline_misses", "control_late_most",
    "frame_latency_most", "packets_lost", "memory", "boots",
)  # fmt: skip


@dataclass(frozen=True)
class Verified:
    """What was played and what it says. `records` are those of `runs`, in their order."""

    mission: str
    title: str
    scale: str
    candidate: str
    load: str
    runs: tuple[Run, ...]
    records: tuple[Record, ...]
    rows: tuple[Row, ...]
    failures: Mapping[str, str]
    unasked: tuple[str, ...]
    titles: Mapping[str, str]  # of all procedures
    files: tuple[Path, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every procedure that was to be played was, and passed."""
        return bool(self.runs) and not self.failures and all(run.passed for run in self.runs)


@dataclass(frozen=True)
class Latency:
    """A kind of latency over all runs: its samples' quantiles with the order statistics that enclose them."""

    name: str
    samples: int
    figures: Mapping[str, tuple[int, int | None, int | None]]  # p50, p99: value, and the interval's ends where known
    most: int


def latencies(verified: Verified) -> tuple[Latency, ...]:
    """Of first runs only: a second one is the same again, and no new sample."""
    samples: dict[str, list[int]] = {}
    for record in verified.records:
        for series in record.series if record.manifest.repeat == 0 else ():
            if series.info.name != LOG_SERIES:
                found = np.repeat(series.values, series.counts).tolist()
                samples.setdefault(series.info.name, []).extend(found)
    return tuple(_latency(name, sorted(values)) for name, values in sorted(samples.items()) if values)


def _latency(name: str, ordered: Sequence[int]) -> Latency:
    count = len(ordered)
    figures = {}
    for label, share in _QUANTILES.items():
        value = ordered[min(count - 1, int(share * count))]
        low, high = quantile_ranks(count, share)
        ends = (ordered[low - 1] if low >= 1 else None, ordered[high - 1] if high <= count else None)
        figures[label] = (value, *ends)
    return Latency(name, count, figures, ordered[-1])


def write(folder: Path, verified: Verified) -> tuple[Path, ...]:
    contents = {
        MARKDOWN: to_markdown(verified),
        JSON: json.dumps(as_dict(verified), indent=1) + "\n",
        JUNIT: to_junit(verified),
    }
    for name, text in contents.items():
        unlinked.write(folder, name, text.encode())
    return tuple(folder / name for name in contents)


def as_dict(verified: Verified) -> dict[str, Any]:
    return {
        "mission": verified.mission,
        "scale": verified.scale,
        "candidate": verified.candidate,
        "load": verified.load,
        "passed": verified.passed,
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
        "without_requirement": verified.unasked,
        "latencies_ns": [
            {"name": one.name, "samples": one.samples, **one.figures, "max": one.most} for one in latencies(verified)
        ],
        "figures": [
            {"procedure": run.procedure, **{name: one.value for name, one in record.manifest.scalars.items()}}
            for run, record in zip(verified.runs, verified.records, strict=True)
            if not run.repeat
        ],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "procedure": run.procedure,
        "passed": run.passed,
        "why": run.why,
        "record": run.record,
        "seed": run.seed,
        "repeat": run.repeat,
        "timing": run.timing,
        "checks": [
            {
                "step": one.step + 1,
                "action": one.action,
                "what": one.what,
                "passed": one.passed,
                "after_ns": one.after_ns,
            }
            for one in run.judgement.checks
        ],
        "wrong": run.judgement.wrong,
    }


def to_junit(verified: Verified) -> str:
    """A case a procedure and a case a requirement; what is open is an error: nobody knows."""
    firsts: dict[str, Run] = {}
    for run in verified.runs:
        if run.procedure not in firsts or not run.passed:
            firsts[run.procedure] = run
    played = [Case(n, "" if r.passed else "failure", "failed", r.why) for n, r in sorted(firsts.items())]
    played += [Case(name, "error", "no record", why) for name, why in sorted(verified.failures.items())]
    results = {Compliance.YES: "", Compliance.NO: "failure", Compliance.OPEN: "error"}
    asked = [Case(r.requirement.id, results[r.compliance], r.compliance, r.why) for r in verified.rows]
    name = f"{verified.mission}.verify"
    suites = [Suite("procedures", f"{name}.procedures", tuple(played)), Suite("requirements", name, tuple(asked))]
    return as_xml(f"rtqual verify: {verified.title}, scale {verified.scale}", suites)


def to_markdown(verified: Verified) -> str:
    return "".join(_pieces(verified))


def _pieces(verified: Verified) -> Iterator[str]:
    yield f"# Verification control document: {literal(verified.title)}\n\n"
    yield "After ECSS-E-ST-10-02C, annex B. "
    yield f"Candidate {literal(verified.candidate)}, load {literal(verified.load)}, scale {literal(verified.scale)}.\n"
    if any(run.timing is not Timing.REAL for run in verified.runs):
        yield (
            "\nTimes were counted in executed instructions on the virtual board: this evidence ranks and finds faults; "
            "it closes no requirement (docs/limits.md).\n"
        )
    yield "\n## Requirements\n"
    titles = ("Requirement", "Text", "Method", "Level", "Stage", "Procedures", "Evidence", "Compliance", "Close-out")
    yield table(titles, [_line(row) for row in verified.rows])
    yield "\n## Procedures\n"
    rows = [_played(run, verified) for run in verified.runs]
    rows += [(name, verified.titles.get(name, ""), "no record", "", "", why) for name, why in verified.failures.items()]
    yield table(("Procedure", "What it shows", "Result", "Record", "Clock", "Why"), rows)
    if verified.unasked:
        yield "\nThe mission has no such requirement:\n\n"
        yield from (f"- {literal(one)}\n" for one in verified.unasked)
    yield from _faults(verified)
    yield from _figures(verified)


def _line(row: Row) -> tuple[str, ...]:
    one = row.requirement
    evidence = ", ".join(dict.fromkeys(run.record[:12] for run in row.runs)) or "none"
    compliance = f"{row.compliance}: {row.why}" if row.why else str(row.compliance)
    procedures = ", ".join(row.procedures) or "none"
    return (one.id, one.text, one.method, one.level, one.stage, procedures, evidence, compliance, row.closed)


def _played(run: Run, verified: Verified) -> tuple[str, ...]:
    again = " (again)" if run.repeat else ""
    result = "passed" if run.passed else "failed"
    name = f"{run.procedure}{again}"
    return (name, verified.titles.get(run.procedure, ""), result, run.record[:12], run.timing, run.why)


def _faults(verified: Verified) -> Iterator[str]:
    """What followed each fault, and when."""
    rows = []
    for run in verified.runs:
        for one in run.judgement.checks if not run.repeat else ():
            if one.fault and one.after_ns is not None:
                rows.append((run.procedure, one.action, one.what, format_ns(one.after_ns)))
    if rows:
        yield "\n## Faults\n"
        yield table(("Procedure", "Fault", "What followed", "After"), rows)


def _figures(verified: Verified) -> Iterator[str]:
    found = latencies(verified)
    if found:
        yield "\n## Latencies\n\nBetween: order statistics (95 %); - where there are too few samples.\n"
        titles = ("Latency", "Samples", "p50", "p50 between", "p99", "p99 between", "Max")
        yield table(titles, [_latency_row(one) for one in found])
    first = [(r, m.manifest.scalars) for r, m in zip(verified.runs, verified.records, strict=True) if not r.repeat]
    names = [name for name in _FIGURES if any(name in scalars for _, scalars in first)]
    if names:
        yield "\n## Beside each procedure\n"
        rows = [
            (run.procedure, *(_shown(scalars[n].value, scalars[n].unit) if n in scalars else "-" for n in names))
            for run, scalars in first
        ]
        yield table(("Procedure", *(name.replace("_", " ") for name in names)), rows)


def _shown(value: float, unit: str) -> str:
    return f"{value:.0f}" if unit == "1" else format_value(value, unit)


def _latency_row(one: Latency) -> tuple[str, ...]:
    cells = [one.name, str(one.samples)]
    for value, low, high in one.figures.values():
        between = "-" if low is None or high is None else f"{format_ns(low)} to {format_ns(high)}"
        cells += [format_ns(value), between]
    return (*cells, format_ns(one.most))
