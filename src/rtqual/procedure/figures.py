# SPDX-License-Identifier: MIT
"""Figures of a log: how long telecommands take, how old poses are, what was lost."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from rtqual.packet.definition import Definition
from rtqual.procedure.log import Unsound, What, read_log
from rtqual.procedure.model import Procedure
from rtqual.procedure.script import compiled
from rtqual.procedure.sound import ANSWERS, reports

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


def figures(procedure: Procedure, log: str, definition: Definition) -> Figures:
    """None of a log that is no evidence."""
    lines = compiled(procedure, definition)
    try:
        entries = read_log(log, lines)
    except Unsound:
        return Figures()
    got, _ = reports(entries, definition)
    sent: dict[bytes, tuple[int, str]] = {}
    latencies: dict[str, list[int]] = defaultdict(list)
    for entry in entries:
        if entry.what is What.SENT and lines[entry.line].sound:
            sent[entry.octets[:4]] = entry.at_ns, lines[entry.line].command
    answered: set[tuple[bytes, int]] = set()
    scalars: dict[str, tuple[float, str]] = {}
    courses: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for one in got:
        report = one.report
        if report.service == ANSWERS and report.request in sent:
            assert report.request is not None  # noqa: S101 - it is a key
            since_ns, command = sent[report.request]
            what = {1: ACCEPTED, 7: COMPLETED}.get(report.subtype)
            if what and (report.request, report.subtype) not in answered:
                answered.add((report.request, report.subtype))
                latencies[f"{what} {command}"].append(one.at_ns - since_ns)
                courses[what].append((one.at_ns, one.at_ns - since_ns))
        for name, (figure, written) in _LAST.items():
            if name in report.fields:
                factor, unit = _UNITS[written]
                scalars[figure] = report.fields[name] * factor, unit
                courses[figure].append((one.at_ns, report.fields[name] * factor))
        if "pose_age_us" in report.fields and report.fields.get("pose_status") == "VALID":
            latencies[POSE_AGE].append(report.fields["pose_age_us"] * _NS_PER_US)
            courses[POSE_AGE].append((one.at_ns, report.fields["pose_age_us"] * _NS_PER_US))
    return Figures(dict(latencies), scalars, dict(courses))
