# SPDX-License-Identifier: MIT
"""The emulator as a USB device, over TCP: a client in Python asks what a host asks. No kernel takes part."""

import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.listening_camera import Camera, Start
from support.software_camera import FRAME_BYTES
from support.usbip_client import STALLED, UNLINKED, Client


def test_the_camera_is_listed_and_handed_to_whoever_asks_for_it_by_name(camera: Start) -> None:
    one = camera()
    with Client(one.port) as client:
        device = client.devices()
    assert device[256:288].rstrip(b"\0") == b"1-1"
    assert struct.unpack(">HH", device[300:304]) == (0x2113, 0x0145)
    with Client(one.port) as client:
        assert client.take("7-7") == 1
    with one.host() as host:
        assert host.control(0x80, 6, 0x0100, 0, 18).status == 0
    assert one.end()["plugged"] == 1


def descriptors(configuration: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(configuration):
        assert configuration[at] >= 2
        found.append(configuration[at : at + configuration[at]])
        at += configuration[at]
    assert at == len(configuration)
    return found


@pytest.mark.parametrize(("speed", "usb", "packet"), [("high", 0x0200, 512), ("super", 0x0300, 1024)])
def test_descriptors_are_whole_and_say_what_the_camera_is(camera: Start, speed: str, usb: int, packet: int) -> None:
    one = camera("--speed", speed)
    with one.host() as host:
        device = host.control(0x80, 6, 0x0100, 0, 18).data
        assert struct.unpack("<BBHBBBBHHHBBBB", device)[2] == usb
        assert struct.unpack("<HH", device[8:12]) == (0x2113, 0x0145)
        total = struct.unpack("<H", host.control(0x80, 6, 0x0200, 0, 9).data[2:4])[0]
        configuration = host.control(0x80, 6, 0x0200, 0, 4096).data
        assert len(configuration) == total
        found = descriptors(configuration)
        by_kind = {(d[1], d[2]): d for d in found if d[1] == 0x24}
        unit = next(d for d in found if d[1:4] == bytes([0x24, 6, 6]))
        assert len(unit) == 26
        assert unit[20:25] == bytes([1, 1, 1, 1, 0b10])  # one control, from the camera terminal: selector 2
        assert (0x24, 1) in by_kind
        formats = [d for d in found if d[1] == 0x24 and d[2] == 4 and len(d) == 27]
        assert [d[5:9] for d in formats] == [b"YUY2", b"Z16 "]
        shapes = [d for d in found if d[1] == 0x24 and d[2] == 5 and len(d) == 42]
        assert [struct.unpack("<HH", d[5:9]) for d in shapes] == [(640, 240), (320, 240)]
        for shape in shapes:
            assert struct.unpack("<4I", shape[26:]) == (166_666, 200_000, 333_333, 400_000)
        (endpoint,) = [d for d in found if d[1] == 5]
        assert struct.unpack("<BBBBHB", endpoint) == (7, 5, 0x81, 2, packet, 0)
        assert [d[1] for d in found].count(48) == (speed == "super")
        has_bos = host.control(0x80, 6, 0x0F00, 0, 255)
        assert (has_bos.status == 0) == (speed == "super")
        if speed == "super":  # link power management must be set there (USB 3.2, 9.6.2.1); lsusb warns where it is not
            kind, attributes = struct.unpack("<BI", has_bos.data[7:12])
            assert (kind, attributes & 0b10) == (2, 0b10)
        assert "325" in host.control(0x80, 6, 0x0302, 0, 255).data[2:].decode("utf-16-le")
    one.end()


WRONG = (
    *["truncated", "total-length", "zero-length", "length", "intervals", "interval-0", "size", "format"],
    *["no-format", "no-endpoint", "endpoint", "no-unit", "loop", "class"],
)


def test_each_kind_of_wrong_descriptors_differs_from_the_right_ones(camera: Start) -> None:
    seen = set()
    for kind in ("none", *WRONG):
        one = camera("--descriptors", kind)
        with one.host() as host:
            seen.add(host.control(0x80, 6, 0x0200, 0, 4096).data)
        one.end()
    assert len(seen) == 1 + len(WRONG)


def test_the_unit_keeps_what_is_written_and_refuses_what_has_no_meaning(camera: Start) -> None:
    one = camera()
    with one.host() as host:
        assert host.control(0xA1, 0x85, 0x0200, 0x0600, 2).data == b"\x07\0"
        assert host.control(0xA1, 0x86, 0x0200, 0x0600, 1).data == b"\x03"
        assert host.unit(0x86, 0, 0).status == 0
        assert host.control(0xA1, 0x81, 0x0200, 0x0600, 7).data == b"\x86" + bytes(6)
        assert host.unit(0x12, 0x19, 319).status == 0
        assert host.read_register(0x19) == 319
        assert (host.read_register(0x51), host.read_register(0x52)) == (10, 100)
        for register, good, bad in ((0x50, 1, 2), (0x51, 2047, 2048), (0x52, 400, 401), (0x53, 25, 26)):
            assert host.unit(0x12, register, good).status == 0
            assert host.unit(0x12, register, bad).status == STALLED
            assert host.read_register(register) == good
        assert host.control(0xA1, 0x81, 0x0200, 0, 1).data == b"\x04"  # UVC's error code: out of range
        assert host.control(0x21, 0x01, 0x0200, 0x0600, bytes(6)).status == STALLED
        assert host.control(0x21, 0x01, 0x0300, 0x0600, bytes(7)).status == STALLED
    assert one.end()["unit_requests"] > 10


@pytest.mark.parametrize(
    ("asked", "given_"), [(0, 333_333), (1, 166_666), (166_667, 200_000), (350_000, 400_000), (9_999_999, 400_000)]
)
def test_the_frame_interval_agreed_on_is_one_the_camera_has(camera: Start, asked: int, given_: int) -> None:
    one = camera()
    with one.host() as host:
        host.commit(interval=asked)
        assert struct.unpack("<I", host.control(0xA1, 0x81, 0x0200, 1, 34).data[4:8])[0] == given_
    one.end()


def test_unlinking_takes_a_waiting_urb_away_and_clear_halt_ends_the_stream(camera: Start) -> None:
    one = camera()
    with one.host() as host:
        waiting = host.urbs(3)
        answer = host.answer(host.unlink(waiting[1]))
        assert (answer.command, answer.status) == (4, UNLINKED)
        assert host.answer(host.unlink(999)).status == 0
        host.commit()
        assert len(host.answer(waiting[0]).data) == 32 * 1024
        assert host.control(0x02, 1, 0, 0x81).status == 0
        assert host.control(0x80, 0, 0, 0, 2).data == b"\0\0"
    one.end()


def test_requests_that_mean_nothing_are_refused_and_the_camera_lives_on(camera: Start) -> None:
    one = camera()
    with one.host() as host:
        for kind, request, value, index in (
            (0x80, 6, 0x0900, 0), (0xC0, 1, 0, 0), (0xA1, 0x81, 0x0900, 1), (0xA1, 0x99, 0x0100, 1),
            (0xA1, 0x81, 0x0100, 7), (0x80, 6, 0x0209, 0), (0x80, 6, 0x0377, 0), (0x80, 99, 0, 0),
            (0xA1, 0x81, 0x0100, 0x0900),
        ):  # fmt: skip
            assert host.control(kind, request, value, index, 64).status == STALLED, (kind, request)
        assert host.answer(host.submit(5, into=True, length=512)).status == STALLED
        assert host.control(0x80, 6, 0x0100, 0, 18).status == 0
    one.end()


@pytest.mark.parametrize(
    "rubbish",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">HHI", 0x0111, 0x8003, 0) + b"1-1",
        struct.pack(">HHI", 0x0106, 0x8005, 0),
        struct.pack(">HHI", 0x0111, 0x1234, 0),
        struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1") + b"\xff" * 48,
        struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1") + struct.pack(">IIIII", 1, 1, 0, 0, 0) + b"\x7f" * 28,
        struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1") + struct.pack(">IIIIIIiIi12x", 1, 1, 0, 1, 1, 0, 512, 0, 8),
    ],
    ids=["http", "cut", "version", "code", "command", "large", "isochronous"],
)
def test_rubbish_ends_the_connection_and_nothing_else(camera: Start, rubbish: bytes) -> None:
    one = camera()
    with Client(one.port) as client:
        client.socket.sendall(rubbish)
        client.drain()
    with one.host() as host:
        assert host.control(0x80, 6, 0x0100, 0, 18).status == 0
    one.end()


