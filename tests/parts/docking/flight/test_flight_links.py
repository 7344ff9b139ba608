# SPDX-License-Identifier: MIT
"""ds325-flight's links on this machine, without a camera and without real time: TCP, a serial line with noise, tags,
what a restart keeps, and callers that do it harm."""

import hashlib
import os
import random
import signal
import socket
import struct
import subprocess
import time
import tty
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.engine.dialogue.octets import cobs
from rtqual_docking.packets.codec import telecommand
from support.flight_link import DEFINITION, PATIENCE_S, Ground, Program, command, dog, fed, start
from support.flight_programs import flight_program, run_flight
from support.stopped import stopped

__all__ = ["dog", "start"]  # fixtures


@pytest.mark.guest
def test_a_restart_keeps_what_was_set_and_says_why_it_began(start: Callable[..., Program], tmp_path: Path) -> None:
    program = start()
    ground = program.connect()
    ground.until("EVENT_INFO", event="BOOTED", event_value=0)
    ground.send(command("SET_PARAMETERS", 1, parameter="RATE", value=30))
    ground.send(command("HK_ONCE", 2, structure="SYSTEM"))
    ground.until("HK_SYSTEM")
    end = time.monotonic() + PATIENCE_S
    while (
        ground.until("HK_SYSTEM", len([one for one in ground.reports if one.name == "HK_SYSTEM"]))[-1].fields[
            "state_writes"
        ]
        < 2
    ):
        assert time.monotonic() < end
        ground.send(telecommand(DEFINITION, "HK_ONCE", {"structure": "SYSTEM"}, sequence=3 + len(ground.reports)))
        ground.until("HK_SYSTEM", len([one for one in ground.reports if one.name == "HK_SYSTEM"]) + 1)
    program.again(signal.SIGKILL)
    ground = program.connect()
    ground.until("EVENT_INFO", event="BOOTED", event_value=DEFINITION.enums["cause"]["CRASHED"], event_detail=2)
    ground.send(command("GET_PARAMETERS", 1, parameter="RATE"))
    assert ground.until("PARAMETERS")[0].fields["entries"][0]["value"] == 30
    ground.send(command("RESTART", 2))
    ground.until_closed()
    # Until the old program's listener is gone too, its kernel may take a connection that nobody serves.
    while not (ground := program.connect()).take(1) and not ground.open:
        pass
    ground.until("EVENT_INFO", event="BOOTED", event_value=DEFINITION.enums["cause"]["COMMANDED"], event_detail=3)
    program.process.terminate()
    assert program.process.wait() == 0
    sound = (tmp_path / "state").read_bytes()
    damaged = bytearray(sound)
    damaged[len(sound) // 2] ^= 1
    # Soundly written by a program that took what no decoder takes: two metres off.
    head, kept = 16, bytearray(sound[16:])
    for name, value in (("OFFSET_UM", 1_000_000), ("DRIFT_UM_PER_K", 10_000), ("TEMPERATURE_MC", 100_000)):
        struct.pack_into("<i", kept, 4 * (4 + DEFINITION.parameters[name].id), value)
    impossible = sound[: head - 4] + struct.pack("<I", zlib.crc32(kept)) + kept
    for state in (damaged, impossible):
        (tmp_path / "state").write_bytes(state)
        program.process = subprocess.Popen(program.command)
        ground = program.connect()
        ground.until("EVENT_INFO", event="BOOTED", event_value=DEFINITION.enums["cause"]["STATE_LOST"])
        ground.send(command("HK_ONCE", 1, structure="CAMERA"))
        assert ground.until("HK_CAMERA")[0].fields["mode"] == "SAFE"
        program.process.terminate()
        assert program.process.wait() == 0


@pytest.mark.guest
def test_noise_on_the_serial_line_runs_no_wrong_command(start: Callable[..., Program]) -> None:
    """One octet in a hundred is damaged. Every command that is run was sent, and sound frames are all run."""
    ours, theirs = os.openpty()
    tty.setraw(ours)
    start(f"--serial={os.ttyname(theirs)}", "--port=0", "--baud=0")
    ground = Ground(lambda data: os.write(ours, data), ours, serial=True)
    draw = random.Random(2)  # noqa: S311
    sound = 0
    count = 2000
    for number in range(count):
        # A list makes it long; the octets of a ping lie within it, as a wrong command would.
        entries = [{"parameter": "RATE"} for _ in range(draw.randint(1, 60))]
        frame = bytearray(cobs(telecommand(DEFINITION, "GET_PARAMETERS", None, entries, sequence=number, acks=1)))
        hit = [at for at in range(len(frame)) if draw.random() < 0.01]
        for at in hit:
            frame[at] ^= draw.randrange(1, 256)
        sound += not hit
        ground.send(bytes(frame))
        while ground.take(0):
            pass
    ground.send(b"\0" + cobs(command("PING", 9999)))
    ground.until("PONG")
    accepted = [one.request for one in ground.reports if one.name == "ACCEPTED"]
    numbers = [int.from_bytes(one or b"", "big") & 0x3FFF for one in accepted]
    assert len(set(numbers)) == len(numbers) and set(numbers) - {9999} <= set(range(count))
    assert {one.name for one in ground.reports} <= {
        "ACCEPTED", "NOT_ACCEPTED", "PARAMETERS", "PONG", "STARTED", "COMPLETED", "EVENT_INFO", "EVENT_MEDIUM"
    }  # fmt: skip
    ground.send(cobs(command("HK_ONCE", 10000, structure="LINK")))
    link = ground.until("HK_LINK")[0].fields
    assert link["damaged"] > count // 4 and link["commands_lost"] == 0
    # A frame is whole if neither it nor the zero before it was hit.
    assert sound * 0.8 < len(numbers) <= count
    os.close(ours)
    os.close(theirs)


@pytest.mark.guest
def test_with_a_key_only_its_holder_commands(start: Callable[..., Program], tmp_path: Path) -> None:
    key = hashlib.sha256(b"a test's").digest()
    (tmp_path / "key").write_bytes(key)
    assert run_flight(f"--state={tmp_path}/state", "--counter=0").returncode == 0
    program = start(f"--key={tmp_path}/key")
    ground = program.connect()

    def sent(sequence: int, counter: int, with_key: bytes | None) -> bytes:
        return telecommand(DEFINITION, "PING", sequence=sequence, key=with_key, counter=counter)

    ground.send(sent(1, 5, key))
    ground.until("PONG")
    ground.send(sent(2, 6, b"another key, as long as it has to be"))
    ground.send(sent(3, 6, None))
    ground.send(sent(4, 5, key))
    ground.send(sent(1, 5, key))
    ground.send(sent(5, 6, key))
    ground.until("PONG", 2)
    failures = [one.fields["failure"] for one in ground.reports if one.name == "NOT_ACCEPTED"]
    assert failures == ["BAD_TAG", "BAD_TAG", "DUPLICATE", "DUPLICATE"]


@pytest.mark.guest
def test_who_does_harm_costs_the_others_nothing(start: Callable[..., Program]) -> None:
    program = start()
    ground = program.connect()
    ground.send(command("PING", 1))
    ground.until("PONG")
    # Garbage ends its own connection; so does a packet whose rest never comes, and a length that cannot be.
    for bad in (b"GET / HTTP/1.1\r\n\r\n" * 80, command("PING", 2)[:-3], b"\x18\x42\xc0\x00\xff\xff" + bytes(100)):
        other = program.connect()
        other.send(bad)
        other.until_closed()
    # More connections than there are places: those that have said nothing make room.
    others = [program.connect() for _ in range(12)]
    ground.send(command("PING", 3))
    ground.until("PONG", 2)
    # One that reads nothing while a hundred reports each are asked for.
    deaf = program.connect()
    for number in range(300):
        entries = [{"structure": "POSE"}] * 20
        deaf.send(telecommand(DEFINITION, "HK_ONCE", None, entries, sequence=100 + number, source=7))
        ground.take(0)
    ground.send(command("PING", 4))
    ground.until("PONG", 3)
    assert len(others) == 12 and program.process.poll() is None


def test_a_flood_is_answered_a_part_at_a_time_and_whole(start: Callable[..., Program]) -> None:
    """Frames are decoded behind answers, so what a ground can ask for in a time is bounded (LINK_MOST)."""
    program = start()
    ground, other = program.connect(), program.connect()
    ground.send(b"".join(command("PING", number) for number in range(200)))
    other.send(command("PING", 500))
    ground.until("PONG", 201)
    assert [one.name for one in ground.reports].count("COMPLETED") == 201, "none is lost or refused"
    times_ns = [one.time_ns for one in ground.reports if one.name == "PONG"]
    assert times_ns[-1] - times_ns[0] > 150 * 10**6, "10 in 10 ms"


def _gapless(ground: Ground) -> bool:
    first = ground.reports[0].sequence
    return [one.sequence for one in ground.reports] == [
        (first + number) % (1 << 14) for number in range(len(ground.reports))
    ]


@pytest.mark.guest
def test_a_flood_that_has_most_to_be_answered_takes_no_report_from_others(start: Callable[..., Program]) -> None:
    """Each of three asks for as many structures as a telecommand may name, one of them reads nothing, and a whole
    schedule that does so is due."""
    program = start()
    ground, deaf, *floods = (program.connect() for _ in range(4))
    one_packet = 100  # structures, in the largest telecommand that a schedule takes
    at_ns = ground.until("EVENT_INFO", event="BOOTED")[0].time_ns + 3 * 10**9
    for number in range(8):
        inner = [
            telecommand(
                DEFINITION, "HK_ONCE", None, [{"structure": "LINK"}] * one_packet, sequence=300 + 4 * number + one
            )
            for one in range(4)
        ]
        due = [{"time": at_ns, "telecommand": one} for one in inner]
        ground.send(telecommand(DEFINITION, "SCHEDULE_INSERT", {"subschedule": 0}, due, sequence=200 + number))
    entries = [{"structure": one} for one in DEFINITION.enums["structure"]] * 51
    for number in range(200):
        ground.send(command("PING", number))
        for source, one in enumerate((deaf, *floods), 1):
            one.send(telecommand(DEFINITION, "HK_ONCE", None, entries, sequence=number, source=source))
            while one is not deaf and one.take(0):
                pass
    ground.until("COMPLETED", 4 * 200 + 8 + 32)
    assert [one.name for one in ground.reports].count("PONG") == 200 and _gapless(ground)


@pytest.mark.guest
def test_what_a_ground_that_does_not_read_has_missed_is_counted(start: Callable[..., Program]) -> None:
    program = start()
    ground = program.connect()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", program.port))
        entries = [{"structure": one} for one in DEFINITION.enums["structure"]]
        end, lost, number = time.monotonic() + PATIENCE_S, [], 0
        while not lost or lost[-1] == lost[0]:  # those that were lost before there was a ground
            assert time.monotonic() < end
            for one in range(100 * number, 100 * number + 100):
                ground.send(telecommand(DEFINITION, "HK_ONCE", None, entries, sequence=one))
            number += 1
            lost += [one.fields["packets_lost"] for one in ground.until("HK_LINK", 100 * number)]
    assert _gapless(ground)


@pytest.mark.guest
@pytest.mark.parametrize(("thread", "number"), [("LINK", 3), ("COMMANDS", 2), ("CONTROL", 0)])
def test_the_watchdog_is_fed_while_every_thread_reports(
    start: Callable[..., Program], tmp_path: Path, dog: int, thread: str, number: int
) -> None:
    """The camera's is left out: it has 20 s, for USB's timeouts."""
    program = start(f"--watchdog={tmp_path}/dog")
    ground = program.connect()
    assert fed(dog, PATIENCE_S) == b"\0"
    threads = sorted(int(one.name) for one in Path(f"/proc/{program.process.pid}/task").iterdir())
    tid = threads[["SUPERVISOR", "LINK", "COMMANDS", "CAMERA", "CONTROL"].index(thread)]  # as they began
    with stopped(tid):
        end = time.monotonic() + PATIENCE_S
        while fed(dog, 2):  # none of 20 that were due
            assert time.monotonic() < end
        if thread == "CONTROL":  # the others carry what is told
            ground.until("EVENT_HIGH", event="WATCHDOG", event_value=number)
        assert not fed(dog, 1)
    assert fed(dog, PATIENCE_S)
    ground.until("EVENT_INFO", event="THREAD_BACK", event_value=number)
    program.process.terminate()
    program.process.wait()
    assert fed(dog, 0)[-1:] == b"V", "ended by command it lets the watchdog go"


@pytest.mark.manual
def test_a_program_that_never_feeds_the_watchdog_is_found(
    start: Callable[..., Program], tmp_path: Path, dog: int
) -> None:
    program = start(f"--watchdog={tmp_path}/dog", name="ds325-flight-sabotage2")
    ground = program.connect()
    ground.send(command("PING", 1))
    ground.until("PONG")
    assert not fed(dog, 3)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--port=0"], "no link: --port or --serial is needed"),
        (["--address=localhost"], "--address=localhost is no IPv4 address"),
        (["--serial=/dev/null", "--port=0"], "--serial=/dev/null: it is no serial line: Not a tty"),
        (["--port=0", "--serial=/nowhere"], "--serial=/nowhere: No such file or directory"),
        (["--key=/dev/zero"], "--key=/dev/zero: this is a pipe, a socket or a device, and a file is needed"),
        (["--start=degraded"], "--start=degraded is none of those that --help lists"),
        (["--watchdog=/nowhere"], "--watchdog=/nowhere: No such file or directory"),
        (["--device=" + "x" * 128], f"--device={'x' * 128} is too long a name"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], complaint: str) -> None:
    done = run_flight("--no-realtime", *arguments)
    assert done.returncode in (2, 3)
    assert (done.stdout, done.stderr.decode()) == (b"", f"ds325-flight: {complaint}\n")


def test_the_program_is_small() -> None:
    assert flight_program("ds325-flight").stat().st_size <= 250 * 1024
