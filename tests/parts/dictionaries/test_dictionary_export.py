# SPDX-License-Identifier: MIT
"""A dictionary that is written as XTCE and read again says the same octets, and hears the same in them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rtqual.parts.dictionaries import dictionary_formats, value_codec
from rtqual.parts.dictionaries.model import Dictionary
from rtqual.parts.dictionaries.spoken import SpokenFormat
from rtqual.parts.dictionaries.xtce_writer import Written, written, xtce_name
from support.command import Run

EXAMPLES = Path(__file__).parents[3] / "examples"
HEATER, CFS = EXAMPLES / "heater/packets.toml", EXAMPLES / "cfs/packets.toml"
_TABLE = """
[head]
command = [["id", "u16"], ["", "u4"], ["kind", "u4"]]
report = [["id", "u16"]]
[types]
mode = { of = "u8", labels = { OFF = 0, ON = 1 } }
rpm = { of = "f32", least = -6000, most = 6000 }
[commands]
"A.SPIN" = { head = { id = 7 }, arguments = [
  ["", "u8"], ["mode", "mode"], ["rpm", "rpm"], ["n", "i16le"], ["t", "char4"], ["three", "u8[3]"],
] }
A_SPIN = { head = { id = 8 } }
LIST = { head = { id = 9 }, arguments = [["rest", "u8[]"]] }
[reports]
WHEELS = { head = { id = 300 }, fields = [
  ["mode", "mode"], ["", "u3"], ["z", "u1"], ["", "u4"], ["rpm", "f32[3]"], ["last", "i16le"],
] }
TEXT = { head = { id = 301 }, fields = [["n", "u8"], ["text", "char"]] }
"""


def _again(folder: Path, path: Path, fill: dict[str, Any]) -> tuple[Dictionary, Dictionary, Written]:
    first = dictionary_formats.read("table", [path], {})
    made = written(first, "sat", fill)
    (folder / "made.xml").write_text(made.text)
    return first, dictionary_formats.read("xtce", [folder / "made.xml"], {}), made


@pytest.mark.parametrize(
    ("path", "fill"),
    [
        (HEATER, {"kind": 1, "secondary": 1, "apid": 42, "pus": 2, "acks": 9}),
        (CFS, {"secondary": 1, "kind": 1, "flags": 3}),
    ],
)
def test_commands_are_the_same_octets(tmp_path: Path, path: Path, fill: dict[str, Any]) -> None:
    first, second, made = _again(tmp_path, path, fill)
    spoken = SpokenFormat(first)
    assert not made.left_out.keys() & first.commands.keys() and len(second.commands) == len(first.commands)
    for name, command in first.commands.items():
        arguments = dict(spoken.sample(name))
        octets = value_codec.encode(command, arguments, fill)
        assert value_codec.encode(second.commands[f"/sat/{xtce_name(name)}"], arguments, {}) == octets, name


def test_what_the_heater_says_is_heard_alike(tmp_path: Path) -> None:
    first, second, _ = _again(tmp_path, HEATER, {})
    head = bytes.fromhex("082ac0000010 20")
    for said in (
        "0101 0000 00000001 102ac000",
        "0102 0000 00000001 102ac000 0002",
        "0319 0000 00000001 0001 0002 01 00fa ffce",
        "0503 0000 00000001 0007",
        "1102 0000 00000001",
    ):
        octets = head + bytes.fromhex(said)
        packet, values = value_codec.recognise(first, octets)
        other, heard = value_codec.recognise(second, octets)
        assert other.name == f"/sat/{packet.name}"
        own = {name: value for name, value in values.shown.items() if name}
        assert {name.removeprefix(f"{packet.name}_"): value for name, value in heard.shown.items()} == own


def test_gaps_arrays_orders_and_texts(tmp_path: Path) -> None:
    (tmp_path / "packets.toml").write_text(_TABLE)
    first, second, made = _again(tmp_path, tmp_path / "packets.toml", {"kind": 3})
    arguments = {"mode": "ON", "rpm": -1.5, "n": -2, "t": "abcd", "three": [1, 2, 3]}
    octets = value_codec.encode(first.commands["A.SPIN"], arguments, {"kind": 3})
    flat = {**{k: v for k, v in arguments.items() if k != "three"}, "three_0": 1, "three_1": 2, "three_2": 3}
    assert value_codec.encode(second.commands["/sat/A_SPIN"], flat, {}) == octets
    assert made.left_out.keys() == {"A_SPIN", "LIST", "TEXT"}
    assert "written as another" in made.left_out["A_SPIN"]
    packet, values = value_codec.recognise(second, bytes.fromhex("012c 01 10 3f800000 40000000 c0400000 feff"))
    assert packet.name == "/sat/WHEELS"
    assert values.shown == {
        "id": 300, "WHEELS_mode": "ON", "WHEELS_z": 1, "WHEELS_rpm_0": 1.0, "WHEELS_rpm_1": 2.0, "WHEELS_rpm_2": -3.0,
        "WHEELS_last": -2,
    }  # fmt: skip


def test_the_command_writes_it_and_says_what_is_left_out(rtqual: Run, tmp_path: Path) -> None:
    (tmp_path / "packets.toml").write_text(_TABLE)
    done = rtqual("dictionary", "export", tmp_path / "packets.toml", "--format", "table", "--out", tmp_path / "sat.xml")
    assert done.returncode == 0 and "3 left out" in done.stdout and "LIST: rest has a number of elements" in done.stdout
    assert (tmp_path / "sat.xml").read_text().startswith("<?xml")
    done = rtqual("dictionary", "export", HEATER, "--format", "table", "--out", tmp_path / "no" / "sat.xml")
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_packets_without_a_head_in_common_have_parameters_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "sat.txt"
    file.write_text(
        "".join(
            f'TELEMETRY SAT {name} BIG_ENDIAN ""\n  APPEND_ID_ITEM ID 8 UINT {number} ""\n  APPEND_ITEM T {kind} ""\n'
            for name, number, kind in (("HK", 1, "16 UINT"), ("EV", 2, "32 FLOAT"))
        )
    )
    made = written(dictionary_formats.read("cosmos", [file], {}), "sat", {})
    names = [each.get("name") for each in made.root.iter("Parameter")]
    assert names == ["SAT_HK_ID", "SAT_HK_T", "SAT_EV_ID", "SAT_EV_T"]
    assert all("known is left out" in made.left_out[name] for name in ("SAT.HK", "SAT.EV"))


@pytest.mark.parametrize("bound", ["-inf", '"a"'])
def test_a_bound_that_is_no_number_is_told(tmp_path: Path, bound: str) -> None:
    (tmp_path / "packets.toml").write_text(_TABLE.replace("-6000", bound))
    first = dictionary_formats.read("table", [tmp_path / "packets.toml"], {})
    assert "least" in written(first, "sat", {"kind": 3}).left_out["A.SPIN"]


def test_fields_keep_their_places_and_arguments_their_defaults(tmp_path: Path) -> None:
    """A field that came to lie elsewhere would be another command, and nobody would be told."""
    file = tmp_path / "sat.txt"
    file.write_text(
        'COMMAND SAT FAR BIG_ENDIAN ""\n  ID_PARAMETER ID 0 8 UINT 1 1 1 ""\n  PARAMETER X 24 8 UINT 0 255 9 ""\n'
        '  PARAMETER MODE 32 8 UINT 0 1 1 ""\n    STATE OFF 0\n    STATE ON 1\n  PARAMETER TEXT 40 32 STRING "ab" ""\n'
        'COMMAND SAT NEAR BIG_ENDIAN ""\n  PARAMETER X 0 16 UINT 0 255 0 ""\n  PARAMETER Y 8 8 UINT 0 255 0 ""\n'
    )
    first = dictionary_formats.read("cosmos", [file], {})
    made = written(first, "sat", {})
    (tmp_path / "made.xml").write_text(made.text)
    far = dictionary_formats.read("xtce", [tmp_path / "made.xml"], {}).commands["/sat/SAT_FAR"]
    for arguments in ({}, {"X": 7, "MODE": "OFF", "TEXT": "wxyz"}):
        octets = value_codec.encode(first.commands["SAT.FAR"], arguments)
        assert value_codec.encode(far, arguments) == octets and len(octets) == 9
    assert made.left_out == {"SAT.NEAR": "Y lies before the end of another field"}


_U8 = {"kind": "integer", "name": "U8", "size": 8, "signed": False}


def _fprime(folder: Path, kind: Mapping[str, Any], *, opcode: str = "1", **more: object) -> Written:
    """Of a dictionary with one command and one channel of a type."""
    folder.mkdir(exist_ok=True)
    raw = {
        "commands": [{"name": "C", "opcode": 12345, "formalParams": [{"name": "a", "type": kind}]}],
        "telemetryChannels": [{"name": "T", "id": 1, "type": kind}],
        **more,
    }
    (folder / "top.json").write_text(json.dumps(raw).replace("12345", opcode))
    return written(dictionary_formats.read("fprime", [folder / "top.json"], {}), "sat", {})


@pytest.mark.parametrize("opcode", ["1e999", "NaN", "-5", "1" + "0" * 4000, "4294967296", '"x"', "null", "[1]"])
def test_a_constant_that_does_not_fit_is_left_out(tmp_path: Path, opcode: str) -> None:
    assert "opcode: " in _fprime(tmp_path, _U8, opcode=opcode).left_out["C"]


@pytest.mark.parametrize(
    "kind",
    [
        *({**_U8, "size": size} for size in (10**6, 10**12)),
        *({"kind": "bool", "size": size} for size in (0, -5, 10**15)),
        {"kind": "float", "size": 24},
        {"kind": "q", "name": "Control"},
        {"kind": "q", "name": "Half"},
    ],
)
def test_what_no_packet_or_no_xml_holds_is_left_out(tmp_path: Path, kind: Mapping[str, Any]) -> None:
    """An escape character, half a surrogate pair."""
    labels = [
        {"kind": "enum", "qualifiedName": name, "representationType": _U8,
         "enumeratedConstants": [{"name": label, "value": 0}]}
        for name, label in (("Control", "a\x1b[31m"), ("Half", "a\ud800"))
    ]  # fmt: skip
    made = _fprime(tmp_path, kind, typeDefinitions=labels)
    assert made.left_out["C"].startswith("a has ") and made.left_out["T"].startswith("T has ")
    assert len(made.root.findall("CommandMetaData/MetaCommandSet/*")) == 0
    ElementTree.fromstring(made.text.encode())  # noqa: S314 - our own


@pytest.mark.parametrize("width", [-5, 0, 10**7, 10**15])
def test_a_head_that_no_packet_has_leaves_all_out(tmp_path: Path, width: int) -> None:
    wide = [{"kind": "alias", "qualifiedName": "FwOpcodeType", "type": {"size": width}}]
    assert "opcode has a " in _fprime(tmp_path, _U8, typeDefinitions=wide).left_out["C"]


def _chain(depth: int, of: Callable[[int, Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A type, and those below it, each of which holds the one before."""
    types, inner = list[dict[str, Any]](), dict[str, Any](_U8)
    for number in range(depth):
        types.append({"qualifiedName": f"T{number}", **of(number, inner)})
        inner = {"kind": "q", "name": f"T{number}"}
    return {"typeDefinitions": types, "kind": inner}


