# SPDX-License-Identifier: MIT
"""The appendix of commands that repeat each group."""

import shlex
from collections.abc import Iterator
from itertools import groupby

from rtqual.base.words import count
from rtqual.engine.mission import PUBLISHED
from rtqual.reports.material import Material, cell_key, described
from rtqual.reports.page.document import Block, Commands, Paragraph, ShownCommand
from rtqual.reports.page.text import TIMING_MARK, clean, seeds_text


def reproduction(material: Material) -> Iterator[Block]:
    """One command a group, that of its first seed; grouped by board and instrument."""
    run = [record for record in material.records if record.inputs.board != PUBLISHED]
    if not run:
        yield Paragraph("Nothing was run: the figures are those of a published study.")
        return
    yield Paragraph(
        "Each command repeats the first run of its group, in the folder where the campaign ran. The seed "
        "stands in the command or in the job file it names: another seed gives another draw. Where the timing "
        "is instructions, the same seed gives the same samples."
    )
    for (board, instrument), some in groupby(run, key=lambda r: (r.inputs.board, r.inputs.instrument)):
        commands = []
        for _, group in groupby(some, key=lambda r: (*cell_key(r), r.inputs.candidate)):
            records = list(group)
            first = records[0]
            commands.append(
                ShownCommand(
                    clean(described(first)),
                    clean(shlex.join(first.provenance.command)),
                    f"{count(len(records), 'run')}, seeds {seeds_text(r.inputs.seed for r in records)}; "
                    f"record {first.hash[:16]}; {first.timing} {TIMING_MARK[first.timing]}".strip(),
                )
            )
        yield Commands(clean(f"{instrument}, {board} board"), tuple(commands))
