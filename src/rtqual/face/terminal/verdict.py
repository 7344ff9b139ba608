# SPDX-License-Identifier: MIT
"""A verdict on the terminal, and as JSON."""

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rtqual.base.words import count
from rtqual.engine.analysis.verdict.goals import Goals, Reach
from rtqual.engine.analysis.verdict.headline import Answer
from rtqual.engine.analysis.verdict.model import Ground, Outcome, Standing, Verdict
from rtqual.face.terminal.plain import fields_of, plain
from rtqual.face.terminal.tables import table
from rtqual.reports.formats import FOR_MACHINES
from rtqual.stages.selection import Selection

_NAME_WIDTH = 26  # of a requirement; the reason beside it needs the room
_TONE = {Outcome.MET: "green", Outcome.NOT_MET: "red", Outcome.UNDECIDED: "yellow", Outcome.INDICATIVE: "cyan"}


def print_verdicts(console: Console, selection: Selection) -> None:
    """What goals come to; each board's verdict: headline, candidates with their gates, findings, caveats; then where
    the reports are."""
    for goals in selection.evidence.goals:
        if goals.places:
            _print_goals(console, goals)
    answer = selection.evidence.answer
    if answer is not None and len(answer.boards) > 1:
        _headline(console, answer.headline, "Verdict", answer.fly)
    for heading, verdict in selection.evidence.headed:
        _print(console, verdict, heading)
    for cell, reason in selection.failures.items():
        console.print(f"[red]failed[/red] {escape(f'{cell}: {reason}')}", highlight=False, soft_wrap=True)
    again = f", and {count(selection.again, 'second run')} to test whether they repeat" if selection.again else ""
    console.print(f"{count(selection.records, 'record')}{again}. Reports:", highlight=False)
    print_reports(console, selection)


def print_reports(console: Console, selection: Selection) -> None:
    """Reports for people on a line each, those for machines on one line."""
    for_machines = [path for path in selection.reports if path.name in FOR_MACHINES.values()]
    for path in (report for report in selection.reports if report not in for_machines):
        console.print(f"  {path}", highlight=False, soft_wrap=True, markup=False)
    if for_machines:
        names = ", ".join(path.name for path in for_machines)
        console.print(
            f"  {for_machines[0].parent}/ for machines: {names}", highlight=False, soft_wrap=True, markup=False
        )


def _print_goals(console: Console, goals: Goals) -> None:
    tone = "green" if goals.whole else "yellow"
    console.print(Panel(escape(goals.text), title=escape(goals.title), border_style=tone, title_align="left"))
    rows = [(place.text, *(_reach(place.reaches.get(way)) for way in goals.ways)) for place in goals.places]
    console.print(table((f"goals met, of {goals.goals}", *goals.ways), rows), "")


def _reach(reach: Reach | None) -> Text:
    """The count, in the colour of the worst; the report says which."""
    return Text(str(reach.count), _TONE[reach.outcome]) if reach else Text("-")


def _goals(goals: Goals) -> dict[str, object]:
    """By its name, as its parts are called since the camera's were the only ones."""
    places = [
        {
            "candidate": place.group.candidate,
            "load": place.group.load,
            "cpus": place.group.cpus,
            "goals": {
                way: {name: plain(gate) for name, gate in reach.gates.items()} for way, reach in place.reaches.items()
            },
        }
        for place in goals.places
    ]
    answer = {"whole": goals.whole, "text": goals.text} if places else None
    return {f"{goals.name}_answer": answer, goals.name: places}


def _headline(console: Console, text: str, title: str, fly: str | None) -> None:
    console.print(Panel(escape(text), title=title, border_style="green" if fly else "yellow", title_align="left"))


def _print(console: Console, verdict: Verdict, heading: str) -> None:
    _headline(console, verdict.headline, heading, verdict.fly)
    for differ in verdict.differs:
        console.print(f"[yellow]differs[/yellow] {escape(differ)}", highlight=False, soft_wrap=True)
    for standing in verdict.standings:
        console.print(_candidate(standing, verdict.scored))
    for title, sentences in (("Found", verdict.findings), ("It would change", verdict.would_change)):
        if sentences:
            console.print(f"[bold]{title}[/bold]")
            for sentence in sentences:
                console.print(Padding(Text(f"- {sentence}"), (0, 0, 0, 2)))
    for caveat in verdict.caveats:
        console.print(f"[dim]Note: {escape(caveat)}[/dim]", highlight=False)
    console.print()


def _candidate(standing: Standing, scored: float | None) -> Table:
    rank = f"{standing.rank}. " if standing.rank else ""
    part = "" if scored in (None, 1.0) else f" over {100 * (scored or 0):.0f} % of the weight"
    score = "" if standing.total is None else f" (score {standing.total:.3f}{part})"
    table = Table(title=f"{rank}{standing.candidate}{score}", title_justify="left", expand=True, show_header=False)
    table.add_column(max_width=_NAME_WIDTH)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1)
    met_needs = [gate for gate in standing.gates if gate.is_need and gate.outcome == Outcome.MET]
    for gate in (gate for gate in standing.gates if gate not in met_needs):
        outcome = f"[{_TONE[gate.outcome]}]{gate.outcome}[/]"
        table.add_row(escape(gate.requirement), outcome, escape(gate.reason))
    if met_needs:
        names = ", ".join(gate.name for gate in met_needs)
        table.add_row("needs", f"[{_TONE[Outcome.MET]}]{Outcome.MET}[/]", escape(names))
    for refusal in standing.other_refusals:
        table.add_row("no verdict", "[yellow]refused[/]", escape(refusal))
    if not table.row_count:
        table.add_row("requirements", "none", "")
    return table


def _verdict(verdict: Verdict) -> dict[str, object]:
    passes = verdict.fly if verdict.ground == Ground.ACCEPTED else None
    return {**_unless_accepted(verdict), "passes_on_emulator": passes}


def _unless_accepted(of: Verdict | Answer) -> dict[str, object]:
    """Counted instructions that a mission takes for time clear nobody to fly."""
    return {**fields_of(of), "fly": None} if of.ground == Ground.ACCEPTED else fields_of(of)


def as_dict(selection: Selection) -> dict[str, object]:
    """Everything the analysis found, without the samples."""
    return {
        "answer": _unless_accepted(selection.evidence.answer) if selection.evidence.answer else None,
        "verdicts": [_verdict(verdict) for verdict in selection.evidence.verdicts],
        **{key: value for goals in selection.evidence.goals for key, value in _goals(goals).items()},
        "comparisons": [plain(comparison) for comparison in selection.evidence.comparisons],
        "shifts": [plain(shift) for shift in selection.evidence.shifts],
        "tails": [{"group": plain(group), **fields_of(tails)} for group, tails in selection.evidence.tails.items()],
        "summaries": [
            {key: value for key, value in fields_of(summary).items() if key != "distribution"}
            for summary in selection.evidence.summaries
        ],
        "lost": [plain(lost_run) for lost_run in selection.evidence.lost],
        "left_out": [plain(left_out) for left_out in selection.evidence.left_out],
        "campaign": selection.digest,
        "records": selection.records,
        "second_runs": selection.again,
        "failures": selection.failures,
        "reports": [str(path) for path in selection.reports],
    }
