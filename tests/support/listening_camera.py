# SPDX-License-Identifier: MIT
"""The emulator as a process that listens for a host over TCP."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from support.usbip_client import Client

FRAMES = 4


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


Start = Callable[..., Camera]
