# SPDX-License-Identifier: MIT
"""A flight program that answers as it should, and the ground's log of it: real packets, for tests of the judge."""

import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

from rtqual.engine.procedure.judging import Judgement
from rtqual_docking.packets.definition import Definition, parse
from rtqual_docking.packets.packet_octets import sealed, time_octets
from rtqual_docking.procedures.checked_procedures import load_procedure
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.own_program import judge
from rtqual_docking.procedures.script import compiled

TOP = Path(__file__).parents[2]
US, MS = 1000, 10**6

START_STOP = """\
title = "Start and stop"
verifies = ["TC-010"]
ends = "3 s"

[[step]]
at = "100 ms"
send = "SET_MODE"
args = { mode = "STANDBY" }

[[step]]
at = "200 ms"
send = "LIDAR_START"
expect = [
  { report = "1.1", within = "5 ms" },
  { report = "1.7", within = "500 ms" },
  { event = "MODE", values = { event_value = "STREAM" }, within = "500 ms" },
]

[[step]]
at = "2 s"
fault = { camera = "unplug:500" }
expect = [{ event = "CAMERA_GONE", within = "50 ms" }, { event = "CAMERA_BACK", within = "700 ms" }]
forbid = [{ report = "5.4" }]

[[step]]
at = "2900 ms"
send = "LIDAR_STOP"
damage = "crc"
expect = [{ report = "1.2", failure = "BAD_CRC", within = "5 ms" }]
"""


@cache
def definition() -> Definition:
    return parse((TOP / "docking/flight/packets.toml").read_text(), "packets.toml")


def procedure(folder: Path, text: str = START_STOP, name: str = "start-stop") -> Procedure:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_procedure(path, definition())


class Log:
    """Builds a log line by line; a line can be found and changed before it is judged."""

    def __init__(self, of: Procedure) -> None:
        self.procedure, self.lines = of, compiled(of, definition())
        self.rows: list[str] = ["0 up"]
        self._count = 0

    def packet(self, service: int, subtype: int, data: bytes = b"", *, count: int | None = None) -> bytes:
        """A report, numbered on."""
        number, self._count = (self._count, self._count + 1) if count is None else (count, self._count)
        head = struct.pack(">HHH", 0x0800 | definition().apid, 0xC000 | number % 2**14, 21 + len(data) + 2 - 7)
        secondary = bytes([0x20, service, subtype]) + bytes(4) + time_octets(number * MS)
        return sealed(head + secondary + data)

    def got(self, at_ns: int, service: int, subtype: int, data: bytes = b"") -> None:
        self.rows.append(f"{at_ns} recv {self.packet(service, subtype, data).hex()}")

    def event(self, at_ns: int, name: str, value: int = 0) -> None:
        event = definition().events[name]
        self.got(at_ns, 5, event.severity, struct.pack(">BII", event.id, value, 0))

    def done(self, line: int, late_ns: int = 10 * US) -> int:
        """The ground does a line of the script; when."""
        one = self.lines[line]
        at_ns = one.at_ns + late_ns
        self.rows.append(f"{at_ns} send {line + 1} {one.packet.hex()}" if one.packet else f"{at_ns} did {line + 1}")
        return at_ns

    def answered(self, line: int, *subtypes: int, after_ns: int = 300 * US, failure: str = "") -> None:
        at_ns = self.done(line) + after_ns
        for subtype in subtypes or (1, 3, 7):
            code = definition().failures[failure].to_bytes(2, "big") if failure else b""
            self.got(at_ns, 1, subtype, self.lines[line].packet[:4] + code)

    def closed(self) -> "Log":
        """The answers that end every procedure, and the log's last line."""
        line = len(self.lines) - 2
        at_ns = self.done(line) + 300 * US
        for subtype in (1, 3):
            self.got(at_ns, 1, subtype, self.lines[line].packet[:4])
        for name in ("CAMERA", "CONTROL", "LINK", "SYSTEM"):
            report = definition().reports[f"HK_{name}"]
            assert report.id is not None
            self.got(at_ns, 3, 25, bytes([report.id]) + bytes(sum(one.octets for one in report.fields)))
        self.got(at_ns, 1, 7, self.lines[line].packet[:4])
        return self.ended()

    def ended(self) -> "Log":
        sends, recvs = (sum(f" {what} " in row for row in self.rows) for what in ("send", "recv"))
        self.rows.append(f"{self.lines[-1].at_ns + 1} end {sends} {recvs}")
        return self

    def recounted(self) -> "Log":
        """As a liar would write it: the last line counts what is there."""
        self.rows.pop()
        return self.ended()

    @property
    def text(self) -> str:
        return "".join(f"{row}\n" for row in self.rows)

    def judged(self) -> Judgement:
        return judge(self.procedure, self.text, definition())

    def find(self, what: Callable[[str], bool]) -> int:
        return next(n for n, row in enumerate(self.rows) if what(row))


def good(of: Procedure) -> Log:
    """The log of START_STOP, flown as it should be."""
    log = Log(of)
    log.answered(0)
    log.answered(1, 1, 3)
    log.event(201 * MS, "MODE", 2)
    log.got(230 * MS, 1, 7, log.lines[1].packet[:4])
    at_ns = log.done(2)
    log.event(at_ns + 20 * MS, "CAMERA_GONE")
    log.event(at_ns + 600 * MS, "CAMERA_BACK")
    log.answered(3, 2, failure="BAD_CRC")
    return log.closed()
