# SPDX-License-Identifier: MIT
"""Figures of a log: how long telecommands take, how old poses are, what was lost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rtqual.engine.dictionary.definition import Definition
from rtqual.engine.procedure.log import Entry, Unsound, What, read_log
from rtqual.engine.procedure.model import Procedure
from rtqual.engine.procedure.script import Line, compiled
from rtqual.engine.procedure.sound import ANSWERS, Arrival, reports

_NS_PER_US = 1000
ACCEPTED, COMPLETED, POSE_AGE = "accepted", "completed", "pose age"
# Counters of the housekeeping that ends every procedure: field -> figure, unit.
_LAST = {
    "lost": ("frames_lost", "1"),
    "frames": ("frames", "1"),
    "refused": ("frames_refused", "1"),
    "frame_latency_most_us": ("frame_latency_most", "us"),
    "control_misses": ("deadline_misses", "1"),
    "control_late_most_us": ("control_late_most", "us"),
    "packets_lost": ("packets_lost", "1"),
    "memory_kib": ("memory", "KiB"),
    "boots": ("boots", "1"),
}
_UNITS = {"us": (1000, "ns"), "KiB": (1024, "B"), "1": (1, "1")}


@dataclass(frozen=True)
class Figures:
    """`latencies_ns`: "accepted PING" -> from each sending to its answer; `scalars`: value and unit.
    `courses`: of both, each with its time in ns, in the units of their figures."""

    latencies_ns: Mapping[str, list[int]] = field(default_factory=dict)
    scalars: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    courses: Mapping[str, list[tuple[int, float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerTime:
    """`name`: as "accepted PING"; when its telecommand was sent and when it came, in ns since the link is there."""

    name: str
    sent_ns: int
    at_ns: int


def answers(procedure: Procedure, log: str, definition: Definition) -> list[AnswerTime]:
    """The first of each kind to each sound telecommand, in the order in which they came. Raises Unsound."""
    lines = compiled(procedure, definition)
    entries = read_log(log, lines)
    return _answers(lines, entries, reports(entries, definition)[0])


def _answers(lines: Sequence[Line], entries: Iterable[Entry], got: Iterable[Arrival]) -> list[AnswerTime]:
    sent: dict[bytes, tuple[int, str]] = {}
    for entry in entries:
        if entry.what is What.SENT and lines[entry.line].sound:
            sent[entry.octets[:4]] = entry.at_ns, lines[entry.line].command
    found: dict[tuple[bytes, str], AnswerTime] = {}
    for arrival in got:
        report = arrival.report
        what = {1: ACCEPTED, 7: COMPLETED}.get(report.subtype)
        if what and report.service == ANSWERS and report.request in sent:
            assert report.request is not None  # noqa: S101 - it is a key
            since_ns, command = sent[report.request]
            found.setdefault((report.request, what), AnswerTime(f"{what} {command}", since_ns, arrival.at_ns))
    return list(found.values())


def figures(procedure: Procedure, log: str, definition: Definition) -> Figures:
    """None of a log that is no evidence."""
    lines = compiled(procedure, definition)
    try:
        entries = read_log(log, lines)
    except Unsound:
        return Figures()
    got, _ = reports(entries, definition)
    latencies: dict[str, list[int]] = defaultdict(list)
    courses: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for answer in _answers(lines, entries, got):
        latencies[answer.name].append(answer.at_ns - answer.sent_ns)
        courses[answer.name.partition(" ")[0]].append((answer.at_ns, answer.at_ns - answer.sent_ns))
    scalars: dict[str, tuple[float, str]] = {}
    for arrival in got:
        report = arrival.report
        for name, (figure, written) in _LAST.items():
            if name in report.fields:
                factor, unit = _UNITS[written]
                scalars[figure] = report.fields[name] * factor, unit
                courses[figure].append((arrival.at_ns, report.fields[name] * factor))
        if "pose_age_us" in report.fields and report.fields.get("pose_status") == "VALID":
            latencies[POSE_AGE].append(report.fields["pose_age_us"] * _NS_PER_US)
            courses[POSE_AGE].append((arrival.at_ns, report.fields["pose_age_us"] * _NS_PER_US))
    return Figures(dict(latencies), scalars, dict(courses))
