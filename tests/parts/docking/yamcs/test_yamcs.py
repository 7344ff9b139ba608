# SPDX-License-Identifier: MIT
"""What `rtqual ground` writes for Yamcs: it parses, agrees with the packets, and names nothing that is not there."""

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from rtqual.base.errors import BadInput
from rtqual.engine.mission import load_mission
from rtqual.engine.procedure.line import CLOSING
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.codec import telecommand
from rtqual_docking.packets.definition import CommandDefinition, PacketField, load
from rtqual_docking.procedures.checked_procedures import load_procedures
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.script import compiled
from rtqual_docking.yamcs.stage import ground
from rtqual_docking.yamcs.yamcs import GroundPlace, configuration
from support.command import rtqual_here

ROOT = Path(__file__).parents[4]
DEFINITION = load()
PLACE = GroundPlace("127.0.0.1", 10025, 8090)
FILES = configuration(DEFINITION, "docking", PLACE)
XTCE = "{http://www.omg.org/spec/XTCE/20180204}"
DATABASE = ElementTree.fromstring(FILES["mdb/flight.xml"])  # noqa: S314 - made here
BITS = {
    str(one.get("name")): int(encoding.attrib["sizeInBits"])
    for one in DATABASE.findall(f".//{XTCE}ArgumentTypeSet/*")
    for encoding in one.iter()
    if "sizeInBits" in encoding.attrib
}
COMMANDS = {str(one.get("name")): one for one in DATABASE.iter(f"{XTCE}MetaCommand")}
PARAMETERS = {f"/rtqual/{one.get('name')}" for one in DATABASE.findall(f".//{XTCE}ParameterSet/*")}
PROCEDURES = load_procedures(ROOT / "docking/procedures", DEFINITION)


def encoded(name: str, arguments: dict[str, int]) -> bytes:
    """A telecommand as a reader of the mission database makes it, without sequence count, length and checksum."""
    command, header = COMMANDS[name], COMMANDS["tc"]
    own, common = ({one.get("name") for one in owner.iter(f"{XTCE}Argument")} for owner in (command, header))
    assert not own & common, "one would hide the other"
    values = {str(one.get("name")): int(one.get("initialValue", 0)) for one in header.iter(f"{XTCE}Argument")}
    values |= {one.attrib["argumentName"]: int(one.attrib["argumentValue"])
               for one in command.iter(f"{XTCE}ArgumentAssignment")}  # fmt: skip
    values |= arguments
    types = {str(one.get("name")): str(one.get("argumentTypeRef"))
             for owner in (header, command) for one in owner.iter(f"{XTCE}Argument")}  # fmt: skip
    bits = ""
    for entry in (*header.findall(f".//{XTCE}EntryList/*"), *command.findall(f".//{XTCE}EntryList/*")):
        if reference := entry.get("argumentRef"):
            size = BITS[types[reference]]
            bits += f"{values[reference] % (1 << size):0{size}b}"
        else:
            size = int(entry.attrib["sizeInBits"])
            bits += f"{int(entry.attrib['binaryValue'], 16):0{size}b}"
    assert len(bits) % 8 == 0
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def values_of(command: CommandDefinition) -> Iterator[dict[str, int]]:
    fields: tuple[PacketField, ...] = (*command.arguments, *command.entries)
    for most in (False, True):
        yield {one.name: one.most if most else one.least for one in fields}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "tc"])
def test_a_telecommand_of_the_mission_database_is_that_of_the_codec(name: str) -> None:
    for values in values_of(DEFINITION.commands[name]):
        raw = bytearray(encoded(name, values) + bytes(2))
        struct.pack_into(">HH", raw, 2, struct.unpack_from(">H", raw, 2)[0] | 7, len(raw) - 7)  # as Yamcs fills them in
        assert octets.sealed(bytes(raw[:-2])) == telecommand(DEFINITION, name, values, sequence=7)


def test_the_configuration_names_what_there_is() -> None:
    instance = yaml.safe_load(FILES["etc/yamcs.docking.yaml"])
    server = yaml.safe_load(FILES["etc/yamcs.yaml"])
    assert server["instances"] == ["docking"] and server["services"][0]["args"]["address"] == "127.0.0.1"
    assert set(yaml.safe_load(FILES["etc/processor.yaml"])) == {"realtime"}
    streams = instance["streamConfig"]
    links = instance["dataLinks"]
    assert {one["tmStream"] for one in links} == {one["name"] for one in streams["tm"]}
    assert {one["tcStream"] for one in links} == {one["name"] for one in streams["tc"]}
    assert {(one["host"], one["port"]) for one in links} == {(PLACE.host, PLACE.port)}
    assert {streams["sqlFile"], *(one["spec"] for one in instance["mdb"])} <= set(FILES)
    files = DEFINITION.apid + 1
    assert f"= {files}\n" in FILES[streams["sqlFile"]] and f"'{0x1000 | files:04X}C0000000'" in FILES["etc/streams.sql"]
    ElementTree.fromstring(FILES["pom.xml"])  # noqa: S314 - made here


