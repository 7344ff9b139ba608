# SPDX-License-Identifier: MIT
"""Packets written down by hand: what they make, and what is refused in a line."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries.dictionary_formats import read
from rtqual.parts.dictionaries.spoken import TABLE
from rtqual.protocols.dictionary import Refused
from support.heater import HEATER, language

CFS = """
little_endian = true
[head]
command = [["id", "u16"], ["count", "u16"], ["length", "u16"], ["code", "u8"], ["checksum", "u8"]]
report = [["id", "u16"]]
[types]
kind = { of = "u16", labels = { LOW = 1, HIGH = 2 } }
level = { of = "u8", least = 1, most = 9 }
[commands."APP.SET"]
head = { id = 0x1880, code = 2 }
arguments = [["level", "level"], ["", "u24"], ["name", "char4"], ["x", "f32"]]
[commands.BAD]
arguments = [["a", "u8x"]]
[reports]
EVENT = { head = { id = 0x0808 }, fields = [["app", "char4"], ["kind", "kind"], ["rest", "u16[2]"]], severity = "HIGH" }
PLAIN = { head = { id = 0x0801 }, fields = [["all", "octets"]] }
"""


def spoken(folder: Path, text: str = CFS):  # type: ignore[no-untyped-def]
    path = folder / "packets.toml"
    path.write_text(text)
    return TABLE([path], {}, None)


def test_arguments_are_as_a_little_endian_compiler_lays_them(tmp_path: Path) -> None:
    encoded = spoken(tmp_path).encode("APP.SET", {"level": 3, "name": "ab", "x": 1.0}, {})
    assert encoded.octets.hex() == "188000000000020003000000616200000000803f"
    assert encoded.fields["code"] == 2


def test_a_gap_with_nothing_behind_it_counts(tmp_path: Path) -> None:
    """At the head's end it is before each report's fields, as in cFS's; at a command's end the compiler's padding."""
    text = CFS.replace('report = [["id", "u16"]]', 'report = [["id", "u16"], ["", "u8"], ["", "u24"]]')
    text = text.replace('["x", "f32"]]', '["x", "f32"], ["", "u8"], ["", "u16"]]')
    table = spoken(tmp_path, text)
    assert table.encode("APP.SET", {"level": 3, "name": "ab", "x": 1.0}, {}).octets.hex()[-14:] == "0000803f000000"
    (report,) = table.decode(bytes.fromhex("0808 ffffffff 61620000 0200 0100 0200"))
    assert report.values == {"id": 0x0808, "app": "ab", "kind": "HIGH", "rest": [1, 2]}
    (report,) = table.decode(bytes.fromhex("0801 ffffffff 0102"))
    assert report.values["all"] == b"\1\2"


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("APP.SET", {"level": 10, "name": "a", "x": 0}, "10 is not 1 to 9"),
        ("APP.SET", {"level": 1, "x": 0}, "name: no value is given"),
        ("BAD", {}, "there is no type 'u8x'"),
        ("APP.SAT", {}, "did you mean 'APP.SET'"),
    ],
)
def test_a_command_is_refused_when_it_is_used(
    tmp_path: Path, name: str, arguments: dict[str, object], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        spoken(tmp_path).encode(name, arguments, {})


def test_reports_are_told_by_their_heads(tmp_path: Path) -> None:
    (event,) = spoken(tmp_path).decode(bytes.fromhex("080861626300020001000002"))
    assert (event.name, event.severity) == ("EVENT", "HIGH")
    assert dict(event.values) | {"id": 0} == {"id": 0, "app": "abc", "kind": "HIGH", "rest": [1, 512]}
    with pytest.raises(Refused, match="no report of the dictionary fits"):
        spoken(tmp_path).decode(bytes.fromhex("0802"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[commands", "not TOML"),
        ("[command]\nA = {}", "there is no key 'command'"),
        ("commands = 3", "commands is a table"),
        ("[types]\na = {}", "neither commands nor reports"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "packets.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=why):
        read("table", [path], {})


def test_a_type_in_itself_is_refused(tmp_path: Path) -> None:
    made = spoken(tmp_path, '[types]\na = { of = "a" }\n[commands]\nX = { arguments = [["v", "a"]] }')
    with pytest.raises(Refused, match="contains itself"):
        made.encode("X", {"v": 1}, {})


def test_the_example_is_sealed_and_filled() -> None:
    encoded = language().encode("SETPOINT", {"tenths": 250}, 7)
    assert encoded.octets.hex() == "182ac0070008291403000000fa" + encoded.octets[-2:].hex()
    assert (HEATER / "packets.toml").is_file()
