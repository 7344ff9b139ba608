# SPDX-License-Identifier: MIT
"""Charts of mechanisms: where the code ran, and of each mechanism least, average, largest and deviation side by side,
as the Xenomai study draws them."""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from rtqual.base.words import listed
from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.reports.chapter.battery import figure_name
from rtqual.reports.draw import plots
from rtqual.reports.draw.plots_spaces import SystemSpaces, spaces
from rtqual.reports.material import Material, timing_mark, timing_notes
from rtqual.reports.page.document import Note, Plot, Plots
from rtqual.reports.page.text import clean, figure_value, load_text, number, place, prose, readable

_STATISTICS = ("min", "avg", "max", "std")
# Bars of one colour are told apart by these, and all of them on paper without colours. Of lines: dots make long files.
_HATCHES = ("", "//////", "\\\\\\\\", "xxxx", "||||", "------", "++++")


def mechanism_plots(
    material: Material, systems: Sequence[tuple[str, Summary]], names: Sequence[str]
) -> Iterator[Plots]:
    """A chart for each operation; nothing where none was measured. `systems`: by what a table calls them."""
    drawn = [plot for name in names for plot in _plot(material, systems, name)]
    if drawn:
        notes = [f"{name}." for name in _why_none(systems, names)]
        marks = timing_notes(timing_mark([s for _, s in systems]))
        yield Plots(tuple(drawn), (*(Note("", prose(text)) for text in notes), *marks))


def _plot(material: Material, systems: Sequence[tuple[str, Summary]], name: str) -> Iterator[Plot]:
    bars = [
        _bar(statistic, title, summary, figure, _HATCHES[order % len(_HATCHES)])
        for statistic in _STATISTICS
        for order, (title, summary) in enumerate(systems)
        if (figure := _figure(summary, name, statistic)) is not None
    ]
    if not bars:
        return
    summaries = [summary for _, summary in systems]
    group, mark = summaries[0].group, timing_mark(summaries)
    samples = " or ".join(dict.fromkeys(number(s.samples) for s in summaries))
    caption = clean(
        f"{readable(name)} {load_text(group.load)}, {place(group)}: least, average, largest and standard deviation of "
        f"n = {samples} samples of each system"
    )
    spoken = "; ".join(f"{bar.row} {bar.system}: {bar.label}" for bar in bars)
    unit = next(f.unit for s in summaries for statistic in _STATISTICS if (f := _figure(s, name, statistic)))
    draw = partial(plots.bars, {readable(name): bars}, unit, mark, material.palette)
    yield material.numbering.plot(caption, clean(f"{caption}. {spoken}"), draw, mark)


def _figure(summary: Summary, name: str, statistic: str) -> Figure | None:
    found = summary.figures.get(figure_name(summary, name, statistic))
    return found if found is not None and math.isfinite(found.value) else None


def _bar(statistic: str, title: str, summary: Summary, figure: Figure, hatch: str) -> plots.Bar:
    between = figure.interval
    closed = between is not None and math.isfinite(between.low) and math.isfinite(between.high)
    return plots.Bar(
        statistic,
        summary.group.candidate,
        figure.value,
        between.low if between and closed else None,
        between.high if between and closed else None,
        figure_value(figure),
        title,
        hatch,
    )


def _why_none(systems: Sequence[tuple[str, Summary]], names: Sequence[str]) -> Iterator[str]:
    """Why bars have no line for an interval: each reason once."""
    reasons: dict[str, dict[str, None]] = {}
    for _, summary in systems:
        for name in names:
            for statistic in _STATISTICS:
                figure = _figure(summary, name, statistic)
                if figure is not None and figure.interval is None:
                    reasons.setdefault(figure.why_no_interval, {})[statistic] = None
    for reason, statistics in reasons.items():
        yield f"No interval, {listed(list(statistics))}: {reason}"


def spaces_plot(material: Material, summaries: Sequence[Summary]) -> Iterator[Plots]:
    """Which program ran on which side of the system call, of each candidate; nothing where all ran on one side."""
    programs: dict[str, dict[str, dict[str, None]]] = {}
    for summary in summaries:
        if (about := material.about(summary.group.instrument)).space:
            programs.setdefault(summary.group.candidate, {}).setdefault(about.space, {})[about.program] = None
    if len({space for found in programs.values() for space in found}) < 2:
        return
    systems = []
    for candidate in (candidate for candidate in material.mission.candidates if candidate.name in programs):
        found = {space: tuple(names) for space, names in programs[candidate.name].items()}
        divided = candidate.place is None or candidate.place.linux
        systems.append(SystemSpaces(candidate.name, candidate.title, found, divided=divided))
    said = "; ".join(
        f"{system.name}: " + ("in one address space" if not system.divided else listed(
            [f"{listed(list(names))} in {space}" for space, names in system.programs.items()]
        ))
        for system in systems
    )  # fmt: skip
    caption = "Where the measuring code ran: user space, kernel space, or one address space for all"
    draw = partial(spaces, systems, material.palette)
    yield Plots((material.numbering.plot(clean(caption), clean(f"{caption}. {said}"), draw),))
