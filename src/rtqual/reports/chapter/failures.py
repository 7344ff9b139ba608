# SPDX-License-Identifier: MIT
"""The appendix of runs that failed and of records that no verdict may rest on."""

from collections import Counter
from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.reports.material import Material, described
from rtqual.reports.page.document import Block, Paragraph, bullets
from rtqual.reports.page.text import prose


def failures(material: Material) -> Iterator[Block]:
    if not material.failures:
        yield Paragraph("No run failed.")
    yield from bullets("Runs that failed", (f"{cell}: {reason}" for cell, reason in material.failures), "failed")
    problems: Counter[str] = Counter()
    for record in material.records:
        where = f"{described(record)}, {record.inputs.instrument}, {record.inputs.board} board"
        problems.update(prose(f"{where}: {problem}") for problem in record.problems)
    found = (f"{text} ({count(runs, 'run')})" for text, runs in problems.items())
    yield from bullets("Records no verdict may rest on", found, "open")
