# SPDX-License-Identifier: MIT
"""A study beside a campaign that repeats it: each printed figure with the measured one, and what agrees.

A candidate says by `repeats` which system of the study it stands for. A study of operations (docs/probe.md) names no
such systems: each measured system stands beside each printed one of the same space. Machines differ, so no figure is
expected to be equal: what can agree is the order of a system's figures, and which of two systems has the larger one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from rtqual.base.words import count, under
from rtqual.engine.analysis.figure.comparable import HARMLESS, LENGTHS, unlike_conditions
from rtqual.engine.analysis.figure.model import Conditions, Figure, Summary
from rtqual.engine.analysis.figure.operation_shares import median_ratio, rank_correlation
from rtqual.engine.analysis.figure.wording import value as worded
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST
from rtqual.engine.instruments.footprint import FOOTPRINT
from rtqual.engine.instruments.probe.families import OWN_INTERVAL_NS, Probe
from rtqual.engine.mission import Candidate, Mission
from rtqual.parts.studies.beside import BesidePrinted, beside
from rtqual.parts.studies.catalogue import PrintedTable, slug, study
from rtqual.parts.studies.operations import StudyOperations, operations
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.instrument.output import POLLS

# On an image, on which cyclictest does not run: the same measurement.
_STANDS_FOR = {"probe-wakeup": CYCLICTEST.name}
_CPU = ", CPU "  # begins the CPU's number in a row's label


@dataclass(frozen=True)
class Pair:
    """A measured system and the printed one beside it."""

    measured: str
    printed: str
    among: str  # pairs of one kind are put in order with each other
    figures: Mapping[str, tuple[Figure, float]]  # what -> measured, printed; ns or the scalar's own unit
    polls: bool = False  # so that it is never late, and stands in no order

    @property
    def rank(self) -> tuple[float, int] | None:
        """Over durations of one statistic, of which there are most, averages if in doubt: a series' least, average and
        largest are in this order whatever was measured."""
        found = Counter(map(_statistic, self._times))
        of = max(found, key=lambda name: (found[name], name == "avg"), default="")
        return rank_correlation(*self._values([what for what in self._times if _statistic(what) == of]))

    @property
    def ratio(self) -> float | None:
        return median_ratio(*self._values(self._times))

    @property
    def _times(self) -> list[str]:
        """Durations only: figures of other units are no larger or smaller than they."""
        return [what for what, (figure, _) in self.figures.items() if figure.unit == "ns"]

    def _values(self, whats: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
        both = {what: self.figures[what] for what in whats}
        return {what: figure.value for what, (figure, _) in both.items()}, {what: ns for what, (_, ns) in both.items()}


def _statistic(what: str) -> str:
    return what.rpartition(": ")[2]


@dataclass(frozen=True)
class LargerOf:
    """Which of two systems has the larger figure: -1 the first, 0 neither (measured only), 1 the second."""

    what: str
    pairs: tuple[Pair, Pair]

    @property
    def both_measured(self) -> tuple[Figure, Figure]:
        first, second = self.pairs
        return first.figures[self.what][0], second.figures[self.what][0]

    @property
    def both_printed(self) -> tuple[float, float]:
        first, second = self.pairs
        return first.figures[self.what][1], second.figures[self.what][1]

    @property
    def measured(self) -> int:
        first, second = self.both_measured
        return _sign(first.value, second.value)

    @property
    def printed(self) -> int:
        return _sign(*self.both_printed)

    @property
    def agrees(self) -> bool:
        return self.measured == self.printed

    @property
    def doubt(self) -> str:
        """Why the measured order may be chance; empty where the intervals lie apart."""
        first, second = self.both_measured
        if not (first.interval and second.interval):
            return first.why_no_interval or second.why_no_interval or "no interval"
        overlap = first.interval.low <= second.interval.high and second.interval.low <= first.interval.high
        return "the intervals overlap" if overlap else ""


@dataclass(frozen=True)
class Repeated:
    """`apart`: what was measured and not set beside the study, or printed and not measured, with the reason; `notes`:
    what to know of figures that are."""

    study: str
    title: str
    pairs: tuple[Pair, ...]
    orders: tuple[LargerOf, ...]
    apart: tuple[str, ...]
    notes: tuple[str, ...] = ()


def compare(key: str, mission: Mission, summaries: Sequence[Summary]) -> Repeated:
    """Raises BadInput for an unknown study. No pair where nothing of the study was measured."""
    source = study(key)
    apart: list[str] = []
    images = {candidate.name for candidate in mission.candidates if _is_image(candidate)}
    whole = [summary for summary in summaries if summary.figures and not summary.problems]
    # An image that polls may repeat a study that polled, too.
    polling = [
        summary for summary in summaries if summary.group.candidate in images and summary.figures and _polls(summary)
    ]
    apart += [
        f"{summary.group}: {summary.problems[0]}"
        for summary in summaries
        if summary.problems and summary not in polling
    ]
    pairs = [*_systems(key, mission, [*whole, *polling], apart), *_operations(key, whole, apart)]
    pairs = [pair for pair in pairs if pair.figures]
    notes = [note for candidate in mission.candidates for note in _notes(candidate, pairs)]
    return Repeated(
        key, source.source.title, tuple(pairs), tuple(_orders(pairs)), tuple(dict.fromkeys(apart)), tuple(notes)
    )


def _is_image(candidate: Candidate) -> bool:
    return bool(candidate.image or candidate.rtos)


def _polls(summary: Summary) -> bool:
    return bool(summary.problems) and all(problem.startswith(f"{POLLS}: ") for problem in summary.problems)


def _notes(candidate: Candidate, pairs: Sequence[Pair]) -> Iterator[str]:
    own = [pair for pair in pairs if pair.measured.startswith(f"{candidate.name}, ")]
    if own and _is_image(candidate) and candidate.repeats:
        of = "its figures are of probe-wakeup, which sleeps and reads the clock as cyclictest does"
        yield f"{candidate.name}: {of}; cyclictest does not run there"
    if any(pair.polls for pair in own):
        yield f"{candidate.name}: polls: its figures are how soon a loop sees the time pass, and stand in no order"


def _systems(key: str, mission: Mission, summaries: Sequence[Summary], apart: list[str]) -> Iterator[Pair]:
    for candidate in mission.candidates:
        of, _, system = (candidate.repeats or "").partition("/")
        own = [summary for summary in summaries if summary.group.candidate == candidate.name]
        if of != key or not own:
            continue
        for board in dict.fromkeys(summary.group.board for summary in own):
            figures: dict[str, tuple[Figure, float]] = {}
            there = [other for other in own if other.group.board == board]
            for other in there:
                for table in study(key).measured.values():
                    if _is_of(table, other, candidate):
                        figures |= _figures(other, beside(key, table.id), system, apart)
                figures |= dict(_sizes(other, key, system, apart))
            polls = any(_polls(other) for other in there)
            yield Pair(f"{candidate.name}, {board} board", system, board, figures, polls)
        if _is_image(candidate):
            apart += _not_measured(key, candidate, own, system)


def _not_measured(key: str, candidate: Candidate, own: Sequence[Summary], system: str) -> Iterator[str]:
    """Of an image: what the study printed of the system under conditions that it does not offer."""
    for table in study(key).measured.values():
        if slug(system) not in study(key).rows_of(table) or any(_is_of(table, summary, candidate) for summary in own):
            continue
        why = "probe-wakeup was not measured so"
        if table.load != "none":
            why = "an image carries no such load; what probe-loaded measures beside threads of its own is another thing"
        if table.cpus not in (None, 1):
            why = "an image runs on one CPU"
        cpus = f", {count(table.cpus, 'CPU')}" if table.cpus else ""
        yield f"{candidate.name}: {table.instrument} {under(table.load)}{cpus}: printed, not measured: {why}"


def _sizes(summary: Summary, key: str, system: str, apart: list[str]) -> Iterator[tuple[str, tuple[Figure, float]]]:
    """What a kernel takes, once: a later table repeats an earlier one's."""
    if summary.group.instrument != FOOTPRINT.name:
        return
    for table in study(key).tables:
        for label, row in beside(key, table.id).rows.items() if table.sizes else ():
            if study(key).alias.get(label, slug(label)) == slug(system):
                for column, name in table.sizes.items():
                    own = summary.figures.get(name)
                    if own and not own.value > 0:
                        apart.append(f"{summary.group}: {name}: {own.value:g} {own.unit} is no size")
                    elif own and own.unit == row[column].unit:
                        yield f"footprint: {name}", (own, row[column].value)


