# SPDX-License-Identifier: MIT
"""What must hold of every log, whatever its procedure says: no telecommand answered before it was sent, twice, or in
another order than it was done; each file whole."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rtqual.engine.dialogue.language import Got
from rtqual.engine.dialogue.octets import packet_length
from rtqual.engine.procedure.log import Entry, What
from rtqual_docking.packets.definition import TIME_OCTETS
from rtqual_docking.packets.packet_octets import TC_HEADER

ANSWERS, EVENTS = 1, 5  # services
_SCHEDULE = bytes([11, 4])
ACCEPTED, NOT_ACCEPTED, STARTED, NOT_STARTED, STEP, COMPLETED, FAILED = 1, 2, 3, 4, 5, 7, 8


def answers(entries: Sequence[Entry], got: Sequence[Got]) -> Iterator[str]:
    """The life of each telecommand. A packet that was sent twice has two."""
    of = {arrival.place: arrival.report.values for arrival in got if arrival.report.values.get("service") == ANSWERS}
    sent: Counter[bytes] = Counter()
    seen: Counter[tuple[bytes, int]] = Counter()

    def times(request: bytes, *subtypes: int) -> int:
        return sum(seen[request, subtype] for subtype in subtypes)

    for place, entry in enumerate(entries):
        if entry.what is What.SENT:
            sent.update(packet[:4] for packet in (entry.octets, *_scheduled(entry.octets)))
        if place not in of:
            continue
        request, subtype = of[place]["request"], of[place]["subtype"]
        seen[request, subtype] += 1
        taken = times(request, ACCEPTED)
        begun = times(request, STARTED)
        told = f"at {entry.at_ns} ns came {ANSWERS}.{subtype} of telecommand {request.hex()}"
        if not sent[request]:
            yield f"{told}, which had not been sent"
        elif subtype in (ACCEPTED, NOT_ACCEPTED) and times(request, ACCEPTED, NOT_ACCEPTED) > sent[request]:
            yield f"{told}, which had been answered before"
        elif subtype in (STARTED, NOT_STARTED) and times(request, STARTED, NOT_STARTED) > taken:
            yield f"{told}, which had not been accepted, or had begun before"
        elif subtype in (STEP, COMPLETED, FAILED) and times(request, COMPLETED, FAILED) + (subtype == STEP) > begun:
            yield f"{told}, which had not begun, or had ended before"


def _scheduled(packet: bytes) -> Iterator[bytes]:
    """The telecommands within one, which answer for themselves when they are released."""
    at = TC_HEADER + 2  # behind the number of the subschedule, and that of entries
    count = packet[at - 1] if packet[7:9] == _SCHEDULE and len(packet) >= at else 0
    for _ in range(count):
        at += TIME_OCTETS
        length = packet_length(packet[at:]) or 0
        yield packet[at : at + length]
        at += length


def files(entries: Sequence[Entry]) -> Iterator[str]:
    """Each is whole, and the board's."""
    begun = None
    for entry in entries:
        begun = {What.BEGUN: entry, What.FILE: None}.get(entry.what, begun)
        if entry.file and entry.file.wrong:
            yield f"at {entry.at_ns} ns file {entry.file.name} ended: {entry.file.wrong}"
    if begun:
        yield f"at {begun.at_ns} ns a file began that did not end"
