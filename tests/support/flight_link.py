# SPDX-License-Identifier: MIT
"""ds325-flight on this machine, without a camera and without real time, and the other end of its links."""

import os
import select
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.dialogue.octets import crc16, from_cobs
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.codec import Telemetry, telecommand, telemetry
from rtqual_docking.packets.definition import load
from support.flight_programs import flight_program

DEFINITION = load()
PATIENCE_S = 60  # a busy machine


class Ground:
    """One end of a link; `read` returns octets, nothing after a second of silence."""

    def __init__(self, send: Callable[[bytes], object], fd: int, *, serial: bool = False) -> None:
        self.send, self.fd, self.serial = send, fd, serial
        self.stream = bytearray()
        self.reports: list[Telemetry] = []
        self.pdus: list[bytes] = []  # of files
        self.open = True

    def take(self, wait_s: float) -> bool:
        """False: nothing came."""
        if not self.open or not select.select([self.fd], [], [], wait_s)[0]:
            return False
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            got = b""
        self.open = bool(got)
        self.stream += got
        if self.serial:
            *frames, rest = bytes(self.stream).split(b"\0")
            self.stream = bytearray(rest)
            packets = [one for frame in frames if (one := from_cobs(frame))]
        else:
            packets = list(octets.packets(self.stream))
        of_files = [one for one in packets if one[1] == DEFINITION.apid + 1]
        self.pdus += [one[6:-2] for one in of_files if crc16(one) == 0]
        self.reports += [telemetry(DEFINITION, one) for one in packets if one not in of_files]
        return self.open

    def until(self, name: str, count: int = 1, **fields: object) -> list[Telemetry]:
        """The first `count` reports of this name and these fields; the test fails where they do not come."""
        end = time.monotonic() + PATIENCE_S
        while True:
            found = [one for one in self.reports if one.name == name and fields.items() <= one.fields.items()]
            if len(found) >= count:
                return found[:count]
            assert time.monotonic() < end and self.open, (
                name,
                fields,
                Counter((one.name, one.fields.get("event")) for one in self.reports),
                [(one.name, one.fields) for one in self.reports[-20:]],
            )
            self.take(1)

    def until_closed(self) -> None:
        end = time.monotonic() + PATIENCE_S
        while self.open:
            assert time.monotonic() < end
            self.take(1)


class Program:
    def __init__(
        self, folder: Path, *arguments: str, name: str = "ds325-flight", executable: Path | None = None
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as one:
            self.port = one.getsockname()[1]
        program = executable or flight_program(name)
        self.command = [program, "--no-realtime", f"--port={self.port}", f"--state={folder}/state", *arguments]
        self.process = subprocess.Popen(self.command)
        self.sockets: list[socket.socket] = []

    def connect(self) -> Ground:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                one = socket.create_connection(("127.0.0.1", self.port))
            except ConnectionRefusedError:
                assert time.monotonic() < end and self.process.poll() is None
                time.sleep(0.01)
                continue
            self.sockets.append(one)
            return Ground(one.sendall, one.fileno())

    def again(self, signal_sent: int) -> None:
        self.process.send_signal(signal_sent)
        self.process.wait()
        self.process = subprocess.Popen(self.command)


def command(name: str, sequence: int, **arguments: str | int) -> bytes:
    return telecommand(DEFINITION, name, arguments, sequence=sequence)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Program]]:
    started: list[Program] = []

    def begin(*arguments: str, **program: Any) -> Program:
        started.append(Program(tmp_path, *arguments, **program))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
        for ground in one.sockets:
            ground.close()


@pytest.fixture
def dog(tmp_path: Path) -> Iterator[int]:
    """A pipe in the place of a watchdog, as `--watchdog={tmp_path}/dog`."""
    os.mkfifo(tmp_path / "dog")
    with (tmp_path / "dog").open("r+b", buffering=0) as pipe:
        yield pipe.fileno()


def fed(dog: int, wait_s: float) -> bytes:
    """What the watchdog was given meanwhile."""
    return os.read(dog, 65536) if select.select([dog], [], [], wait_s)[0] else b""
