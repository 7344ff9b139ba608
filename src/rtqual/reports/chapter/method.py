# SPDX-License-Identifier: MIT
"""How it was measured, and which cells with which seeds."""

from collections.abc import Iterator
from itertools import groupby

from rtqual.reports.material import Material, cell_key
from rtqual.reports.page.document import Block, Cell, Paragraph, numbers, texts
from rtqual.reports.page.text import clean, distinct, load_text, seeds_text


def method(material: Material) -> Iterator[Block]:
    if material.measured:
        yield Paragraph(
            "Every candidate was measured by the same programs with the same parameters. The cells ran in an "
            "interleaved order, so that a drift of the machine falls on all candidates alike; each repetition "
            "used another seed."
        )
    if material.published:
        yield Paragraph(
            "Figures on the published board are those a study printed: they count as one run, of as many samples as "
            "it states, and what it does not print is not there. Differences that follow from its figures are "
            "computed again; its own stand beside them, 'as printed'."
        )
    yield Paragraph(
        "A quantile is an order statistic, given only where samples lie above it. Intervals hold at 95 % and come from "
        "how the runs differ, because samples within a run depend on each other: of quantiles from the runs' shares "
        "of samples below them (Woodruff; Korn and Graubard), of averages from Student's t over the runs, of "
        "differences and ratios from the two figures' own intervals (MOVER: Zou and Donner). They need 10 runs, that "
        "of a standard deviation 20; an end that the samples do not show is open (\u221e). A figure without an "
        "interval says why. Where a requirement could not be judged (samples lost, priority not the one asked "
        "for, too few runs, a program missing), the report says so instead of a verdict."
    )
    versions = distinct({r.provenance.rtqual for r in material.records})
    missions = distinct({r.provenance.mission_sha256 for r in material.records})
    yield Paragraph(f"Measured and analysed by rtqual {versions}; SHA-256 of the mission file: {missions}.")
    rows = []
    for (board, instrument, load, cpus), group in groupby(material.records, key=cell_key):
        records = list(group)
        by_candidate = {c: [r.inputs.seed for r in records if r.inputs.candidate == c] for c in material.candidates}
        counts = sorted({len(seeds) for seeds in by_candidate.values() if seeds})
        rows.append(
            [
                Cell(clean(instrument)), Cell(clean(load_text(load))), Cell(clean(board)), Cell(str(cpus)),
                Cell(", ".join(clean(c) for c, seeds in by_candidate.items() if seeds)),
                Cell(" or ".join(map(str, counts))),
                Cell(seeds_text(r.inputs.seed for r in records)),
            ]
        )  # fmt: skip
    yield material.numbering.table(
        "What was measured",
        [*texts("Instrument", "Load", "Board"), *numbers("CPUs"), *texts("Candidates"), *numbers("Runs each", "Seeds")],
        rows,
    )
