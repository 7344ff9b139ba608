# SPDX-License-Identifier: MIT
"""One table for each family of the probe: operations down, operating systems across, published systems beside them.

Linux stands twice, in user and in kernel space; Xenomai's Alchemy skin and EVL stand apart. The order of a system's
operations is compared with the published one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rtqual.base.words import listed
from rtqual.engine.analysis.figure.comparable import unlike_conditions
from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.engine.analysis.figure.operations import median_ratio, rank_correlation
from rtqual.engine.candidates import printed as others
from rtqual.engine.candidates.printed import Operations
from rtqual.engine.instruments.probe.families import OWN_INTERVAL_NS, Probe
from rtqual.engine.mission import PUBLISHED
from rtqual.protocols.instrument.registry import all_instruments
from rtqual.reports.chapter.battery import cell_of, figure_name, share_rows
from rtqual.reports.chapter.mechanism_plots import mechanism_plots, spaces_plot
from rtqual.reports.material import Material, notes_for, timing_mark
from rtqual.reports.page.document import Block, Cell, Column, Note, Paragraph, Plots, Table
from rtqual.reports.page.text import clean, load_text, marked, number, place, prose, quantity, readable

_STATISTICS = {"p50": "medians", "avg": "averages"}
_WARNING = (
    "The systems under test ran the same code on the same board. Those of a study did not: processor, clock, caches, "
    "versions and the code around an operation differ, so a figure that is larger or smaller than a published one says "
    "nothing by itself. What can be compared is which operations are dear: a rank correlation (Spearman's) of 1 means "
    "the same order. The operations are all that both have, no sample of others, so it has no interval; of three "
    "operations, one order in six agrees by chance."
)


@dataclass(frozen=True)
class _System:
    """A measured column."""

    title: str
    summary: Summary
    statistic: str

    def figure(self, operation: str) -> Figure | None:
        return self.summary.figures.get(figure_name(self.summary, operation, self.statistic))

    @property
    def values(self) -> dict[str, float]:
        found = {name: self.figure(name) for name in self.summary.series}
        return {name: figure.value for name, figure in found.items() if figure and not figure.at_least}


def mechanisms(material: Material) -> Iterator[Block]:
    """Nothing where no family was measured in both spaces and no study printed a comparable system."""
    families = list(_families(material))
    if families:
        yield Paragraph(_WARNING)
        yield from spaces_plot(material, [one for _, summaries, _ in families for one in summaries])
        for one in families:
            yield from _tables(material, *one)


def _families(material: Material) -> Iterator[tuple[str, list[Summary], tuple[Operations, ...]]]:
    groups: dict[tuple[str, str, str, int], list[Summary]] = {}
    for one in material.places():
        family = _family(one.instrument)
        for s in one.summaries if family and one.board != PUBLISHED else ():
            if s.figures and not s.problems:
                groups.setdefault((family, s.group.load, s.group.board, s.group.cpus), []).append(s)
    ordered = sorted(groups.items(), key=lambda one: -max(len(s.series) for s in one[1]))  # the fullest first
    for (family, load, *_), summaries in ordered:
        printed = tuple(op for one in others.printed() for op in one.operations(family)) if load == "none" else ()
        if printed or len({s.group.instrument for s in summaries}) > 1:
            yield family, summaries, printed


def _family(instrument: str) -> str:
    known = all_instruments().get(instrument)
    return known.family if isinstance(known, Probe) else ""


def _tables(
    material: Material, family: str, summaries: Sequence[Summary], printed: Sequence[Operations]
) -> Iterator[Table | Plots]:
    drawn = [one for one in printed if one.charted]  # the study draws other intervals too
    refused = _refused(summaries, printed)
    printed = [one for one in printed if not all(_unlike(s, one) for s in summaries)]
    statistic = printed[0].statistic if printed else "p50"
    printed = [one for one in printed if one.statistic == statistic]
    systems = _systems(material, summaries, statistic)
    names = list(dict.fromkeys(name for one in systems for name in (*one.summary.series, *one.summary.absent)))
    notes = notes_for(one.figure(name) for one in systems for name in names)
    counts = {
        "samples n of each": [number(one.summary.samples) for one in systems],
        "runs": [str(one.summary.runs) for one in systems],
    }
    rows = [[Cell(title), *map(Cell, texts), *(Cell("") for _ in printed)] for title, texts in counts.items()]
    for name in names:
        cells = [cell_of(one.summary, name, notes, statistic, span=False) for one in systems]
        rows.append([Cell(readable(name)), *cells, *(_printed(one, name) for one in printed)])
        rows += ([*row, *(Cell("-") for _ in printed)] for row in share_rows([s.summary for s in systems], name, notes))
    group = summaries[0].group
    charted = [name for name in names if any(name in one.figures_ns for one in drawn)]
    yield from mechanism_plots(material, [(one.title, one.summary) for one in systems], charted)
    where = f"{family} {load_text(group.load)}, {place(group)}"
    mark = notes.timed(timing_mark(summaries))
    measured = [Column(clean(one.title), candidate=one.summary.group.candidate) for one in systems]
    yield material.numbering.table(
        marked(clean(f"{where}, by operating system: {_STATISTICS[statistic]}"), mark),
        [Column("Operation", False), *measured, *(Column(one.system) for one in printed)],
        rows,
        (*_sources(printed), *refused, *notes.listed()),
    )
    agreeing = [row for one in printed if (row := _agreement(systems, one))]
    if agreeing:
        yield material.numbering.table(
            clean(f"{where}: rank correlation with published systems, and the median ratio to them"),
            [Column("Published system", False), Column("Operations"), *measured],
            agreeing,
        )


def _systems(material: Material, summaries: Sequence[Summary], statistic: str) -> list[_System]:
    """In the mission's order; of each candidate first in user, then in kernel space."""
    rtos = {c.name for c in material.mission.candidates if c.place and not c.place.linux}

    def space(s: Summary) -> str:
        known = all_instruments()[s.group.instrument]
        return known.space if isinstance(known, Probe) else ""

    def title(s: Summary) -> str:
        return s.group.candidate + ("" if s.group.candidate in rtos else f", {space(s)}")

    order = list(all_instruments())
    ordered = sorted(
        summaries, key=lambda s: (material.candidates.index(s.group.candidate), order.index(s.group.instrument))
    )
    return [_System(title(s), s, statistic) for s in ordered]


