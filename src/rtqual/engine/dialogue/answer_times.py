# SPDX-License-Identifier: MIT
"""How long telecommands take, by the log of a procedure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtqual.engine.dialogue.hearing import hear
from rtqual.engine.dialogue.language import Got, Language
from rtqual.engine.mission.language_table import Stage
from rtqual.engine.procedure.line import Line
from rtqual.engine.procedure.log import Entry, Unsound, What, read_log

ACCEPTED, COMPLETED = "accepted", "completed"
_STAGES = {Stage.ACCEPTED: ACCEPTED, Stage.COMPLETED: COMPLETED}
# An answer -> what its telecommand no longer waits for.
_OVER = {
    Stage.ACCEPTED: (Stage.ACCEPTED,),
    Stage.REFUSED: (Stage.ACCEPTED, Stage.COMPLETED),
    Stage.COMPLETED: (Stage.COMPLETED,),
    Stage.FAILED: (Stage.COMPLETED,),
}


@dataclass(frozen=True)
class AnswerTime:
    """`name`: as "accepted PING"; when its telecommand was sent and when it came, in ns since the link is there.
    `sound`: whether the telecommand was."""

    name: str
    sent_ns: int
    at_ns: int
    sound: bool


def answers(lines: Sequence[Line], entries: Sequence[Entry], got: Iterable[Got]) -> Iterator[AnswerTime]:
    """The first of each kind to each telecommand, in the order in which they came.

    Where a program does not tell which telecommand it means, the first that waits for such an answer has it: of those
    that were sound, before others; a refusal is of others first.
    """
    sent = [(place, e.at_ns, lines[e.line]) for place, e in enumerate(entries) if e.what is What.SENT]
    answered: set[tuple[int, Stage]] = set()
    for arrival in got:
        meant = arrival.meant
        if meant is None or meant.stage not in _OVER:
            continue
        over = _OVER[meant.stage]
        refused = meant.stage is Stage.REFUSED
        for place, at_ns, line in sorted(sent, key=lambda each: each[2].sound is refused):
            waits = place < arrival.place and (place, over[0]) not in answered
            if waits and meant.answers(line.command, line.encoded):
                answered |= {(place, stage) for stage in over}
                if meant.stage in _STAGES:
                    yield AnswerTime(f"{_STAGES[meant.stage]} {line.command}", at_ns, arrival.at_ns, line.sound)
                break


def figures(lines: Sequence[Line], log: str, language: Language) -> Mapping[str, list[int]]:
    """Return "accepted NAME" -> from each sending to its answer, in ns; none of a log that is no evidence."""
    try:
        entries = read_log(log, lines)
    except Unsound:
        return {}
    found: dict[str, list[int]] = defaultdict(list)
    for answer in answers(lines, entries, hear(entries, language).got):
        found[answer.name].append(answer.at_ns - answer.sent_ns)
    return found
