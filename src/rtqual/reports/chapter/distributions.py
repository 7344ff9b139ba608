# SPDX-License-Identifier: MIT
"""What is plotted of the samples: a histogram and the share above a value, for every load of an instrument."""

from collections.abc import Iterator, Sequence
from functools import partial

from rtqual.engine.analysis.figure.model import Distribution, Summary
from rtqual.engine.analysis.verdict.model import Verdict
from rtqual.engine.mission import Statistic
from rtqual.protocols.record.schema import SeriesKind
from rtqual.reports.draw import plots
from rtqual.reports.material import Material, Place, timing_mark, timing_notes
from rtqual.reports.page.document import Block, Paragraph, Plot, Plots
from rtqual.reports.page.text import clean, figure_text, load_text, place, prose

QUANTITY = {"cyclictest": "Wake-up latency", "hackbench": "Duration"}
FEWEST = 20  # samples of a candidate; fewer make no picture
FEWEST_OF_A_TAIL = 1000  # of the best sampled candidate; fewer show nothing that the histogram does not
# Statistics that are no place on the axis of the samples.
_SPREADS = (Statistic.STD, Statistic.RANGE, Statistic.P95_AVG)
_MOST_LIMITS = 3  # in a plot
_SHAPES = ((plots.histogram, "Histogram"), (plots.ccdf, "Share of samples above a value"))


def distributions(material: Material, where: Place) -> Iterator[Block]:
    """A histogram and, where there is a tail to see, a CCDF for every load, all on the same horizontal axis."""
    panels = panels_of(material, where)
    if not panels:
        sampled = any(s.distribution for s in where.summaries)
        why = "There are too few samples to plot" if sampled else "This tool prints no samples to plot"
        yield Paragraph(f"{why}; the figures stand in the tables below.")
        return
    drawn = [
        _plot(material, where, load, panel, shape=shape)
        for load, panel in panels.items()
        for shape in range(len(_SHAPES))
        if shape == 0 or max(s.samples for s in where.under(load)) >= FEWEST_OF_A_TAIL
    ]
    yield Plots(tuple(drawn), timing_notes(timing_mark(where.summaries)))


def decisive(material: Material, verdict: Verdict) -> Plots | None:
    """The histogram of the first requirement that sets a limit to samples, for the first page."""
    for requirement in material.mission.requirements:
        for where in material.places():
            if (where.instrument, where.board) != (requirement.instrument, verdict.board):
                continue
            panel = panels_of(material, where).get(requirement.load)
            if panel and panel.limits:
                plot = _plot(material, where, requirement.load, panel, shape=0)
                return Plots((plot,), timing_notes(panel.mark))
    return None


def _plot(material: Material, where: Place, load: str, panel: plots.Panel, *, shape: int) -> Plot:
    draw, what = _SHAPES[shape]
    summaries = where.under(load)
    series = summaries[0].series
    of = f" of {series[0]}" if len(series) > 1 else ""  # the first stands for an instrument that samples several things
    caption = clean(f"{what}{of}, {where.instrument} {load_text(load)}, {place(summaries[0].group)}")
    alt = f"{caption}. {_spoken(summaries)}"
    return material.numbering.plot(caption, alt, partial(draw, panel, material.palette), panel.mark)


def panels_of(material: Material, where: Place) -> dict[str, plots.Panel]:
    """What is plotted under every load: panels on one horizontal axis."""
    by_load = {load: drawable for load in where.loads if (drawable := _drawable(where.under(load)))}
    limits = {load: _limits(material, where, load) for load in by_load}
    shown = [d for drawable in by_load.values() for d in drawable.values()]
    span = plots.span_of(shown, [limit for some in limits.values() for limit in some])
    quantity = QUANTITY.get(where.instrument, "Latency")
    return {
        load: plots.Panel(drawable, quantity, timing_mark(where.under(load)), limits[load], span)
        for load, drawable in by_load.items()
    }


def _drawable(summaries: Sequence[Summary]) -> dict[str, Distribution]:
    return {
        s.group.candidate: s.distribution
        for s in summaries
        if s.distribution is not None and s.distribution.kind != SeriesKind.SUMMARY and s.samples >= FEWEST
    }


def _limits(material: Material, where: Place, load: str) -> tuple[plots.Limit, ...]:
    limits = [
        plots.Limit(
            f"{r.statistic} {'at most' if r.at_most else 'at least'}", r.limit.value, upper=r.at_most is not None
        )
        for r in material.mission.requirements
        if (r.instrument, r.load) == (where.instrument, load) and r.statistic and r.statistic not in _SPREADS
    ]
    if len(limits) > _MOST_LIMITS:  # the tightest either way
        upper = sorted((limit for limit in limits if limit.upper), key=_value)
        lower = sorted((limit for limit in limits if not limit.upper), key=_value)
        limits = [*upper[:1], *lower[-1:]]
    return tuple(limits)


def _value(limit: plots.Limit) -> float:
    return limit.value


def _spoken(summaries: Sequence[Summary]) -> str:
    """What a plot shows, in words."""
    candidates = []
    for s in summaries:
        ends = [f"{name} {figure_text(s.figures[name])}" for name in ("min", "p50", "max") if name in s.figures]
        candidates.append(f"{s.group.candidate}: {', '.join(ends)}")
    return prose("; ".join(candidates)) + "."
