# SPDX-License-Identifier: MIT
"""What measured and what disturbed: instruments with their parameters, loads."""

from collections.abc import Iterator

from rtqual.protocols.instrument.about import about_record
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, TableCell, texts
from rtqual.reports.page.text import clean, distinct, quantity


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
    loads = {r.inputs.load: title for r in material.records if (title := about_record(r).load)}
    rows = [[TableCell(clean(name)), TableCell(clean(title))] for name, title in loads.items()]
    yield material.numbering.table("Loads", texts("Load", "What disturbs"), rows)


def parameters(material: Material, instrument: str) -> str:
    found = [r.inputs.parameters for r in material.records if r.inputs.instrument == instrument]
    units = material.about(instrument).units
    written = []
    for name in sorted({name for parameters in found for name in parameters}):
        values = {_value(p[name], units.get(name)) for p in found if name in p}
        written.append(f"{name} = {distinct(values)}")
    return ", ".join(written) or "-"


def _value(value: object, unit: str | None) -> str:
    if unit and isinstance(value, int | float) and not isinstance(value, bool):
        return quantity(value, unit)
    return str(value)
