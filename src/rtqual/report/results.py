# SPDX-License-Identifier: MIT
"""The measured figures: plots and tables of every instrument under every load, stability, comparisons."""

import math
from collections.abc import Callable, Iterator, Sequence

from rtqual.analysis.model import Comparison, Distribution, Summary
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.mission import Statistic
from rtqual.record.schema import Kind
from rtqual.report import plots
from rtqual.report.document import Block, Bullets, Cell, Column, Heading, Paragraph, Plot, Plots, Table
from rtqual.report.material import (
    FOOTPRINT,
    Material,
    Place,
    figure_cell,
    notes_for,
    timing_mark,
    timing_notes,
)
from rtqual.report.text import TIMING_MARK, clean, figure_text, load_text, number, place, prose

QUANTITY = {"cyclictest": "Wake-up latency", "hackbench": "Duration"}
# Statistics that are no place on the axis of the samples.
_SPREADS = (Statistic.STD, Statistic.RANGE, Statistic.P95_AVG)
_STABILITY = (Statistic.RANGE.value, Statistic.P95_AVG.value)


def results(material: Material, chapter: str) -> Iterator[Block]:
    measured = [one for one in material.places() if one.instrument != FOOTPRINT]
    for index, one in enumerate(measured, 1):
        yield Heading(f"{chapter}.{index}", clean(one.title))
        if one.instrument in INSTRUMENTS:
            yield Paragraph(f"{INSTRUMENTS[one.instrument].title}.")
        yield from _distributions(material, one)
        for load in one.loads:
            yield _statistics(material, one, load)
            yield from _problems(one.under(load))
            yield from _per_cpu(material, one, load)


def _distributions(material: Material, one: Place) -> Iterator[Block]:
    """A histogram and a CCDF for every load, all on the same horizontal axis."""
    by_load = {load: _drawable(one.under(load)) for load in one.loads}
    limits = {load: _limits(material, one, load) for load in one.loads}
    shown = [d for drawable in by_load.values() for d in drawable.values()]
    if not shown:
        yield Paragraph("This tool prints no samples, only the figures of the tables below; there is nothing to plot.")
        return
    span = plots.span_of(shown, [limit for some in limits.values() for limit in some])
    mark = timing_mark(one.summaries)
    drawn: list[Plot] = []
    for load, drawable in by_load.items():
        if not drawable:
            continue
        timing = timing_mark(one.under(load))
        panel = plots.Panel(drawable, _quantity(one), timing, limits[load], span)
        for draw, what in ((plots.histogram, "Histogram"), (plots.ccdf, "Share of samples above a value")):
            caption = clean(f"{what}, {one.instrument} {load_text(load)}, {place(one.summaries[0].group)}")
            number_ = material.numbering.figure()
            alt = f"{caption}. {_spoken(one.under(load))}"
            drawn.append(
                Plot(
                    number_,
                    f"{caption} {timing}".strip(),
                    alt,
                    draw(panel, material.palette, f"f{number_}", alt),
                )
            )
    yield Plots(tuple(drawn), timing_notes(mark))


def _drawable(summaries: Sequence[Summary]) -> dict[str, Distribution]:
    return {
        s.group.candidate: s.distribution
        for s in summaries
        if s.distribution is not None and s.distribution.kind != Kind.SUMMARY and s.distribution.values.size
    }


def _quantity(one: Place) -> str:
    return QUANTITY.get(one.instrument, "Latency")


def _limits(material: Material, one: Place, load: str) -> tuple[plots.Limit, ...]:
    return tuple(
        plots.Limit(f"{r.statistic} {'at most' if r.at_most else 'at least'}", r.limit.value)
        for r in material.mission.requirements
        if (r.instrument, r.load) == (one.instrument, load) and r.statistic and r.statistic not in _SPREADS
    )


def _spoken(summaries: Sequence[Summary]) -> str:
    """What a plot shows, for those who do not see it."""
    said = []
    for s in summaries:
        ends = [f"{name} {figure_text(s.figures[name])}" for name in ("min", "p50", "max") if name in s.figures]
        said.append(f"{s.group.candidate}: {', '.join(ends)}")
    return prose("; ".join(said)) + "."


def _statistics(material: Material, one: Place, load: str) -> Table:
    """Statistics down, candidates across."""
    summaries = one.under(load)
    notes = notes_for(figure for s in summaries for figure in s.figures.values())
    names = list(dict.fromkeys(name for s in summaries for name in s.figures))
    rows = [
        [Cell("samples n"), *(Cell(number(s.samples)) for s in summaries)],
        [Cell("runs"), *(Cell(str(s.runs)) for s in summaries)],
        [Cell("timing"), *(Cell(str(s.timing), marks=notes.timed(TIMING_MARK[s.timing])) for s in summaries)],
    ]
    for name in names:
        rows.append([Cell(clean(name)), *(figure_cell(s.figures.get(name), notes, of=s) for s in summaries)])
    caption = f"{one.instrument} {load_text(load)}, {place(summaries[0].group)}"
    columns = [Column("Statistic", False), *material.columns([s.group.candidate for s in summaries])]
    return material.numbering.table(clean(caption), columns, rows, notes.listed())


def _problems(summaries: Sequence[Summary]) -> Iterator[Block]:
    problems = [prose(f"{s.group.candidate}: {problem}") for s in summaries for problem in s.problems]
    if problems:
        yield Bullets(tuple(problems), "Problems: no verdict rests on these", "open")
    caveats = [prose(f"{s.group.candidate}: {caveat}") for s in summaries for caveat in s.caveats]
    if caveats:
        yield Bullets(tuple(caveats), "To keep in mind")


