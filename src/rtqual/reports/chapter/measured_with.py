# SPDX-License-Identifier: MIT
"""What measured and what disturbed: instruments with their parameters, loads."""

import shlex
from collections.abc import Iterator, Sequence

from rtqual.protocols.load import OF_LOADS
from rtqual.protocols.record.schema import Manifest
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, TableCell, texts
from rtqual.reports.page.text import clean, distinct, prose, quantity


def tools(material: Material) -> Iterator[Block]:
    used = dict.fromkeys(r.inputs.instrument for r in material.records)
    known = {name: about.title for name in used if (about := material.about(name)).title}
    yield material.numbering.table(
        "Instruments",
        texts("Instrument", "What it measures", "Parameters"),
        [
            [TableCell(clean(name)), TableCell(clean(title)), TableCell(parameters(material, name), code=True)]
            for name, title in known.items()
        ],
    )
    loads = dict.fromkeys(r.inputs.load for r in material.records)
    rows = [
        [TableCell(clean(name)), TableCell(prose(material.load(name))), TableCell(_commands(material, name), code=True)]
        for name in loads
    ]
    yield material.numbering.table("Loads", texts("Load", "What disturbs", "Commands"), rows)


def _commands(material: Material, load: str) -> str:
    """As the records have them, with their real-time priority."""
    found = {
        " & ".join(
            shlex.join(command["argv"]) + (f" (FIFO {fifo})" if (fifo := command.get("fifo")) else "")
            for command in record.inputs.job.get("loads", ())
        )
        for record in material.records
        if record.inputs.load == load
    }
    return distinct(filter(None, found))


def parameters(material: Material, instrument: str, records: Sequence[Manifest] | None = None) -> str:
    """Of the records given, or of all; those of loads stand with their commands."""
    records = material.records if records is None else records
    found = [r.inputs.parameters for r in records if r.inputs.instrument == instrument]
    units = material.about(instrument).units
    written = []
    for name in sorted({name for parameters in found for name in parameters if not name.startswith(OF_LOADS)}):
        values = {_value(p[name], units.get(name)) for p in found if name in p}
        written.append(f"{name} = {distinct(values)}")
    return ", ".join(written) or "-"


def _value(value: object, unit: str | None) -> str:
    if unit and isinstance(value, int | float) and not isinstance(value, bool):
        return quantity(value, unit)
    return str(value)
