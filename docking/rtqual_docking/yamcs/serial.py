# SPDX-License-Identifier: MIT
"""A serial line of the flight program as a TCP port: its frames are packets with COBS, which Yamcs does not know.

Every connection gets all packets from the board, as the program's own TCP server gives them, and what each sends goes
to the board, which judges it. A frame that is damaged is left out: on TCP nothing but the packets' lengths parts them.
The line is slow: while it takes nothing, nobody is asked for more, and what the board says goes on.
"""

import os
import selectors
import socket
import stat
import termios
import tty
from collections.abc import Callable
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.words import whole
from rtqual.engine.dialogue.octets import cobs, crc16, from_cobs, packet_length
from rtqual_docking.packets import packet_octets as octets
from rtqual_docking.packets.definition import load

_READ = 65536
_TURN = 2048  # of a ground before the next one has its turn: 0.2 s of a line of 115,200 baud
_GROUNDS_MOST = 16
_UNSENT_MOST = 1 << 20  # of a connection that does not read, before it is closed
BAUDS = {int(name[1:]): getattr(termios, name) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}


def opened(line: str, baud: int) -> int:
    """A descriptor of PATH, a terminal, or of HOST:PORT, such as QEMU's -chardev socket. Raises BadInput."""
    host, _, port = line.rpartition(":")
    try:
        if host and "/" not in line and (number := whole(port)) is not None:
            return socket.create_connection((host.strip("[]"), number), 5).detach()
        if not stat.S_ISCHR(Path(line).stat().st_mode):
            raise BadInput(f"{line}: is no serial line; give a device, as /dev/ttyUSB0, or HOST:PORT")
        fd = os.open(line, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            tty.setraw(fd)
            if baud:
                settings = termios.tcgetattr(fd)
                settings[4] = settings[5] = BAUDS[baud]
                termios.tcsetattr(fd, termios.TCSANOW, settings)
        except (OSError, termios.error):
            os.close(fd)
            raise
    except (OSError, OverflowError, termios.error) as error:
        raise BadInput(
            f"{line}: cannot be opened: {error.args[-1]}; give a device, as /dev/ttyUSB0, or HOST:PORT"
        ) from None
    return fd


class Carrier:
    """Carries until the line ends; the descriptor and the listening socket are the caller's."""

    def __init__(self, line: int, server: socket.socket, tell: Callable[[str], None]) -> None:
        self._line, self._server, self._tell = line, server, tell
        self._frames = bytearray()
        self._to_go = bytearray(b"\0")  # to the board; what lies there from before ends here
        self._largest = load().largest  # octets of a packet
        self._grounds: dict[socket.socket, tuple[bytearray, bytearray]] = {}  # what came, what is to go
        self._selector = selectors.DefaultSelector()
        os.set_blocking(line, False)
        server.setblocking(False)
        self._selector.register(server, selectors.EVENT_READ)

    def run(self) -> None:
        """Raises RunFailed where the line ends."""
        try:
            while True:
                self._wait_for()
                for key, events in self._selector.select():
                    if key.fileobj == self._line:
                        self._of_line(events)
                    elif key.fileobj is self._server:
                        self._accept()
                    elif isinstance(key.fileobj, socket.socket) and key.fileobj in self._grounds:
                        self._of_ground(key.fileobj, events)
        finally:
            for ground in list(self._grounds):
                self._close(ground, "ended")
            self._selector.close()

    def _wait_for(self) -> None:
        """The line is written to while something is to go there, and grounds are heard while nothing is."""
        going = bool(self._to_go)
        self._register(self._line, selectors.EVENT_READ | (selectors.EVENT_WRITE if going else 0))
        for connection, (_, unsent) in self._grounds.items():
            self._register(
                connection, (0 if going else selectors.EVENT_READ) | (selectors.EVENT_WRITE if unsent else 0)
            )

    def _register(self, endpoint: int | socket.socket, events: int) -> None:
        known = self._selector.get_map().get(endpoint)
        if known and known.events != events:
            self._selector.unregister(endpoint)
        if events and (not known or known.events != events):
            self._selector.register(endpoint, events)

    def _of_line(self, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                self._from_board(os.read(self._line, _READ))
            if events & selectors.EVENT_WRITE:
                del self._to_go[: os.write(self._line, self._to_go)]
        except BlockingIOError:
            pass
        except OSError as error:
            raise RunFailed(f"the serial line failed: {error.strerror}") from None

    def _from_board(self, got: bytes) -> None:
        if not got:
            raise RunFailed("the serial line has ended")
        *frames, rest = bytes(self._frames + got).split(b"\0")
        # What is longer than any frame is none: it would grow for ever on a line that never says zero.
        self._frames = bytearray(rest if len(rest) <= 2 * self._largest else b"")
        for frame in frames:
            packet = from_cobs(frame)
            if packet and packet_length(packet) == len(packet) and not crc16(packet):
                for ground in list(self._grounds):
                    self._send(ground, packet)

    def _accept(self) -> None:
        connection, address = self._server.accept()
        if len(self._grounds) >= _GROUNDS_MOST:
            connection.close()
            self._tell(f"a ground was refused: {_GROUNDS_MOST} are connected")
            return
        connection.setblocking(False)
        self._grounds[connection] = bytearray(), bytearray()
        self._tell(f"a ground has connected: {address[0]}:{address[1]}")

    def _of_ground(self, connection: socket.socket, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            self._send(connection)
        if not events & selectors.EVENT_READ or connection not in self._grounds:
            return
        try:
            got = connection.recv(_TURN)
        except OSError:
            got = b""
        if not got:
            self._close(connection, "has gone")
            return
        stream, _ = self._grounds[connection]
        stream += got
        for packet in octets.packets(stream):
            self._to_go += cobs(packet)
        if (packet_length(stream) or 0) > self._largest:
            self._close(connection, "sent what is no telecommand")

    def _send(self, connection: socket.socket, packet: bytes = b"") -> None:
        _, unsent = self._grounds[connection]
        unsent += packet
        try:
            del unsent[: connection.send(unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._close(connection, "has gone")
            return
        if len(unsent) > _UNSENT_MOST:
            self._close(connection, "does not read")

    def _close(self, connection: socket.socket, why: str) -> None:
        del self._grounds[connection]
        self._register(connection, 0)
        connection.close()
        self._tell(f"a ground {why}")