def _is_of(table: PrintedTable, summary: Summary, candidate: Candidate) -> bool:
    instrument = summary.group.instrument
    instrument = _STANDS_FOR.get(instrument, instrument) if _is_image(candidate) else instrument
    same = (table.instrument, table.load) == (instrument, summary.group.load)
    return same and table.cpus in (None, summary.group.cpus)


def _figures(summary: Summary, table: BesidePrinted, system: str, apart: list[str]) -> dict[str, tuple[Figure, float]]:
    group, found = summary.group, {}
    cpus = count(group.cpus, "CPU")
    row = slug(system)
    lines = table.source.named(table.table, row) if row in table.source.rows_of(table.table) else ()
    for label in map(table.table.row_label, lines):
        printed, cpu = table.rows[label], label.partition(_CPU)[2]
        own = summary.per_cpu.get(int(cpu), {}) if cpu else summary.figures
        for statistic, figure in printed.items():
            what = ", ".join(
                filter(None, (f"{table.table.instrument} {under(group.load)}", cpus, cpu and f"CPU {cpu}"))
            )
            if statistic not in own:
                continue
            lengths = tuple(n / group.cpus if cpu else n for n in summary.conditions.lengths)
            own_way = replace(summary.conditions, lengths=lengths)
            why = _why_apart(own[statistic], figure.unit) or _unusual(summary, table)
            why = why or unlike_conditions(own_way, table.conditions, statistic)
            if why := why or (f"misprinted: {figure.finding.explanation}" if figure.finding else ""):
                apart.append(f"{group.candidate}: {what}, {statistic}: {why}")
            else:
                found[f"{what}: {statistic}"] = own[statistic], figure.value
    return found


