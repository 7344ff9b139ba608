# SPDX-License-Identifier: MIT
"""The definition of telecommands and telemetry: checked when read, and what is made from it is what stands in docs."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from rtqual.base.errors import BadInput
from rtqual_docking.packets.definition import load, parse
from rtqual_docking.reference import page
from rtqual_docking.yamcs.mission_database import database

ROOT = Path(__file__).parents[4]
TEXT = (ROOT / "docking/flight/packets.toml").read_text()
XTCE = "{http://www.omg.org/spec/XTCE/20180204}"


def test_the_installed_definition_is_the_source() -> None:
    assert load() == parse(TEXT, "packets.toml")


def test_the_reference_page_is_current() -> None:
    assert (ROOT / "docs/docking/telecommands.md").read_text() == page(parse(TEXT, "packets.toml"))


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("apid = 0x42", "", "apid is missing"),
        ("apid = 0x42", "apid =", "Invalid value"),
        ("type = [11, 3]", "type = [11, 2]", "SCHEDULE_RESET and SCHEDULE_OFF cannot be told apart"),
        ("[1, 2]", "[1, 1]", "NOT_ACCEPTED and ACCEPTED cannot be told apart"),
        ("fixed = [2]", "fixed = [1]", "LIDAR_STOP and LIDAR_START cannot be told apart"),
        ('["mode", "target"]', '["mode", "goal"]', "SET_MODE: mode: there is no type goal"),
        ('"u32", 10, 3600000', '"u32", 10, 5000000000', "HK_INTERVAL: interval_ms: 10 to 5000000000 is no range"),
        ('refused = { SAFE = "BAD_MODE" }', 'refused = { SLEEP = "BAD_MODE" }', "POSE: refused names a mode"),
        ("BAD_TAG = 13", "BAD_TAG = 12", "BAD_TAG and DUPLICATE cannot be told apart"),
        ("STREAM = 2, DEGRADED = 3", "STREAM = 2, DEGRADED = 4", "enumeration mode: its values do not follow"),
        ("default = 60", "default = 61", "RATE: its default is out of its range"),
        ("severity = 4", "severity = 5", "event WATCHDOG: its severity is 1 to 4"),
    ],
)  # fmt: skip
def test_a_definition_that_is_wrong_is_refused(before: str, after: str, complaint: str) -> None:
    assert before in TEXT
    with pytest.raises(BadInput, match=complaint) as caught:
        parse(TEXT.replace(before, after, 1), "packets.toml")
    assert str(caught.value).startswith("packets.toml: ")


def test_the_mission_database_names_everything_and_refers_to_nothing_else() -> None:
    definition = load()
    root = ElementTree.fromstring(database(definition))  # noqa: S314 - made here
    commands = {one.get("name") for one in root.iter(f"{XTCE}MetaCommand")}
    assert commands == {"tc", *definition.commands} - {"SCHEDULE_INSERT"}
    containers = {str(one.get("name")) for one in root.iter(f"{XTCE}SequenceContainer")}
    assert containers >= set(definition.reports)
    types = {one.get("name") for kind in ("Parameter", "Argument") for one in root.findall(f".//{XTCE}{kind}TypeSet/*")}
    for name in ("Parameter", "Argument"):
        assert {one.get(f"{name.lower()}TypeRef") for one in root.iter(f"{XTCE}{name}")} <= types
    parameters = {one.get("name") for one in root.findall(f".//{XTCE}ParameterSet/*")}
    assert {one.get("parameterRef") for one in root.iter(f"{XTCE}ParameterRefEntry")} <= parameters
    assert {str(one.get("containerRef")) for one in root.iter(f"{XTCE}BaseContainer")} - {"None"} <= containers | {"tc"}
