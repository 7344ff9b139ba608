# SPDX-License-Identifier: MIT
"""Estimates of how late the rare samples are, with their diagnostics, or why there are none."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rtqual.base.words import listed, one_in
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.tails.estimate import FARTHEST
from rtqual.engine.analysis.tails.model import Estimate, Estimated, Exceedance, Observed, Refusal, Tails
from rtqual.reports.draw.plots_tails import return_level_plot, stability_plot
from rtqual.reports.material import Material
from rtqual.reports.page.document import (
    Block,
    Bullets,
    Note,
    Notes,
    Paragraph,
    Plot,
    Plots,
    Table,
    TableCell,
    bullets,
    numbers,
    texts,
)
from rtqual.reports.page.text import cell_text, clean, duration, groups_text, number, prose, quantity, step

_TAILS = (
    f"What is passed on average once in a time: by one cluster of late samples, however many. It is an estimate by "
    f"extreme value statistics (peaks over threshold), never a bound: it is passed at least once in that time with "
    f"63 %. It holds for what was measured, at the interval of the measurement, and is given for at most "
    f"{FARTHEST} times the time measured."
)
_HELD = (
    "On samples of a known tail 96 % of such intervals held. Where only some 15 of the samples have a wider tail of "
    "their own, 81 % did, and no diagnostic tells: of so few it is not known how far they go on."
)


@dataclass(frozen=True)
class _Thread:
    """One row: a thread of a group, and what is known of its tail."""

    group: Group
    asked_ns: float
    made: Estimate
    refused: Refusal | None  # the horizon asked for

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (cell_text(self.group), self.made.observed.name)))


def tails(material: Material) -> Iterator[Block]:
    """The levels with their diagnostics and plots, how often limits were passed, and what was refused and why."""
    found = sorted(material.evidence.tails.items(), key=lambda pair: material.order(pair[0]))
    if not found:
        return
    threads = [thread for group, estimates in found for thread in _threads(group, estimates)]
    yield Paragraph(prose(_TAILS))
    if threads:
        yield _levels(material, threads)
        yield Plots(tuple(plot for thread in _latest(threads) for plot in _plots(material, thread)))
        plotted = [*_latest(threads)]
        for thread in threads:
            yield from _diagnostics(thread, every=thread in plotted)
    exceedances = [(group, exceedance) for group, tail in found for exceedance in tail.exceedances]
    if exceedances:
        yield _exceedance_table(material, exceedances)
    refusals = [
        (group, refusal) for group, estimates in found for refusal in estimates.threads if isinstance(refusal, Refusal)
    ]
    if refusals:
        asked = duration(found[0][1].asked_ns)
        yield from bullets(prose(f"No tail estimate for {asked}, and why"), _refusals(refusals), "open")
    unsettled = [plot for group, tail in found for plot in _unsettled(material, group, tail)]
    if unsettled:
        yield Plots(tuple(unsettled))


def _diagnostics(thread: _Thread, *, every: bool) -> Iterator[Bullets]:
    """All of the threads that are plotted, what failed of the others."""
    shown = (check for check in thread.made.checks if every or not check.passed)
    items = (f"{'✓' if check.passed else '✗'} {check.what}: {check.statement}" for check in shown)
    yield from bullets(prose(f"Diagnostics: {thread.name}"), items)


def _threads(group: Group, tail: Tails) -> Iterator[_Thread]:
    for refusal in tail.threads:
        if isinstance(refusal, Estimate):
            yield _Thread(group, tail.asked_ns, refusal, None)
        elif refusal.instead:
            yield _Thread(group, tail.asked_ns, refusal.instead, refusal)


def _levels(material: Material, threads: Sequence[_Thread]) -> Table:
    rows, notes = [], Notes()
    for thread in threads:
        made, chosen = thread.made, thread.made.chosen
        shorter = f"The longest time that the samples support, not the {duration(thread.asked_ns)} asked for."
        row = [
            TableCell(prose(thread.name)),
            TableCell(duration(made.level.horizon_ns), marks=notes.mark(shorter) if thread.refused else ""),
            _with_interval(made.level.at),
            TableCell(duration(made.observed.exposure_ns), f"{number(made.observed.samples)} samples"),
        ]
        if chosen:
            row += [
                TableCell(quantity(chosen.threshold, "ns"), f"{number(chosen.exceedances)} above"),
                TableCell(number(chosen.clusters), f"index {number(round(chosen.extremal_index, 2))}"),
                TableCell(number(round(chosen.shape.value, 2)), f"{chosen.shape.low:.2f} to {chosen.shape.high:.2f}"),
            ]
        else:
            row += [TableCell("-"), TableCell(number(made.blocks), "run maxima"), TableCell("-")]
        row.append(_with_interval(made.maxima.at) if made.maxima else TableCell("-"))
        rows.append(row)
    of_fit = numbers("Threshold", "Clusters", "Shape", "By block maxima")
    columns = [*texts("Thread"), *numbers("Once in", "Level", "Measured"), *of_fit]
    caption = "Return levels: estimates with 95 % profile-likelihood intervals, not bounds"
    index = "The extremal index is the part of late samples that begin a cluster: 1 where they come alone."
    return material.numbering.table(caption, columns, rows, [Note("", _HELD), Note("", index), *notes.listed()])


def _with_interval(at: Estimated) -> TableCell:
    scale, _ = step(at.value, "ns")
    return TableCell(quantity(at.value, "ns"), f"{number(at.low / scale)} to {number(at.high / scale)}")


def _latest(threads: Sequence[_Thread]) -> Iterator[_Thread]:
    """Of each group the thread with the highest level: plots of all would say little more."""
    groups = dict.fromkeys(thread.group for thread in threads)
    for group in groups:
        yield max((t for t in threads if t.group == group), key=lambda t: t.made.level.at.value)


def _plots(material: Material, thread: _Thread) -> Iterator[Plot]:
    colour = material.palette.colour(thread.group.candidate)
    made = thread.made
    at = made.level.at
    caption = prose(f"Return levels: {thread.name}")
    alt = clean(
        f"{caption}. Once in {duration(made.level.horizon_ns)}: {quantity(at.value, 'ns')}, "
        f"from {quantity(at.low, 'ns')} to {_end(at.high)}."
    )
    yield material.numbering.plot(caption, alt, partial(return_level_plot, made, thread.asked_ns, colour))
    if made.table:
        chosen = next((row for row in made.table if made.chosen and row.threshold == made.chosen.threshold), None)
        caption = _stability_caption(made.observed, thread.asked_ns, thread.name)
        yield material.numbering.plot(caption, caption, partial(stability_plot, made.table, chosen, colour))


def _unsettled(material: Material, group: Group, tail: Tails) -> Iterator[Plot]:
    """The thresholds of a group's first thread that has no estimate at all."""
    for refusal in tail.threads:
        if isinstance(refusal, Refusal) and refusal.observed and refusal.table and not refusal.instead:
            name = ", ".join(filter(None, ("refused", cell_text(group), refusal.observed.name)))
            caption = _stability_caption(refusal.observed, tail.asked_ns, name)
            draw = partial(stability_plot, refusal.table, None, material.palette.colour(group.candidate))
            yield material.numbering.plot(caption, caption, draw)
            return


