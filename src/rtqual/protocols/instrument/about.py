# SPDX-License-Identifier: MIT
"""What records tell of their instrument and load, so that reports need not have the part that brought these."""

from collections.abc import Mapping
from functools import cache
from itertools import islice

from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load import Load
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import MOST_CAVEATS, MOST_TOLD, MOST_UNITS, About, Inputs, Manifest

_INTERVAL = "interval"  # the parameter of instruments that take samples at one


def about(instrument: Instrument | None, load: Load | None) -> About:
    """Return what a record is to tell, of what is known; longer texts are cut."""
    of_load = _line(load.title) if load else ""
    if instrument is None:
        return About(load=of_load)
    field = instrument.parameters.model_fields.get(_INTERVAL)
    return About(
        title=_line(instrument.title),
        program=_line(instrument.program),
        caveats=tuple(map(_line, instrument.caveats[:MOST_CAVEATS])),
        family=_line(instrument.family),
        space=_line(instrument.space),
        periodic=field is not None and field.default is not None,
        units={_line(name): _line(unit) for name, unit in islice(_units(instrument.parameters).items(), MOST_UNITS)},
        load=of_load,
    )


def about_inputs(inputs: Inputs) -> About:
    """Return what parts that are installed know of a run's instrument and load."""
    return about(all_instruments().get(inputs.instrument), all_loads().get(inputs.load))


def about_record(manifest: Manifest) -> About:
    """Return what a record tells; of one before schema 3, what parts that are installed know."""
    return manifest.about or about_inputs(manifest.inputs)


@cache
def _units(parameters: type[Parameters]) -> Mapping[str, str]:
    properties = parameters.model_json_schema().get("properties", {})
    return {name: item["x-unit"] for name, item in properties.items() if "x-unit" in item}


def _line(text: str) -> str:
    return " ".join(text.split())[:MOST_TOLD]
