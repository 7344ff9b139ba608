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
from rtqual.engine.analysis.figure.operation_shares import median_ratio, rank_correlation
from rtqual.engine.candidates import printed as others
from rtqual.engine.candidates.printed import Operations
from rtqual.engine.instruments.probe.families import OWN_INTERVAL_NS
from rtqual.engine.mission import PUBLISHED
from rtqual.reports.chapter.battery import cell_of, figure_name, share_rows
from rtqual.reports.chapter.mechanism_plots import mechanism_plots, spaces_plot
from rtqual.reports.material import Material, instrument_order, notes_for, timing_mark
from rtqual.reports.page.document import Block, Column, Note, Paragraph, Plots, Table, TableCell
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
        yield from spaces_plot(material, [summary for _, summaries, _ in families for summary in summaries])
        for family in families:
            yield from _tables(material, *family)


def _families(material: Material) -> Iterator[tuple[str, list[Summary], tuple[Operations, ...]]]:
    groups: dict[tuple[str, str, str, int], list[Summary]] = {}
    for where in material.places():
        family = material.about(where.instrument).family
        for s in where.summaries if family and where.board != PUBLISHED else ():
            if s.figures and not s.problems:
                groups.setdefault((family, s.group.load, s.group.board, s.group.cpus), []).append(s)
    ordered = sorted(groups.items(), key=lambda pair: -max(len(s.series) for s in pair[1]))  # the fullest first
    for (family, load, *_), summaries in ordered:
        printed = (
            tuple(op for printed in others.printed() for op in printed.operations(family)) if load == "none" else ()
        )
        if printed or len({s.group.instrument for s in summaries}) > 1:
            yield family, summaries, printed


def _tables(
    material: Material, family: str, summaries: Sequence[Summary], printed: Sequence[Operations]
) -> Iterator[Table | Plots]:
    drawn = [operations for operations in printed if operations.charted]  # the study draws other intervals too
    refused = _refused(summaries, printed)
    printed = [operations for operations in printed if not all(_unlike(s, operations) for s in summaries)]
    statistic = printed[0].statistic if printed else "p50"
    printed = [operations for operations in printed if operations.statistic == statistic]
    systems = _systems(material, summaries, statistic)
    names = list(dict.fromkeys(name for system in systems for name in (*system.summary.series, *system.summary.absent)))
    notes = notes_for(system.figure(name) for system in systems for name in names)
    counts = {
        "samples n of each": [number(system.summary.samples) for system in systems],
        "runs": [str(system.summary.runs) for system in systems],
    }
    rows = [
        [TableCell(title), *map(TableCell, texts), *(TableCell("") for _ in printed)] for title, texts in counts.items()
    ]
    for name in names:
        cells = [cell_of(system.summary, name, notes, statistic, span=False) for system in systems]
        rows.append([TableCell(readable(name)), *cells, *(_printed(operations, name) for operations in printed)])
        rows += (
            [*row, *(TableCell("-") for _ in printed)] for row in share_rows([s.summary for s in systems], name, notes)
        )
    group = summaries[0].group
    charted = [name for name in names if any(name in operations.figures_ns for operations in drawn)]
    yield from mechanism_plots(material, [(system.title, system.summary) for system in systems], charted)
    where = f"{family} {load_text(group.load)}, {place(group)}"
    mark = notes.timed(timing_mark(summaries))
    measured = [Column(clean(system.title), candidate=system.summary.group.candidate) for system in systems]
    yield material.numbering.table(
        marked(clean(f"{where}, by operating system: {_STATISTICS[statistic]}"), mark),
        [Column("Operation", False), *measured, *(Column(operations.system) for operations in printed)],
        rows,
        (*_sources(printed), *refused, *notes.listed()),
    )
    agreeing = [row for operations in printed if (row := _agreement(systems, operations))]
    if agreeing:
        yield material.numbering.table(
            clean(f"{where}: rank correlation with published systems, and the median ratio to them"),
            [Column("Published system", False), Column("Operations"), *measured],
            agreeing,
        )


def _systems(material: Material, summaries: Sequence[Summary], statistic: str) -> list[_System]:
    """In the mission's order; of each candidate first in user, then in kernel space."""
    rtos = {c.name for c in material.mission.candidates if c.place and not c.place.linux}

    def title(s: Summary) -> str:
        return s.group.candidate + (
            "" if s.group.candidate in rtos else f", {material.about(s.group.instrument).space}"
        )

    def order(s: Summary) -> tuple[int, int, str]:
        return material.candidates.index(s.group.candidate), *instrument_order(s.group.instrument)

    ordered = sorted(summaries, key=order)
    return [_System(title(s), s, statistic) for s in ordered]


def _printed(operations: Operations, name: str) -> TableCell:
    return TableCell(quantity(operations.figures_ns[name], "ns")) if name in operations.figures_ns else TableCell("-")


def _agreement(systems: Sequence[_System], operations: Operations) -> list[TableCell]:
    """How well each system's order of operations agrees with a published order; nothing of too few operations."""
    ranks = [rank_correlation(values, operations.figures_ns) for values in _comparable(systems, operations)]
    if not any(ranks):
        return []
    counts = sorted({rank[1] for rank in ranks if rank})
    cells = []
    for values, rank in zip(_comparable(systems, operations), ranks, strict=True):
        ratio = median_ratio(values, operations.figures_ns)
        beside = "" if ratio is None else f"ratio {number(ratio)}"
        cells.append(TableCell(f"{rank[0]:.2f}", beside) if rank else TableCell("-", beside))
    return [TableCell(operations.system), TableCell(" or ".join(map(str, counts))), *cells]


def _comparable(systems: Sequence[_System], operations: Operations) -> Iterator[dict[str, float]]:
    """The values of each system; none of one that was measured otherwise than the study's."""
    for system in systems:
        yield {} if _unlike(system.summary, operations) else system.values


def _unlike(s: Summary, operations: Operations) -> str:
    """Why a system is not set beside a published one; empty where it may be."""
    interval_ns = s.conditions.parameters.get("interval") or OWN_INTERVAL_NS
    own = replace(s.conditions, parameters={**s.conditions.parameters, "interval": interval_ns})
    return unlike_conditions(own, operations.conditions)


def _refused(summaries: Sequence[Summary], printed: Sequence[Operations]) -> list[Note]:
    found: dict[str, dict[str, None]] = {}
    for operations in printed:
        for s in summaries:
            if why := _unlike(s, operations):
                found.setdefault(f"{operations.place}: {why}", {})[s.group.candidate] = None
    return [
        Note("", prose(f"Not set beside {what} ({listed(list(candidates))}).")) for what, candidates in found.items()
    ]


def _sources(printed: Sequence[Operations]) -> list[Note]:
    return [Note("", prose(text)) for text in dict.fromkeys(operations.told for operations in printed)]
