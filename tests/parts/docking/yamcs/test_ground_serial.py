# SPDX-License-Identifier: MIT
"""`rtqual serial` between grounds on TCP and ds325-flight on a serial line."""

import os
import random
import select
import signal
import socket
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtqual.engine.dialogue.octets import cobs
from support.command import rtqual_command, rtqual_here
from support.flight_link import PATIENCE_S, Ground, Program, command, start

__all__ = ["start"]  # a fixture
DAMAGED = 0.01  # of the octets


@contextmanager
def cable(damaged: float) -> Iterator[tuple[str, str]]:
    """The names of the two ends of a line, which damages some octets of what the board says."""
    ends = [os.openpty() for _ in range(2)]
    for ours, theirs in ends:
        tty.setraw(ours)
        tty.setraw(theirs)
    (board, board_end), (ground, ground_end) = ends
    stop, draw = threading.Event(), random.Random(3)  # noqa: S311

    def carry() -> None:
        while not stop.is_set():
            for fd in select.select([board, ground], [], [], 0.1)[0]:
                got = bytearray(os.read(fd, 4096))
                if fd == board:
                    for at in range(len(got)):
                        got[at] ^= draw.randrange(1, 256) if draw.random() < damaged else 0
                os.write(ground if fd == board else board, got)

    carrier = threading.Thread(target=carry)
    carrier.start()
    try:
        yield os.ttyname(board_end), os.ttyname(ground_end)
    finally:
        stop.set()
        carrier.join()
        for fd in (board, board_end, ground, ground_end):
            os.close(fd)


@contextmanager
def carried(line: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], Ground]]]:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    sockets: list[socket.socket] = []

    def connect() -> Ground:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                one = socket.create_connection(("127.0.0.1", port))
            except ConnectionRefusedError:
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.05)
                continue
            sockets.append(one)
            return Ground(one.sendall, one.fileno())

    told = rtqual_command("serial", line, "--port", port, "--baud", 0)
    # As a shell starts it: it heeds SIGINT.
    with subprocess.Popen(["env", "--default-signal=INT", *told], stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process, connect
        finally:
            process.kill()
            for one in sockets:
                one.close()


@pytest.mark.guest
def test_two_grounds_share_a_serial_line(start: Callable[..., Program]) -> None:
    with cable(0) as (board, line), carried(line) as (process, connect):
        start(f"--serial={board}", "--port=0", "--baud=0")
        first, second = connect(), connect()
        first.send(command("PING", 1))
        first.until("PONG")
        second.until("PONG")
        second.send(command("PING", 2)[:5])  # half of one goes nowhere
        first.send(command("GET_PARAMETERS", 3, parameter="RATE"))
        second.until("PARAMETERS")
        assert not [one for one in first.reports if one.name == "NOT_ACCEPTED"]
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")


@pytest.mark.guest
def test_damage_on_the_line_costs_packets_and_no_connection(start: Callable[..., Program]) -> None:
    """A wrong length on TCP would be read as the next packet's beginning; the ground here takes all that comes."""
    with cable(DAMAGED) as (board, line), carried(line) as (_, connect):
        start(f"--serial={board}", "--port=0", "--baud=0")
        ground = connect()
        for number in range(500):
            ground.send(command("PING", number))
            while ground.take(0):
                pass
        end = time.monotonic() + PATIENCE_S
        while not any(one.request == b"\x18\x42\xc1\xf3" for one in ground.reports) and time.monotonic() < end:
            ground.take(0.2)
        pongs = sum(one.name == "PONG" for one in ground.reports)
        assert 250 < pongs < 500, "some are lost, most are not"
        assert not ground.stream and ground.open


@contextmanager
def silent_board() -> Iterator[tuple[int, str]]:
    """Its end of a line, from which nobody reads, and the other end's name."""
    board, line = os.openpty()
    tty.setraw(board)
    try:
        yield board, os.ttyname(line)
    finally:
        os.close(board)
        os.close(line)


def _gets(ground: Ground, packets: bytes) -> None:
    got, end = b"", time.monotonic() + PATIENCE_S
    while len(got) < len(packets):
        assert time.monotonic() < end, got
        if select.select([ground.fd], [], [], 0.2)[0]:
            got += os.read(ground.fd, 4096)
    assert got == packets


def test_a_ground_that_floods_a_line_that_takes_nothing_costs_no_telemetry() -> None:
    ping = command("PING", 1)
    with silent_board() as (board, line), carried(line) as (process, connect):
        flood, other = connect(), connect()
        os.set_blocking(flood.fd, False)
        end = time.monotonic() + PATIENCE_S
        while select.select([], [flood.fd], [], 1)[1]:  # until nobody takes more of it
            assert time.monotonic() < end
            os.write(flood.fd, ping * 1000)
        os.write(board, cobs(ping) * 20)
        _gets(other, ping * 20)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


def test_a_flood_of_grounds_costs_those_that_are_there_nothing() -> None:
    """It took all descriptors, and the program ended."""
    ping = command("PING", 1)
    with silent_board() as (board, line), carried(line) as (process, connect):
        first = connect()
        os.write(board, cobs(ping))
        _gets(first, ping)
        others = [connect() for _ in range(40)]
        for one in others[15:]:
            one.until_closed()
        os.write(board, cobs(ping))
        for one in (first, *others[:15]):
            _gets(one, ping)
        assert process.poll() is None


def test_what_is_no_line_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, said in (
            ([tmp_path / "file"], "is no serial line"),
            ([tmp_path / "none"], "cannot be opened"),
            (["/dev/null"], "cannot be opened"),
            (["board:²"], "cannot be opened"),
            ([f"board:{'9' * 5000}"], "cannot be opened"),
            ([f"127.0.0.1:{port}", "--port", port], f"--port {port}: Address already in use"),
            (["/dev/ttyS0", "--baud", "7"], "--baud 7: no such speed"),
            (["/dev/ttyS0", "--port", "0"], "--port 0: write a TCP port"),
        ):
            done = rtqual_here("serial", *arguments)
            assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_line_that_ends_is_told() -> None:
    """As of a guest that has ended."""
    with socket.create_server(("127.0.0.1", 0)) as guest, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        line = f"127.0.0.1:{guest.getsockname()[1]}"
        with subprocess.Popen(rtqual_command("serial", line, "--port", port), stderr=subprocess.PIPE, text=True) as it:
            end, _ = guest.accept()
            with end:
                assert end.recv(1) == b"\0"
                end.sendall(cobs(command("PING", 1)) * 3)
            _, told = it.communicate(timeout=PATIENCE_S)
            assert (it.returncode, "the serial line has ended" in told) == (3, True), told
