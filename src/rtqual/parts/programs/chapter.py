# SPDX-License-Identifier: MIT
"""A program's own page: what its jobs were, how long they took, the worst on a time line, and who went before them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rtqual.base.words import count, share
from rtqual.engine.analysis.figure.asked import figure_of
from rtqual.engine.analysis.figure.model import Distribution, Figure, Summary
from rtqual.engine.mission.program import Program, Task
from rtqual.parts.programs.jobs_plot import KINDS, jobs_plot
from rtqual.parts.programs.judged import RESPONSE
from rtqual.protocols.record.schema import LateSample
from rtqual.reports.draw import plots
from rtqual.reports.material import Material, Place, figure_cell, group_of, notes_for, timing_mark, timing_notes
from rtqual.reports.page.document import (
    Block,
    Column,
    Heading,
    Notes,
    Paragraph,
    Plot,
    Plots,
    Table,
    TableCell,
    numbers,
    texts,
)
from rtqual.reports.page.text import clean, load_text, marked, prose, quantity

_FEWEST = 20  # jobs that make a picture
_NAMED = 3  # threads that went before
_HOW = (
    "A job begins when its thread is released and ends when it waits for the next release; its response counts from "
    "the moment it was due. What kept jobs up is told of the worst of each run, part by part, and the parts add up."
)
_ROWS = ("jobs", "missed", "longest row missed", "skipped", "preempted", "blocked", "page faults", "CPU share")


def programs(material: Material) -> Iterator[Block]:
    """A section a program and place, where its jobs were seen."""
    known = {program.instrument: program for program in material.mission.programs if program.tasks}
    for place in material.places():
        program = known.get(place.instrument)
        if program is None or not any(
            f"{program.tasks[0].name} jobs" in summary.figures for summary in place.summaries
        ):
            continue
        yield Heading(clean(program.title or place.title))
        yield Paragraph(prose(_HOW))
        for load in place.loads:
            yield _jobs(material, program, place, load)
            drawn = [
                plot for task in program.tasks for plot in _of_task(material, task, place.under(load), load)
            ]  # fmt: skip
            if drawn:
                yield Plots(tuple(drawn), timing_notes(timing_mark(place.under(load))))
        yield from _before(material, program, place)


def _jobs(material: Material, program: Program, place: Place, load: str) -> Table:
    """Figures of each task down, candidates across."""
    summaries = place.under(load)
    notes = notes_for(figure for summary in summaries for figure in summary.figures.values())
    rows: list[list[TableCell]] = []
    for task in program.tasks:
        deadline = f", deadline {quantity(task.deadline, 'ns')}" if task.deadline else ""
        rows.append([TableCell(prose(f"{task.name}{deadline}")), *(TableCell("") for _ in summaries)])
        window = (f"missed in any {task.window}",) if task.window else ()
        for name in (*_ROWS[:2], *window, *_ROWS[2:]):
            figures = [summary.figures.get(f"{task.name} {name}") for summary in summaries]
            if any(figures):
                rows.append(_row(name, figures, summaries, notes))
        for statistic in ("p50", "p99", "max"):
            figures = [_response(summary, task, statistic) for summary in summaries]
            if any(figures):
                rows.append(_row(f"{RESPONSE} {statistic}", figures, summaries, notes))
    columns = [Column("Task", False), *material.columns([summary.group.candidate for summary in summaries])]
    caption = clean(f"Jobs of {program.name}, a run, {load_text(load)}")
    return material.numbering.table(marked(caption, timing_mark(summaries)), columns, rows, notes.listed())


def _row(name: str, figures: Sequence[Figure | None], summaries: Sequence[Summary], notes: Notes) -> list[TableCell]:
    return [
        TableCell(prose(name)),
        *(figure_cell(figure, notes, of=of) for figure, of in zip(figures, summaries, strict=True)),
    ]


def _response(summary: Summary, task: Task, statistic: str) -> Figure | None:
    name = f"{task.name} {RESPONSE}"
    return summary.figures.get(figure_of(summary.series, name, statistic)) if name in summary.series else None


def _of_task(material: Material, task: Task, summaries: Sequence[Summary], load: str) -> Iterator[Plot]:
    name = f"{task.name} {RESPONSE}"
    limits = (plots.Limit("deadline", task.deadline),) if task.deadline else ()
    found = {summary.group.candidate: some for summary in summaries if (some := _distribution(summary, name))}
    if found and max(int(some.counts.sum()) for some in found.values()) >= _FEWEST:
        panel = plots.Panel(found, "Response", timing_mark(summaries), limits)
        caption = clean(f"Responses of {task.name}, {load_text(load)}")
        drawn = partial(plots.histogram, panel, material.palette)
        yield material.numbering.plot(caption, clean(f"{caption}. {_spoken(found)}"), drawn, panel.mark)
    worst = {
        candidate: max(some, key=lambda late_sample: late_sample.value_ns)
        for candidate, some in _late(material, summaries, name).items()
    }
    if worst:
        caption = clean(f"The worst job of {task.name}, {load_text(load)}")
        told = "; ".join(f"{candidate}: {_parts(late_sample)}" for candidate, late_sample in worst.items())
        drawn = partial(jobs_plot, worst, task.deadline)
        yield material.numbering.plot(caption, prose(f"{caption}. {told}"), drawn, timing_mark(summaries))


def _distribution(summary: Summary, name: str) -> Distribution | None:
    return summary.distribution if name == summary.series[0] else summary.others.get(name)


def _spoken(found: Mapping[str, Distribution]) -> str:
    return "; ".join(f"{name}: {count(int(distribution.counts.sum()), 'job')}" for name, distribution in found.items())


def _late(material: Material, summaries: Sequence[Summary], name: str) -> dict[str, list[LateSample]]:
    """The worst jobs of each run that were told in parts, by candidate."""
    found: dict[str, list[LateSample]] = {}
    groups = {summary.group for summary in summaries}
    for record in material.records:
        if group_of(record) in groups:
            some = [late_sample for late_sample in record.late or () if late_sample.series == name]
            found.setdefault(record.inputs.candidate, []).extend(some)
    return {candidate: found[candidate] for candidate in material.candidates if found.get(candidate)}


def _parts(late_sample: LateSample) -> str:
    """'1.66 ms: 99 % its own work, 1 % a switch'."""
    spent: Counter[str] = Counter()
    for part in late_sample.parts:
        spent[KINDS[part.source]] += part.duration_ns
    shares = ", ".join(f"{share(ns, late_sample.value_ns)} {kind}" for kind, ns in spent.most_common())
    return f"{quantity(late_sample.value_ns, 'ns')}: {shares}"


def _before(material: Material, program: Program, place: Place) -> Iterator[Table]:
    """Of each task under each load the worst jobs: what their time was, and who else took it."""
    rows = []
    for load in place.loads:
        for task in program.tasks:
            for candidate, some in _late(material, place.under(load), f"{task.name} {RESPONSE}").items():
                rows.append(
                    [
                        TableCell(prose(task.name), load_text(load)),
                        TableCell(clean(candidate)),
                        TableCell(f"{len(some)}"),
                        *_shares(some),
                    ]
                )
    if rows:
        columns = [*texts("Task"), *texts("Candidate"), *numbers("n"), *texts("Of their time", "Who went before")]
        yield material.numbering.table(clean(f"What the worst jobs of {program.name} were made of"), columns, rows)


def _shares(some: Sequence[LateSample]) -> tuple[TableCell, TableCell]:
    spent: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for late_sample in some:
        for part in late_sample.parts:
            spent[KINDS[part.source]] += part.duration_ns
            if part.source not in ("own", "wait") and part.name:
                others[part.name.rpartition(":")[0] or part.name] += part.duration_ns
    whole = sum(sample.value_ns for sample in some)
    shares = ", ".join(f"{kind} {share(ns, whole)}" for kind, ns in spent.most_common() if ns >= whole / 100)
    named = ", ".join(f"{name} {share(ns, whole)}" for name, ns in others.most_common(_NAMED) if ns >= whole / 1000)
    return TableCell(prose(shares)), TableCell(prose(named or "nobody"))
