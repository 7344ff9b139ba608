# SPDX-License-Identifier: MIT
"""Goals of tailoring beside what was reached."""

from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.verdict.clock import by_clock
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Quantity
from rtqual.reports.page.document import TONES, TableCell
from rtqual.reports.page.text import prose, quantity

_SAID = {Outcome.MET: "met", Outcome.NOT_MET: "missed"}
_ON_EMULATOR = {Outcome.MET: "met on the emulator", Outcome.NOT_MET: "not met on the emulator"}


def goal_cell(
    goal: Quantity | None, name: str, before: Summary | None, after: Summary | None, *, accept_virtual: bool
) -> TableCell:
    """At most a size or a time, or at most a part of what it was before."""
    if goal is None:
        return TableCell("-")
    part = goal.unit == "%"
    text = f"at most {prose(goal.text)}" + (" of before" if part else "")
    was, found = (summary.figures.get(name) if summary else None for summary in (before, after))
    if after is None or found is None or (part and was is None):
        return TableCell(f"{text}: not measured", tone="open")
    limit = goal.value / 100 * was.value if part and was else goal.value
    outcome = Outcome.MET if found.value <= limit else Outcome.NOT_MET
    gate = Gate(name, after.group.candidate, outcome, found, text, "")
    gate = by_clock(gate, "%" if part else found.unit, [after], accept_virtual=accept_virtual)
    said = _ON_EMULATOR[gate.on_emulator] if gate.on_emulator else _SAID[gate.outcome]
    return TableCell(f"{text}: {said}", quantity(limit, found.unit) if part else "", tone=TONES[gate.outcome])