def _printed(one: Operations, name: str) -> Cell:
    return Cell(quantity(one.figures_ns[name], "ns")) if name in one.figures_ns else Cell("-")


def _agreement(systems: Sequence[_System], one: Operations) -> list[Cell]:
    """How well each system's order of operations agrees with a published order; nothing of too few operations."""
    ranks = [rank_correlation(values, one.figures_ns) for values in _comparable(systems, one)]
    if not any(ranks):
        return []
    counts = sorted({rank[1] for rank in ranks if rank})
    cells = []
    for values, rank in zip(_comparable(systems, one), ranks, strict=True):
        ratio = median_ratio(values, one.figures_ns)
        beside = "" if ratio is None else f"ratio {number(ratio)}"
        cells.append(Cell(f"{rank[0]:.2f}", beside) if rank else Cell("-", beside))
    return [Cell(one.system), Cell(" or ".join(map(str, counts))), *cells]


def _comparable(systems: Sequence[_System], one: Operations) -> Iterator[dict[str, float]]:
    """The values of each system; none of one that was measured otherwise than the study's."""
    for system in systems:
        yield {} if _unlike(system.summary, one) else system.values


def _unlike(s: Summary, one: Operations) -> str:
    """Why a system is not set beside a published one; empty where it may be."""
    interval_ns = s.conditions.parameters.get("interval") or OWN_INTERVAL_NS
    own = replace(s.conditions, parameters={**s.conditions.parameters, "interval": interval_ns})
    return unlike_conditions(own, one.conditions)


def _refused(summaries: Sequence[Summary], printed: Sequence[Operations]) -> list[Note]:
    found: dict[str, dict[str, None]] = {}
    for one in printed:
        for s in summaries:
            if why := _unlike(s, one):
                found.setdefault(f"{one.place}: {why}", {})[s.group.candidate] = None
    return [
        Note("", prose(f"Not set beside {what} ({listed(list(candidates))}).")) for what, candidates in found.items()
    ]


def _sources(printed: Sequence[Operations]) -> list[Note]:
    return [Note("", prose(text)) for text in dict.fromkeys(one.told for one in printed)]