def _per_cpu(material: Material, one: Place, load: str) -> Iterator[Table]:
    for s in one.under(load):
        if len(s.per_cpu) < 2:
            continue
        notes = notes_for(figure for figures in s.per_cpu.values() for figure in figures.values())
        names = list(dict.fromkeys(name for figures in s.per_cpu.values() for name in figures))
        rows = [
            [
                Cell(clean(name)),
                *(figure_cell(f.get(name), notes, counted=False) for _, f in sorted(s.per_cpu.items())),
            ]
            for name in names
        ]
        mark = notes.timed(TIMING_MARK[s.timing])
        caption = f"Per CPU: {s.group.candidate}, {one.instrument} {load_text(load)} {mark}".strip()
        columns = [Column("Statistic", False), *(Column(f"CPU {cpu}") for cpu in sorted(s.per_cpu))]
        yield material.numbering.table(clean(caption), columns, rows, notes.listed())


def stability(material: Material) -> Iterator[Block]:
    """max - min and p95 - avg of every candidate, as bars from zero; absolute and relative."""
    drawn: list[Plot] = []
    marks = ""
    for one in material.places():
        for wanted, what in ((_absolute, "absolute"), (_relative, "relative")):
            groups, unit = _bars(one, wanted(one))
            if not groups:
                continue
            timing = timing_mark(one.summaries)
            marks = "".join(dict.fromkeys(marks + timing))
            caption = clean(f"Stability, {what}: {one.title}")
            number_ = material.numbering.figure()
            alt = f"{caption}. " + "; ".join(
                f"{b.candidate} {b.row}: {name} {number(b.value)} {unit}" for name, bars in groups.items() for b in bars
            )
            svg = plots.bars(groups, unit, timing, material.palette, ident=f"f{number_}", alt=alt)
            drawn.append(Plot(number_, f"{caption} {timing}".strip(), clean(alt), svg))
    if drawn:
        yield Paragraph(
            "Stability as the AAReST study defines it: max - min, and p95 - avg. Shorter bars are steadier; "
            "the line across a bar's end is its 95 % interval."
        )
        yield Plots(tuple(drawn), timing_notes("".join(sorted(marks, reverse=True))))


def _absolute(one: Place) -> list[str]:
    return [name for name in _STABILITY if any(name in s.figures for s in one.summaries)]


def _relative(one: Place) -> list[str]:
    names = dict.fromkeys(name for s in one.summaries for name in s.figures)
    relative = [name for name in names if name not in _STABILITY and any(stable in name for stable in _STABILITY)]
    return [name for name in relative if any(name in s.figures and s.figures[name].unit == "1" for s in one.summaries)]


def _bars(one: Place, names: Sequence[str]) -> tuple[dict[str, list[plots.Bar]], str]:
    groups: dict[str, list[plots.Bar]] = {}
    unit = ""
    for name in names:
        for s in one.summaries:
            figure = s.figures.get(name)
            if figure is None or not math.isfinite(figure.value):
                continue
            unit = figure.unit
            between = figure.interval
            if between and not (math.isfinite(between.low) and math.isfinite(between.high)):
                between = None
            bar = plots.Bar(
                load_text(s.group.load), s.group.candidate, figure.value,
                between.low if between else None, between.high if between else None,
            )  # fmt: skip
            groups.setdefault(name, []).append(bar)
    return groups, unit


def comparisons(material: Material) -> Iterator[Block]:
    """Effect sizes first: the ratio with its interval, then the difference and the superiority.

    Where a board has a best candidate, the others stand beside that one: all pairs would be pages.
    """
    best = {v.board: v.standings[0].candidate for v in material.evidence.verdicts if v.standings}
    if material.evidence.comparisons:
        yield Paragraph(
            "Each candidate beside the best of its board; rtqual compare shows any other pair. "
            "P(a > b) is the chance that a sample of a is larger than one of b; 0.5 means no effect."
        )
    for one in material.places():
        found = [
            c
            for c in material.evidence.comparisons
            if (c.a.instrument, c.a.board, c.a.cpus) == (one.instrument, one.board, one.cpus)
            and best.get(one.board, c.a.candidate) in (c.a.candidate, c.b.candidate)
        ]
        if found:
            yield _comparison_table(material, one, found)


def _comparison_table(material: Material, one: Place, found: list[Comparison]) -> Table:
    """What is the same in every row (the load, the pair) stands in the caption instead."""
    found.sort(key=lambda c: one.loads.index(c.a.load))
    notes = notes_for(figure for c in found for figure in (c.ratio, c.difference))
    mark = "".join(notes.timed(m) for m in timing_mark(one.summaries))
    names: dict[str, Callable[[Comparison], str]] = {
        "Load": lambda c: load_text(c.a.load),
        "a": lambda c: c.a.candidate,
        "b": lambda c: c.b.candidate,
    }
    kept = {title: read for title, read in names.items() if len({read(c) for c in found}) > 1}
    said = [f"{title} = {read(found[0])}" for title, read in names.items() if title not in kept]
    rows = []
    for c in found:
        outcome, _, why = c.statement.partition(": ")
        rows.append(
            [
                Cell(clean(c.statistic)),
                *(Cell(clean(read(c))) for read in kept.values()),
                figure_cell(c.ratio, notes, counted=False),
                figure_cell(c.difference, notes, counted=False),
                Cell("-" if c.superiority is None else number(c.superiority)),
                Cell(prose(outcome), marks=notes.mark(prose(why))),
            ]
        )
    columns = [
        *(Column(title, False, name=True) for title in ("Statistic", *kept)),
        *(Column(title) for title in ("Ratio a / b", "Difference a - b", "P(a > b)")),
        Column("Statement", False, name=True),
    ]
    caption = clean(f"{', '.join([f'Comparison: {one.title}', *said])} {mark}").strip()
    return material.numbering.table(caption, columns, rows, notes.listed())
