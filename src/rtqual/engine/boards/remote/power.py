# SPDX-License-Identifier: MIT
"""A board's power, switched by commands on this machine, and its console, as far as it has them."""

import shlex
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.engine.boards.remote.settings import Settings

_POWER_S, _OFF_S = 60.0, 3.0
_RETRY_S = 0.5
_SHOWN = 20_000  # characters of the console worth searching
_LOG_MOST_B = 64 * 2**20


class PowerSwitch(Protocol):
    def cycle(self) -> None:
        """Off, a moment, on. Raises RunFailed."""
        ...


class Switched:
    """Two commands, each a program with its arguments: no shell reads them."""

    def __init__(self, name: str, off: tuple[str, ...], on: tuple[str, ...]) -> None:
        self._name, self._off, self._on = name, off, on

    def cycle(self) -> None:
        try:
            self._run(self._off)
            threading.Event().wait(_OFF_S)
        finally:  # interrupted or failed: no board is left without power
            self._run(self._on)

    def _run(self, command: tuple[str, ...]) -> None:
        what = f"board {self._name}: its power command `{shlex.join(command)}`"
        try:
            done = run(command, timeout_s=_POWER_S)
        except RunFailed as error:
            raise RunFailed(f"{what}: {error}") from None
        done.require(f"{what} failed")


def power_of(settings: Settings) -> PowerSwitch | None:
    if not settings.power_on:
        return None
    return Switched(settings.name, settings.power_off, settings.power_on)


class Console:
    """Reads `socket:PATH` or `tcp:HOST:PORT` into a file for as long as it is open; without either it is silent."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._place, self._log = settings.console, log
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        log.parent.mkdir(parents=True, exist_ok=True)
        log.touch()

    def open(self) -> None:
        if self._place and self._thread is None:
            self._over.clear()
            self._thread = threading.Thread(target=self._read, daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread:
            self._thread.join(5)
            self._thread = None

    def mark(self) -> int:
        """Here, to read from later."""
        return self._log.stat().st_size

    def since(self, mark: int) -> str:
        with self._log.open("rb") as file:
            file.seek(max(mark, self._log.stat().st_size - _SHOWN))
            return file.read().decode(errors="replace")

    def _read(self) -> None:
        while not self._over.is_set():
            with suppress(OSError), self._connected() as source, self._log.open("ab", buffering=0) as log:
                while not self._over.is_set():
                    with suppress(TimeoutError):
                        piece = source.recv(4096)
                        if not piece:
                            break
                        if log.tell() < _LOG_MOST_B:
                            log.write(piece)
            self._over.wait(_RETRY_S)

    def _connected(self) -> socket.socket:
        kind, _, where = self._place.partition(":")
        if kind == "socket":
            source = socket.socket(socket.AF_UNIX)
            source.connect(where)
        else:
            host, _, port = where.rpartition(":")
            source = socket.create_connection((host, int(port)), 5)
        source.settimeout(_RETRY_S)
        return source
