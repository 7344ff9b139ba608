# SPDX-License-Identifier: MIT
"""Why the worst samples were late: what made each candidate's, why one is later than another, and timelines."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rtqual.base.words import count, share
from rtqual.engine.analysis.figure.model import Group
from rtqual.parts.explain.cause_plots import timeline_plot, waterfall_plot
from rtqual.parts.explain.cause_tally import CauseTally, Waterfall, tally, waterfalls
from rtqual.parts.explain.stretch_words import cause, described, plain
from rtqual.parts.explain.timeline import TimeKind, Timeline
from rtqual.parts.explain.whys import WHY, Whys
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.draw import plots
from rtqual.reports.material import Material, group_of, timing_notes
from rtqual.reports.page.document import (
    Block,
    Column,
    Heading,
    Note,
    Paragraph,
    Plot,
    Plots,
    Table,
    TableCell,
    bullets,
    numbers,
    texts,
)
from rtqual.reports.page.text import VIRTUAL, clean, load_text, number, prose, quantity

_TIMELINES = 3  # of the worst samples under a load, beside the worst of each candidate
_SMALL = 0.01  # of a sample: parts below it share a row
_SHARE = 0.02  # of samples: kinds below it are left out
_HOW = (
    "The runs of these samples were made again on the virtual board and watched from outside of the guest; all their "
    "samples were those of the record, so these are the causes of the very samples of this report. Each is told "
    "from the timer's expiry to the thread's first reading of its clock, in parts that add up to it. Times count "
    "instructions: they show causes and rank kernels, and are no time of real hardware."
)
_COUNTED = Note(
    "", "Above p99 are the samples above their group's p99 in the runs that were made again, not in all runs."
)


@dataclass(frozen=True)
class _Told:
    """An explained sample."""

    record: Manifest
    line: Timeline
    worst: bool  # one of the worst of its candidate under its load
    above: bool  # above the p99 of these

    @property
    def ns(self) -> int:
        return self.line.sample.value_ns


def why(material: Material) -> Iterator[Block]:
    kept = WHY.of(material.annexes)
    if kept is None:
        return
    by_load = _by_load(material)
    if by_load:
        yield Paragraph(prose(_HOW))
    for load, groups in by_load.items():
        yield Heading(clean(load_text(load)).capitalize())
        yield from _causes(material, load, groups)
    yield from bullets("Not explained", kept.refused, "open")


def worst(material: Material) -> Iterator[Block]:
    """The worst samples, each part by part."""
    for load, groups in _by_load(material).items():
        yield Heading(clean(load_text(load)).capitalize())
        yield from _timelines(material, load, groups)


def _by_load(material: Material) -> dict[str, dict[Group, list[_Told]]]:
    by_load: dict[str, dict[Group, list[_Told]]] = defaultdict(dict)
    kept = WHY.of(material.annexes)
    for group, some in _told(material, kept).items() if kept else ():
        by_load[group.load][group] = some
    return by_load


def _told(material: Material, found: Whys) -> dict[Group, list[_Told]]:
    """By group, the worst sample first."""
    records = {manifest.hash: manifest for manifest in material.records}
    told: dict[Group, list[_Told]] = defaultdict(list)
    for run in found.runs:
        record = records.get(run.record)
        if record and run.timelines:
            told[group_of(record)] += [
                _Told(record, line, worst=place < run.worst, above=line.sample.value_ns > run.above_ns)
                for place, line in enumerate(run.timelines)
            ]
    by_lateness = lambda item: (-item.ns, item.record.hash, item.line.sample.number)  # noqa: E731
    return {group: sorted(told[group], key=by_lateness) for group in sorted(told, key=material.order)}


def _sets(material: Material, group: Group, told: Sequence[_Told]) -> dict[str, Sequence[_Told]]:
    """Which samples a row of the table is about."""
    limits = [
        asked.limit.value
        for asked in material.mission.requirements
        if (asked.instrument, asked.load) == (group.instrument, group.load) and asked.statistic and asked.at_most
    ]
    found: dict[str, Sequence[_Told]] = {
        "above p99": [sample for sample in told if sample.above],
        "the worst": [sample for sample in told if sample.worst],
        "maximum": told[:1],
        "above the limit": [sample for sample in told if limits and sample.ns > min(limits)],
    }
    return {name: some for name, some in found.items() if some}


def _causes(material: Material, load: str, groups: Mapping[Group, Sequence[_Told]]) -> Iterator[Block]:
    """Table and bars of what made them late, and why one candidate is later than another."""
    sets = {group: _sets(material, group, told) for group, told in groups.items()}
    tallies = {
        group: {name: tally(group.candidate, load, [told.line for told in some]) for name, some in named.items()}
        for group, named in sets.items()
    }
    columns = [*texts("Samples"), *numbers("n", "Mean"), *texts("Of their time", "Most often the longest part")]
    rows = [_row(group, name, sums) for group, named in tallies.items() for name, sums in named.items()]
    shown = material.numbering.table(clean(f"What made samples late, {load_text(load)}"), columns, rows, [_COUNTED])
    drawn = [_bars(material, load, {group.candidate: named["maximum"] for group, named in tallies.items()}, "maximum")]
    worst = [named["the worst"] for named in tallies.values() if "the worst" in named]
    drawn += [_fall(material, fall) for fall in waterfalls(worst) if fall.difference_ns > 0]
    yield shown
    yield Plots(tuple(drawn), timing_notes(VIRTUAL))


def _row(group: Group, name: str, sums: CauseTally) -> list[TableCell]:
    parts = sorted(sums.causes_ns.items(), key=lambda item: -item[1])
    of = [f"{kind} {share(round(ns), round(sums.mean_ns))}" for kind, ns in parts if ns >= _SHARE * sums.mean_ns]
    kind, where, times = sums.places[0]
    longest = f"{kind}, {plain(where) or 'not named'}" + (f" ({times} of {sums.samples})" if sums.samples > 1 else "")
    mean = TableCell(quantity(sums.mean_ns, "ns"), f"to {quantity(sums.most_ns, 'ns')}" if sums.samples > 1 else "")
    return [
        TableCell(clean(group.candidate), name),
        TableCell(number(sums.samples)),
        mean,
        TableCell(prose(", ".join(of))),
        TableCell(prose(longest)),
    ]


def _bars(material: Material, load: str, tallies: Mapping[str, CauseTally], name: str) -> Plot:
    kinds = [
        kind
        for kind in TimeKind
        if any(sums.causes_ns.get(kind, 0) >= _SHARE * sums.mean_ns for sums in tallies.values())
    ]
    bars = [
        plots.Bar(kind.value, candidate, 100 * causes.causes_ns.get(kind, 0) / causes.mean_ns,
                  label=share(round(causes.causes_ns.get(kind, 0)), round(causes.mean_ns)))
        for kind in kinds for candidate, causes in tallies.items()
    ]  # fmt: skip
    caption = clean(f"Causes of the {name}, {load_text(load)}: shares of its time")
    spoken = "; ".join(f"{bar.candidate}: {bar.row} {bar.label}" for bar in bars)
    draw = partial(plots.bars, {"Share of the sample (%)": bars}, "1", VIRTUAL, material.palette)
    return material.numbering.plot(caption, clean(f"{caption}. {spoken}"), draw, VIRTUAL)


def _fall(material: Material, fall: Waterfall) -> Plot:
    caption = clean(f"Why {fall.later.candidate} is later than {fall.sooner.candidate} {load_text(fall.later.load)}")
    steps = "; ".join(f"{step.kind} {quantity(step.ns, 'ns')}" for step in fall.steps)
    alt = f"{caption}: {quantity(fall.difference_ns, 'ns')} in the mean of their worst samples. {steps}"
    return material.numbering.plot(caption, clean(alt), partial(waterfall_plot, fall, material.palette), VIRTUAL)


def _timelines(material: Material, load: str, groups: Mapping[Group, Sequence[_Told]]) -> Iterator[Block]:
    """The worst of all, and of each candidate the worst."""
    every = sorted((shown for told in groups.values() for shown in told), key=lambda told: -told.ns)
    firsts = [told[0] for told in groups.values()]
    notes = timing_notes(VIRTUAL)  # once, below the first
    for first in [*every[:_TIMELINES], *(told for told in firsts if told not in every[:_TIMELINES])]:
        sample, inputs = first.line.sample, first.record.inputs
        name = clean(f"{inputs.candidate} {load_text(load)}, seed {inputs.seed}, sample {sample.number}")
        caption = f"{name}: {quantity(first.ns, 'ns')}"
        alt = clean(f"Timeline of {caption}: {cause(first.line)}")
        drawn = material.numbering.plot(caption, prose(alt), partial(timeline_plot, first.line), VIRTUAL)
        material.numbering.explained[(group_of(first.record), first.ns)] = drawn.ident
        yield Plots((drawn,), notes)
        notes = ()
        yield _parts(material, first, name)


def _parts(material: Material, told: _Told, name: str) -> Table:
    shown = [part for part in told.line.parts if part.duration_ns >= _SMALL * told.ns]
    rows = [
        [
            TableCell(f"+{part.begin_ns:,}"),
            TableCell(f"{part.duration_ns:,}"),
            TableCell(part.kind.value),
            TableCell(prose(described(part))),
        ]
        for part in shown
    ]
    rest = len(told.line.parts) - len(shown)
    if rest:
        left_ns = told.ns - sum(part.duration_ns for part in shown)
        rows.append(
            [
                TableCell("others"),
                TableCell(f"{left_ns:,}"),
                TableCell(f"{count(rest, 'part')}"),
                TableCell("each below 1 %"),
            ]
        )
    rows.append([TableCell("sum"), TableCell(f"{told.ns:,}"), TableCell(""), TableCell(prose(cause(told.line)))])
    columns = [Column("From (ns)"), Column("For (ns)"), Column("What", False, name=True), *texts("Where")]
    return material.numbering.table(f"Parts of {name}", columns, rows)
