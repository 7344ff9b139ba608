# SPDX-License-Identifier: MIT
"""The emulator as a USB device, over TCP: a client in Python asks what a host asks. No kernel takes part."""

import re
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.software_camera import FRAME_BYTES, Z16_BYTES, programs
from support.usbip_client import ENDPOINT, STALLED, UNLINKED, Client

FRAMES = 4


@pytest.fixture(scope="module", name="programs")
def _programs() -> Path:
    return programs()


@pytest.fixture(scope="module")
def recording(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recording") / "frames"
    subprocess.run([programs / "ds325-emulator", "--write", path, "--frames", str(FRAMES), "--step", "5"], check=True)
    return path


class Camera:
    """The emulator under sanitizers, listening."""

    def __init__(self, command: list[str | Path], folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*command, "--report", folder / "report", "--log", folder / "log"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout
        self.port = int(self.process.stdout.readline().split()[4].rstrip(","))

    def host(self) -> Client:
        client = Client(self.port)
        assert client.take() == 0
        return client

    def end(self) -> dict[str, int]:
        """SIGTERM, then its report. A complaint of a sanitizer fails the test."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, said
        return {k: int(v) for k, v in (line.split() for line in (self.folder / "report").read_text().splitlines())}

    def log(self) -> dict[int, tuple[str, str]]:
        """Fault and outcome by sequence number, once ended."""
        rows = [line.split() for line in (self.folder / "log").read_text().splitlines()[1:]]
        return {int(row[0]): (row[2], row[3]) for row in rows}


@pytest.fixture
def camera(programs: Path, recording: Path, tmp_path: Path) -> Iterator[Callable[..., Camera]]:
    started: list[Camera] = []

    def start(*arguments: str) -> Camera:
        command = [programs / "ds325-emulator-asan", "--listen", "0", "--replay", recording, *arguments]
        started.append(Camera(command, tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


Start = Callable[..., Camera]


@pytest.fixture(scope="module")
def frames(recording: Path) -> list[bytes]:
    content = recording.read_bytes()
    return [content[n * FRAME_BYTES :][:FRAME_BYTES] for n in range(FRAMES)]


def test_the_camera_is_told_to_the_tools_and_handed_to_who_names_it(camera: Start) -> None:
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


@pytest.mark.parametrize("urb_bytes", [32 * 1024, 16 * 1024, 512, 307_202, 400_000])
def test_frames_arrive_byte_for_byte_in_one_payload_each(camera: Start, frames: list[bytes], urb_bytes: int) -> None:
    one = camera("--unthrottled")
    with one.host() as host:
        host.commit()
        urbs = host.urbs(5, urb_bytes)
        for n in range(6):
            payload = host.payload(urbs, urb_bytes=urb_bytes).data
            assert payload[:2] == bytes([2, 0x82 | n % 2])
            assert payload[2:] == frames[n % FRAMES]
    report = one.end()
    assert (report["frames_lost_without_urb"], report["frames_dropped"]) == (0, 0)
    assert report["frames_sent"] >= 6


def test_frames_come_at_the_rate_agreed_on_and_the_units_rate_goes_first(camera: Start) -> None:
    one = camera("--stamp")
    with one.host() as host:
        for commands in ((), (0x12, 0x53, 25)):
            if commands:
                assert host.unit(*commands).status == 0
            host.commit(interval=200_000)
            urbs = host.urbs()
            for _ in range(6):
                assert host.payload(urbs).status == 0
            host.control(0x02, 1, 0, 0x81)
    one.end()
    due_ns = [int(line.split()[4]) for line in (one.folder / "log").read_text().splitlines()[1:]]
    steps = [b - a for a, b in pairwise(due_ns)]
    assert steps.count(20_000_000) >= 4
    assert steps.count(40_000_000) >= 4


def test_z16_and_exposure_change_what_is_sent(
    camera: Start, frames: list[bytes], programs: Path, tmp_path: Path
) -> None:
    path = tmp_path / "z16"
    subprocess.run(
        [programs / "ds325-emulator-asan", "--write", path, "--frames", "2", "--step", "5", "--format", "z16"],
        check=True,
    )
    z16 = path.read_bytes()
    one = camera("--unthrottled")
    with one.host() as host:
        host.commit(format_index=2)
        urbs = host.urbs()
        first = host.payload(urbs, Z16_BYTES).data[2:]
        differing = sum(a != b for a, b in zip(first, z16[:Z16_BYTES], strict=True))
        assert differing < 40  # another C library rounds some arctangents to the other millimetre
        host.control(0x02, 1, 0, 0x81)
    with one.host() as host:
        assert host.unit(0x12, 0x52, 50).status == 0
        host.commit()
        frame = host.payload(host.urbs()).data[2:]
        halves = [(np.abs(words := np.frombuffer(f, "<i2").astype(int)) + 1) // 2 * np.sign(words) for f in frames]
        assert frame in [half.astype("<i2").tobytes() for half in halves]
    one.end()


def test_a_stamp_tells_sequence_and_time_in_the_last_block(camera: Start, frames: list[bytes]) -> None:
    one = camera("--unthrottled", "--stamp")
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        for n in range(3):
            before = time.monotonic_ns()
            frame = host.payload(urbs).data[2:]
            magic, sequence, sent_ns, _ = struct.unpack("<IIQI12x", frame[-32:])
            assert (magic, sequence) == (0x44533235, n)
            assert before - 10**9 < sent_ns < time.monotonic_ns()
            assert frame[:-32] == frames[n][:-32]
    one.end()


def test_faults_hit_the_frames_they_are_meant_for(camera: Start, frames: list[bytes]) -> None:
    kinds = ("drop", "short", "corrupt", "error", "header")
    one = camera("--unthrottled", *(x for n, kind in enumerate(kinds) for x in ("--fault", f"{kind}@{2 * n + 1}")))
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        got = [host.payload(urbs).data for _ in range(2 * len(kinds))]
    one.end()
    log = one.log()
    assert {n: log[n][0] for n in range(1, 2 * len(kinds), 2)} == dict(zip(range(1, 10, 2), kinds, strict=True))
    assert log[1] == ("drop", "dropped")
    sent = [n for n in range(2 * len(kinds) + 1) if n != 1]
    for payload, n in zip(got, sent, strict=True):
        right = frames[n % FRAMES]
        if n == 3:
            assert payload[2:] == right[:-1000]
        elif n == 5:
            wrong = [i for i, (a, b) in enumerate(zip(payload[2:], right, strict=True)) if a != b]
            assert 1 <= len(wrong) <= 64
        elif n == 7:
            assert payload[1] & 0x40
        elif n == 9:
            assert payload[0] == 255
        else:
            assert payload[2:] == right


def test_a_short_frame_that_ends_with_its_urb_is_ended_by_an_empty_one(camera: Start) -> None:
    """The host cannot see the end otherwise."""
    cut = FRAME_BYTES + 2 - 9 * 32 * 1024
    one = camera("--unthrottled", "--fault", f"short@0:{cut}")
    with one.host() as host:
        host.commit()
        urbs = host.urbs(12)
        assert [len(host.answer(number).data) for number in urbs[:10]] == [32 * 1024] * 9 + [0]
    one.end()


def test_a_stall_halts_until_cleared_and_then_streams_on(camera: Start, frames: list[bytes]) -> None:
    one = camera("--unthrottled", "--fault", "stall@2")
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        assert [host.payload(urbs).status for _ in range(3)] == [0, 0, STALLED]
        assert {host.answer(number).status for number in urbs} == {STALLED}
        assert host.answer(host.submit(ENDPOINT, into=True, length=512)).status == STALLED
        assert host.control(0x82, 0, 0, 0x81, 2).data == b"\1\0"
        assert host.control(0x02, 1, 0, 0x81).status == 0
        assert host.payload(host.urbs()).data[2:] == frames[3 % FRAMES]
    one.end()


def test_an_unplug_in_the_middle_of_a_frame_and_the_next_host_goes_on(camera: Start, frames: list[bytes]) -> None:
    one = camera("--unthrottled", "--fault", "unplug@1:50")
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        assert host.payload(urbs).status == 0
        with pytest.raises((EOFError, ConnectionError)):
            host.payload(urbs)
    with one.host() as host:
        host.commit()
        assert host.payload(host.urbs()).data[2:] == frames[2]
    report = one.end()
    assert (report["plugged"], report["frames_cut"] >= 1) == (2, True)


def test_faults_come_through_the_fifo_too(camera: Start, tmp_path: Path) -> None:
    one = camera("--control", str(tmp_path / "fifo"))
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        assert host.payload(urbs).status == 0
        with (tmp_path / "fifo").open("w") as fifo:
            fifo.write("nonsense\nerror\n")
        assert any(host.payload(urbs).data[1] & 0x40 for _ in range(30))
    one.end()


def test_a_host_that_takes_no_frames_loses_them_and_each_is_counted(camera: Start) -> None:
    one = camera()
    with one.host() as host:
        host.commit()
        assert len(host.answer(host.urbs(1)[0]).data) == 32 * 1024
        time.sleep(0.2)
        host.control(0x02, 1, 0, 0x81)
    report = one.end()
    assert report["frames_lost_without_urb"] >= 5
    log = one.log()
    assert sorted(log) == list(range(len(log)))
    assert {log[n][1] for n in range(1, 5)} == {"lost"}


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
