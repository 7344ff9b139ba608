# SPDX-License-Identifier: MIT
"""Goals of tailoring beside what was reached."""

from rtqual.analysis.figure.model import Figure
from rtqual.mission import Quantity
from rtqual.report.page.document import Cell
from rtqual.report.page.text import prose, quantity


def goal_cell(goal: Quantity | None, before: Figure | None, after: Figure | None) -> Cell:
    """At most a size, or at most a part of what it was before."""
    if goal is None:
        return Cell("-")
    text = f"at most {prose(goal.text)}" + (" of before" if goal.unit == "%" else "")
    if after is None or (goal.unit == "%" and before is None):
        return Cell(f"{text}: not measured", tone="open")
    limit = goal.value if goal.unit != "%" or before is None else goal.value / 100 * before.value
    met = after.value <= limit
    shown = quantity(limit, after.unit)
    return Cell(
        f"{text}: {'met' if met else 'missed'}", "" if goal.unit != "%" else shown, tone="met" if met else "failed"
    )
