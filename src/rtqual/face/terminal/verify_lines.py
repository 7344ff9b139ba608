# SPDX-License-Identifier: MIT
"""What `rtqual verify` would play and what it found, on the terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rtqual.base.words import clean, count
from rtqual.engine.procedure.compliance import Compliance, RunResult
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.reports.verification import Verified, headline

_TONES = {Compliance.YES: "green", Compliance.NO: "red", Compliance.OPEN: "yellow"}
_RESULTS = {RunResult.PASSED: "green", RunResult.FAILED: "red", RunResult.UNKNOWN: "yellow"}


def print_procedures(console: Console, procedures: Sequence[Described[TimedStep]]) -> None:
    table = Table("procedure", "what it shows", "verifies", "steps", "smoke", box=box.SIMPLE)
    for procedure in procedures:
        cells = (
            procedure.name,
            procedure.title,
            ", ".join(procedure.verifies),
            str(len(procedure.steps)),
            "yes" if procedure.smoke else "",
        )
        table.add_row(*map(escape, cells))
    console.print(table)


def print_verified(console: Console, verified: Verified) -> None:
    played = Table("procedure", "result", "record", "why", box=box.SIMPLE)
    for run in verified.runs:
        name = f"{run.procedure}, again" if run.repeat else run.procedure
        result = f"[{_RESULTS[run.result]}]{run.result}[/]"
        played.add_row(escape(name), result, run.record[:12], escape(run.why))
    for name, why in verified.failures.items():
        played.add_row(escape(name), "[red]no record[/]", "", escape(why))
    console.print(played)
    for text in verified.again:
        console.print(escape(text), soft_wrap=True)
    asked = Table("requirement", "procedures", box=box.SIMPLE)
    asked.add_column("compliance", no_wrap=True)
    asked.add_column("why")
    asked.add_column("close-out")
    for row in verified.rows:
        result = f"[{_TONES[row.compliance]}]{row.compliance}[/]"
        names = ", ".join(row.procedures)
        asked.add_row(escape(row.requirement.id), escape(names), result, escape(row.why), escape(row.closed))
    console.print(asked)
    if verified.trends:
        grown = Table("trend", "slope", "95 % interval", "of", "", box=box.SIMPLE)
        for trend in verified.trends:
            between = " to ".join(map(trend.hourly, trend.interval or ())) or trend.why_none
            grown.add_row(trend.name, trend.hourly(trend.per_hour), between, trend.segments, trend.said)
        console.print(grown)
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
