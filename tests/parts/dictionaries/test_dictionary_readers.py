# SPDX-License-Identifier: MIT
"""Each format: names to octets that were worked out by hand, octets to reports, and what is refused when it is used."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries.dictionary_formats import read
from rtqual.parts.dictionaries.model import Dictionary, Number
from rtqual.parts.dictionaries.spoken import SpokenFormat
from rtqual.parts.dictionaries.value_codec import encode, recognise
from rtqual.protocols.dictionary import Refused
from support.dictionaries import COSMOS, FPRIME, MIB, XTCE, XTCE_DOUBLED, write_mib


def shown(dictionary: Dictionary, octets: str) -> tuple[str, dict[str, Any]]:
    packet, values = recognise(dictionary, bytes.fromhex(octets))
    return packet.name, values.shown


def refusal(dictionary: Dictionary, command: str, fill: dict[str, Any] | None = None, **arguments: Any) -> str:
    with pytest.raises(Refused) as refused:
        encode(dictionary.commands[command], arguments, fill)
    return str(refused.value)


# --- F' ----------------------------------------------------------------------------------------------


@pytest.fixture
def fprime(tmp_path: Path) -> Dictionary:
    (tmp_path / "d.json").write_text(json.dumps(FPRIME))
    return read("fprime", [tmp_path / "d.json"], {})


def test_an_f_prime_command_is_its_opcode_and_arguments(fprime: Dictionary) -> None:
    """Of 3.x: a descriptor of 32 bits, 0 for commands; a string has its size before it."""
    assert encode(fprime.commands["Ref.cmdDisp.CMD_NO_OP"], {}).hex() == "0000000000000500"
    command = fprime.commands["Ref.cmdDisp.CMD_TEST"]
    values = {"mode": "ON", "text": "hi", "pair": {"a": 1, "b": [2, 3]}, "yes": "true"}
    assert encode(command, values).hex() == "0000000000000501" + "01" + "00026869" + "0001" + "0203" + "ff"
    assert refusal(fprime, "Ref.cmdDisp.CMD_TEST", **(values | {"text": "longer than it"})).startswith(
        "text: 14 octets"
    )
    assert "is none of OFF, ON" in refusal(fprime, "Ref.cmdDisp.CMD_TEST", **(values | {"mode": "HALF"}))


def test_an_f_prime_event_and_a_channel_are_known_again(fprime: Dictionary) -> None:
    event = "00000002" + "00000100" + "0002" + "00" + "00000007" + "00000008" + "00000501"
    name, values = shown(fprime, event)
    assert (name, values["opcode argument"], values["seconds"]) == ("Ref.cmdDisp.OpCodeDispatched", 0x501, 7)
    assert fprime.severities[name] == "COMMAND"
    channel = "00000001" + "00000200" + "0002" + "00" + "00000007" + "00000008" + "3fc00000"
    assert shown(fprime, channel) == ("Ref.temp", {**shown(fprime, channel)[1], "Ref.temp": 1.5})


def test_widths_of_f_prime_4_stand_in_the_file(tmp_path: Path) -> None:
    widths = {"FwPacketDescriptorType": 16, "FwOpcodeType": 32}
    types = [
        {
            "kind": "alias",
            "qualifiedName": name,
            "type": {"name": f"U{bits}", "kind": "integer", "size": bits, "signed": False},
        }
        for name, bits in widths.items()
    ]
    (tmp_path / "d.json").write_text(json.dumps(FPRIME | {"typeDefinitions": FPRIME["typeDefinitions"] + types}))
    dictionary = read("fprime", [tmp_path / "d.json"], {})
    assert encode(dictionary.commands["Ref.cmdDisp.CMD_NO_OP"], {}).hex() == "000000000500"


def test_an_f_prime_file_comes_in_packets_that_no_dictionary_holds(fprime: Dictionary) -> None:
    head = {"kind": 3, "sequence": 5}
    start = "00000003" + "00" + "00000005" + "00000009" + "04" + b"/a/b".hex() + "01" + b"c".hex()
    told = {"type": 0, "size": 9, "source": "/a/b", "destination": "c"}
    assert shown(fprime, start) == ("FILE_START", head | told)
    data = "00000003" + "01" + "00000005" + "00000100" + "0003" + "616263"
    assert shown(fprime, data) == ("FILE_DATA", head | {"type": 1, "offset": 256, "data": b"abc"})
    assert shown(fprime, "00000003" + "02" + "00000005" + "deadbeef")[1]["checksum"] == 0xDEADBEEF


def test_a_type_that_is_missing_or_contains_itself_is_refused_when_it_is_used(fprime: Dictionary) -> None:
    assert "there is no type Nowhere" in refusal(fprime, "Ref.odd.MISSING")
    assert "contains itself" in refusal(fprime, "Ref.odd.CYCLE")


@pytest.mark.parametrize("text", ["", "[]", "{}", "{" * 100_000, '{"commands": 5}', "[" * 100_000])
def test_what_is_no_f_prime_dictionary_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.json").write_text(text)
    with pytest.raises(BadInput, match=r"d\.json") as bad:
        read("fprime", [tmp_path / "d.json"], {})
    assert "\n" not in str(bad.value)


# --- XTCE --------------------------------------------------------------------------------------------


@pytest.fixture
def xtce(tmp_path: Path) -> Dictionary:
    (tmp_path / "d.xml").write_text(XTCE)
    return read("xtce", [tmp_path / "d.xml"], {})


def test_an_xtce_command_has_what_it_inherits_and_assigns(xtce: Dictionary) -> None:
    """Header: APID 5 from the base, function 7 assigned; then level, little-endian, and an enumeration."""
    command = xtce.commands["/SAT/SET_LEVEL"]
    assert command.stages == ("Accepted", "Complete")
    assert (
        encode(command, {"level": 258, "mode": "ON"}, {"length": 4}).hex()
        == "0005" + "0004" + "07" + "0201" + "01" + "aa"
    )
    assert "is not 0 to 300" in refusal(xtce, "/SAT/SET_LEVEL", {"length": 4}, level=301, mode="ON")
    assert "there is no argument apid" in refusal(xtce, "/SAT/SET_LEVEL", level=1, mode="ON", apid=6)
    assert refusal(xtce, "/SAT/SET_LEVEL", level=1, mode="ON").startswith("length: no value")
    assert "/SAT/TC" not in xtce.commands  # abstract


def test_an_xtce_packet_is_known_by_its_members_and_calibrated(xtce: Dictionary) -> None:
    name, values = shown(xtce, "0005" + "0003" + "09" + "0a" + "ff")
    assert (name, values["volts"], values["state"]) == ("/SAT/HK", 21.0, 255)
    assert shown(xtce, "0005" + "0003" + "09" + "0a" + "00")[1]["state"] == "False"
    assert shown(xtce, "0006" + "0003" + "09")[0] == "/SAT/Header"


def test_a_reference_may_go_up_in_its_middle(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text(XTCE.replace('parameterRef="length"', 'parameterRef="/SAT/../SAT/length"'))
    odd = read("xtce", [tmp_path / "d.xml"], {})
    assert encode(odd.commands["/SAT/SET_LEVEL"], {"level": 1, "mode": "ON"}, {"length": 4})
    (tmp_path / "d.xml").write_text(XTCE.replace('parameterRef="length"', 'parameterRef="/SAT/../../../length"'))
    assert "there is no parameter" in refusal(read("xtce", [tmp_path / "d.xml"], {}), "/SAT/SET_LEVEL")


PARTS = """<SpaceSystem name="S"><TelemetryMetaData>
<ParameterTypeSet><IntegerParameterType name="u8"><IntegerDataEncoding sizeInBits="8"/></IntegerParameterType>
</ParameterTypeSet>
<ParameterSet><Parameter name="kind" parameterTypeRef="u8"/><Parameter name="a" parameterTypeRef="u8"/></ParameterSet>
<ContainerSet>
 <SequenceContainer name="Head"><EntryList><ParameterRefEntry parameterRef="kind"/></EntryList></SequenceContainer>
 <SequenceContainer name="Tail"><EntryList><ParameterRefEntry parameterRef="a"/></EntryList></SequenceContainer>
 <SequenceContainer name="HK"><EntryList><ContainerRefEntry containerRef="Tail"/></EntryList>
  <BaseContainer containerRef="Head"><RestrictionCriteria><Comparison parameterRef="kind" value="1"/>
  </RestrictionCriteria></BaseContainer></SequenceContainer>
