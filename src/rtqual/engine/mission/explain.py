# SPDX-License-Identifier: MIT
"""A pydantic error as one sentence for the person who wrote the file: what is wrong, and what is allowed."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rtqual.base.units import format_value
from rtqual.base.words import listed
from rtqual.engine.mission.toml_lines import KeyPath

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN = 60  # characters of a wrong value worth repeating
_LISTED = 100  # names
_PYTHON_TO_TOML = {"tuple": "list", "dictionary": "table", "valid integer": "whole number", "valid ": ""}

_KINDS = {  # of JSON Schema
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "object": "a table",
    "array": "a list",
    "boolean": "true or false",
}
_BOUNDS = {
    "greater_than": "more than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}


class At(ValueError):
    """An error of a whole table that one of its keys is to blame for."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class Problem:
    path: KeyPath
    message: str
    is_missing: bool = False  # often the consequence of a misspelt key, so told after the others


def _problem(error: ErrorDetails, schema: Mapping[str, Any]) -> Problem:
    """What one error of `ValidationError.errors()` says, with the schema's help on what is allowed."""
    path: KeyPath = tuple(key for key in error["loc"] if key != "[key]")  # pydantic's mark for a table's name
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, At):
        path = (*path, cause.key)
    return Problem(path, _sentence(error, path, schema), error["type"] == "missing")


def problems_in(
    error: ValidationError, schema: Mapping[str, Any], place: Callable[[KeyPath], KeyPath] = tuple
) -> list[Problem]:
    """Of each error, but for lists that are too short since their elements have errors, told by themselves. `place`:
    where a key of what was validated stands in the file."""
    errors = [
        problem
        for problem in error.errors(include_url=False)
        if problem["type"] != "too_short" or not isinstance(problem["input"], list) or not problem["input"]
    ]
    for problem in errors:
        problem["loc"] = place(problem["loc"])
    return list(_problems(errors, schema, frozenset()))


def _problems(errors: Iterable[ErrorDetails], schema: Mapping[str, Any], chosen: Set[KeyPath]) -> Iterator[Problem]:
    """Of a value that may be of several kinds each kind has its error: told are those of the kind that was written."""
    choices: dict[KeyPath, list[ErrorDetails]] = {}
    for error in errors:
        place = _choice(error["loc"], schema, chosen)
        if place is None:
            yield _problem(error, schema)
        else:
            choices.setdefault(place, []).append(error)
    for place, of_all in choices.items():
        deeper = len(place) + 1
        of_kind = [
            problem for problem in of_all if len(problem["loc"]) > deeper or not problem["type"].endswith("_type")
        ]
        if of_kind:
            for error in of_kind:
                error["loc"] = (*place, *error["loc"][deeper:])
            yield from _problems(of_kind, schema, chosen | {place})
        else:
            kinds = {option.get("type", "string") for option in options_in(schema_at(schema, place), schema)}
            kinds -= {"integer"} if "number" in kinds else set()
            allowed = listed([name for kind, name in _KINDS.items() if kind in kinds], "or")
            yield Problem(place, f"{shown(of_all[0]['input'])} is not allowed; write {allowed}")


def _choice(loc: KeyPath, schema: Mapping[str, Any], chosen: Set[KeyPath]) -> KeyPath | None:
    """Where the value is that may be of several kinds, in whose errors pydantic adds the kind's name to the path."""
    for depth in range(len(loc)):
        place = loc[:depth]
        if place not in chosen and len(options_in(schema_at(schema, place), schema)) > 1:
            return place
    return None


def _sentence(error: ErrorDetails, path: KeyPath, schema: Mapping[str, Any]) -> str:
    value, context, about = error["input"], error.get("ctx", {}), schema_at(schema, path)
    match error["type"]:
        case "extra_forbidden":
            allowed = _with(schema_at(schema, path[:-1]), "properties", schema).get("properties", {})
            text = f"unknown key; {suggest(str(path[-1]), allowed)}"
        case "missing":
            text = "is missing" + (f": {about['description']}" if "description" in about else "")
        case "enum" | "literal_error":
            names = [str(name) for name in about.get("enum", [])] or [context["expected"]]
            text = f"{shown(value)} is not allowed; {suggest(str(value), names)}"
        case "value_error":
            text = str(context["error"])
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" if "x-unit" in about:
            bound = format_value(next(iter(context.values())), about["x-unit"])
            text = f"{shown(value)} is not allowed; write {_BOUNDS[error['type']]} {bound}"
        case "multiple_of" if "x-unit" in about:
            step = format_value(context["multiple_of"], about["x-unit"])
            text = f"{shown(value)} is not allowed; write a multiple of {step}"
        case "too_short" | "string_too_short":
            text = f"is empty; write at least {context['min_length']}"
        case "tuple_type" if isinstance(value, Mapping):
            text = f"is one table where a list of tables is wanted; write [[{dotted(path)}]]"
        case _:
            text = error["msg"].partition(" or instance of")[0]
            for python, toml in _PYTHON_TO_TOML.items():
                text = text.replace(python, toml)
            text = text.replace("Input", shown(value), 1)
    return text


def suggest(written: str, allowed: Iterable[str]) -> str:
    """The near misses among what is allowed, or all of it, or where that is too much to read how much there is."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load, for mistakes alone

    names = sorted(allowed) if not isinstance(allowed, Sequence) else list(allowed)
    near = get_close_matches(written, names, n=2)
    if near:
        return f"did you mean {' or '.join(repr(name) for name in near)}?"
    if len(names) > _LISTED:
        return f"none of the {len(names):,} there is like it"
    return f"allowed: {', '.join(names)}" if names else "nothing is allowed here"


def shown(value: object) -> str:
    """A value to repeat in a message, shortened."""
    text = "a table" if isinstance(value, Mapping) else repr(str(value) if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def dotted(path: KeyPath) -> str:
    """`candidate[0].name`; names that TOML would quote are quoted."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += "." * bool(text) + (key if _BARE_KEY.fullmatch(key) else json.dumps(key))
    return text


def schema_at(schema: Mapping[str, Any], path: KeyPath) -> Mapping[str, Any]:
    """The part of a JSON Schema that speaks of a key path; empty where it says nothing."""
    node = resolved(schema, schema)
    for key in path:
        inner = _with(node, "items" if isinstance(key, int) else "properties", schema)
        any_name = next(iter(inner.get("patternProperties", {}).values()), None)
        child = inner.get("items") if isinstance(key, int) else inner.get("properties", {}).get(key, any_name)
        if not isinstance(child, Mapping):
            return {}
        node = resolved(child, schema)
    return node


def _with(node: Mapping[str, Any], wanted: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node's kind that has this."""
    return next((option for option in options_in(node, schema) if wanted in option), node)


def options_in(node: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The kinds that a value may be of, but for none at all."""
    found = [resolved(item, schema) for item in node.get("anyOf", ())]
    return [table for table in found if table.get("type") != "null"]


def resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node with its `$ref` followed, and that of the only kind which it may be of; its own words win."""
    if "$ref" in node:
        return {**schema["$defs"][node["$ref"].removeprefix("#/$defs/")], **node}
    options = options_in(node, schema)
    return {**options[0], **node} if len(options) == 1 else node