def test_every_event_has_its_text_and_every_display_its_parameters() -> None:
    templates = {one["eventId"]: one["template"] for one in yaml.safe_load(FILES["etc/events.yaml"])}
    assert set(templates) == set(DEFINITION.events)
    for name, text in templates.items():
        assert set(re.findall(r"{(.*?)}", text)) <= {"event_value", "event_detail"} and text.startswith(name)
    displays = [json.loads(text)["parameters"] for name, text in FILES.items() if name.startswith("displays/")]
    assert len(displays) == len(DEFINITION.enums["structure"])
    assert {one for names in displays for one in names} <= PARAMETERS


@pytest.mark.parametrize("procedure", PROCEDURES, ids=lambda one: one.name)
def test_a_stack_sends_what_its_procedure_sends(procedure: Procedure, tmp_path: Path) -> None:
    """All telecommands that are as they should be, but insertions into the schedule, which Yamcs makes itself, and
    those with tags, which it cannot make."""
    steps = stacks(tmp_path)[procedure.name]["steps"]
    sent = [one for one in steps if one["type"] == "command"]
    acting = [step for step in procedure.done if step.send or step.raw or step.fault]
    left = list(sent)
    for line in compiled(procedure, DEFINITION):
        if procedure.tagged or not line.sound or line.step in (None, CLOSING) or line.command not in COMMANDS:
            continue
        step = procedure.done[line.step]
        acting.remove(step)
        parts = [left.pop(0) for _ in step.entries or [{}]]
        assert {one["name"] for one in parts} == {f"/rtqual/{line.command}"}
        given = [{each["name"]: each["value"] for each in one["arguments"]} for one in parts]
        entries = given if DEFINITION.commands[line.command].entries else None
        sequence = int.from_bytes(line.packet[2:4], "big") & 0x3FFF
        arguments = None if entries else given[0]
        assert telecommand(DEFINITION, line.command, arguments, entries, sequence=sequence) == line.packet
        assert ("comment" in parts[0]) == any(one.failure is not None for one in step.expect)
    told = sum(one["type"] == "text" and one["text"].startswith("Not by Yamcs") for one in steps)
    assert not left and told == len(acting)
    conditions = [
        each["parameter"] for one in steps for each in (*one.get("condition", ()), *one.get("parameters", ()))
    ]
    assert set(conditions) <= PARAMETERS


def stacks(folder: Path) -> dict[str, dict[str, Any]]:
    ground(load_mission(ROOT / "docking/missions/docking.toml"), folder / "ground", PLACE)
    return {one.stem: json.loads(one.read_text()) for one in (folder / "ground/stacks").iterdir()}


def test_a_folder_is_written_anew_and_keeps_what_yamcs_has_there(tmp_path: Path) -> None:
    mission, folder = load_mission(ROOT / "docking/missions/docking.toml"), tmp_path / "ground"
    first = ground(mission, folder, PLACE)
    (folder / "data").mkdir()
    (folder / "data/kept").touch()
    (folder / "etc/processor.yaml").write_text("damaged")
    assert ground(mission, folder, GroundPlace("board", 7, 8090)) == first
    assert (folder / "data/kept").exists()
    assert (folder / "etc/processor.yaml").read_text() == FILES["etc/processor.yaml"]
    assert "host: board" in (folder / "etc/yamcs.docking.yaml").read_text()
    (folder / "pom.xml").unlink()
    (folder / "pom.xml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match=r"pom\.xml"):
        ground(mission, folder, PLACE)


def test_somebodys_own_yamcs_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("etc/yamcs.yaml", "pom.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<groupId>theirs</groupId>")
    with pytest.raises(BadInput, match="holds something else"):
        ground(load_mission(ROOT / "docking/missions/docking.toml"), tmp_path, PLACE)
    assert (tmp_path / "pom.xml").read_text() == (tmp_path / "etc/yamcs.yaml").read_text()
    assert not (tmp_path / "etc/processor.yaml").exists()


def test_a_mission_without_procedures_has_a_ground_without_stacks(tmp_path: Path) -> None:
    written = ground(load_mission(ROOT / "missions/uav-250hz.toml"), tmp_path / "ground", PLACE)
    assert written.stacks == 0 and not any((written.folder / "stacks").iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--board", "nowhere"], "--board 'nowhere': write where"),
        (["--board", "board:0"], "--board 'board:0': write where"),
        (["--board", "board:²"], "--board 'board:²': write where"),
        (["--board", f"board:{'9' * 5000}"], "write where"),
        (["--web-port", "0"], "--web-port 0: write a TCP port"),
        (["--out", "{}"], "holds something else"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "file").touch()
    done = rtqual_here("ground", ROOT / "docking/missions/docking.toml", *(one.format(tmp_path) for one in arguments))
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1


def test_the_command_prints_how_to_start_it(tmp_path: Path) -> None:
    done = rtqual_here("ground", ROOT / "docking/missions/docking.toml", "--out", tmp_path / "a b", "--json")
    said = json.loads(done.stdout)
    assert said["commands"][0] == f"cd '{tmp_path}/a b'" and said["page"] == "http://127.0.0.1:8090"
    assert {str(one.relative_to(tmp_path / "a b")) for one in (tmp_path / "a b").rglob("*") if one.is_file()} == {
        *said["files"]
    }
