# SPDX-License-Identifier: MIT
"""A USB/IP client for tests, after Documentation/usb/usbip_protocol.rst of Linux: the host's side of the emulator."""

import socket
import struct
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

ENDPOINT, STALLED, UNLINKED = 1, -32, -104
PROBE = struct.Struct("<HBBIHHHHHIIIBBBB")
URB_BYTES = 32 * 1024  # what uvcvideo asks for at SuperSpeed


@dataclass(frozen=True)
class Answer:
    command: int
    number: int
    status: int
    data: bytes


class Client:
    """One connection, its camera imported. Control requests wait for their answers, bulk URBs do not."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._number = 0
        self._asked: dict[int, bool] = {}  # URB number: its answer brings data
        self._waiting: dict[int, Answer] = {}

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def exactly(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            more = self.socket.recv(size - len(got))
            if not more:
                raise EOFError(f"the camera left after {len(got)} of {size} bytes")
            got += more
        return got

    def drain(self) -> None:
        """Say that nothing more comes, and read until the other side has closed."""
        with suppress(OSError):  # it left while there were bytes it had not read
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(65536):
                pass

    def devices(self) -> bytes:
        self.socket.sendall(struct.pack(">HHI", 0x0111, 0x8005, 0))
        header = self.exactly(12)
        assert struct.unpack(">HHII", header) == (0x0111, 5, 0, 1)
        return self.exactly(312 + 8)

    def take(self, bus_id: str = "1-1") -> int:
        """Import the camera; returns the status."""
        self.socket.sendall(struct.pack(">HHI32s", 0x0111, 0x8003, 0, bus_id.encode()))
        version, code, status = struct.unpack(">HHI", self.exactly(8))
        assert (version, code) == (0x0111, 3)
        if not status:
            self.exactly(312)
        return int(status)

    def submit(self, endpoint: int, *, into: bool, length: int, setup: bytes = bytes(8), data: bytes = b"") -> int:
        self._number += 1
        self._asked[self._number] = into
        header = struct.pack(">IIIII", 1, self._number, 0x10001, into, endpoint)
        self.socket.sendall(header + struct.pack(">IiIiI", 0, length, 0, -1, 0) + setup + data)
        return self._number

    def unlink(self, number: int) -> int:
        self._number += 1
        self.socket.sendall(struct.pack(">IIIIII24x", 2, self._number, 0x10001, 0, 0, number))
        return self._number

    def answer(self, number: int | None = None) -> Answer:
        """The answer to an URB, or the next one that comes."""
        while True:
            if number in self._waiting:
                return self._waiting.pop(number)
            command, got, _, _, _, status, length = struct.unpack(">IIIIIiI", self.exactly(48)[:28])
            data = self.exactly(length) if command == 3 and self._asked[got] and length else b""
            answer = Answer(command, got, status, data)
            if number in (None, got):
                return answer
            self._waiting[got] = answer

    def control(self, kind: int, request: int, value: int = 0, index: int = 0, data: bytes | int = b"") -> Answer:
        """A control request: `data` is what goes out, or how many bytes to ask for."""
        length = data if isinstance(data, int) else len(data)
        setup = struct.pack("<BBHHH", kind, request, value, index, length)
        into = bool(kind & 0x80)
        return self.answer(
            self.submit(0, into=into, length=length, setup=setup, data=b"" if isinstance(data, int) else data)
        )

    def unit(self, *registers: int) -> Answer:
        """SET_CUR of the extension unit's control with an operation, a register and a value."""
        operation, register, value = registers
        return self.control(0x21, 0x01, 0x0200, 0x0600, struct.pack("<BHHxx", operation, register, value))

    def read_register(self, register: int) -> int:
        assert self.unit(0x92, register, 0).status == 0
        answer = self.control(0xA1, 0x81, 0x0200, 0x0600, 7)
        return int(struct.unpack("<BHHxx", answer.data)[2])

    def commit(self, *, format_index: int = 1, interval: int = 166_666) -> None:
        """Probe, then commit: the camera streams from here on."""
        wish = PROBE.pack(1, format_index, 1, interval, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        assert self.control(0x21, 0x01, 0x0100, 1, wish).status == 0
        agreed = self.control(0xA1, 0x81, 0x0100, 1, 34).data
        assert self.control(0x21, 0x01, 0x0200, 1, agreed).status == 0

    def payload(self, urbs: list[int], frame_bytes: int = 307_200, urb_bytes: int = URB_BYTES) -> Answer:
        """One payload from the URBs in flight, of which each is replaced as it comes back; with its header."""
        data = b""
        while True:
            answer = self.answer(urbs.pop(0))
            if answer.status:
                return Answer(3, answer.number, answer.status, data)
            urbs.append(self.submit(ENDPOINT, into=True, length=urb_bytes))
            data += answer.data
            if len(answer.data) < urb_bytes or len(data) == frame_bytes + 2:
                return Answer(3, answer.number, 0, data)

    def urbs(self, count: int = 5, urb_bytes: int = URB_BYTES) -> list[int]:
        return [self.submit(ENDPOINT, into=True, length=urb_bytes) for _ in range(count)]
