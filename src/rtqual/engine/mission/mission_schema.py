# SPDX-License-Identifier: MIT
"""JSON Schema of the mission file, for editors and for saying what is allowed."""

import ast
import inspect
import json
import sys
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from rtqual.base.units import format_value
from rtqual.engine.mission.model import Plan, Scale, mission_type
from rtqual.engine.mission.table import Table
from rtqual.protocols.instrument import Parameters
from rtqual.protocols.instrument.all_instruments import all_instruments


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


def _describe(table: type[BaseModel]) -> None:
    """Give the keys of a table, and of all that derive from it, the string below each as their description."""
    for field, name in ((field, name) for name, field in table.model_fields.items() if not field.description):
        field.description = next((said[name] for base in table.__mro__ if name in (said := _strings(base))), None)
    table.model_rebuild(force=True)
    for derived in table.__subclasses__():
        _describe(derived)


@cache
def _strings(of: type) -> dict[str, str]:
    """Attribute -> the string below it."""
    node = _classes(of.__module__).get(of.__name__) if issubclass(of, Table | Parameters) else None
    if node is None:
        return {}
    return {
        ann_assign.target.id: inspect.cleandoc(below.value.value)
        for ann_assign, below in pairwise(node.body)
        if isinstance(ann_assign, ast.AnnAssign)
        and isinstance(ann_assign.target, ast.Name)
        and isinstance(below, ast.Expr)
        if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """A module's classes by name. Itself, a class that create_model() made has no source from Python 3.13 on."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


@cache
def _built() -> dict[str, Any]:
    whole = mission_type()
    tables: dict[str, type[BaseModel]] = {name: instrument.parameters for name, instrument in all_instruments().items()}
    for base in (Table, Parameters):
        _describe(base)
    whole.model_rebuild(force=True)  # once more, of tables that have their descriptions now
    models: list[type[BaseModel]] = [whole, Scale, Plan, *tables.values()]
    refs, schema = models_json_schema([(model, "validation") for model in models], schema_generator=TomlJsonSchema)
    definitions: dict[str, Any] = schema["$defs"]
    for table in tables.values():  # a table may hold some of the keys and a scale's table the others
        _definition(definitions, refs[table, "validation"]).pop("required", None)
    properties = {name: refs[table, "validation"] for name, table in tables.items()}
    for model in (whole, Scale, Plan):
        parameters = _definition(definitions, refs[model, "validation"])["properties"]["parameters"]
        parameters |= {"properties": properties, "additionalProperties": False}
        parameters.pop("propertyNames", None)
    mission = _definition(definitions, refs[whole, "validation"])
    mission["properties"]["scale"]["additionalProperties"] = False
    text = json.dumps([mission, definitions])
    used = {name: node for name, node in definitions.items() if f'"#/$defs/{name}"' in text}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **mission, "$defs": used}


def _definition(definitions: dict[str, Any], reference: JsonSchemaValue) -> dict[str, Any]:
    node: dict[str, Any] = definitions[reference["$ref"].removeprefix("#/$defs/")]
    return node
