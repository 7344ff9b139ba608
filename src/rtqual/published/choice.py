# SPDX-License-Identifier: MIT
"""A study's choice made again: its criteria as a mission's, its figures as records, its arithmetic corrected.

The criteria are those of a mission file and the score is the one that every verdict uses (analysis.score):
for each criterion the best figure over a candidate's own, weighted. A study prints one run's summary of each
system, so its records hold no samples: they can be ranked, but no lead is certain.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rtqual import __version__
from rtqual.analysis.cells import Cells
from rtqual.analysis.score import ScoreTable, score_table
from rtqual.analysis.summary import RESOLUTION, groups, measure
from rtqual.errors import BadInput
from rtqual.mission import Criterion
from rtqual.published.rounded import exponent
from rtqual.published.study import Choice, Study, study
from rtqual.record.schema import (
    Inputs,
    Kind,
    Manifest,
    Provenance,
    Record,
    Scalar,
    Series,
    Timing,
    digest,
    samples_digest,
)
from rtqual.units import DURATIONS_NS

BOARD = "published"
_SUMMARY = ("min", "avg", "max", "p95")


@dataclass(frozen=True)
class Points:
    """One criterion for one system: 1 is the best, less is that much worse."""

    criterion: str
    weight: float
    figure_ns: float
    points: float
    printed_ns: float  # as the study computed it, misprints included
    points_as_printed: float


@dataclass(frozen=True)
class Place:
    system: str
    eligible: bool  # whether it meets the study's needs
    total: float
    total_as_printed: float
    points: tuple[Points, ...]


@dataclass(frozen=True)
class Redone:
    """What the study's own rule picks."""

    study: str
    place: str
    rule: str
    chosen: str  # by the study
    picked: str  # by the rule, with correct arithmetic
    picked_as_printed: str  # by the rule, from the differences as they are printed
    certain: bool  # whether the figures support the lead over every other eligible system
    places: tuple[Place, ...]  # best first, by correct arithmetic
    turns_at: Mapping[str, Mapping[str, float]]  # other eligible system -> criterion -> weight that would turn it

    @property
    def agrees(self) -> bool:
        return self.picked == self.chosen


def redo_aarest() -> Redone:
    """The choice of the AAReST study: EMLID's kernel, by stability in the mutex test first."""
    return redo(study("aarest"))


def redo(published: Study) -> Redone:
    """A study's choice from its own figures. Raises BadInput for one that did not choose."""
    choice = published.choice
    if choice is None:
        raise BadInput(f"study {published.key} chose nothing; 'aarest' did")
    measured = _score(choice.criteria, choice.compared, records(published))
    printed = _score(_scalar_criteria(choice), choice.compared, _printed_records(published, choice))
    titles = _titles(published, choice)
    ranked = sorted(choice.compared, key=lambda row: -measured.total(row))
    picked = next(row for row in ranked if row in choice.eligible)
    others = [row for row in ranked if row in choice.eligible and row != picked]
    return Redone(
        study=published.key,
        place=choice.place,
        rule=choice.rule,
        chosen=titles[choice.chosen],
        picked=titles[picked],
        picked_as_printed=titles[max(choice.eligible, key=printed.total)],
        certain=all(measured.table.leads(picked, other) for other in others),
        places=tuple(_place(choice, measured, printed, titles[row], row) for row in ranked),
        turns_at={titles[other]: _turns_at(measured.table, picked, other) for other in others},
    )


def records(published: Study) -> Iterator[Record]:
    """The raw figures behind a study's choice, one record for each system and instrument. Times in ns."""
    choice = published.choice
    if choice is None:
        return
    for instrument, table in choice.tables.items():
        unit_ns = DURATIONS_NS[published.table(table).unit]
        for row in choice.compared:
            figures = {name: published.figures((table, row, name))[0].value for name in _SUMMARY}
            step_ns = float(unit_ns * 10 ** min(exponent(figure) for figure in figures.values()))
            reported = {name: float(figure * unit_ns) for name, figure in figures.items()}
            series = Series.counted({}, Kind.SUMMARY, name="latency", unit="ns", reported=reported)
            scalars = {RESOLUTION: Scalar(value=step_ns, unit="ns")}
            yield _record(published, row, instrument, (series,), scalars)


def _printed_records(published: Study, choice: Choice) -> Iterator[Record]:
    """The differences as printed, which no summary of samples would give again: figures of their own."""
    for criterion in choice.criteria:
        table, column = choice.as_printed[criterion.name].split(".")
        unit_ns = DURATIONS_NS[published.table(table).unit]
        for row in choice.compared:
            value = published.figures((table, row, column))[0].value
            scalars = {criterion.name: Scalar(value=float(value * unit_ns), unit="ns")}
            yield _record(published, row, criterion.name, (), scalars)


def _scalar_criteria(choice: Choice) -> tuple[Criterion, ...]:
    return tuple(
        one.model_copy(update={"instrument": one.name, "statistic": None, "scalar": one.name})
        for one in choice.criteria
    )


def _record(
    published: Study, row: str, instrument: str, series: tuple[Series, ...], scalars: Mapping[str, Scalar]
) -> Record:
    inputs = Inputs(candidate=row, instrument=instrument, load="none", board=BOARD, cpus=1, seed=0)
    samples = samples_digest(series, scalars)
    provenance = Provenance(
        rtqual=__version__,
        mission_sha256="",
        started="",
        wall_s=0.0,
        command=[],
        facts={"source": f"{published.source.title} ({published.source.author})"},
    )
    manifest = Manifest(
        hash=digest([inputs.key(), samples]),
        inputs=inputs,
        timing=Timing.REAL,
        series=[one.info for one in series],
        scalars=dict(scalars),
        provenance=provenance,
        samples_sha256=samples,
    )
    return Record(manifest, series)


@dataclass(frozen=True)
class _Scored:
    cells: Cells
    criteria: tuple[Criterion, ...]
    table: ScoreTable

    def total(self, row: str) -> float:
        total = self.table.total(row)
        if total is None:
            raise ValueError(f"{row} has no figure to be scored by")
        return total

    def figure_ns(self, k: int, row: str) -> float:
        figure = self.cells.figure(self.criteria[k], row)
        if figure is None:
            raise ValueError(f"{row} has no {self.criteria[k].name}")
        return figure.value

    def points(self, k: int, row: str) -> float:
        return float(self.table.points[self.table.candidates.index(row), k])


def _score(criteria: tuple[Criterion, ...], systems: tuple[str, ...], found: Iterable[Record]) -> _Scored:
    measured = {group: measure(group, some) for group, some in groups(found).items()}
    cells = Cells(BOARD, systems, measured, failures={}, planned=frozenset())
    return _Scored(cells, criteria, score_table(criteria, cells))


def _place(choice: Choice, measured: _Scored, printed: _Scored, title: str, row: str) -> Place:
    points = tuple(
        Points(
            criterion=criterion.name,
            weight=criterion.weight,
            figure_ns=measured.figure_ns(k, row),
            points=measured.points(k, row),
            printed_ns=printed.figure_ns(k, row),
            points_as_printed=printed.points(k, row),
        )
        for k, criterion in enumerate(choice.criteria)
    )
    return Place(title, row in choice.eligible, measured.total(row), printed.total(row), points)


def _turns_at(table: ScoreTable, picked: str, other: str) -> dict[str, float]:
    return {name: float(weight) for name, weight in table.flipping_weights(picked, other).items()}


def _titles(published: Study, choice: Choice) -> dict[str, str]:
    table = published.table(next(iter(choice.tables.values())))
    return {row: table.row_title(next(published.named(table, row))) for row in choice.compared}
