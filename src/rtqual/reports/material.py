# SPDX-License-Identifier: MIT
"""What a report is made of, in an order that does not depend on when anything ran."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from rtqual.base.words import count
from rtqual.engine.analysis.figure.model import Figure, Group, Summary
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Verdict
from rtqual.engine.campaign.annex import Annexes
from rtqual.engine.mission import PUBLISHED, Mission
from rtqual.protocols.board.registry import order as board_order
from rtqual.protocols.instrument.about import about_record
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import About, Manifest, Timing
from rtqual.reports.draw.canvas import Palette
from rtqual.reports.page.document import Column, Note, Notes, Numbering, TableCell
from rtqual.reports.page.text import (
    TIMING_MARK,
    TIMING_NOTE,
    clean,
    figure_interval,
    figure_value,
    load_text,
    number,
    place,
)
from rtqual.reports.told import UNTOLD, Told

NO_LOAD = "none"
FOOTPRINT = "footprint"  # the instrument whose figures describe the systems under test


Order = tuple[tuple[int, str], int, str, int, int, str, int]  # see Material.order


@dataclass(frozen=True)
class Place:
    """One instrument on one board with so many CPUs: what a section of the results is about."""

    instrument: str
    board: str
    cpus: int
    summaries: tuple[Summary, ...]

    @property
    def loads(self) -> list[str]:
        return list(dict.fromkeys(s.group.load for s in self.summaries))

    def under(self, load: str) -> tuple[Summary, ...]:
        return tuple(s for s in self.summaries if s.group.load == load)

    @property
    def title(self) -> str:
        return f"{self.instrument}, {place(self.summaries[0].group)}"


@dataclass(frozen=True)
class Material:
    mission: Mission
    evidence: Evidence
    records: tuple[Manifest, ...]
    failures: tuple[tuple[str, str], ...]  # cell, reason
    annexes: Annexes = field(default_factory=dict)  # evidence beside the records
    told: Told = UNTOLD
    numbering: Numbering = field(default_factory=Numbering)

    @property
    def candidates(self) -> tuple[str, ...]:
        """In the mission's order; any other the records speak of follow by name."""
        named = [c.name for c in self.mission.candidates]
        others = {s.group.candidate for s in self.evidence.summaries} | {r.inputs.candidate for r in self.records}
        others |= {s.candidate for v in self.evidence.verdicts for s in v.standings}
        others |= {g.candidate for c in self.evidence.comparisons for g in (c.a, c.b)}
        return (*named, *sorted(others - set(named)))

    @property
    def palette(self) -> Palette:
        """The candidates measured take the first styles, which are all different."""
        return Palette(tuple(dict.fromkeys((*self.measured, *self.candidates))))

    @property
    def boards(self) -> list[str]:
        found = {s.group.board for s in self.evidence.summaries} | {r.inputs.board for r in self.records}
        return sorted(found, key=board_order)

    @property
    def measured(self) -> tuple[str, ...]:
        """The candidates that rtqual has any figure of."""
        seen = {s.group.candidate for s in self.evidence.summaries if s.group.board != PUBLISHED}
        return tuple(c for c in self.candidates if c in seen)

    @property
    def every_run_ended(self) -> bool:
        """Also of those that were made again."""
        return not self.failures and not self.evidence.lost

    @property
    def published(self) -> tuple[str, ...]:
        """The candidates whose figures a study printed."""
        return tuple(c.name for c in self.mission.candidates if c.published)

    def about(self, instrument: str) -> About:
        """What the records of an instrument tell of it."""
        return next((about_record(r) for r in self.records if r.inputs.instrument == instrument), About())

    def title(self, candidate: str) -> str:
        return next((c.title for c in self.mission.candidates if c.name == candidate), candidate)

    def places(self) -> Iterator[Place]:
        ordered = sorted(self.evidence.summaries, key=lambda s: self.order(s.group))
        for (board, instrument, cpus), group in groupby(
            ordered, key=lambda s: (s.group.board, s.group.instrument, s.group.cpus)
        ):
            yield Place(instrument, board, cpus, tuple(group))

    def of_board(self, board: str) -> list[Manifest]:
        return [r for r in self.records if r.inputs.board == board]

    def timings(self, board: str) -> set[Timing]:
        return {s.timing for s in self.evidence.summaries if s.group.board == board}

    def load(self, name: str) -> str:
        """What a load is, as the records tell."""
        told = (about_record(record).load for record in self.records if record.inputs.load == name)
        return next(filter(None, told), "-")

    def columns(self, candidates: Sequence[str]) -> list[Column]:
        return [Column(clean(name), candidate=name) for name in candidates]

    def order(self, group: Group) -> Order:
        """To sort by: board, instrument, CPUs, load, candidate, each in the order a reader expects."""
        loads = [NO_LOAD, *all_loads()]
        return (
            board_order(group.board),
            *instrument_order(group.instrument),
            group.cpus,
            loads.index(group.load) if group.load in loads else len(loads),
            group.load,
            self.candidates.index(group.candidate),
        )


