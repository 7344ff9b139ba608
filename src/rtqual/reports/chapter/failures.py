# SPDX-License-Identifier: MIT
"""The appendix of runs that failed and of records that no verdict may rest on."""

from collections import Counter
from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.reports.material import Material, described
from rtqual.reports.page.document import Block, Paragraph, bullets
from rtqual.reports.page.text import cell_text, place, prose


def failures(material: Material) -> Iterator[Block]:
    if material.every_run_ended:
        yield Paragraph("No run failed.")
    yield from bullets("Runs that failed", (f"{cell}: {reason}" for cell, reason in material.failures), "failed")
    yield from bullets("Runs that left no record when they were first made", _made_again(material), "failed")
    problems: Counter[str] = Counter()
    for record in material.records:
        where = f"{described(record)}, {record.inputs.instrument}, {record.inputs.board} board"
        problems.update(prose(f"{where}: {problem}") for problem in record.problems)
    found = (f"{text} ({count(runs, 'run')})" for text, runs in problems.items())
    yield from bullets("Records no verdict may rest on", found, "open")


def _made_again(material: Material) -> Iterator[str]:
    """Those of cells that have failed stand among the failures."""
    for run in material.evidence.lost:
        if run.group not in material.evidence.failures:
            again = ", again" if run.repeat else ""
            seed = "" if run.seed is None else f", seed {run.seed}{again}"
            counts = " (counts against the candidate)" if run.died else ""
            yield prose(f"{cell_text(run.group)}, {place(run.group)}{seed}: {run.why}{counts}")