</ContainerSet></TelemetryMetaData>
<CommandMetaData><ArgumentTypeSet><IntegerArgumentType name="u8"><IntegerDataEncoding sizeInBits="8"/>
 </IntegerArgumentType><ArrayArgumentType name="u8s" arrayTypeRef="u8"/></ArgumentTypeSet>
<MetaCommandSet>
 <MetaCommand name="Any" abstract="true"><CommandContainer name="AnyPacket"><EntryList/>
  <BaseContainer containerRef="Head"><RestrictionCriteria><Comparison parameterRef="kind" value="7"/>
  </RestrictionCriteria></BaseContainer></CommandContainer></MetaCommand>
 <MetaCommand name="SET"><ArgumentList><Argument name="list" argumentTypeRef="u8s"/></ArgumentList>
  <CommandContainer name="SetPacket"><EntryList><ArrayArgumentRefEntry argumentRef="list"><DimensionList>
   <Dimension><StartingIndex><FixedValue>0</FixedValue></StartingIndex><EndingIndex><FixedValue>2</FixedValue>
   </EndingIndex></Dimension></DimensionList></ArrayArgumentRefEntry></EntryList>
   <BaseContainer containerRef="AnyPacket"/></CommandContainer></MetaCommand>
</MetaCommandSet></CommandMetaData></SpaceSystem>"""


def test_a_command_is_laid_into_the_container_of_another_with_its_values(tmp_path: Path) -> None:
    """Which it inherits nothing else from; the entry says how many values its argument has."""
    (tmp_path / "d.xml").write_text(PARTS)
    parts = read("xtce", [tmp_path / "d.xml"], {})
    values = SpokenFormat(parts).sample("/S/SET")
    assert values == {"list": [0, 0, 0]}
    assert encode(parts.commands["/S/SET"], values).hex() == "07" + "000000"


def test_a_container_that_is_part_of_others_is_no_packet(tmp_path: Path) -> None:
    """What is cut off is not taken for such a part."""
    (tmp_path / "d.xml").write_text(PARTS)
    parts = read("xtce", [tmp_path / "d.xml"], {})
    assert shown(parts, "0105")[0] == "/S/HK"
    with pytest.raises(Refused, match="the packet ends before it"):
        recognise(parts, b"\1")


def test_a_head_that_is_abstract_is_no_packet(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text(PARTS.replace('name="Head"', 'name="Head" abstract="true"'))
    with pytest.raises(Refused, match=r"no report of the dictionary fits \(/S/Head: kind 9"):
        recognise(read("xtce", [tmp_path / "d.xml"], {}), b"\x09\0")


def test_what_a_program_decodes_in_xtce_is_refused_by_name(xtce: Dictionary) -> None:
    assert refusal(xtce, "/SAT/BY_PROGRAM") == "decoded by a program"
    assert "inherits itself" in refusal(xtce, "/SAT/LOOP")
    assert isinstance(xtce.packets["/SAT/Self"].fields, Refused)


def test_containers_that_double_are_laid_out_once_or_refused(tmp_path: Path) -> None:
    (tmp_path / "d.xml").write_text(XTCE_DOUBLED)
    packets = read("xtce", [tmp_path / "d.xml"], {}).packets
    assert packets["/S/Nothing0"].fields == ()  # 2^25 entries without a field
    assert isinstance(packets["/S/Field0"].fields, Refused)
    assert not isinstance(packets["/S/Field20"].fields, Refused)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('<!DOCTYPE s [<!ENTITY a "b">]><SpaceSystem name="a"/>', "DOCTYPE"),
        (
            '<SpaceSystem xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/></SpaceSystem>',
            "XInclude",
        ),
        ("<a>" * 100 + "</a>" * 100, "in one another"),
        ("<SpaceSystem>" + "<a/>" * 200_001 + "</SpaceSystem>", "200000 elements"),
        ("<project/>", "no XTCE"),
        ("not XML", "no XML"),
        ('<?xml version="1.0" encoding="klingon"?><SpaceSystem/>', "no XML"),
    ],
)
def test_an_xtce_file_that_no_database_is_is_one_line(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "d.xml").write_text(text)
    with pytest.raises(BadInput, match=why) as bad:
        read("xtce", [tmp_path / "d.xml"], {})
    assert "\n" not in str(bad.value)


def test_a_database_may_be_several_files(tmp_path: Path) -> None:
    types, commands = XTCE.split("<CommandMetaData>")
    (tmp_path / "tm.xml").write_text(types + "</xtce:SpaceSystem>")
    (tmp_path / "tc.xml").write_text('<xtce:SpaceSystem xmlns:xtce="x" name="SAT"><CommandMetaData>' + commands)
    both = read("xtce", [tmp_path / "tm.xml", tmp_path / "tc.xml"], {})
    assert encode(both.commands["/SAT/SET_LEVEL"], {"level": 1, "mode": "OFF"}, {"length": 4})
    assert "there is no parameter" in refusal(read("xtce", [tmp_path / "tc.xml"], {}), "/SAT/SET_LEVEL")


# --- COSMOS ------------------------------------------------------------------------------------------


@pytest.fixture
def cosmos(tmp_path: Path) -> Dictionary:
    (tmp_path / "d.txt").write_text(COSMOS)
    return read("cosmos", [tmp_path / "d.txt"], {"target_name": "SAT"})


def test_a_cosmos_command_has_its_identity_and_states(cosmos: Dictionary) -> None:
    command = cosmos.commands["SAT.COLLECT"]
    assert encode(command, {"TYPE": "SPECIAL"}).hex() == "0102" + "0300" + "01" + "40a00000" + "6869000000000000"
    assert (
        encode(command, {"TYPE": 0, "DURATION": 1.5, "TEXT": "x"})
        .hex()
        .startswith("01020300" + "00" + "3fc00000" + "78")
    )
    assert "is not 0.0 to 10.0" in refusal(cosmos, "SAT.COLLECT", TYPE=0, DURATION=11)


def test_a_cosmos_packet_is_known_by_its_identity(cosmos: Dictionary) -> None:
    name, values = shown(cosmos, "07" + "05" + "0102" + "ffff")
    assert (name, values["TEMP"], values["ARRAY"], values["REST"]) == ("SAT.HEALTH", 20.0, [1, 2], b"\xff\xff")
    with pytest.raises(Refused):
        recognise(cosmos, b"\x63\0\0\0\0")


def test_what_a_program_converts_in_cosmos_is_refused_when_it_is_used(cosmos: Dictionary) -> None:
    assert "converted by a program" in refusal(cosmos, "SAT.CONVERTED")
    assert "ACCESSOR" in refusal(cosmos, "SAT.JSON")
    assert "order" in refusal(cosmos, "SAT.ODD")


def test_a_cosmos_name_that_is_there_twice_is_the_last(tmp_path: Path) -> None:
    """As COSMOS takes it; what lay before stays where it was."""
    items = "APPEND_ID_ITEM ID 8 UINT 7", "APPEND_ITEM A 16 UINT", "APPEND_ITEM A 8 UINT", "APPEND_ITEM B 8 UINT"
    (tmp_path / "d.txt").write_text("TELEMETRY SAT HK BIG_ENDIAN\n" + "\n".join(items))
    assert shown(read("cosmos", [tmp_path / "d.txt"], {}), "07" + "ffff" + "01" + "02") == (
        "SAT.HK",
        {"ID": 7, "A": 1, "B": 2},
    )


def test_a_packet_of_cosmos_is_known_by_a_word(tmp_path: Path) -> None:
    """As answers in plain text are."""
    items = 'APPEND_ID_ITEM ID 64 STRING "get_pos:"', "APPEND_ITEM AZIMUTH 0 STRING"
    (tmp_path / "d.txt").write_text("TELEMETRY SAT POSITION BIG_ENDIAN\n" + "\n".join(items))
    dictionary = read("cosmos", [tmp_path / "d.txt"], {})
    assert shown(dictionary, b"get_pos:12.5".hex()) == ("SAT.POSITION", {"ID": "get_pos:", "AZIMUTH": "12.5"})
    with pytest.raises(Refused):
        recognise(dictionary, b"get_frq:12.5")


def test_a_value_is_given_for_whatever_stands_in_erb(tmp_path: Path) -> None:
    """A constant of Ruby is a name like others, which is looked up and not evaluated."""
    (tmp_path / "d.txt").write_text(COSMOS.replace("BIG_ENDIAN", "<%= Cfs::ENDIAN %>"))
    given = {"target_name": "SAT", "Cfs::ENDIAN": "LITTLE_ENDIAN"}
    command = read("cosmos", [tmp_path / "d.txt"], given).commands["SAT.COLLECT"]
    assert encode(command, {"TYPE": 0}).hex().startswith("0201" + "0300" + "00" + "0000a040")
    with pytest.raises(BadInput, match="Cfs::ENDIAN"):
        read("cosmos", [tmp_path / "d.txt"], {"target_name": "SAT"})


@pytest.mark.parametrize("text", ["<% system('true') %>", "COMMAND <%= other %> A BIG_ENDIAN"])
def test_ruby_is_never_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.txt").write_text("\n\n" + text)
    with pytest.raises(BadInput, match="line 3: ERB"):
        read("cosmos", [tmp_path / "d.txt"], {})


# --- SCOS-2000 ---------------------------------------------------------------------------------------


@pytest.fixture
def scos(tmp_path: Path) -> Dictionary:
    return read("scos", [write_mib(tmp_path / "mib", MIB)], {})


def test_a_mibs_command_has_its_header_as_data(scos: Dictionary) -> None:
    assert encode(scos.commands["SETMODE"], {"MODE": "SAFE"}).hex() == "1805" + "11" + "08" + "01" + "02" + "00ff"
    assert "is none of" in refusal(scos, "SETMODE", MODE="SLEEP")
    entries = [{"VALUE": 1}, {"VALUE": 2}]
    assert (
        encode(scos.commands["LIST"], {"COUNT": 2, "COUNT entries": entries}).hex()
        == "1805" + "11" + "0801" + "0200010002"
    )
    assert "2 values, not 3" in refusal(scos, "LIST", COUNT=3, **{"COUNT entries": entries})
    assert "is not 0 to 100" in refusal(scos, "LIST", COUNT=1, **{"COUNT entries": [{"VALUE": 101}]})


def test_a_mibs_packets_are_known_by_service_and_identity(scos: Dictionary) -> None:
    head = "0805" + "c000" + "0006" + "10" + "0319"
    assert shown(scos, head + "07" + "1234")[0] == "house keeping (1001)"
    assert shown(scos, head + "07" + "1234")[1]["VOLTS"] == pytest.approx(0x1234 * 2.0 + 1)
    name, values = shown(scos, "0805" + "c000" + "0006" + "10" + "0501" + "02" + "0001" + "0002")
    assert (name, values["COUNT entries"]) == ("event (1002)", [{"VALUE": 1}, {"VALUE": 2}])
    assert scos.severities[name] == "warning"


def test_a_group_of_less_than_nothing_is_refused(tmp_path: Path) -> None:
    """It would go back to the row before, for ever."""
    tables = {**MIB, "vpd": [{**MIB["vpd"][0], "GRPSIZE": "-1"}, MIB["vpd"][1]]}
    tables["cdf"] = [{**row, "GRPSIZE": "-1"} if row.get("PNAME") == "COUNT" else row for row in MIB["cdf"]]
    odd = read("scos", [write_mib(tmp_path / "mib", tables)], {})
    assert "a group of -1" in refusal(odd, "LIST", COUNT=1)
    assert "a group of -1" in str(odd.packets["event (1002)"].fields)


@pytest.mark.parametrize("make", [lambda path: path / "nothing", lambda path: path])
def test_a_folder_without_tables_is_one_line(tmp_path: Path, make: Any) -> None:
    with pytest.raises(BadInput):
        read("scos", [make(tmp_path)], {})


# --- all ---------------------------------------------------------------------------------------------


def test_a_format_that_is_not_there_and_names_where_none_are_open_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is fprime, xtce, cosmos, table, scos"):
        read("eds", [tmp_path], {})
    with pytest.raises(BadInput, match="no names"):
        read("xtce", [tmp_path], {"a": "b"})
    with pytest.raises(BadInput, match="files"):
        read("xtce", [], {})


def test_a_file_larger_than_any_dictionary_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "d.json").open("wb") as file:
        file.truncate(40 << 30)
    for name in ("fprime", "xtce", "cosmos"):
        with pytest.raises(BadInput, match="16 MiB"):
            read(name, [tmp_path / "d.json"], {})


def test_what_grows_with_its_file_is_read_in_one_pass(tmp_path: Path) -> None:
    """By CPU time: 10,000 fields of COSMOS took 2 s when each was looked for among all."""
    lines = [f" APPEND_PARAMETER A{n} 8 UINT 0 1 0" for n in range(20_000)]
    lines += [f" STATE S{n} {n}" for n in range(20_000)]
    (tmp_path / "cmd.txt").write_text("\n".join(["COMMAND T C BIG_ENDIAN", *lines]))
    table = ", ".join(f'["a{n}", "u8"]' for n in range(20_000))
    (tmp_path / "table.toml").write_text(f"[commands.C]\narguments = [{table}]\n")
    (tmp_path / "mib").mkdir()
    (tmp_path / "mib/ccf.dat").write_text("C1\n")
    (tmp_path / "mib/cpc.dat").write_text("P\t\t3\t4\n")
    elements = "".join(f"C1\tE\t\t8\t{8 * n}\t0\tP\tR\t1\n" for n in range(20_000))
    (tmp_path / "mib/cdf.dat").write_text(elements)
    began = process_time()
    cosmos = read("cosmos", [tmp_path / "cmd.txt"], {}).commands["T.C"]
    table_read = read("table", [tmp_path / "table.toml"], {}).commands["C"]
    mib = read("scos", [tmp_path / "mib"], {}).commands["C1"]
    for command in (cosmos, table_read, mib):
        assert not isinstance(command.fields, Refused) and len(command.fields) >= 20_000
    assert list(mib.arguments)[:3] == ["P", "P_2", "P_3"]
    assert isinstance(kind := cosmos.arguments["A19999"], Number) and len(kind.labels) == 20_000
    (tmp_path / "cmd.txt").write_text("<%=" + " " * 100_000)
    with pytest.raises(BadInput, match="ERB, which is a program"):
        read("cosmos", [tmp_path / "cmd.txt"], {})
    assert process_time() - began < 8


def test_a_mib_of_a_few_lines_has_no_fields_and_labels_without_end(tmp_path: Path) -> None:
    (tmp_path / "pid.dat").write_text("".join(f"3\t25\t1\t0\t0\t{n}\tP{n}\t\t-1\n" for n in range(60)))
    (tmp_path / "pcf.dat").write_text("A\t\t\t\t3\t4\t\t\t\tS\tR\tT\nB\t\t\t\t3\t4\n")
    places = "".join(f"B\t{n}\t0\t0\t9999\t8\n" for n in range(1, 60))
    (tmp_path / "plf.dat").write_text(f"A\t0\t16\t0\n{places}")
    (tmp_path / "txp.dat").write_text("T\t0\t60000\tx\n" * 60)
    packets = read("scos", [tmp_path], {}).packets.values()
    refused = [str(packet.fields) for packet in packets if isinstance(packet.fields, Refused)]
    assert "more than 65536 labels" in refused[0]
    assert len(refused) > 30 and "200000 in the whole database" in refused[-1]


HOSTILE: dict[str, tuple[str, Callable[[], str], str]] = {
    "a billion laughs": (
        "xtce",
        lambda: (
            "<!DOCTYPE x [<!ENTITY a0 'ha'>"
            + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
            + "]><SpaceSystem name='&a9;'/>"
        ),
        "DOCTYPE",
    ),
    "50 MB of JSON": ("fprime", lambda: '{"commands": [' + "{}," * 17_000_000 + "{}]}", "16 MiB"),
    "50 MB of XML": ("xtce", lambda: "<SpaceSystem>" + "<a/>" * 13_000_000 + "</SpaceSystem>", "16 MiB"),
    "50 MB of lines": ("cosmos", lambda: "COMMAND A B BIG_ENDIAN\n" * 2_200_000, "16 MiB"),
    "50 MB of TOML": ("table", lambda: "[commands]\n" + "".join(f"a{n} = {{}}\n" for n in range(4_000_000)), "16 MiB"),
    "a line a command": (
        "cosmos",
        lambda: "".join(f"COMMAND A B{n} BIG_ENDIAN\n" for n in range(300_000)),
        "200,000 lines",
    ),
    "a row a command": ("scos", lambda: "".join(f"C{n}\n" for n in range(300_000)), "200,000 lines"),
    "types of themselves": ("fprime", lambda: json.dumps(_turning()), "contains itself"),
}


def _turning() -> dict[str, Any]:
    """A thousand types, each of which is the next."""
    named = [{"kind": "qualifiedIdentifier", "name": f"T{n}"} for n in range(1000)]
    types = [{"kind": "alias", "qualifiedName": f"T{n}", "type": named[(n + 1) % 1000]} for n in range(1000)]
    commands = [{"name": "A", "opcode": 1, "formalParams": [{"name": "a", "type": named[0]}]}]
    return FPRIME | {"typeDefinitions": types, "commands": commands}


_ARRAY = (
    '<ArrayParameterType name="A" arrayTypeRef="A"><DimensionList><Dimension><StartingIndex><FixedValue>0</FixedValue>'
    "</StartingIndex><EndingIndex><FixedValue>1</FixedValue></EndingIndex></Dimension></DimensionList></ArrayParameterType>"
)
_MEMBER = (
    '<AggregateParameterType name="A"><MemberList><Member name="m" typeRef="A"/></MemberList></AggregateParameterType>'
)
_OWN_BASE = '<IntegerParameterType name="A" baseType="A"/>'
_PLAIN = '<IntegerParameterType name="A"><IntegerDataEncoding sizeInBits="8"/></IntegerParameterType>'
_IN_ITSELF = '<ContainerRefEntry containerRef="C"/>'
_ON_ITSELF = '<BaseContainer containerRef="C"/>'


@pytest.mark.parametrize(
    ("kind", "entry", "base", "why"),
    [
        (_ARRAY, "", "", "type 'A' contains itself"),
        (_MEMBER, "", "", "type 'A' contains itself"),
        (_OWN_BASE, "", "", "type 'A' contains itself"),
        (_PLAIN, _IN_ITSELF, "", "container C contains itself"),
        (_PLAIN, "", _ON_ITSELF, "inherits itself"),
    ],
)
def test_what_contains_itself_in_xtce_is_refused(tmp_path: Path, kind: str, entry: str, base: str, why: str) -> None:
    (tmp_path / "d.xml").write_text(
        '<SpaceSystem name="S" xmlns="http://www.omg.org/spec/XTCE/20180204"><TelemetryMetaData><ParameterTypeSet>'
        f'{kind}</ParameterTypeSet><ParameterSet><Parameter name="p" parameterTypeRef="A"/></ParameterSet>'
        '<ContainerSet><SequenceContainer name="C"><EntryList><ParameterRefEntry parameterRef="p"/>'
        f"{entry}</EntryList>{base}</SequenceContainer></ContainerSet></TelemetryMetaData></SpaceSystem>"
    )
    assert why in str(read("xtce", [tmp_path / "d.xml"], {}).packets["/S/C"].fields)


@pytest.mark.guest  # seconds of processor
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_dictionary_is_refused_in_a_line_in_little_time_and_memory(tmp_path: Path, what: str) -> None:
    """By a limit on both: 20 s of processor and 1 GiB."""
    form, make, why = HOSTILE[what]
    text = make()
    path = tmp_path / "d"
    if form == "scos":
        path.mkdir()
        (path / "ccf.dat").write_text(text)
    else:
        path.write_text(text)
    limited = f"ulimit -t 20; ulimit -v {1 << 20}; exec {sys.executable} -m rtqual dictionary check d --format {form}"
    done = subprocess.run(["sh", "-c", limited], cwd=tmp_path, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode in (0, 2), said[-500:]
    assert why in said
    assert "Traceback" not in said
    assert len(done.stderr.splitlines()) <= 3