@pytest.mark.parametrize(
    "chain",
    [
        _chain(30, lambda _, of: {"kind": "struct", "members": {n: {"type": of, "index": 0} for n in "ab"}}),
        _chain(8, lambda n, of: {"kind": "array", "size": 200, "elementType": of if n else {"kind": "q", "name": "E"}}),
    ],
)
def test_types_that_multiply_in_one_another_are_left_out(tmp_path: Path, chain: dict[str, Any]) -> None:
    """2^30 fields, and 200^8 times nothing."""
    empty = {"qualifiedName": "E", "kind": "struct", "members": {}}
    made = _fprime(tmp_path, chain["kind"], typeDefinitions=[empty, *chain["typeDefinitions"]])
    for name in ("C", "T"):
        assert "one of more than 10,000 fields, or of 200,000 in all" in made.left_out[name]


def test_names_that_are_written_alike_are_told(tmp_path: Path) -> None:
    (tmp_path / "packets.toml").write_text(
        '[commands]\nA = { arguments = [["B_C", "u8"]] }\nA_B = { arguments = [["C", "u16"]] }\n'
        'TWICE = { arguments = [["a.b", "u8"], ["a_b", "u8"]] }\n'
        '[reports]\nR = { fields = [["a.b", "u8"], ["a_b", "u8"], ["c", "u8"]] }\n'
    )
    made = written(dictionary_formats.read("table", [tmp_path / "packets.toml"], {}), "sat", {})
    assert made.left_out == {
        "A_B": "A_B_C is written as another argument is",
        "TWICE": "TWICE_a_b is written as another argument is",
        "R": "a_b is written as another field is; what follows is left out",
    }