@pytest.fixture(scope="module")
def target(programs: Path, recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Camera]:
    command = [programs / "ds325-emulator-asan", "--listen", "0", "--replay", recording, "--unthrottled"]
    one = Camera(command, tmp_path_factory.mktemp("target"))
    yield one
    one.end()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300), greeted=st.booleans())
def test_no_bytes_from_the_network_end_the_emulator(target: Camera, data: bytes, greeted: bool) -> None:
    with Client(target.port) as client:
        if greeted:
            assert client.take() == 0
        client.socket.sendall(data)
        client.drain()
    assert target.process.poll() is None


def test_nearly_right_messages_are_answered_as_asked_under_sanitizers(programs: Path) -> None:
    """Four thousand connections of 64 messages; the program checks each answer against what was asked."""
    done = subprocess.run([programs / "ds325-emulator-fuzz", "1", "4000"], capture_output=True, text=True, check=True)
    frames_seen = re.search(r"(\d+) frames", done.stdout)
    assert frames_seen
    assert int(frames_seen[1]) > 1000  # they got as far as streaming


def test_its_own_cpu_time_is_told_apart(camera: Start) -> None:
    one = camera("--unthrottled")
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        for _ in range(20):
            host.payload(urbs)
    report = one.end()
    assert report["stream_cpu_ns"] > 0
    assert report["bytes"] >= 20 * (FRAME_BYTES + 2)