def _unusual(summary: Summary, table: BesidePrinted) -> str:
    """What a study does not state was as the instrument has it by default, which is how these studies ran their tools;
    empty where ours was so, too. An interval that is not printed stays open."""
    usual = all_instruments()[summary.group.instrument].parameters().model_dump(mode="json")
    for name, value in summary.conditions.parameters.items():
        if (
            name in usual
            and name not in {*table.conditions.parameters, *LENGTHS, *HARMLESS, "interval"}
            and value != usual[name]
        ):
            return f"measured otherwise: {name} {value} against {usual[name]}"
    return ""


def _why_apart(own: Figure, unit: str) -> str:
    """Why a figure says nothing of one printed in this unit; empty where it may."""
    if own.at_least:
        return f"known only as {worded(own)}"
    return "" if own.unit == unit else f"measured in {own.unit}, printed in {unit}"


def _operations(key: str, summaries: Sequence[Summary], apart: list[str]) -> Iterator[Pair]:
    for summary in summaries:
        probe = all_instruments().get(summary.group.instrument)
        if not isinstance(probe, Probe) or summary.group.load != "none":
            continue
        for printed in operations(probe.family):
            if printed.source.key != key or not _is_of_space(probe, printed):
                continue
            interval = summary.conditions.parameters.get("interval") or OWN_INTERVAL_NS
            if printed.interval_ns not in (None, interval):
                apart.append(f"{summary.group}, beside {printed.system}: another interval")
                continue
            if why := unlike_conditions(
                Conditions({}, summary.conditions.lengths), printed.conditions, printed.statistic
            ):
                apart.append(f"{summary.group}, beside {printed.system}, {printed.statistic}: {why}")
                continue
            names = {name: f"{name} {printed.statistic}" for name in printed.figures_ns}
            names |= dict.fromkeys(summary.series[:1], printed.statistic)
            both = {
                name: (summary.figures[names[name]], ns)
                for name, ns in printed.figures_ns.items()
                if name in summary.series and names[name] in summary.figures
            }
            strange = {name: why for name, (own, _) in both.items() if (why := _why_apart(own, "ns"))}
            apart += [f"{summary.group}: {name}: {why}" for name, why in strange.items()]
            figures = {f"{name}: {printed.statistic}": pair for name, pair in both.items() if name not in strange}
            where = f"{summary.group.board} board, {count(summary.group.cpus, 'CPU')}"
            measured = f"{summary.group.candidate}, {probe.space}, {where}"
            hardware = printed.system.rpartition(",")[0]
            among = f"{summary.group.candidate}, {probe.family}, {where}, {hardware}, {printed.statistic}"
            yield Pair(measured, printed.system, among, figures)


def _is_of_space(probe: Probe, printed: StudyOperations) -> bool:
    """The study's user space is Xenomai's own skin; without it, Linux's user space stands there."""
    return ("kernel space" in printed.system) == (probe.space == "kernel space")


def _orders(pairs: Sequence[Pair]) -> Iterator[LargerOf]:
    for a, b in combinations(pairs, 2):
        if a.among == b.among and a.printed != b.printed and not (a.polls or b.polls):
            orders = (LargerOf(what, (a, b)) for what in a.figures if what in b.figures)
            yield from (order for order in orders if order.printed)  # else the study's digits tell no order


def _sign(a: float, b: float) -> int:
    return (b > a) - (b < a)


def agreement(orders: Sequence[LargerOf]) -> str:
    """'8 of 12 comparisons of two systems agree, 5 of them with intervals that lie apart.'"""
    agreeing = [order for order in orders if order.agrees]
    sure = sum(not order.doubt for order in agreeing)
    said = f"{len(agreeing)} of {count(len(orders), 'comparison')} of two systems agree"
    return f"{said}, {sure or 'none'} of them with intervals that lie apart."
