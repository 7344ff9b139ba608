# SPDX-License-Identifier: MIT
"""What measured and what disturbed: instruments with their parameters, loads."""

from collections.abc import Iterator

from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, TableCell, texts
from rtqual.reports.page.text import distinct, quantity


def tools(material: Material) -> Iterator[Block]:
    used = dict.fromkeys(r.inputs.instrument for r in material.records)
    known = [all_instruments()[name] for name in used if name in all_instruments()]
    yield material.numbering.table(
        "Instruments",
        texts("Instrument", "What it measures", "Parameters"),
        [[TableCell(i.name), TableCell(i.title), TableCell(parameters(material, i.name), code=True)] for i in known],
    )
    loads = [
        all_loads()[name] for name in dict.fromkeys(r.inputs.load for r in material.records) if name in all_loads()
    ]
    yield material.numbering.table(
        "Loads", texts("Load", "What disturbs"), [[TableCell(load.name), TableCell(load.title)] for load in loads]
    )


def parameters(material: Material, instrument: str) -> str:
    found = [r.inputs.parameters for r in material.records if r.inputs.instrument == instrument]
    schema = all_instruments()[instrument].parameters.model_json_schema().get("properties", {})
    written = []
    for name in sorted({name for parameters in found for name in parameters}):
        unit = schema.get(name, {}).get("x-unit")
        values = {quantity(p[name], unit) if unit else str(p[name]) for p in found if name in p}
        written.append(f"{name} = {distinct(values)}")
    return ", ".join(written) or "-"
