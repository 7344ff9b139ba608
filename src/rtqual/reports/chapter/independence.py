# SPDX-License-Identifier: MIT
"""How the samples of a run depend on each other."""

from collections.abc import Iterator, Sequence
from functools import partial

from rtqual.engine.analysis.figure.model import Group, Summary
from rtqual.reports.draw.plots_tails import correlation_plot
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Paragraph, Plots, Table, TableCell, numbers, texts
from rtqual.reports.page.text import cell_text, clean, groups_text, load_text, number, place, prose

_DEPENDENCE = (
    "Samples of a run depend on each other: a late wake-up is followed by a late one more often than by chance. The "
    "rank correlation of a sample with a later one says how much; the effective number of samples says how many "
    "independent ones they are worth, for the median and for how often a sample is among the worst hundredth. "
    "The intervals of this report rest on whole runs, not on samples as if they were independent."
)


def dependence(material: Material) -> Iterator[Block]:
    """In words, in figures and as correlations against the lag; once, where the order is not recorded."""
    sampled = sorted((s for s in material.evidence.summaries if s.distribution), key=lambda s: material.order(s.group))
    known = [s for s in sampled if s.dependence]
    if not sampled:
        return
    if known:
        yield Paragraph(_DEPENDENCE)
        yield _table(material, known)
        yield from _correlations(material, known)
    silent = [s.group for s in sampled if not s.dependence]
    if silent:
        where = f"For {groups_text(silent)}" if known else "For all groups"
        yield Paragraph(
            prose(f"{where}, the order of the samples is not recorded or the runs are short: dependence is not known.")
        )


def _table(material: Material, known: Sequence[Summary]) -> Table:
    rows = []
    for s in known:
        assert s.dependence  # noqa: S101 asked by the caller
        lags = [number(round(s.dependence.lags[lag - 1], 3)) if s.dependence.lags else "-" for lag in (1, 10, 40)]
        worth = [_worth(value, s.samples) for value in (s.dependence.effective, s.dependence.effective_late)]
        rows.append(
            [
                TableCell(clean(cell_text(s.group))),
                TableCell(number(s.samples)),
                *(TableCell(lag) for lag in lags),
                *worth,
            ]
        )
    columns = [*texts("Group"), *numbers("Samples", "Lag 1", "Lag 10", "Lag 40", "Worth, median", "Worth, late")]
    caption = "Rank correlation at three lags, and independent samples that the samples are worth"
    return material.numbering.table(caption, columns, rows)


def _worth(effective: float, samples: int) -> TableCell:
    return TableCell(f"{round(effective):,}", f"{number(round(100 * effective / samples, 1))} %")


def _correlations(material: Material, known: Sequence[Summary]) -> Iterator[Plots]:
    cells: dict[tuple[str, str, str, int], dict[str, Sequence[float]]] = {}
    for s in known:
        if s.dependence and s.dependence.lags:
            cells.setdefault(s.group.cell, {})[s.group.candidate] = s.dependence.lags
    drawn = []
    for (instrument, load, board, cpus), lags in cells.items():
        there = place(Group(instrument, load, board, cpus, ""))
        caption = clean(f"Correlation of a sample with a later one, {instrument} {load_text(load)}, {there}")
        spoken = "; ".join(f"{name}: lag 1 {values[0]:.3f}, lag 40 {values[-1]:.3f}" for name, values in lags.items())
        draw = partial(correlation_plot, lags, material.palette)
        drawn.append(material.numbering.plot(caption, clean(f"{caption}. {spoken}."), draw))
    if drawn:
        yield Plots(tuple(drawn))
