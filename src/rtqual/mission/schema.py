# SPDX-License-Identifier: MIT
"""JSON Schema of the mission file, for editors and for saying what is allowed."""

import json
from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from rtqual.base.units import format_value
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.mission.model import Mission, Plan, Scale


class TomlJsonSchema(GenerateJsonSchema):
    """JSON Schema for TOML, which has no null: an optional key is one that may be left out."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False  # a title made of the key's name says nothing

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        written = super().default_schema(schema)
        if written.get("default", ...) is None:
            del written["default"]
        if "x-unit" in written and "default" in written:
            written["default"] = format_value(written["default"], written["x-unit"])
        return written


def mission_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a mission file."""
    return deepcopy(_built())


@cache
def _built() -> dict[str, Any]:
    tables: dict[str, type[BaseModel]] = {name: instrument.parameters for name, instrument in INSTRUMENTS.items()}
    models: list[type[BaseModel]] = [Mission, Scale, Plan, *tables.values()]
    refs, schema = models_json_schema([(model, "validation") for model in models], schema_generator=TomlJsonSchema)
    definitions: dict[str, Any] = schema["$defs"]
    for table in tables.values():  # a table may hold some of the keys and a scale's table the others
        _definition(definitions, refs[table, "validation"]).pop("required", None)
    properties = {name: refs[table, "validation"] for name, table in tables.items()}
    for model in (Mission, Scale, Plan):
        parameters = _definition(definitions, refs[model, "validation"])["properties"]["parameters"]
        parameters |= {"properties": properties, "additionalProperties": False}
        parameters.pop("propertyNames", None)
    mission = _definition(definitions, refs[Mission, "validation"])
    mission["properties"]["scale"]["additionalProperties"] = False
    text = json.dumps([mission, definitions])
    used = {name: node for name, node in definitions.items() if f'"#/$defs/{name}"' in text}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **mission, "$defs": used}


def _definition(definitions: dict[str, Any], reference: JsonSchemaValue) -> dict[str, Any]:
    node: dict[str, Any] = definitions[reference["$ref"].removeprefix("#/$defs/")]
    return node
