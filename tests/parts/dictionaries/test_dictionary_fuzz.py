# SPDX-License-Identifier: MIT
"""Dictionaries whose trees a stranger has changed: read or refused in a line, whatever is asked of them after."""

import copy
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries.dictionary_formats import read
from rtqual.parts.dictionaries.model import Array, Dictionary, Number, Struct, Text, Type
from rtqual.parts.dictionaries.value_codec import encode, recognise
from rtqual.protocols.dictionary import Refused
from support.dictionaries import COSMOS, FPRIME, MIB, XTCE, write_mib

# What stands in the place of a value: none, odd numbers, other kinds, words of the formats.
STRANGE: tuple[Any, ...] = (
    None, "", -1, 0, 1, 7, 1 << 40, 10**400, 1.5, float("nan"), "1e999", "x", "\ud800", [], {}, [1], True, "-1", "0x",
    "9" * 5000, "Ref.Cycle", "head", "apid", "/SAT/HK", "UINT", "MIN",
)  # fmt: skip


def strange(draw: random.Random) -> Any:
    return copy.copy(draw.choice(STRANGE))


def mutated_json(draw: random.Random) -> str:
    tree = copy.deepcopy(FPRIME)
    for _ in range(draw.randint(1, 4)):
        places = [
            (part, key) for part in _parts(tree) for key in (part if isinstance(part, dict) else range(len(part)))
        ]
        part, key = draw.choice(places)
        action = draw.randrange(3)
        if action == 0:
            part[key] = strange(draw)
        elif action == 1:
            del part[key]
        else:
            other, name = draw.choice(places)
            part[key] = (
                copy.deepcopy(other[name]) if name in other or (isinstance(other, list) and name < len(other)) else 0
            )
    return json.dumps(tree)


def _parts(tree: Any) -> list[Any]:
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    here = [tree] if isinstance(tree, dict | list) and tree else []
    return here + [part for child in below for part in _parts(child)]


def mutated_xml(draw: random.Random) -> str:
    root = ElementTree.fromstring(XTCE)  # noqa: S314 our own
    for _ in range(draw.randint(1, 4)):
        elements = list(root.iter())
        element, other = draw.choice(elements[1:]), draw.choice(elements[1:])
        action = draw.randrange(4)
        if action == 0 and element.attrib:
            element.set(draw.choice([*element.attrib]), str(strange(draw)).replace("\ud800", ""))
        elif action == 1 and element.attrib:
            del element.attrib[draw.choice([*element.attrib])]
        elif action == 2:
            parent = next(parent for parent in root.iter() if element in list(parent))
            parent.remove(element)
        elif element not in other.iter():
            element.append(copy.deepcopy(other))
    return ElementTree.tostring(root, "unicode")


def mutated_lines(draw: random.Random) -> str:
    lines = [line.split(" ") for line in COSMOS.replace("<%= target_name %>", "SAT").splitlines()]
    for _ in range(draw.randint(1, 4)):
        line = draw.choice(lines)
        at = draw.randrange(len(line))
        action = draw.randrange(3)
        if action == 0:
            line[at] = str(strange(draw)).replace("\ud800", "")
        elif action == 1:
            del line[at:]
        else:
            line[at] = draw.choice(draw.choice([other for other in lines if other] or [["x"]]))
        line.extend([] if line else [""])
    return "\n".join(map(" ".join, lines))


def mutated_mib(draw: random.Random, folder: Path) -> None:
    tables = copy.deepcopy(MIB)
    for _ in range(draw.randint(1, 4)):
        rows = draw.choice(list(tables.values()))
        if rows:
            row = draw.choice(rows)
            row[draw.choice([*row])] = str(strange(draw)).replace("\ud800", "")
    if draw.random() < 0.2:
        del tables[draw.choice([*tables])]
    shutil.rmtree(folder, ignore_errors=True)
    write_mib(folder, tables)


def mutated(form: str, draw: random.Random, path: Path) -> Path:
    if form == "scos":
        mutated_mib(draw, path)
    else:
        texts: dict[str, Callable[[random.Random], str]] = {
            "fprime": mutated_json, "xtce": mutated_xml, "cosmos": mutated_lines,
        }  # fmt: skip
        path.write_text(texts[form](draw), encoding="utf-8", errors="replace")
    return path


def sample(kind: Type | Refused) -> Any:
    match kind:
        case Number():
            return next(iter(kind.labels.values()), kind.least or 1)
        case Text():
            return "00"
        case Array():
            return [sample(kind.of)]
        case Struct():
            return {member.name: sample(member.type) for member in kind.members}
    return 0


def ask(dictionary: Dictionary, draw: random.Random) -> int:
    """Use every name; return how many commands were encoded."""
    encoded = 0
    for command in dictionary.commands.values():
        arguments = {name: sample(kind) for name, kind in command.arguments.items() if name not in command.assigned}
        try:
            octets = encode(command, arguments, {"length": 0})
            encoded += 1
        except Refused as why:
            assert "\n" not in str(why)
            octets = draw.randbytes(24)
        try:
            recognise(dictionary, octets[: draw.randint(0, len(octets))] + draw.randbytes(draw.randint(0, 16)))
        except Refused as why:
            assert "\n" not in str(why)
    return encoded


def fuzz(form: str, count: int, path: Path) -> tuple[int, int]:
    """Return how many files were read, and how many commands encoded."""
    read_whole = encoded = 0
    for seed in range(count):
        draw = random.Random(f"{form} {seed}")  # noqa: S311
        try:
            dictionary = read(form, [mutated(form, draw, path)], {})
        except BadInput as bad:
            assert "\n" not in str(bad), seed
            continue
        read_whole += 1
        encoded += ask(dictionary, draw)
    return read_whole, encoded


@pytest.mark.parametrize("form", ["fprime", "xtce", "cosmos", "scos"])
def test_changed_dictionaries_are_read_or_refused_in_a_line(form: str, tmp_path: Path) -> None:
    count = 150
    read_whole, encoded = fuzz(form, count, tmp_path / "d")
    assert read_whole > 0.8 * count and encoded > 0.4 * count, "the mutants die before they reach the reader"


@pytest.mark.full
@pytest.mark.parametrize("form", ["fprime", "xtce", "cosmos", "scos"])
def test_many_changed_dictionaries_are_read_or_refused_in_a_line(form: str, tmp_path: Path) -> None:
    assert fuzz(form, 1_500, tmp_path / "d")[0] > 1_200