def gather(
    mission: Mission,
    evidence: Evidence,
    records: Sequence[Manifest],
    failures: Mapping[Group, str] | Mapping[str, str],
    annexes: Annexes | None = None,
    told: Told = UNTOLD,
) -> Material:
    """Records in the order of their inputs, not of their arrival; of records of the same draw only one."""
    distinct = {r.hash: r for r in sorted(records, key=lambda r: r.repeat, reverse=True)}
    failed = {_cell_name(cell): reason for cell, reason in (*evidence.failures.items(), *failures.items())}
    found = Material(mission, evidence, tuple(distinct.values()), tuple(sorted(failed.items())), annexes or {}, told)
    order = sorted(found.records, key=lambda r: (*found.order(group_of(r)), r.inputs.seed, r.hash))
    return replace(found, records=tuple(order))


def instrument_order(name: str) -> tuple[int, str]:
    """Of those that parts bring as they bring them, then by name."""
    known = list(all_instruments())
    return known.index(name) if name in known else len(known), name


def cell_key(record: Manifest) -> tuple[str, str, str, int]:
    """What the runs of all candidates have in common."""
    inputs = record.inputs
    return inputs.board, inputs.instrument, inputs.load, inputs.cpus


def described(record: Manifest) -> str:
    """'rt, under hackbench, 2 CPUs'."""
    inputs = record.inputs
    return f"{inputs.candidate}, {load_text(inputs.load)}, {count(inputs.cpus, 'CPU')}"


def group_of(record: Manifest) -> Group:
    inputs = record.inputs
    return Group(inputs.instrument, inputs.load, inputs.board, inputs.cpus, inputs.candidate)


def facts_of(records: Sequence[Manifest], fact: str) -> list[str]:
    """Return the values that a fact has in records, each once; those without it are left out."""
    found = dict.fromkeys(manifest.provenance.facts.get(fact, "none") for manifest in records)
    return [value for value in found if value != "none"]


def _cell_name(cell: Group | str) -> str:
    if isinstance(cell, Group):
        return f"{cell.candidate}: {cell.instrument} {load_text(cell.load)}, {place(cell)}"
    return cell


def figure_cell(
    figure: Figure | None, notes: Notes, *, of: Summary | None = None, timing: str = "", counted: bool = True
) -> TableCell:
    """A figure with its interval below, or a footnote on why there is none or where it comes from.

    `of` is the summary whose counts of samples and runs the table already states; others are written out.
    """
    if figure is None:
        return TableCell("-")
    detail = figure_interval(figure)
    remarks = [figure.why_no_interval]
    if figure.interval and figure.interval.method != notes.method:
        remarks = [f"Interval: {figure.interval.method}."]
    if figure.at_least:
        remarks.append("The value lies in an overflow: the true one is at least this.")
    if figure.binned:
        remarks.append("Read from the tool's own bins.")
    stated = of is not None and figure.runs == of.runs and figure.n in (of.samples, of.runs)
    if counted and not stated:
        rests_on = f"n = {number(figure.n)}, {count(figure.runs, 'run')}"
        detail = f"{detail}; {rests_on}" if detail else rests_on
    marks = timing + ",".join(mark for mark in (notes.mark(remark) for remark in remarks) if mark)
    return TableCell(figure_value(figure), detail, marks)


def notes_for(figures: Iterable[Figure | None]) -> Notes:
    """Footnotes of a table that shows these figures."""
    methods = Counter(f.interval.method for f in figures if f and f.interval)
    return Notes(max(sorted(methods), key=methods.__getitem__, default=""))


def timing_mark(summaries: Sequence[Summary]) -> str:
    """The marks that a plot of these summaries carries."""
    found = dict.fromkeys(TIMING_MARK[s.timing] for s in summaries)
    return "".join(sorted((mark for mark in found if mark), reverse=True))


def timing_of(material: Material, verdict: Verdict, name: str, candidate: str) -> str:
    """The timing mark of the figure that a requirement or criterion of this name rests on."""
    asked = [f for f in (*material.mission.requirements, *material.mission.criteria) if f.name == name]
    return timing_mark(
        [
            s
            for s in material.evidence.summaries
            for f in asked
            if (s.group.instrument, s.group.load, s.group.board, s.group.candidate)
            == (f.instrument, f.load, verdict.board, candidate)
        ]
    )


def timing_notes(mark: str) -> tuple[Note, ...]:
    return tuple(Note(name, TIMING_NOTE[name]) for name in mark)
