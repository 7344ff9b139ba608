# SPDX-License-Identifier: MIT
"""Dictionaries as procedures are played by them: F' with several channels a packet, meanings by its events."""

import json
import os
import struct
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.language import language_of
from rtqual.engine.dialogue.meaning import meant, preset
from rtqual.engine.mission.language_table import Stage
from rtqual.parts.dictionaries.spoken import COSMOS, FPRIME, SpokenFormat
from rtqual.protocols.dictionary import Encoded, Refused, Report
from support.heater import language, verify_of

U32, U8 = ({"name": f"U{bits}", "kind": "integer", "size": bits, "signed": False} for bits in (32, 8))
DICTIONARY = {
    "typeDefinitions": [],
    "commands": [{"name": "Ref.d.NO_OP", "opcode": 0x500, "formalParams": []}],
    "events": [
        {
            "name": "Ref.d.OpCodeDispatched",
            "id": 1,
            "severity": "COMMAND",
            "formalParams": [{"name": "Opcode", "type": U32}, {"name": "port", "type": U32}],
        },
        {"name": "Ref.d.Hot", "id": 2, "severity": "WARNING_HI", "formalParams": []},
    ],
    "telemetryChannels": [{"name": "Ref.d.A", "id": 1, "type": U8}, {"name": "Ref.d.B", "id": 2, "type": U32}],
}
TIME = bytes(11)


@pytest.fixture
def fprime(tmp_path: Path) -> SpokenFormat:
    path = tmp_path / "dictionary.json"
    path.write_text(json.dumps(DICTIONARY))
    return FPRIME([path], {}, None)


def test_a_packet_of_several_channels_is_as_many_reports(fprime: SpokenFormat) -> None:
    packet = struct.pack(">I", 1)
    packet += struct.pack(">I", 1) + TIME + b"\7" + struct.pack(">I", 2) + TIME + struct.pack(">I", 9)
    found = fprime.decode(packet)
    assert [(report.name, report.values[report.name]) for report in found] == [("Ref.d.A", 7), ("Ref.d.B", 9)]
    with pytest.raises(Refused):
        fprime.decode(packet[:-1])
    with pytest.raises(Refused, match="no report of the dictionary fits"):
        fprime.decode(struct.pack(">II", 1, 3) + TIME)


def test_an_event_answers_the_command_whose_opcode_it_repeats(fprime: SpokenFormat) -> None:
    (report,) = fprime.decode(struct.pack(">II", 2, 1) + TIME + struct.pack(">II", 0x500, 0))
    found = meant(preset("fprime"), report)
    assert found is not None
    assert found.stage is Stage.ACCEPTED
    assert found.answers("Ref.d.NO_OP", fprime.encode("Ref.d.NO_OP", {}, {}))
    assert not found.answers("Ref.d.NO_OP", Encoded(b"", {"opcode": 0x501}))


def test_a_sample_is_what_the_command_takes(fprime: SpokenFormat) -> None:
    assert fprime.sample("Ref.d.NO_OP") == {}
    made = language()
    for command in made.dictionary.commands:
        made.encode(command, made.dictionary.sample(command), 0)
    assert made.dictionary.sample("MODE") == {"mode": "OFF"}


def test_an_event_without_a_row_is_one_by_its_severity(fprime: SpokenFormat) -> None:
    (report,) = fprime.decode(struct.pack(">II", 2, 2) + TIME)
    found = meant(preset("fprime"), report)
    assert found is not None
    assert (found.stage, found.event, found.severity) == (None, "Ref.d.Hot", "WARNING_HI")


@pytest.mark.parametrize(("request_", "same"), [(0x182AC001, True), (b"\x18\x2a\xc0\x01", True), (0x182AC002, False)])
def test_a_pus_request_is_a_number_or_octets(request_: object, same: bool) -> None:
    report = Report("ACK", {"service": 1, "subtype": 7, "request": request_})
    found = meant(preset("pus-1"), report)
    assert found is not None
    assert found.stage is Stage.COMPLETED
    assert found.answers("PING", Encoded(bytes.fromhex("182ac0010005"))) is same


def test_cfe_counters_are_of_the_application() -> None:
    found = meant(preset("cfe"), Report("CFE_ES_HK", {"CommandCounter": 1}))
    assert found is not None
    assert found.answers("CFE_ES.NOOP", Encoded(b""))
    assert not found.answers("CFE_TIME.NOOP", Encoded(b""))
    event = meant(preset("cfe"), Report("EVENT", {"AppName": "CFE_ES", "EventID": 3, "EventType": "ERROR"}))
    assert event is not None
    assert (event.event, event.severity) == ("CFE_ES.3", "ERROR")


def test_a_sample_of_what_doubles_or_has_no_end_is_refused(tmp_path: Path) -> None:
    definitions = [
        {"kind": "struct", "qualifiedName": f"T{n}", "members": {"a": _member(n - 1, 0), "b": _member(n - 1, 1)}}
        for n in range(1, 31)
    ]
    (tmp_path / "d.json").write_text(json.dumps({
        "typeDefinitions": definitions,
        "commands": [{"name": "C", "opcode": 1, "formalParams": [{"name": "x", "type": {"name": "T30", "kind": "?"}}]}],
    }))  # fmt: skip
    (tmp_path / "c.txt").write_text(f"COMMAND T C BIG_ENDIAN\n APPEND_PARAMETER A {10**15} BLOCK\n")
    with pytest.raises(Refused, match="more than 200000 values"):
        FPRIME([tmp_path / "d.json"], {}, None).sample("C")
    with pytest.raises(Refused, match="a size of"):
        COSMOS([tmp_path / "c.txt"], {}, None).sample("T.C")


def test_a_fill_that_no_command_takes_is_told(tmp_path: Path) -> None:
    """A misspelt one would be left as the dictionary's default, and what is tested would be another packet."""
    (tmp_path / "c.txt").write_text("COMMAND T C BIG_ENDIAN\n APPEND_PARAMETER A 8 UINT 0 9 0\n")
    spoken = COSMOS([tmp_path / "c.txt"], {}, None)
    assert spoken.encode("T.C", {"A": 7}, {}).octets == b"\7"
    with pytest.raises(Refused, match="fill: lenght: no command has such a field"):
        spoken.encode("T.C", {"A": 7}, {"lenght": 0})
    told = {**language().spoken.fill, "apdi": 42}
    with pytest.raises(BadInput, match=r"\[verify\] \w+: .*: fill: apdi: no command"):
        language(verify_of(fill=told))


def test_a_missions_dictionary_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="is a pipe or a device, no file"):
        language_of(verify_of(files=("pipe",)), tmp_path)


def _member(n: int, index: int) -> dict[str, object]:
    return {"type": {"name": f"T{n}", "kind": "?"} if n else U8, "index": index}
