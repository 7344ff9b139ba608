# SPDX-License-Identifier: MIT
"""What may stand in a mission file, table by table, as its JSON Schema says it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rtqual.engine.mission.explain import options_in, resolved
from rtqual.engine.mission.mission_schema import mission_schema

_UNITS = {"ns": "duration", "B": "size"}
_KINDS = {"string": "text", "integer": "number", "number": "number", "boolean": "true or false", "object": "table"}
_NAME = "^[a-z0-9][a-z0-9-]*$"
_OWN = "NAME"  # in place of a name that the mission chooses


@dataclass(frozen=True)
class Key:
    """A key of a table. `type` and `default` as a reader takes them; `default` is "required" where there is none."""

    name: str
    type: str
    default: str
    about: str

    def __str__(self) -> str:
        default = self.default if self.default in ("", "required") else f"default {self.default}"
        return f"{self.name} ({'; '.join(filter(None, (self.type, default)))}){': ' * bool(self.about)}{self.about}"


@dataclass(frozen=True)
class KeyTable:
    """A table of a mission: its headings as TOML has them, several where tables have the same keys, and its keys."""

    headings: tuple[str, ...]
    about: str
    keys: tuple[Key, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Its dotted names, as parameters.cyclictest."""
        return tuple(heading.strip("[]") for heading in self.headings)


def key_tables() -> list[KeyTable]:
    """Return the tables of a mission file in the order of the model; instruments with the same keys share one."""
    schema = mission_schema()
    alike: dict[tuple[Key, ...], KeyTable] = {}
    for table in _tables(schema, schema, ""):
        first = alike.get(table.keys)
        alike[table.keys] = replace(first, headings=first.headings + table.headings) if first else table
    return list(alike.values())


def _tables(node: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[KeyTable]:
    for key, value in node["properties"].items():
        name = f"{path}.{key}".lstrip(".")
        for suffix, is_list, inner in _inside(value, schema):
            if not inner.get("properties") or (path and key == "parameters"):  # of a scale or a plan: the same again
                continue
            full = name + suffix
            heading = f"[[{full}]]" if is_list else f"[{full}]"
            yield KeyTable((heading,), _one_line(inner), tuple(_keys(inner, schema)))
            yield from _tables(inner, schema, full)


def _inside(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[str, bool, Mapping[str, Any]]]:
    """The tables that a key holds: what is added to its name, whether they are a list, what may stand in them."""
    node = resolved(value, schema)
    if node.get("type") == "array":
        yield "", True, _alone(node.get("items", {}), schema)
    elif named := node.get("patternProperties"):
        yield f".{_OWN}", False, _alone(next(iter(named.values())), schema)
    elif "$ref" in value or "anyOf" in value:
        yield "", False, _alone(value, schema)
    else:
        for name, inner in node.get("properties", {}).items():
            yield f".{name}", False, _alone(inner, schema)


def _alone(value: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference leads to, with its own words."""
    return resolved({"$ref": value["$ref"]}, schema) if "$ref" in value else resolved(value, schema)


def _keys(table: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Key]:
    required = set(table.get("required", ()))
    for name, value in table["properties"].items():
        default = "required" if name in required else _default(value.get("default"))
        yield Key(name, _type(value, schema), default, _one_line(value))


def _type(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    kinds = options_in(value, schema) or [resolved(value, schema)]
    return " or ".join(dict.fromkeys(_kind(kind, schema) for kind in kinds))


def _kind(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    match node:
        case {"enum": values}:
            kind = ", ".join(f"`{value}`" for value in values)
        case {"const": value}:
            kind = f"`{value}`"
        case {"x-unit": unit}:
            kind = _UNITS[unit]
        case {"type": "array"}:
            inner = _type(node.get("items", {}), schema)
            kind = f"list: {inner}" if "`" in inner else f"list of {inner}s" if inner != "text" else "list of text"
        case {"type": [*_]}:
            kind = "part or limit" if "20 %" in node.get("examples", ()) else "limit"
        case {"type": "string", "pattern": pattern} if pattern == _NAME:
            kind = "name"
        case {"type": "string", "oneOf": _}:
            kind = "name"
        case _:
            kind = f"{_KINDS.get(str(node.get('type')), 'text')}{_range(node)}"
    return kind


def _range(node: Mapping[str, Any]) -> str:
    least, most = node.get("minimum"), node.get("maximum")
    if least is not None and most is not None:
        return f", {least:,} to {most:,}"
    above = node.get("exclusiveMinimum")
    return f" above {above:,}" if above is not None else f" from {least:,}" if least not in (None, 0) else ""


def _default(value: object) -> str:
    """As TOML has it; nothing where the key may simply be left out."""
    empty = value in (None, "", []) or isinstance(value, Mapping)
    return "" if empty else json.dumps(value)


def _one_line(node: Mapping[str, Any]) -> str:
    return " ".join(str(node.get("description", "")).split())
