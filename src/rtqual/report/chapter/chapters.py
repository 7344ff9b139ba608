# SPDX-License-Identifier: MIT
"""The chapters about what was tested, with what and how, and the appendices that let it be repeated."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from rtqual.instrument.registry import INSTRUMENTS
from rtqual.load.registry import LOADS
from rtqual.mission import PUBLISHED, Criterion, Requirement
from rtqual.published.records import COMMAND, PRINTED_IN, STUDY
from rtqual.record.schema import Manifest
from rtqual.report.material import FOOTPRINT, Material, figure_cell, notes_for, runs_text
from rtqual.report.page.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Command,
    Commands,
    Heading,
    Paragraph,
    Table,
    raised,
)
from rtqual.report.page.text import TIMING_MARK, clean, cpus_text, load_text, number, prose, quantity, readable

_FACTS = {
    "cpus": "CPUs",
    "host": "host's architecture",
    "image_size_b": "image size",
    "installed_size_b": "installed size",
    "realtime": "/sys/kernel/realtime",
    "steal_ticks": "ticks stolen in a run",
}
_MOST_VALUES = 3  # more different values of one fact than this are counted, not listed


def purpose(material: Material) -> Iterator[Block]:
    mission = material.mission
    yield Paragraph(prose(mission.mission.purpose))
    measured = f"It measured {len(material.measured)} of the {len(material.candidates)} candidates."
    printed = f"The figures of {len(material.published)} are those a study printed." if material.published else ""
    yield Paragraph(
        "This test asks which candidate operating system meets the mission's requirements, and by how much. "
        + " ".join(filter(None, (measured if material.measured or not printed else "It measured nothing.", printed)))
    )
    if mission.requirements:
        yield material.numbering.table(
            "Requirements: a candidate that misses one is out",
            _texts("Requirement", "Instrument", "Load", "Figure", "Limit"),
            [[Cell(clean(text)) for text in (*_asked(r), _limit(r))] for r in mission.requirements],
        )
    if mission.criteria:
        yield material.numbering.table(
            "Criteria: how candidates that meet every requirement are ranked",
            [*_texts("Criterion", "Instrument", "Load", "Figure", "Better"), Column("Weight")],
            [
                [*(Cell(clean(text)) for text in (*_asked(c), str(c.better))), Cell(number(c.weight))]
                for c in mission.criteria
            ],
        )


def systems(material: Material) -> Iterator[Block]:
    rows = []
    for candidate in material.mission.candidates:
        boot = " ".join((*([f"preempt={candidate.preempt}"] if candidate.preempt else []), *candidate.boot))
        rows.append(
            [
                Cell(candidate.name),
                Cell(prose(candidate.title)),
                Cell(candidate.source),
                Cell(clean(boot) or "-", code=bool(boot)),
                Cell(str(sum(r.inputs.candidate == candidate.name for r in material.records) or "none")),
            ]
        )
    titles = _texts("Name", "System", "Source", "Boot parameters")
    yield material.numbering.table("Systems under test", [*titles, Column("Runs")], rows)
    for one in material.places():
        if one.instrument != FOOTPRINT:
            continue
        notes = notes_for(figure for s in one.summaries for figure in s.figures.values())
        names = dict.fromkeys(name for s in one.summaries for name in s.figures)
        yield material.numbering.table(
            clean(f"Footprint, {one.board} board, {cpus_text(one.cpus)}"),
            [
                Column("Figure", False),
                *material.columns([s.group.candidate for s in one.summaries]),
            ],
            [
                raised([Cell(readable(name)), *(figure_cell(s.figures.get(name), notes, of=s) for s in one.summaries)])
                for name in names
            ],
            notes.listed(),
        )


def tools(material: Material) -> Iterator[Block]:
    used = dict.fromkeys(r.inputs.instrument for r in material.records)
    known = [INSTRUMENTS[name] for name in used if name in INSTRUMENTS]
    yield material.numbering.table(
        "Instruments",
        _texts("Instrument", "What it measures", "Parameters"),
        [[Cell(i.name), Cell(i.title), Cell(parameters(material, i.name), code=True)] for i in known],
    )
    loads = [LOADS[name] for name in dict.fromkeys(r.inputs.load for r in material.records) if name in LOADS]
    yield material.numbering.table(
        "Loads", _texts("Load", "What disturbs"), [[Cell(load.name), Cell(load.title)] for load in loads]
    )
    programs: dict[str, dict[str, set[str]]] = {}
    for record in material.records:
        for program, version in record.provenance.tools.items():
            programs.setdefault(program, {}).setdefault(record.inputs.board, set()).add(version)
    if programs:
        yield material.numbering.table(
            "Versions",
            _texts("Program", *(f"{board} board" for board in material.boards)),
            [
                [Cell(clean(program)), *(Cell(_listed(by_board.get(board, ()))) for board in material.boards)]
                for program, by_board in sorted(programs.items())
            ],
        )


def environment(material: Material, chapter: str) -> Iterator[Block]:
    for index, board in enumerate(material.boards, 1):
        records = material.of_board(board)
        if not records:
            continue
        yield Heading(f"{chapter}.{index}", clean(f"{board} board").capitalize())
        studies = dict.fromkeys(r.provenance.facts[STUDY] for r in records if STUDY in r.provenance.facts)
        yield from (Paragraph(prose(f"Figures printed in: {study}.")) for study in studies)
        yield _facts(material, board, records)
        if any(record.inputs.artefacts for record in records):
            yield _artefacts(material, board, records)


def method(material: Material) -> Iterator[Block]:
    if material.measured:
        yield Paragraph(
            "Every candidate was measured by the same programs with the same parameters. The cells ran in an "
            "interleaved order, so that a drift of the machine falls on all candidates alike; each repetition "
            "used another seed."
        )
    if material.published:
        yield Paragraph(
            "Figures on the published board are those a study printed: they count as one run, of as many samples as "
            "it states, and what it does not print is not there. Differences that follow from its figures are "
            "computed again; its own stand beside them, 'as printed'."
        )
    yield Paragraph(
        "A quantile is an order statistic, given only where samples lie above it. Intervals hold at 95 % and come from "
        "how the runs differ, because samples within a run depend on each other: of quantiles from the runs' shares "
        "of samples below them (Woodruff; Korn and Graubard), of averages from Student's t over the runs, of "
        "differences and ratios from the two figures' own intervals (MOVER: Zou and Donner). They need 10 runs, that "
        "of a standard deviation 20; an end that the samples do not show is open (\u221e). A figure without an "
        "interval says why. Where a requirement could not be judged (samples lost, priority not the one asked "
        "for, too few runs, a program missing), the report says so instead of a verdict."
    )
    versions = _listed({r.provenance.rtqual for r in material.records})
    missions = _listed({r.provenance.mission_sha256 for r in material.records})
    yield Paragraph(f"Measured and analysed by rtqual {versions}; SHA-256 of the mission file: {missions}.")
    rows = []
    key = _cell_key
    for (board, instrument, load, cpus), group in groupby(material.records, key=key):
        records = list(group)
        by_candidate = {c: [r.inputs.seed for r in records if r.inputs.candidate == c] for c in material.candidates}
        counts = sorted({len(seeds) for seeds in by_candidate.values() if seeds})
        rows.append(
            [
                Cell(clean(instrument)), Cell(clean(load_text(load))), Cell(clean(board)), Cell(str(cpus)),
                Cell(", ".join(clean(c) for c, seeds in by_candidate.items() if seeds)),
                Cell(" or ".join(str(count) for count in counts)),
                Cell(_seeds(r.inputs.seed for r in records)),
            ]
        )  # fmt: skip
    yield material.numbering.table(
        "What was measured",
        [
            *_texts("Instrument", "Load", "Board"), Column("CPUs"), Column("Candidates", False),
            Column("Runs each"), Column("Seeds"),
        ],
        rows,
    )  # fmt: skip


def reproduction(material: Material) -> Iterator[Block]:
    """One command a group, that of its first seed; grouped by board and instrument."""
    run = [record for record in material.records if record.inputs.board != PUBLISHED]
    if not run:
        yield Paragraph("Nothing was run: the figures are those of a published study.")
        return
    yield Paragraph(
        "Each command repeats the first run of its group, in the folder where the campaign ran. The seed "
        "stands in the command or in the job file it names: another seed gives another draw. Where the timing "
        "is instructions, the same seed gives the same samples."
    )
    for (board, instrument), some in groupby(run, key=lambda r: (r.inputs.board, r.inputs.instrument)):
        commands = []
        for _, group in groupby(some, key=lambda r: (*_cell_key(r), r.inputs.candidate)):
            records = list(group)
            first = records[0]
            commands.append(
                Command(
                    clean(_of_candidate(first)),
                    clean(shlex.join(first.provenance.command)),
                    f"{runs_text(len(records))}, seeds {_seeds(r.inputs.seed for r in records)}; "
                    f"record {first.hash[:16]}; {first.timing} {TIMING_MARK[first.timing]}".strip(),
                )
            )
        yield Commands(clean(f"{instrument}, {board} board"), tuple(commands))


def failures(material: Material) -> Iterator[Block]:
    if material.failures:
        yield Bullets(
            tuple(prose(f"{cell}: {reason}") for cell, reason in material.failures),
            "Runs that failed",
            "failed",
        )
    else:
        yield Paragraph("No run failed.")
    problems: dict[str, int] = {}
    for record in material.records:
        where = f"{_of_candidate(record)}, {record.inputs.instrument}, {record.inputs.board} board"
        for problem in record.problems:
            text = prose(f"{where}: {problem}")
            problems[text] = problems.get(text, 0) + 1
    if problems:
        yield Bullets(
            tuple(f"{text} ({runs_text(count)})" for text, count in problems.items()),
            "Records no verdict may rest on", "open",
        )  # fmt: skip


def _texts(*titles: str) -> list[Column]:
    return [Column(title, False) for title in titles]


def _of_candidate(record: Manifest) -> str:
    inputs = record.inputs
    return f"{inputs.candidate}, {load_text(inputs.load)}, {cpus_text(inputs.cpus)}"


def _asked(asked: Requirement | Criterion) -> tuple[str, str, str, str]:
    return prose(asked.name), asked.instrument, load_text(asked.load), str(asked.statistic or asked.scalar)


def _limit(requirement: Requirement) -> str:
    limit = requirement.limit
    written = prose(limit.text) if limit.unit is None else quantity(limit.value, limit.unit)
    return f"{'at most' if requirement.at_most else 'at least'} {written}"


def parameters(material: Material, instrument: str) -> str:
    found = [r.inputs.parameters for r in material.records if r.inputs.instrument == instrument]
    schema = INSTRUMENTS[instrument].parameters.model_json_schema().get("properties", {})
    written = []
    for name in sorted({name for parameters in found for name in parameters}):
        unit = schema.get(name, {}).get("x-unit")
        values = {quantity(p[name], unit) if unit else str(p[name]) for p in found if name in p}
        written.append(f"{name} = {_listed(values)}")
    return ", ".join(written) or "-"


def _facts(material: Material, board: str, records: list[Manifest]) -> Table:
    """What every record of a candidate says of where it ran; what differs between its runs is counted."""
    readers: dict[str, Callable[[Manifest], str | None]] = {
        "kernel": lambda r: r.provenance.kernel,
        "kernel command line": lambda r: r.provenance.kernel_cmdline,
        "clock source": lambda r: r.provenance.clocksource,
        "clock resolution": lambda r: _resolution(r.provenance.clock_resolution_ns),
    }
    for name in sorted({name for r in records for name in r.provenance.facts} - {STUDY, COMMAND, PRINTED_IN}):
        readers[_FACTS.get(name, name)] = lambda r, name=name: _fact(name, r)  # type: ignore[misc]
    candidates = [c for c in material.candidates if any(r.inputs.candidate == c for r in records)]
    rows = []
    for title, read in readers.items():
        row = [Cell(readable(title))]
        for candidate in candidates:
            row.append(Cell(_listed({read(r) or "-" for r in records if r.inputs.candidate == candidate}), code=True))
        if any(cell.text != "-" for cell in row[1:]):
            rows.append(row)
    columns = [Column("Fact", False), *(Column(clean(c), False, c) for c in candidates)]
    return material.numbering.table(clean(f"Environment, {board} board"), columns, rows)


def _fact(name: str, record: Manifest) -> str | None:
    value = record.provenance.facts.get(name)
    return quantity(int(value), "B") if name.endswith("_b") and value and value.isdecimal() else value


def _artefacts(material: Material, board: str, records: list[Manifest]) -> Table:
    """Hashes and versions of everything that decides a run, each value once with its candidates."""
    owners: dict[tuple[str, str], set[str]] = {}
    for record in records:
        for item in record.inputs.artefacts.items():
            owners.setdefault(item, set()).add(record.inputs.candidate)
    everyone = {r.inputs.candidate for r in records}
    rows = [
        [
            Cell(clean(name)),
            Cell(
                "all"
                if names == everyone and len(everyone) > 1
                else ", ".join(clean(c) for c in material.candidates if c in names)
            ),
            Cell(clean(value), code=True),
        ]
        for (name, value), names in sorted(owners.items())
    ]
    columns = _texts("Artefact", "Candidates", "SHA-256 or version")
    return material.numbering.table(clean(f"What the runs were made of, {board} board"), columns, rows)


def _resolution(resolution_ns: int | None) -> str | None:
    return None if resolution_ns is None else quantity(resolution_ns, "ns")


def _listed(values: Iterable[str]) -> str:
    ordered = sorted(set(values))
    if len(ordered) > _MOST_VALUES:
        return f"{len(ordered)} different values"
    return clean("; ".join(ordered)) or "-"


def _seeds(seeds: Iterable[int]) -> str:
    """'1 to 10', or every one where there are gaps."""
    ordered = sorted(set(seeds))
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}"
    return ", ".join(map(str, ordered))


def _cell_key(record: Manifest) -> tuple[str, str, str, int]:
    inputs = record.inputs
    return inputs.board, inputs.instrument, inputs.load, inputs.cpus
