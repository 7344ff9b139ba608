# SPDX-License-Identifier: MIT
"""What must hold of every log, whatever its procedure says: each packet sound, none missing or there twice, and no
telecommand answered before it was sent, twice, or in another order than it was done; each file whole."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtqual.base.errors import BadInput
from rtqual.engine.dictionary.codec import SEQUENCES, Telemetry, telemetry
from rtqual.engine.dictionary.definition import Definition
from rtqual.engine.procedure.log import Entry, What

ANSWERS, EVENTS = 1, 5  # services
ACCEPTED, NOT_ACCEPTED, STARTED, NOT_STARTED, STEP, COMPLETED, FAILED = 1, 2, 3, 4, 5, 7, 8
REFUSALS = (NOT_ACCEPTED, NOT_STARTED, FAILED)
SEVERE = 3  # and above: medium, high


@dataclass(frozen=True)
class Arrival:
    """A report in a log. `place`: of its entry."""

    place: int
    at_ns: int
    report: Telemetry

    @property
    def kind(self) -> str:
        return f"{self.report.service}.{self.report.subtype}"


def reports(entries: Sequence[Entry], definition: Definition) -> tuple[list[Arrival], list[str]]:
    """The reports that are sound, and what is wrong with others."""
    found: list[Arrival] = []
    wrong: list[str] = []
    for place, entry in enumerate(entries):
        if entry.what is What.RECEIVED:
            try:
                found.append(Arrival(place, entry.at_ns, telemetry(definition, entry.octets)))
            except (BadInput, ValueError) as error:
                wrong.append(f"at {entry.at_ns} ns came {error}")
    return found, wrong


def conduct(entries: Sequence[Entry], got: Sequence[Arrival]) -> Iterator[str]:
    """What is wrong with the order and number of packets."""
    yield from _gaps(entries, got)
    yield from _answers(entries, got)
    yield from _files(entries)


def _gaps(entries: Sequence[Entry], got: Sequence[Arrival]) -> Iterator[str]:
    """Telemetry counts its packets; only a link that goes may take some with it."""
    of = {arrival.place: arrival for arrival in got}
    before: int | None = None
    for place, entry in enumerate(entries):
        if entry.what in (What.UP, What.LOST, What.CLOSED, What.RESET):
            before = None
        elif place in of:
            count = of[place].report.sequence
            if before is not None and count != (before + 1) % SEQUENCES:
                yield f"at {entry.at_ns} ns came packet {count} of telemetry after {before}: lost, or there twice"
            before = count


def _answers(entries: Sequence[Entry], got: Sequence[Arrival]) -> Iterator[str]:
    """The life of each telecommand. A packet that was sent twice has two."""
    of = {arrival.place: arrival for arrival in got if arrival.report.service == ANSWERS}
    sent: Counter[bytes] = Counter()
    seen: Counter[tuple[bytes, int]] = Counter()

    def times(request: bytes, *subtypes: int) -> int:
        return sum(seen[request, subtype] for subtype in subtypes)

    for place, entry in enumerate(entries):
        if entry.what is What.SENT:
            sent[entry.octets[:4]] += 1
        if place not in of:
            continue
        request, subtype = of[place].report.request or b"", of[place].report.subtype
        seen[request, subtype] += 1
        taken = times(request, ACCEPTED)
        begun = times(request, STARTED)
        told = f"at {entry.at_ns} ns came {of[place].kind} of telecommand {request.hex()}"
        if not sent[request]:
            yield f"{told}, which had not been sent"
        elif subtype in (ACCEPTED, NOT_ACCEPTED) and times(request, ACCEPTED, NOT_ACCEPTED) > sent[request]:
            yield f"{told}, which had been answered before"
        elif subtype in (STARTED, NOT_STARTED) and times(request, STARTED, NOT_STARTED) > taken:
            yield f"{told}, which had not been accepted, or had begun before"
        elif subtype in (STEP, COMPLETED, FAILED) and times(request, COMPLETED, FAILED) + (subtype == STEP) > begun:
            yield f"{told}, which had not begun, or had ended before"


def _files(entries: Sequence[Entry]) -> Iterator[str]:
    """Each is whole, and the board's."""
    begun = None
    for entry in entries:
        begun = {What.BEGUN: entry, What.FILE: None}.get(entry.what, begun)
        if entry.file and entry.file.wrong:
            yield f"at {entry.at_ns} ns file {entry.file.name} ended: {entry.file.wrong}"
    if begun:
        yield f"at {begun.at_ns} ns a file began that did not end"
