# SPDX-License-Identifier: MIT
"""What `rtqual verify` would play and what it found, on the terminal."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from rtqual.base.words import clean, count
from rtqual.engine.procedure.compliance import Compliance, RunResult
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.face.terminal.tables import table
from rtqual.reports.verification import Verified, headline

_TONES: Mapping[Compliance | RunResult, str] = {
    Compliance.YES: "green", Compliance.NO: "red", Compliance.OPEN: "yellow",
    RunResult.PASSED: "green", RunResult.FAILED: "red", RunResult.UNKNOWN: "yellow",
}  # fmt: skip


def print_procedures(console: Console, procedures: Sequence[Described[TimedStep]]) -> None:
    rows = [
        (each.name, each.title, ", ".join(each.verifies), len(each.steps), "yes" if each.smoke else "")
        for each in procedures
    ]
    console.print(table(("procedure", "what it shows", "verifies", "steps", "smoke"), rows), "")


def print_verified(console: Console, verified: Verified) -> None:
    played: list[tuple[object, ...]] = []
    for run in verified.runs:
        name = f"{run.procedure}, again" if run.repeat else run.procedure
        played.append((name, _toned(run.result), run.record[:12], run.why))
    played += [(name, Text("no record", "red"), "", why) for name, why in verified.failures.items()]
    console.print(table(("procedure", "result", "record", "why"), played), "")
    for text in verified.again:
        console.print(escape(text), soft_wrap=True)
    asked = [
        (row.requirement.id, ", ".join(row.procedures), _toned(row.compliance), row.why, row.closed)
        for row in verified.rows
    ]
    heads = ("requirement", "procedures", "compliance", "why", "close-out")
    console.print(table(heads, asked, whole=("compliance",)), "")
    if verified.trends:
        grown = [
            (
                trend.name,
                trend.hourly(trend.per_hour),
                " to ".join(map(trend.hourly, trend.interval or ())) or trend.why_none,
                trend.segments,
                trend.said,
            )
            for trend in verified.trends
        ]
        console.print(table(("trend", "slope", "95 % interval", "of", ""), grown), "")
    if verified.untold:
        console.print(f"Not reported by this program: {' and '.join(verified.untold)}", highlight=False)
    for run in verified.runs:
        for text in run.judgement.unknown[:1]:
            told = f"{run.procedure}: {count(len(run.judgement.unknown), 'packet')} unknown, the first {text}"
            console.print(escape(clean(told)), soft_wrap=True, highlight=False)
    for text in verified.unasked:
        console.print(f"The mission has no such requirement: {escape(text)}", soft_wrap=True)
    console.print(headline(verified), highlight=False)
    for path in verified.files:
        console.print(escape(str(path)), soft_wrap=True, highlight=False)


def _toned(said: Compliance | RunResult) -> Text:
    return Text(said, _TONES[said])
