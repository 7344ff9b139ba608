# SPDX-License-Identifier: MIT
"""Figures of a log: how long telecommands take, how old poses are, what was lost."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rtqual.engine.dialogue.answer_times import AnswerTime
from rtqual.engine.dialogue.answer_times import answers as answer_times
from rtqual.engine.dialogue.hearing import hear
from rtqual.engine.dialogue.language import Got
from rtqual.engine.procedure.log import Unsound, read_log
from rtqual.reports.trends import POSE_AGE
from rtqual_docking.packets.definition import Definition
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.own_program import language
from rtqual_docking.procedures.script import compiled

_NS_PER_US = 1000
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


def answers(procedure: Procedure, log: str, definition: Definition) -> list[AnswerTime]:
    """Those to sound telecommands, in the order in which they came. Raises Unsound."""
    return _heard(procedure, log, definition)[0]


def _heard(procedure: Procedure, log: str, definition: Definition) -> tuple[list[AnswerTime], Sequence[Got]]:
    lines = compiled(procedure, definition)
    entries = read_log(log, lines)
    got = hear(entries, language(definition)).got
    return [answer for answer in answer_times(lines, entries, got) if answer.sound], got


def figures(procedure: Procedure, log: str, definition: Definition) -> Figures:
    """None of a log that is no evidence."""
    try:
        answered, got = _heard(procedure, log, definition)
    except Unsound:
        return Figures()
    latencies: dict[str, list[int]] = defaultdict(list)
    courses: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for answer in answered:
        latencies[answer.name].append(answer.at_ns - answer.sent_ns)
        courses[answer.name.partition(" ")[0]].append((answer.at_ns, answer.at_ns - answer.sent_ns))
    scalars: dict[str, tuple[float, str]] = {}
    for arrival in got:
        values = arrival.report.values
        for name, (figure, written) in _LAST.items():
            if name in values and "service" in values:
                factor, unit = _UNITS[written]
                scalars[figure] = values[name] * factor, unit
                courses[figure].append((arrival.at_ns, values[name] * factor))
        if "pose_age_us" in values and values.get("pose_status") == "VALID":
            latencies[POSE_AGE].append(values["pose_age_us"] * _NS_PER_US)
            courses[POSE_AGE].append((arrival.at_ns, values["pose_age_us"] * _NS_PER_US))
    return Figures(dict(latencies), scalars, dict(courses))
