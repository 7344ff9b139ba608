# SPDX-License-Identifier: MIT
"""The mission's JSON Schema: what it accepts, refuses and describes."""

import tomllib
from pathlib import Path

import jsonschema
import pytest

from rtqual.engine.mission import mission_schema
from support.mission_texts import GOOD, MISSIONS, MISTAKES


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = mission_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", MISSIONS, ids=lambda path: path.stem)
def test_schema_accepts_the_missions(validator: jsonschema.Draft202012Validator, path: Path) -> None:
    assert list(validator.iter_errors(tomllib.loads(path.read_text()))) == []


def test_schema_accepts_every_key(validator: jsonschema.Draft202012Validator) -> None:
    assert list(validator.iter_errors(tomllib.loads(GOOD))) == []


# What a JSON Schema cannot say is left to load_mission.
BEYOND_SCHEMA = {
    "same candidate",
    "too long",
    "empty title",
    "nothing long",
    "need twice",
    "unknown candidate",
}
BEYOND_SCHEMA |= {
    "limit without unit",
    "size for a duration",
    "limit in no unit",
    "limit without end",
    "margin of nothing",
    "margin in no unit",
    "margin of a size",
    "weight nan",
}
BEYOND_SCHEMA |= {
    "parameter too small",
    "parameter uneven",
    "cpus here",
    "guest's load here",
    "beyond 64 bits",
}
BEYOND_SCHEMA |= {
    "release of a package",
    "preempt-rt of a package",
    "one kernel, two candidates",
    "lists without end",
    "a fraction for a number",
}
BEYOND_SCHEMA |= {
    "auto where nothing is asked",
    "auto on several CPUs",
    "auto beside a number",
    "auto of sizes",
    "most runs of a number",
}
BEYOND_SCHEMA |= {"unknown load", "plan's unknown load"}  # a mission may have loads of its own
BEYOND_SCHEMA |= {"thousands of digits", "syntax", "key twice", "very deep"}


@pytest.mark.parametrize("mistake", sorted(MISTAKES.keys() - BEYOND_SCHEMA))
def test_schema_refuses_what_load_mission_refuses(validator: jsonschema.Draft202012Validator, mistake: str) -> None:
    old, new, _, _ = MISTAKES[mistake]
    assert list(validator.iter_errors(tomllib.loads(GOOD.replace(old, new, 1))))


def test_schema_describes_every_key_of_the_mission() -> None:
    schema = mission_schema()
    tables = {"Mission": schema, **schema["$defs"]}
    for name in ("Mission", "Header", "Candidate", "Requirement", "Criterion", "Scale", "Plan"):
        for key, node in tables[name]["properties"].items():
            referred = tables.get(node.get("$ref", "").removeprefix("#/$defs/"), {})
            assert node.get("description") or referred.get("description"), f"{name}.{key}"
