# SPDX-License-Identifier: MIT
"""What the flight program makes of telecommands, without its threads: against spacepackets, another implementation, and
against the table of modes."""

import random
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from spacepackets.ecss import check_pus_crc
from spacepackets.ecss.pus_1_verification import ManagedParamsVerification, Service1Tm
from spacepackets.ecss.req_id import RequestId
from spacepackets.ecss.tc import PusTc
from spacepackets.ecss.tm import PusTm

from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.codec import Value, telecommand, telemetry
from rtqual_docking.packets.definition import CommandDefinition, PacketField, load
from support.flight_programs import flight_program

DEFINITION = load()
START_NS = 10**12
LONGEST_LIST = 12


class Lines:
    """The program in support/flight_lines.c."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [flight_program("flight_lines")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.first = self.heard()

    def heard(self) -> list[bytes]:
        assert self.process.stdout is not None
        got = []
        while (line := self.process.stdout.readline().strip()) != ".":
            assert line, "the program has ended"
            got.append(bytes.fromhex(line))
        return got

    def say(self, text: str) -> list[bytes]:
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.heard()

    def reports(self, packet: bytes) -> list[tuple[str, Mapping[str, Any]]]:
        return [(one.name, one.fields) for one in (telemetry(DEFINITION, raw) for raw in self.say(packet.hex()))]


@pytest.fixture
def lines() -> Iterator[Lines]:
    one = Lines()
    yield one
    one.process.kill()
    one.process.communicate()


def some_value(field: PacketField, draw: random.Random) -> Value:
    if field.kind == "time":
        return START_NS + draw.randrange(-(10**9), 10**12)
    if field.kind == "telecommand":
        return telecommand(DEFINITION, "PING", sequence=draw.randrange(1 << 14))
    return draw.choice([field.least, field.most, draw.randint(field.least, field.most)])


def some_data(command: CommandDefinition, draw: random.Random) -> bytes:
    """The octets after the headers, of a command with arguments in their ranges."""
    arguments = {one.name: some_value(one, draw) for one in command.arguments}
    count = draw.randint(1, LONGEST_LIST)
    entries = [{one.name: some_value(one, draw) for one in command.entries} for _ in range(count)]
    packet = telecommand(DEFINITION, command.name, arguments, entries if command.entries else None, sequence=0)
    return packet[octets.TC_HEADER : -octets.CRC_OCTETS]


def agree(lines: Lines, count: int) -> Counter[tuple[int, int]]:
    """Telecommands made by spacepackets, one in five damaged or undefined; every report is read by it too."""
    draw, seen = random.Random(1), Counter[tuple[int, int]]()  # noqa: S311
    commands = list(DEFINITION.commands.values())
    expected = PusTm.unpack(lines.first[-1], octets_of_time()).seq_count
    for number in range(count):
        command = draw.choice(commands)
        acks = draw.randrange(16)
        tc = PusTc(service=command.service, message_subtype=command.subtype, apid=DEFINITION.apid, ack_flags=acks,
                   app_data=some_data(command, draw), seq_count=number & 0x3FFF,
                   source_id=draw.randrange(65536))  # fmt: skip
        raw, damaged = bytearray(tc.pack()), draw.random() < 0.2
        if damaged:
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        reports = [PusTm.unpack(one, octets_of_time()) for one in lines.say(raw.hex())]
        for report in reports:
            expected = (expected + 1) & 0x3FFF
            assert check_pus_crc(report.pack()) and report.seq_count == expected and report.apid == DEFINITION.apid
            assert report.pus_tm_sec_header.timestamp == octets.time_octets(START_NS)
            telemetry(DEFINITION, bytes(report.pack()))
            seen[report.service, report.message_subtype] += 1
        ones = [Service1Tm.from_tm(one, ManagedParamsVerification(bytes_step_id=1, bytes_err_code=2))
                for one in reports if one.service == 1]  # fmt: skip
        got = [int(one.pus_tm.message_subtype) for one in ones]
        if damaged:
            assert got == [2] and ones[0].tc_req_id.pack() == bytes(raw[:4])
            continue
        # A report may be of the start that this command has ended: its own are told apart by the request.
        own = [int(one.pus_tm.message_subtype) for one in ones if one.tc_req_id == RequestId.from_pus_tc(tc)]
        asked = [subtype for subtype, flag in ((1, 1), (3, 2), (5, 4), (7, 8)) if acks & flag]
        ends = {subtype for subtype in own if subtype % 2 == 0}
        assert len(ends) <= 1 and 2 not in ends
        assert [one for one in own if one % 2] == sorted({*own} - ends) and {*own} - ends <= {*asked}
        assert not acks & 1 or own[0] == 1
        refused = command.refused
        assert 4 not in ends or refused
    return seen


def octets_of_time() -> int:
    return len(octets.time_octets(0))


def test_it_agrees_with_another_implementation(lines: Lines) -> None:
    seen = agree(lines, 400)
    assert {(1, 1), (1, 2), (1, 3), (1, 4), (1, 7), (1, 8), (3, 25), (17, 2), (20, 2)} <= {*seen}


@pytest.mark.full
def test_it_agrees_with_another_implementation_over_twenty_thousand_telecommands(lines: Lines) -> None:
    seen = agree(lines, 20_000)
    assert {(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 7), (1, 8), (3, 25), (5, 1), (9, 2), (11, 10), (12, 9), (17, 2),
            (20, 2)} == {*seen}  # fmt: skip


def valid(command: CommandDefinition) -> tuple[dict[str, Value], list[dict[str, Value]] | None]:
    """Arguments that are carried out wherever the command is allowed."""

    def value(one: PacketField) -> Value:
        special: dict[str, Value] = {
            "time": START_NS + 10**10, "telecommand": telecommand(DEFINITION, "PING", sequence=99), "mode": "STANDBY",
            "low": 0, "high": 10, "value": 30,
        }  # fmt: skip
        return special.get(one.name, one.least)

    return {one.name: value(one) for one in command.arguments}, (
        [{one.name: value(one) for one in command.entries}] if command.entries else None
    )


@pytest.mark.parametrize("mode", DEFINITION.modes)
def test_every_command_in_every_mode_is_as_the_table_says(lines: Lines, mode: str) -> None:
    for number, (name, command) in enumerate(DEFINITION.commands.items()):
        lines.say(f"mode {DEFINITION.enums['mode']['STREAM' if mode == 'DEGRADED' else mode]}")
        if mode == "DEGRADED":
            lines.say(f"camera {DEFINITION.enums['camera']['GONE']}")
        arguments, entries = valid(command)
        said = lines.reports(telecommand(DEFINITION, name, arguments, entries, sequence=number))
        refusal = command.refused.get(mode)
        assert said[0][0] == "ACCEPTED", (name, said)
        if refusal:
            assert [(one, fields["failure"]) for one, fields in said[1:]] == [("NOT_STARTED", refusal)], (name, said)
        else:
            assert said[1][0] == "STARTED", (name, said)
            failures = [fields["failure"] for one, fields in said if one == "FAILED"]
            not_there = ("SCHEDULE_DELETE", "SET_COUNTER")  # no key
            assert failures == (["NOT_THERE"] if name in not_there else []), (name, said)


def test_what_is_damaged_or_came_before_is_not_run(lines: Lines) -> None:
    good = telecommand(DEFINITION, "PING", sequence=5)
    failures = {"crc": "BAD_CRC", "length": "BAD_LENGTH", "apid": "BAD_APID", "version": "BAD_VERSION",
                "truncated": "BAD_LENGTH", "flags": "BAD_FLAGS"}  # fmt: skip
    for how in octets.DAMAGES:
        assert [(name, fields["failure"]) for name, fields in lines.reports(octets.damaged(good, how))] == [
            ("NOT_ACCEPTED", failures[how])
        ]
    assert [name for name, _ in lines.reports(good)] == ["ACCEPTED", "STARTED", "PONG", "COMPLETED"]
    assert [fields["failure"] for _, fields in lines.reports(good)] == ["DUPLICATE"]
    assert [name for name, _ in lines.reports(telecommand(DEFINITION, "PING", sequence=5, source=1))][2] == "PONG"
    assert [fields["failure"] for _, fields in lines.reports(good)] == ["DUPLICATE"], "whatever others sent"
    for later_s in (601, 2**16 + 701):  # forgotten: the sequence count has only 14 bits
        lines.say(f"at {START_NS + later_s * 10**9}")
        assert "PONG" in [name for name, _ in lines.reports(good)]
        assert [fields["failure"] for _, fields in lines.reports(good)] == ["DUPLICATE"]


def test_parameters_are_set_all_or_none(lines: Lines) -> None:
    entries: list[dict[str, Value]] = [{"parameter": "RATE", "value": 30}, {"parameter": "EXPOSURE", "value": 401}]
    said = lines.reports(telecommand(DEFINITION, "SET_PARAMETERS", None, entries, sequence=1))
    assert said[-1] == ("FAILED", said[-1][1]) and said[-1][1]["failure"] == "BAD_ARGUMENT"
    asked: list[dict[str, Value]] = [{"parameter": name} for name in DEFINITION.parameters]
    said = lines.reports(telecommand(DEFINITION, "GET_PARAMETERS", None, asked, sequence=2))
    values = {one["parameter"]: one["value"] for one in dict(said)["PARAMETERS"]["entries"]}
    assert values == {name: one.default for name, one in DEFINITION.parameters.items()}


@pytest.mark.parametrize(("degrees", "refused"), [(100_000, True), (-50_000, True), (74_999, False)])
def test_a_calibration_that_no_decoder_takes_is_refused(lines: Lines, degrees: int, refused: bool) -> None:
    """Offset and drift together, at most a metre either way, also where they are set one after the other."""
    first = {"OFFSET_UM": -500_000 if degrees < 0 else 500_000, "DRIFT_UM_PER_K": 10_000}
    entries: list[dict[str, Value]] = [{"parameter": name, "value": value} for name, value in first.items()]
    assert "COMPLETED" in dict(lines.reports(telecommand(DEFINITION, "SET_PARAMETERS", None, entries, sequence=1)))
    warmer = telecommand(DEFINITION, "SET_PARAMETERS", {"parameter": "TEMPERATURE_MC", "value": degrees}, sequence=2)
    said = lines.reports(warmer)[-1]
    assert said[0] == ("FAILED" if refused else "COMPLETED") and said[1].get("failure") == (
        "BAD_ARGUMENT" if refused else None
    )


def test_the_schedule_releases_in_order_and_is_full_at_its_limit(lines: Lines) -> None:
    def insert(number: int, at_ns: int) -> list[tuple[str, Mapping[str, Any]]]:
        ping = telecommand(DEFINITION, "PING", sequence=1000 + number)
        return lines.reports(telecommand(DEFINITION, "SCHEDULE_INSERT", {"subschedule": 1},
                                         [{"time": at_ns, "telecommand": ping}], sequence=number))  # fmt: skip

    assert insert(0, START_NS)[-1][1]["failure"] == "IN_PAST"
    for number in range(1, DEFINITION.schedule_most + 1):
        assert insert(number, START_NS + (100 - number) * 10**9)[-1][0] == "COMPLETED"
    assert insert(99, START_NS + 10**9)[-1][1]["failure"] == "FULL"
    listed = lines.reports(telecommand(DEFINITION, "SCHEDULE_REPORT", sequence=100))
    entries = [entry for name, fields in listed if name == "SCHEDULED" for entry in fields["entries"]]
    assert len(entries) == DEFINITION.schedule_most
    released = [telemetry(DEFINITION, one) for one in lines.say(f"at {START_NS + 200 * 10**9}")]
    pongs = [one.request for one in released if one.name == "ACCEPTED"]
    assert [int.from_bytes(one or b"", "big") & 0x3FFF for one in pongs] == [1000 + n for n in range(32, 0, -1)]
