# SPDX-License-Identifier: MIT
"""What the real-time lint finds in a tailored kernel's configuration."""

from collections import Counter
from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.engine.kernel.lint.lint_rules import Severity, State
from rtqual.parts.tailor.tailor_account import Account
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Column, Paragraph, TableCell, texts
from rtqual.reports.page.text import clean, prose

_TONES = {Severity.ERROR: "failed", Severity.WARNING: "open"}


def linted(material: Material, account: Account) -> Iterator[Block]:
    """Counts by severity, each rule that is broken, and how many the configuration does not answer."""
    if not account.lint_rules:
        return
    found = [judged for judged in account.lint if judged.state == State.FOUND]
    unknown = len(account.lint) - len(found)
    counts = Counter(judged.severity for judged in found)
    levels = ", ".join(count(counts[level], level) for level in Severity)
    yield Paragraph(
        f"The real-time lint (rtqual lint) finds {levels} in the configuration of {clean(account.candidate)}. "
        f"Of its {account.lint_rules} rules {unknown} are not answered by a configuration alone (they ask the running "
        f"system or its boot parameters); {account.lint_rules - len(account.lint)} hold or do not apply."
    )
    if found:
        order = list(Severity)
        rows = [
            [TableCell(clean(judged.id)), TableCell(judged.severity, tone=_TONES.get(Severity(judged.severity), "")),
             TableCell(prose(judged.title), prose(judged.seen))]
            for judged in sorted(found, key=lambda finding: order.index(Severity(finding.severity)))
        ]  # fmt: skip
        columns = [Column("Rule", False, name=True), *texts("Severity", "What it found")]
        caption = f"Rules of the real-time lint that {account.candidate} breaks"
        yield material.numbering.table(clean(caption), columns, rows)
