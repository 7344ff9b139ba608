# SPDX-License-Identifier: MIT
"""Dictionaries whose trees a stranger has changed: read or refused in a line, whatever is asked of them after."""

import copy
import json
import random
import shutil
import signal
import tomllib
from collections import Counter
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
from support.dictionaries import COSMOS, FPRIME, MIB, XTCE, XTCE_KINDS, write_mib
from support.heater import HEATER

# What stands in the place of a value: none, odd numbers, other kinds, words of the formats.
STRANGE: tuple[Any, ...] = (
    None, "", -1, 0, 1, 7, 1 << 40, 10**400, 1.5, float("nan"), "1e999", "x", "\ud800", [], {}, [1], True, "-1", "0x",
    "9" * 5000, "Ref.Cycle", "head", "apid", "/SAT/HK", "UINT", "MIN",
)  # fmt: skip


def strange(draw: random.Random) -> Any:
    return copy.copy(draw.choice(STRANGE))


# Packets of each that are whole, which are changed too.
PACKETS = {
    "fprime": (
        "00000002" "00000100" "0002" "00" "00000007" "00000008" "00000501",
        "00000001" "00000200" "0002" "00" "00000007" "00000008" "3fc00000",
    ),
    "xtce": (
        "0005" "0003" "09" "0a" "ff", "0006" "0003" "09" "0a",
        "01" "02" "fe" "82" "feff" "50000002" "3fc00000" "05" "01" "00" "00000009" "07" "07",
        "02" "02" "6869" "6162630000000000" "036a6b6c" "0102" "010203",
    ),
    "cosmos": ("07" "05" "0102" "ffff", "07" "05" "0304"),
    "scos": ("0805" "c000" "0006" "10" "0319" "07" "1234", "0805" "c000" "0006" "10" "0501" "02" "0001" "0002"),
    "table": (
        "082a" "c000" "0015" "20" "0319" "0000" "00000000" "0001" "0000" "00" "00fa" "00c8",
        "082a" "c000" "0010" "20" "0101" "0000" "00000000" "182ac000",
    ),
}  # fmt: skip
_SECONDS = 5.0  # of processor time for one file


def mutated_json(draw: random.Random) -> str:
    return json.dumps(mutated_tree(FPRIME, draw))


def mutated_toml(draw: random.Random) -> str:
    tree = mutated_tree(tomllib.loads((HEATER / "packets.toml").read_text()), draw)
    return "\n".join(f"{json.dumps(str(key))} = {_toml(value)}" for key, value in tree.items())


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(str(key))} = {_toml(part)}" for key, part in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case None:
            return "nan"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\ud800", "")
    return str(value).lower()


def mutated_tree(original: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    tree = copy.deepcopy(original)
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
    return tree


def _parts(tree: Any) -> list[Any]:
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    here = [tree] if isinstance(tree, dict | list) and tree else []
    return here + [part for child in below for part in _parts(child)]


def mutated_xml(draw: random.Random) -> str:
    root = ElementTree.fromstring(draw.choice((XTCE, XTCE_KINDS)))  # noqa: S314 our own
    for _ in range(draw.randint(1, 4)):
        elements = list(root.iter())[1:]
        if not elements:
            break
        element, other = draw.choice(elements), draw.choice(elements)
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
            "fprime": mutated_json, "xtce": mutated_xml, "cosmos": mutated_lines, "table": mutated_toml,
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


def ask(dictionary: Dictionary, form: str, draw: random.Random) -> tuple[int, int]:
    """Use every name; return how many commands were encoded, and how many packets decoded."""
    encoded = decoded = 0
    octets = [bytearray.fromhex(packet) for packet in PACKETS[form]]
    for packet in octets:
        for _ in range(draw.randint(0, 2)):
            packet[draw.randrange(len(packet))] = draw.randrange(256)
        del packet[draw.randint(len(packet) // 2, 2 * len(packet)) :]
    for command in dictionary.commands.values():
        arguments = {name: sample(kind) for name, kind in command.arguments.items() if name not in command.assigned}
        try:
            octets.append(bytearray(encode(command, arguments, {"length": 0})))
            encoded += 1
        except Refused as why:
            assert "\n" not in str(why)
    for packet in octets:
        try:
            recognise(dictionary, bytes(packet) + draw.randbytes(draw.randint(0, 16)))
            decoded += 1
        except Refused as why:
            assert "\n" not in str(why)
    return encoded, decoded


def fuzz(form: str, count: int, path: Path) -> Counter[str]:
    """Return how many files were read, commands encoded and packets decoded."""
    found = Counter[str]()
    signal.signal(signal.SIGVTALRM, _too_long)
    for seed in range(count):
        draw = random.Random(f"{form} {seed}")  # noqa: S311
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
        try:
            dictionary = read(form, [mutated(form, draw, path)], {})
            encoded, decoded = ask(dictionary, form, draw)
            found += Counter(read=1, encoded=encoded, decoded=decoded)
        except BadInput as bad:
            assert "\n" not in str(bad), seed
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return found


def _too_long(*_: object) -> None:
    raise AssertionError(f"took more than {_SECONDS:g} s of processor time")


@pytest.mark.parametrize("form", PACKETS)
def test_changed_dictionaries_are_read_or_refused_in_a_line(form: str, tmp_path: Path) -> None:
    count = 150
    found = fuzz(form, count, tmp_path / "d")
    assert found["read"] > 0.8 * count and found["encoded"] > 0.4 * count, (
        "the mutants die before they reach the reader"
    )
    assert found["decoded"] > 0.4 * count, "the mutants die before they reach the decoder"


@pytest.mark.manual  # `make fuzz-dictionaries`: a minute or three of processor a format
@pytest.mark.parametrize("form", PACKETS)
def test_a_hundred_thousand_changed_dictionaries(form: str, tmp_path: Path) -> None:
    found = fuzz(form, 100_000, tmp_path / "d")
    print(form, dict(found))
    assert found["read"] > 80_000
