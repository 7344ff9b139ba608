# SPDX-License-Identifier: MIT
"""Where it ran: facts about each board, and hashes of all that decides a run."""

from collections.abc import Callable, Iterator
from functools import partial

from rtqual.protocols.record.facts import COMMAND, PRINTED_IN, STUDY
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Column, Heading, Paragraph, Table, TableCell, texts
from rtqual.reports.page.text import clean, distinct, prose, quantity, readable

_FACTS = {
    "cpus": "CPUs",
    "host": "host's architecture",
    "image_size_b": "image size",
    "installed_size_b": "installed size",
    "realtime": "/sys/kernel/realtime",
    "steal_ticks": "ticks stolen in a run",
}


def environment(material: Material) -> Iterator[Block]:
    for board in material.boards:
        records = material.of_board(board)
        if not records:
            continue
        yield Heading(clean(f"{board} board").capitalize())
        studies = dict.fromkeys(r.provenance.facts[STUDY] for r in records if STUDY in r.provenance.facts)
        yield from (Paragraph(prose(f"Figures printed in: {study}.")) for study in studies)
        yield _facts(material, board, records)
        if any(record.inputs.artefacts for record in records):
            yield _artefacts(material, board, records)


def _facts(material: Material, board: str, records: list[Manifest]) -> Table:
    """Where each candidate ran, by its records; a fact that differs between runs is counted."""
    readers: dict[str, Callable[[Manifest], str | None]] = {
        "kernel": lambda r: r.provenance.kernel,
        "kernel command line": lambda r: r.provenance.kernel_cmdline,
        "clock source": lambda r: r.provenance.clocksource,
        "clock resolution": _resolution,
    }
    for name in sorted({name for r in records for name in r.provenance.facts} - {STUDY, COMMAND, PRINTED_IN}):
        readers[_FACTS.get(name, name)] = partial(_fact, name)
    candidates = [c for c in material.candidates if any(r.inputs.candidate == c for r in records)]
    rows = []
    for title, read in readers.items():
        row = [TableCell(readable(title))]
        for candidate in candidates:
            row.append(
                TableCell(distinct({read(r) or "-" for r in records if r.inputs.candidate == candidate}), code=True)
            )
        if any(cell.text != "-" for cell in row[1:]):
            rows.append(row)
    columns = [Column("Fact", False), *(Column(clean(c), False, c) for c in candidates)]
    return material.numbering.table(clean(f"Environment, {board} board"), columns, rows)


def _resolution(record: Manifest) -> str | None:
    resolution_ns = record.provenance.clock_resolution_ns
    return None if resolution_ns is None else quantity(resolution_ns, "ns")


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
            TableCell(clean(name)),
            TableCell(
                "all"
                if names == everyone and len(everyone) > 1
                else ", ".join(clean(c) for c in material.candidates if c in names)
            ),
            TableCell(clean(value), code=True),
        ]
        for (name, value), names in sorted(owners.items())
    ]
    columns = texts("Artefact", "Candidates", "SHA-256 or version")
    return material.numbering.table(clean(f"What the runs were made of, {board} board"), columns, rows)