def _stability_caption(observed: Observed, asked_ns: float, name: str) -> str:
    """The level is that for the time asked for, or the longest that may be asked."""
    horizon = duration(min(asked_ns, FARTHEST * observed.exposure_ns))
    return prose(f"Shape, and level once in {horizon}, against the threshold: {name}")


def _end(high: float) -> str:
    return "no end" if math.isinf(high) else quantity(high, "ns")


def _exceedance_table(material: Material, found: Sequence[tuple[Group, Exceedance]]) -> Table:
    rows = []
    for group, exceedance in found:
        worth = (
            "order not recorded: taken as independent"
            if exceedance.effective is None
            else f"worth {exceedance.effective:,.0f}"
        )
        rows.append(
            [
                TableCell(prose(f"{exceedance.requirement}: {cell_text(group)}")),
                TableCell(quantity(exceedance.limit, "ns")),
                TableCell(f"{exceedance.exceeding:,}", f"of {exceedance.samples:,}"),
                TableCell(worth),
                TableCell(
                    one_in(exceedance.bound),
                    f"more than {duration(exceedance.once_in_ns)} apart" if exceedance.once_in_ns else "",
                ),
            ]
        )
    columns = [*texts("Requirement"), *numbers("Limit", "Samples beyond", "Independent samples", "Rarer than, 95 %")]
    caption = "How often a limit was passed, and the exact upper end of that share (Clopper and Pearson)"
    return material.numbering.table(caption, columns, rows)


def _refusals(refusals: Sequence[tuple[Group, Refusal]]) -> Iterator[str]:
    """One line a reason and group of threads that share it."""
    by_reason: dict[str, list[tuple[Group, Refusal]]] = {}
    for group, refusal in refusals:
        by_reason.setdefault(f"{refusal.why}: {refusal.reason}", []).append((group, refusal))
    for reason, some in by_reason.items():
        groups = list(dict.fromkeys(group for group, _ in some))
        threads = [refusal.observed.name for _, refusal in some if refusal.observed and refusal.observed.name]
        which = f", {listed(threads)}" if len(groups) == 1 and threads else ""
        yield f"{groups_text(groups)}{which}: {reason}."
