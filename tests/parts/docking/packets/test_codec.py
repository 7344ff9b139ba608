# SPDX-License-Identifier: MIT
"""Octets against vectors made by spacepackets 0.32.0 and accepted by Yamcs 5.13.2, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.octets import cobs, crc16, from_cobs, packet_length
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.codec import Value, raw_telecommand, telecommand, telemetry
from rtqual_docking.packets.definition import load

DEFINITION = load()


@pytest.mark.parametrize(
    ("name", "arguments", "sequence", "octets_sent"),
    [
        ("PING", {}, 0, "1842c00000062b110100005cce"),
        ("LIDAR_START", {}, 2, "1842c00200072b08010000019778"),
        ("HK_ON", {"structure": "CAMERA"}, 5, "1842c00500082b03050000010114e3"),
    ],
)
def test_telecommands_are_those_of_other_implementations(
    name: str, arguments: dict[str, Value], sequence: int, octets_sent: str
) -> None:
    assert telecommand(DEFINITION, name, arguments, sequence=sequence, acks=11).hex() == octets_sent


def test_a_scheduled_telecommand_is_as_yamcs_writes_it() -> None:
    inner = telecommand(DEFINITION, "PING", sequence=12, acks=11)
    sent = telecommand(DEFINITION, "SCHEDULE_INSERT", {"subschedule": 1},
                       [{"time": 0x6B02979D * 10**9, "telecommand": inner}], sequence=13, acks=13)  # fmt: skip
    assert sent.hex() == "1842c00d001d2d0b04000001012f6b02979d0000001842c00c00062b110100004d79bf5b"


@pytest.mark.parametrize(
    ("raw", "name", "fields"),
    [
        ("0842c0010014200101000000002f000003e80000001842c0003336", "ACCEPTED", {"request": bytes.fromhex("1842c000")}),
        ("0842c0590016200102004600002f000003e80000001842c03600065b6f", "NOT_ACCEPTED",
         {"request": bytes.fromhex("1842c036"), "failure": "BAD_SUBTYPE"}),
        ("0842c0030010201102000000002f6955b90cc7c5bd080c", "PONG", {}),
    ],
)  # fmt: skip
def test_reports_of_another_implementation_are_read(raw: str, name: str, fields: dict[str, object]) -> None:
    report = telemetry(DEFINITION, bytes.fromhex(raw))
    assert (report.name, report.fields) == (name, fields)
    if name != "PONG":
        assert report.time_ns == 1000 * 10**9 and report.request == fields["request"]


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("NOTHING", {}, "there is no telecommand NOTHING"),
        ("SET_MODE", {}, "SET_MODE needs the argument mode"),
        ("SET_MODE", {"mode": "DEGRADED"}, "SET_MODE: mode: DEGRADED is none of SAFE, STANDBY, STREAM"),
        ("SET_MODE", {"mode": 3}, "SET_MODE: mode: 3 is not 0 to 2"),
        ("SET_MODE", {"mode": "SAFE", "more": 1}, "SET_MODE has no argument more"),
        ("HK_INTERVAL", {"structure": "LINK", "interval_ms": 9}, "HK_INTERVAL: interval_ms: 9 is not 10 to 3600000"),
        ("HK_INTERVAL", {"structure": "LINK", "interval_ms": 1.5}, "interval_ms: a whole number is needed"),
    ],
)
def test_what_is_not_defined_is_not_sent(name: str, arguments: dict[str, Value], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        telecommand(DEFINITION, name, arguments, sequence=0)


@given(st.binary(max_size=600))
def test_frames_on_a_serial_line_come_back(data: bytes) -> None:
    frame = cobs(data)
    assert frame.count(0) == 1 and frame.endswith(b"\0")
    assert from_cobs(frame[:-1]) == data


@given(st.binary(max_size=300))
def test_no_frame_and_no_packet_is_read_beyond_its_end(data: bytes) -> None:
    from_cobs(data)
    with pytest.raises(BadInput):
        telemetry(DEFINITION, data)


@given(st.integers(0, 2**32 * 10**9 - 1))
def test_times_come_back_to_60_ns(time: int) -> None:
    assert 0 <= time - octets.time_ns(octets.time_octets(time)) <= 60


@pytest.mark.parametrize(
    ("how", "key"), [*((how, key) for how in octets.DAMAGES for key in (None, b"key")), ("tag", b"key")]
)
def test_damage_changes_a_telecommand(how: str, key: bytes | None) -> None:
    good = telecommand(DEFINITION, "PING", sequence=7, key=key, counter=1)
    bad = octets.damaged(good, how)
    assert bad != good
    assert (crc16(bad) == 0) == (how not in ("crc", "truncated"))


def test_a_tag_covers_all_before_it() -> None:
    one, other = (raw_telecommand(DEFINITION, 17, 1, b"", sequence=1, key=b"key", counter=n) for n in (1, 2))
    assert packet_length(one) == len(one) == 13 + octets.COUNTER_OCTETS + octets.TAG_OCTETS
    assert one[-18:-2] != other[-18:-2]
