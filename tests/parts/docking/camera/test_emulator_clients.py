# SPDX-License-Identifier: MIT
"""Clients that hold on, by mistake or on purpose, cost the others nothing. Real sockets; waits have an end, but no test
says how long anything may take."""

import os
import socket
import struct
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from support.listening_camera import Camera, Start
from support.usbip_client import Client

BUSY = 2  # usbip's ST_DEV_BUSY
PLACES = 8  # docking/camera/software/server.h: CALLERS
IMPORT = struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1")
DESCRIPTOR = struct.pack(">IIIIIIiIiI", 1, 1, 0x10001, 1, 0, 0, 4096, 0, -1, 0) + struct.pack(
    "<BBHHH", 0x80, 6, 0x0200, 0, 4096
)
TCP_REPAIR = 19


def is_served(camera: Camera, *, busy: bool) -> None:
    """Another client gets the list and, unless the camera is another's, the camera."""
    with Client(camera.port) as client:
        assert len(client.devices()) == 320
    with Client(camera.port) as client:
        assert client.take() == (BUSY if busy else 0)
        if not busy:
            assert client.control(0x80, 6, 0x0100, 0, 18).status == 0


def until_free(camera: Camera) -> None:
    """Each attempt is answered at once, so this ends by the camera's patience only. Few attempts: of thousands, one
    would come from the port of a host that has vanished, and so end its connection."""
    while True:
        time.sleep(0.1)
        with Client(camera.port) as client:
            status = client.take()
        if not status:
            return
        assert status == BUSY


def without_reading(camera: Camera, room: int = 0) -> socket.socket:
    """A host that asks until nothing more goes out, and takes none of it. With little `room` for what it is sent, the
    answers wait in the camera's socket; otherwise the camera waits for the socket."""
    host = socket.create_connection(("127.0.0.1", camera.port), timeout=20)
    if room:
        host.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    host.sendall(IMPORT)
    host.settimeout(1)
    with suppress(OSError):  # the camera reads no further as long as it cannot answer
        while True:
            host.sendall(DESCRIPTOR * 64)
    return host


@pytest.mark.parametrize("said", [b"", b"\x01", IMPORT[:8], IMPORT[:39]], ids=["nothing", "a byte", "header", "cut"])
def test_a_client_that_goes_silent_holds_nobody(camera: Start, said: bytes) -> None:
    one = camera()
    with ExitStack() as open_:
        for _ in range(3):
            silent = open_.enter_context(socket.create_connection(("127.0.0.1", one.port)))
            silent.sendall(said)
        is_served(one, busy=False)
        # Still there: it was served beside them, not after them.
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.recv(1)
    one.end()


@pytest.mark.guest  # the emulator's patience: 5 s
def test_a_silent_client_is_given_up(camera: Start) -> None:
    one = camera()
    with socket.create_connection(("127.0.0.1", one.port), timeout=120) as silent:
        assert silent.recv(1) == b""
    one.end()


def test_more_connections_than_places_cost_the_oldest_theirs_and_nobody_else(camera: Start) -> None:
    one = camera()
    with ExitStack() as open_:
        silent = [
            open_.enter_context(socket.create_connection(("127.0.0.1", one.port), timeout=120))
            for _ in range(5 * PLACES)
        ]
        is_served(one, busy=False)
        assert silent[0].recv(1) == b""
        descriptors = len(list(Path(f"/proc/{one.process.pid}/fd").iterdir()))
        assert descriptors <= PLACES + 8  # standard ones, signals, listener, report's
    one.end()


def test_a_second_host_is_told_that_the_camera_is_busy_and_gets_it_afterwards(camera: Start) -> None:
    one = camera("--unthrottled")
    with one.host() as host:
        host.commit()
        urbs = host.urbs()
        for _ in range(3):
            assert host.payload(urbs).status == 0
            is_served(one, busy=True)
        with Client(one.port) as client:
            assert client.take("7-7") == 1  # is not there, whoever has the other
        assert host.payload(urbs).status == 0
    # The next one comes right behind: it is not told of a host that has gone.
    for _ in range(50):
        with one.host() as host:
            assert host.control(0x80, 6, 0x0100, 0, 18).status == 0
    assert one.end()["plugged"] == 51


@pytest.mark.guest  # apt
def test_the_standard_client_says_busy_and_ends(camera: Start) -> None:
    folders = [package.tree for package in fetch_closure(("usbip",))]
    usbip = next(found for folder in folders for found in sorted(folder.glob("usr/sbin/usbip")))
    libraries = ":".join(str(lib) for folder in folders for lib in folder.glob("**/lib/x86_64-linux-gnu"))
    one = camera()
    with one.host():
        done = subprocess.run(
            [usbip, "--tcp-port", str(one.port), "attach", "-r", "127.0.0.1", "-b", "1-1"],
            capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"LD_LIBRARY_PATH": libraries},
        )  # fmt: skip
    assert done.returncode == 1
    assert "Device busy (exported)" in done.stderr
    one.end()


@pytest.mark.guest  # the emulator's patience
@pytest.mark.parametrize("room", [0, 4096])
def test_a_host_that_never_reads_holds_nobody_and_loses_the_camera(camera: Start, room: int) -> None:
    one = camera()
    with without_reading(one, room) as host:
        is_served(one, busy=True)
        until_free(one)
        assert host.fileno() >= 0  # it has not gone by itself
    one.end()


def test_sigterm_ends_it_while_a_host_takes_nothing(camera: Start) -> None:
    one = camera()
    with without_reading(one):
        one.end()


def test_a_host_that_says_no_more_is_let_go(camera: Start) -> None:
    """Half open: its side is closed, ours is not."""
    one = camera()
    with one.host() as host:
        host.socket.shutdown(socket.SHUT_WR)
        is_served(one, busy=False)
        host.drain()
    with Client(one.port) as client:
        client.socket.sendall(IMPORT[:20])
        client.socket.shutdown(socket.SHUT_WR)
        assert client.socket.recv(1) == b""
    one.end()


@pytest.mark.guest  # as long as it takes until the kernel asks whether the host is alive
def test_a_host_that_vanishes_without_a_word_loses_the_camera(camera: Start) -> None:
    """As after a power cut: TCP_REPAIR lets a socket go without a packet."""
    one = camera()
    host = one.host()
    host.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # nothing is left that has to be sent again
    host.socket.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
    host.socket.close()
    is_served(one, busy=True)
    until_free(one)
    one.end()
