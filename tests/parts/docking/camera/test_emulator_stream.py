# SPDX-License-Identifier: MIT
"""The frames that the emulator streams over USB/IP: byte for byte, in time, and with faults."""

import struct
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from support.listening_camera import FRAMES, Camera, Start
from support.software_camera import FRAME_BYTES, Z16_BYTES
from support.usbip_client import ENDPOINT, STALLED


@pytest.fixture(scope="module")
def frames(recording: Path) -> list[bytes]:
    content = recording.read_bytes()
    return [content[n * FRAME_BYTES :][:FRAME_BYTES] for n in range(FRAMES)]


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


def rows_sent(one: Camera, frames: list[bytes]) -> list[list[str]]:
    """The log's, of the frames that a host got."""
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        assert all(host.payload(urbs).data[2:] in frames for _ in range(3))
    one.end()
    rows = [line.split() for line in (one.folder / "log").read_text().splitlines()[1:]]
    return [row for row in rows if row[3] == "sent"]


def test_a_frame_takes_the_time_of_the_bus(camera: Start, frames: list[bytes]) -> None:
    one = camera("--bus", "40")
    rows = rows_sent(one, frames)
    took_ns = [int(row[6]) - int(row[5]) for row in rows]
    last = 32 * 1024 * 25  # its last transfer goes when those before have had their time
    assert len(took_ns) >= 3 and min(took_ns) >= FRAME_BYTES * 25 - last


def test_a_frames_lines_leave_once_they_are_read_out(camera: Start, frames: list[bytes]) -> None:
    one = camera("--line-rate", "24000")
    rows = rows_sent(one, frames)
    sent = [(int(row[4]), int(row[5]), int(row[6])) for row in rows]
    assert len(sent) >= 3
    assert min(ended - due for due, _, ended in sent) >= 240 * 10**9 // 24000
    assert min(began - due for due, began, _ in sent) >= 26 * 10**9 // 24000  # the lines of its first transfer


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
