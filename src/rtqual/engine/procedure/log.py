# SPDX-License-Identifier: MIT
"""What `rtqual-ground` or `rtqual-wire` logged (their main.c). A log counts whole or not at all: what cannot be read is
told, and then nothing of the log is evidence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from rtqual.engine.procedure.line import Line
from rtqual.engine.procedure.transfers import File

MOST_B = 8 * 2**20
LATE_NS = 20_000_000  # the ground may be so late with a step; it runs at a real-time priority
_LINE = re.compile(
    r"(?P<at>\d{1,15}) (?:(?P<plain>up|closed|reset)|lost (?P<left>\d{1,6})|unsent (?P<unsent>\d{1,5})"
    r"|did (?P<did>\d{1,5})|failed (?P<failed>\d{1,5}) (?P<why>[ -~]{1,200})"
    r"|send (?P<send>\d{1,5}) (?P<sent>(?:[0-9a-f]{2})+)"
    r"|recv (?P<got>(?:[0-9a-f]{2})+)|thread (?P<when>begin|end) (?P<ran>\d{1,18}) (?P<thread>(?:[0-9a-f]{2}){0,64})"
    r"|begun (?P<begun>[1-9]\d{0,9})|file (?P<file>[ -~]{1,200})"
    r"|end (?P<sends>\d{1,9}) (?P<recvs>\d{1,9}))",
    re.ASCII,
)


class What(StrEnum):
    UP, CLOSED, LOST, RESET = "up", "closed", "lost", "reset"
    SENT, DID, RECEIVED = "sent", "did", "received"
    BEGUN, FILE = "begun", "file"
    AT_BEGIN, AT_END = "begin", "end"  # a thread of the program


class Unsound(ValueError):
    """Why a log is no evidence."""


class Unsent(Unsound):
    """A telecommand that found no link: nothing more can be read of the log, and that is what is wrong."""


@dataclass(frozen=True)
class Entry:
    """A line of the log. `line`: of the script, counted from 0, where the ground did what it says."""

    at_ns: int
    what: What
    line: int = -1
    octets: bytes = b""  # of a packet; a thread's name
    ran_ns: int = 0  # of a thread: on a CPU since it began
    left: int = 0  # octets without a whole packet, when the link was lost
    transaction: int = 0  # of a file
    file: File | None = None  # that ended


def read_log(text: str, lines: Sequence[Line]) -> tuple[Entry, ...]:
    """The entries of a log of this script. Raises Unsound unless it is whole, and every step was done as asked."""
    if len(text) > MOST_B:
        raise Unsound("is too long")
    rows = text.split("\n")
    if rows[-1]:
        raise Unsound(f"is cut off in line {len(rows)}")
    found = [_LINE.fullmatch(row) for row in rows[:-1]]
    for number, match in enumerate(found, 1):
        if match is None:
            raise Unsound(f"line {number} is none of the ground's")
    matches = [match for match in found if match]
    if not matches or matches[-1]["sends"] is None:
        raise Unsound("has no line `end`: it is cut off")
    if any(match_["sends"] is not None for match_ in matches[:-1]):
        raise Unsound("goes on after its line `end`")
    times = [int(match["at"]) for match in matches]
    if any(later < earlier for earlier, later in pairwise(times)):
        raise Unsound("its times go back")
    for match in matches:
        if match["unsent"]:
            raise Unsent(f"at {match['at']} ns step {match['unsent']} of the script was not sent: there was no link")
        if match["failed"]:
            raise Unsound(f"step {match['failed']} of the script failed: {match['why']}")
    entries = tuple(_entry(match) for match in matches[:-1])
    _require_steps(entries, lines, times[-1])
    counts = [sum(entry.what is what for entry in entries) for what in (What.SENT, What.RECEIVED)]
    if counts != [int(matches[-1]["sends"]), int(matches[-1]["recvs"])]:
        raise Unsound("its last line counts other packets than there are: lines are missing")
    _require_link(entries)
    _require_files(entries)
    return entries


def _entry(match: re.Match[str]) -> Entry:
    at_ns = int(match["at"])
    if match["send"]:
        return Entry(at_ns, What.SENT, int(match["send"]) - 1, bytes.fromhex(match["sent"]))
    if match["did"]:
        return Entry(at_ns, What.DID, int(match["did"]) - 1)
    if match["got"]:
        return Entry(at_ns, What.RECEIVED, octets=bytes.fromhex(match["got"]))
    if match["when"] or match["begun"] or match["file"]:
        return _of_thread(at_ns, match) if match["when"] else _of_file(at_ns, match)
    if match["left"]:
        return Entry(at_ns, What.LOST, left=int(match["left"]))
    return Entry(at_ns, What(match["plain"]))


def _of_thread(at_ns: int, match: re.Match[str]) -> Entry:
    return Entry(at_ns, What(match["when"]), octets=bytes.fromhex(match["thread"]), ran_ns=int(match["ran"]))


def _of_file(at_ns: int, match: re.Match[str]) -> Entry:
    if match["begun"]:
        return Entry(at_ns, What.BEGUN, transaction=int(match["begun"]))
    file = File.read(match["file"])
    if file is None:
        raise Unsound(f"has a line on a file that is none of the ground's: {match['file']}")
    return Entry(at_ns, What.FILE, transaction=file.transaction, file=file)


def _require_steps(entries: tuple[Entry, ...], lines: Sequence[Line], end_ns: int) -> None:
    done = [entry for entry in entries if entry.what in (What.SENT, What.DID)]
    back = _back_ns(entries)
    if [entry.line for entry in done] != list(range(len(lines) - 1)):
        raise Unsound("does not hold the script's steps, each once and in order: it is of another script, or damaged")
    for number, (entry, line) in enumerate(zip(done, lines, strict=False), 1):
        if entry.octets != line.packet or (entry.what is What.SENT) != bool(line.packet):
            raise Unsound(f"step {number} of the script sent something else")
        due_ns = max(line.at_ns, back[number - 1])
        if not due_ns <= entry.at_ns <= due_ns + LATE_NS:
            raise Unsound(f"step {number} of the script was due at {line.at_ns} ns and done at {entry.at_ns} ns")
    if end_ns < lines[-1].at_ns:
        raise Unsound("ends too early")


def _back_ns(entries: tuple[Entry, ...]) -> list[int]:
    """For each step when the board was back after the last reset before it, or 0: a board that was down does its steps
    late, and whether it may have been down is for the judge."""
    back: list[int] = []
    is_reset, back_ns = False, 0
    for entry in entries:
        if entry.what is What.UP and is_reset:
            is_reset, back_ns = False, entry.at_ns
        elif entry.what is What.RESET:
            is_reset = True
        elif entry.what in (What.SENT, What.DID):
            back.append(back_ns)
    return back


def _require_link(entries: tuple[Entry, ...]) -> None:
    """Nothing comes or goes while there is no link."""
    up = False
    for entry in entries:
        if entry.what in (What.UP, What.LOST):
            if up is (entry.what is What.UP):
                raise Unsound("says that the link came up or was lost, and it was so already")
            up = entry.what is What.UP
        elif entry.what in (What.CLOSED, What.RESET):
            up = False
        elif entry.what in (What.SENT, What.RECEIVED) and not up:
            raise Unsound("has packets without a link")


def _require_files(entries: tuple[Entry, ...]) -> None:
    """Each file ends that has begun, before the next begins, which has another number."""
    begun, known = 0, set[int]()
    for entry in entries:
        if entry.what is What.RESET:
            begun, known = 0, set()
        elif entry.what is What.BEGUN and not begun and entry.transaction not in known:
            begun = entry.transaction
            known.add(begun)
        elif entry.what is What.FILE and entry.transaction == begun:
            begun = 0
        elif entry.what in (What.BEGUN, What.FILE):
            raise Unsound("has files that begin or end out of their order")
