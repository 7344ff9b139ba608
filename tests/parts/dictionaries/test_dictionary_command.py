# SPDX-License-Identifier: MIT
"""`rtqual dictionary`: what a user sees of a dictionary, and of what he gets wrong."""

import json
import os
from pathlib import Path

import pytest

from support.command import Fails, Run
from support.dictionaries import COSMOS, XTCE

GIVEN = ("--format", "xtce", "--fill", "length=0", "--set", "level=258", "--set", "mode=ON")


@pytest.fixture
def xtce(tmp_path: Path) -> Path:
    (tmp_path / "d.xml").write_text(XTCE)
    return tmp_path / "d.xml"


def test_what_can_be_used_is_counted_and_the_rest_has_its_reason(rtqual: Run, xtce: Path) -> None:
    commands = json.loads(rtqual("dictionary", "check", xtce, "--format", "xtce", "--json").stdout)["commands"]
    assert (commands["/SAT/SET_LEVEL"], commands["/SAT/LOOP"]) == (None, "inherits itself")
    shown = rtqual("dictionary", "check", xtce, "--format", "xtce").stdout
    assert shown.startswith("3 commands, 2 of them refused\n")


def test_a_command_is_encoded_sealed_and_a_packet_decoded(rtqual: Run, xtce: Path) -> None:
    done = rtqual("dictionary", "encode", "/SAT/SET_LEVEL", xtce, *GIVEN, "--seal", "ccsds-length", "--json")
    assert json.loads(done.stdout)["octets"] == "00050000" + "0002" + "0101aa"  # in octets 4 and 5
    done = rtqual("dictionary", "decode", "00050003 090a 00", xtce, "--format", "xtce", "--json")
    assert json.loads(done.stdout) == {
        "packet": "/SAT/HK", "severity": None,
        "values": {"head": {"apid": 5}, "head/apid": 5, "length": 3, "function": 9, "volts": 21.0, "state": "False"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("encode", "/SAT/SET_LEVEl", "d.xml", "--format", "xtce"), "did you mean '/SAT/SET_LEVEL'"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", "--format", "xtce", "--set", "level"), "write NAME=VALUE"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", *GIVEN, "--set", "other=1"), "there is no argument other"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", *GIVEN, "--seal", "md5"), "there is no seal"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", *GIVEN, "--set", "mode=OFF"), "'mode': is given twice"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", *GIVEN, "--fill", "lenght=0"), "--fill lenght: it has no such field"),
        (("encode", "/SAT/SET_LEVEL", "d.xml", *GIVEN, "--fill", "level=0"), "or sets it itself"),
        (("encode", "/SAT/SET_LEVEL", "no.xml", *GIVEN), "No such file"),
        (("decode", "xyz", "d.xml", "--format", "xtce"), "hexadecimal"),
        (("decode", "00", "d.xml", "--format", "xtce"), "no packet of the dictionary"),
        (("check", "d.xml", "--format", "fprime"), "no JSON"),
        (("check", "d.xml", "--format", "eds"), "eds"),
        (("check", "d.xml", "--format", "xtce", "--name", "a=b"), "no names"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(fails: Fails, xtce: Path, words: tuple[str, ...], why: str) -> None:
    place = {"d.xml": str(xtce), "no.xml": str(xtce.with_name("no.xml"))}
    assert why in fails(2, "dictionary", *(place.get(word, word) for word in words))


@pytest.mark.parametrize("format", ["fprime", "xtce", "cosmos", "table"])
def test_a_pipe_is_no_dictionary_and_is_not_waited_for(fails: Fails, tmp_path: Path, format: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device" in fails(2, "dictionary", "check", tmp_path / "pipe", "--format", format)


def test_what_is_no_number_is_text_in_json(rtqual: Run, tmp_path: Path) -> None:
    """NaN is no JSON; jq and JavaScript refuse it."""
    (tmp_path / "t.toml").write_text(
        '[head]\nreport = [["kind", "u8"]]\n[reports]\nHK = { head = { kind = 1 }, fields = [["volts", "f32"]] }\n'
    )
    done = rtqual("dictionary", "decode", "01 7fc00000", tmp_path / "t.toml", "--format", "table", "--json")
    told = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert told["values"]["volts"] == "nan"


def test_a_strangers_names_do_not_reach_the_terminal_raw(rtqual: Run, tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text(COSMOS.replace("ODD", "O\x1b]0;D"))
    done = rtqual("dictionary", "check", tmp_path / "d.txt", "--format", "cosmos", "--name", "target_name=S")
    assert "ACCESSOR" in done.stdout and "\x1b" not in done.stdout
