# SPDX-License-Identifier: MIT
"""What was measured beside what published studies printed of the same instrument under the same load.

Hardware and kernels differ, as the section states first: only the order of systems and the shape of their figures can
be set side by side. What was measured with other parameters than a study states is refused, and extremes of runs of
other lengths are left out, by the same rule as any comparison (engine/analysis/figure/comparable.py).
"""

from collections.abc import Iterator, Sequence

from rtqual.base.units import DURATIONS_NS
from rtqual.base.words import count, listed
from rtqual.engine.analysis.figure.asked import usual_cpus
from rtqual.engine.analysis.figure.comparable import unlike_conditions
from rtqual.engine.analysis.figure.model import Summary
from rtqual.parts.studies.audit import Contradiction
from rtqual.parts.studies.beside import CYCLES, BesidePrinted, Published, matching
from rtqual.parts.studies.catalogue import study
from rtqual.parts.studies.choice import misprints
from rtqual.parts.studies.operations import study_text
from rtqual.parts.studies.study_records import places
from rtqual.reports.chapter.measured_with import parameters
from rtqual.reports.material import FOOTPRINT, Material, facts_of
from rtqual.reports.page.document import (
    Block,
    Column,
    Note,
    Notes,
    Paragraph,
    Table,
    TableCell,
    bullets,
    numbers,
    texts,
)
from rtqual.reports.page.text import TIMING_MARK, clean, load_text, number, prose, readable

_MOST_TABLES = 8
_WARNING = (
    "These tables set the figures measured here beside those of published studies. They are not measured alike: "
    "machine, kernel and versions differ as told below, so a figure that is larger or smaller than a "
    "published one says nothing by itself. What can be compared is how the systems of a table differ from each other. "
    "What was measured with other parameters than the study states is not set beside it, nor are extremes of runs of "
    "other lengths. Below a figure measured here stands its 95 % interval; why one has none stands among the test "
    "results."
)


def beside(material: Material) -> Iterator[Block]:
    """Nothing where no published table fits. At most _MOST_TABLES tables; what is left out is named."""
    yield from _misprints(material)
    fitting = [(some, printed) for some in _measured(material) for printed in _matching(some)]
    refused = [text for some, printed in fitting for text in _refused(some, printed)]
    found = [(like, printed) for some, printed in fitting if (like := [s for s in some if not _unlike(s, printed)])]
    yield from bullets("Not set beside what a study printed", dict.fromkeys(refused))
    if not found:
        return
    yield Paragraph(_WARNING)
    studies = {printed.source.key: printed.source for _, printed in found}
    boards = dict.fromkeys(summary.group.board for some, _ in found for summary in some)
    differs = [*map(study_text, studies.values()), *(_board(material, board) for board in boards)]
    yield from bullets("What differs", differs)
    for some, printed in found[:_MOST_TABLES]:
        yield _table(material, some, printed)
    if found[_MOST_TABLES:]:
        left = found[_MOST_TABLES:]
        names = (f"{some[0].group.instrument} ({printed.source.key}, {printed.table.place})" for some, printed in left)
        yield Paragraph(f"Left out here, shown by `rtqual published show`: {listed(list(names))}.")


def _misprints(material: Material) -> Iterator[Table]:
    """Of the candidates whose figures a study printed."""
    found = [(name, finding) for name in material.published for finding in misprints(material.mission, name)]
    if found:
        yield material.numbering.table(
            "Figures the study printed of the candidates that do not follow from its others; no verdict uses them. "
            "In brackets what rounding leaves open",
            [*texts("Candidate", "Where", "Figure"), *numbers("Printed", "Recomputed"), *texts("Kind")],
            [
                [
                    *map(
                        TableCell,
                        (
                            clean(name),
                            finding.place,
                            _with_unit(finding),
                            finding.printed,
                            finding.recomputed_text,
                            finding.kind,
                        ),
                    )
                ]
                for name, finding in found
            ],
        )


def _with_unit(finding: Contradiction) -> str:
    return f"{readable(finding.column)} [{study(finding.study).table(finding.table).unit_of(finding.column)}]"


def _measured(material: Material) -> Iterator[list[Summary]]:
    """The summaries of each instrument and load, on each board those with the number of CPUs that most runs had."""
    kept = [s for place in material.places() for s in place.summaries if s.group.candidate in material.measured]
    cells: dict[tuple[str, str], dict[str, list[Summary]]] = {}  # instrument and load -> board -> summaries
    for s in kept:
        if s.figures and not s.problems:
            boards = cells.setdefault((s.group.instrument, s.group.load), {})
            boards.setdefault(s.group.board, []).append(s)
    for boards in cells.values():
        usual = {board: usual_cpus((s.group.cpus, s.runs) for s in some) for board, some in boards.items()}
        yield [s for board, some in boards.items() for s in some if s.group.cpus == usual[board]]


