# SPDX-License-Identifier: MIT
"""How long telecommands take, by the log of a procedure."""

from collections import defaultdict
from collections.abc import Mapping

from rtqual.engine.dialogue.judge import hear
from rtqual.engine.dialogue.language import Language
from rtqual.engine.dialogue.model import Procedure
from rtqual.engine.dialogue.script import compiled
from rtqual.engine.mission.language import Stage
from rtqual.engine.procedure.figures import ACCEPTED, COMPLETED
from rtqual.engine.procedure.log import Unsound, What, read_log

_STAGES = {Stage.ACCEPTED: ACCEPTED, Stage.COMPLETED: COMPLETED}


def figures(procedure: Procedure, log: str, language: Language) -> Mapping[str, list[int]]:
    """Return "accepted NAME" -> from each sending to its answer, in ns; none of a log that is no evidence.

    Where a program does not tell which telecommand it means, the first that waits for such an answer has it.
    """
    lines = compiled(procedure, language)
    try:
        entries = read_log(log, lines)
    except Unsound:
        return {}
    sent = [(place, e.at_ns, lines[e.line]) for place, e in enumerate(entries) if e.what is What.SENT]
    found: dict[str, list[int]] = defaultdict(list)
    answered: set[tuple[int, Stage]] = set()
    for got in hear(entries, language).got:
        stage = got.meant.stage if got.meant else None
        if got.meant is None or stage not in _STAGES:
            continue
        for place, at_ns, line in sent:
            if place < got.place and (place, stage) not in answered and got.meant.answers(line.command, line.encoded):
                answered.add((place, stage))
                found[f"{_STAGES[stage]} {line.command}"].append(got.at_ns - at_ns)
                break
    return found