def _matching(some: Sequence[Summary]) -> Iterator[BesidePrinted]:
    group = some[0].group
    yield from matching(group.instrument, group.load, group.cpus)


def _unlike(s: Summary, printed: BesidePrinted, statistic: str = "") -> str:
    """Why a figure of ours is not set beside a table's; empty where it may be."""
    return unlike_conditions(s.conditions, printed.conditions, statistic)


def _refused(some: Sequence[Summary], printed: BesidePrinted) -> Iterator[str]:
    for why in dict.fromkeys(filter(None, (_unlike(s, printed) for s in some))):
        names = listed(list(dict.fromkeys(s.group.candidate for s in some if _unlike(s, printed) == why)))
        what = f"{printed.table.instrument} {load_text(printed.table.load)}"
        yield f"{what} of {names} against {printed.source.key}, {printed.table.place}: {why}."


def _table(material: Material, some: Sequence[Summary], published: BesidePrinted) -> Table:
    """Ours first; times in the study's unit."""
    columns = [name for name in published.columns if any(name in s.figures for s in some)]
    units = {name: _unit(published, name) for name in columns}
    notes = Notes()
    several = len({s.group.board for s in some}) > 1
    rows = []
    for s in some:
        where = clean(f"{s.group.board}, {count(s.group.cpus, 'CPU')}") if several else ""
        name = TableCell(clean(s.group.candidate), where, notes.timed(TIMING_MARK[s.timing]))
        runs = count(s.runs, "run")
        counted = f"{number(s.samples)} in {runs}" if s.samples else runs
        rows.append(
            [name, TableCell(counted), *(_own(s, published, column, unit, notes) for column, unit in units.items())]
        )
    for label, printed in published.rows.items():
        counted = number(printed[CYCLES].value) if CYCLES in printed else "not stated"
        rows.append(
            [TableCell(label), TableCell(counted), *(_printed(printed.get(column), notes) for column in columns)]
        )
    group = some[0].group
    here = parameters(material, group.instrument)
    parameters_of_both = f"Study: {published.table.command or 'its parameters are not stated'}. Here: {here}."
    heads = [Column(readable(name)) for name in columns]
    place, unit = (
        listed(places(published.source, published.table)),
        "µs" if published.table.unit == "us" else published.table.unit,
    )
    return material.numbering.table(
        clean(f"{group.instrument} {load_text(group.load)}, beside {published.source.key}, {place}; times in {unit}"),
        [Column("System", False), Column("Samples", False, name=True), *heads],
        rows,
        (Note("", prose(parameters_of_both)), *notes.listed()),
    )


def _unit(printed: BesidePrinted, column: str) -> str:
    """As the study prints it; 1/s is in the column's name."""
    unit = next(row[column] for row in printed.rows.values() if column in row).unit
    return printed.table.unit if unit == "ns" else unit


def _own(s: Summary, printed: BesidePrinted, column: str, unit: str, notes: Notes) -> TableCell:
    """A measured figure in the study's unit, its interval below; not where it does not compare with the study's."""
    figure = s.figures.get(column)
    if figure is None:
        return TableCell("-")
    if why := _unlike(s, printed, column):
        return TableCell("-", marks=notes.mark(prose(f"Not set beside the study's: {why}.")))
    scale = DURATIONS_NS.get(unit, 1)
    ends = figure.interval and (figure.interval.low, figure.interval.high)
    detail = " to ".join(number(end / scale) for end in ends) if ends else ""
    return TableCell(("≥\u00a0" if figure.at_least else "") + number(figure.value / scale), detail)


def _printed(figure: Published | None, notes: Notes) -> TableCell:
    """As printed; where the audit finds that it does not follow, what does stands below."""
    if figure is None or figure.finding is None:
        return TableCell(figure.text if figure else "-")
    remark = f"Does not follow from the study's other figures ({figure.finding.kind}); below it what does."
    return TableCell(figure.text, f"→ {figure.finding.recomputed_text.partition(' [')[0]}", notes.mark(remark))


def _board(material: Material, board: str) -> str:
    """The machine, the kernels and the clock of ours."""
    records = [r for r in material.of_board(board) if r.inputs.instrument != FOOTPRINT]
    machine = " under ".join(filter(None, (listed(facts_of(records, fact)) for fact in ("processor", "hypervisor"))))
    kernels = {f"{r.inputs.candidate} {r.provenance.kernel.split()[0]}": None for r in records if r.provenance.kernel}
    tools = dict.fromkeys(f"{name} {version}" for r in records for name, version in sorted(r.provenance.tools.items()))
    clock = "its clock counts executed instructions" if any(TIMING_MARK[s] for s in material.timings(board)) else ""
    parts = (
        machine or "a machine that is not named",
        f"Linux of {listed(list(kernels))}" if kernels else "",
        listed(list(tools)),
        clock,
    )
    return f"Here, {board} board: {'; '.join(part for part in parts if part)}."
