# SPDX-License-Identifier: MIT
"""How it was measured, by whom and when, and which groups with which seeds."""

from collections.abc import Iterator
from itertools import groupby

from rtqual.base.words import count
from rtqual.protocols.record.schema import Timing
from rtqual.reports.chapter.conduct import conduct
from rtqual.reports.material import Material, cell_key
from rtqual.reports.page.document import Block, Paragraph, TableCell, numbers, texts
from rtqual.reports.page.text import clean, distinct, load_text, seeds_text


def method(material: Material) -> Iterator[Block]:
    if material.measured:
        alike = "Every candidate was measured by the same programs with the same parameters."
        if any(verdict.differs for verdict in material.evidence.verdicts):
            alike = "What the candidates do not have in common besides their kernels stands with their verdicts."
        yield Paragraph(
            f"{alike} The cells of a board ran in an interleaved order, so that a drift of the machine falls on all "
            "candidates alike; each repetition used another seed."
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
    missions = distinct({r.provenance.mission_sha256 for r in material.records})
    yield Paragraph(f"SHA-256 of the mission file: {missions}.")
    yield from conduct(material)
    rows = []
    for (board, instrument, load, cpus), group in groupby(material.records, key=cell_key):
        for candidate, some in groupby(group, key=lambda manifest: manifest.inputs.candidate):
            records = list(some)
            ids = [manifest.hash[:12] for manifest in records]
            rows.append(
                [
                    TableCell(clean(instrument), clean(load_text(load))),
                    TableCell(clean(f"{board} board"), count(cpus, "CPU")),
                    TableCell(clean(candidate)),
                    TableCell(str(len(records))),
                    TableCell(seeds_text(r.inputs.seed for r in records)),
                    TableCell(_AGAIN[records[0].timing]),
                    TableCell(" to ".join(dict.fromkeys((ids[0], ids[-1])))),
                ]
            )
    yield material.numbering.table(
        "What was measured: a group a line; its first and last record by the first digits of their hashes",
        [
            *texts("Instrument and load", "Where", "Candidate"),
            *numbers("Runs"),
            *texts("Seeds", "Second run", "Records"),
        ],
        rows,
    )


# What a second run with the same inputs gave, which the label of a group's clock tells.
_AGAIN = {
    Timing.INSTRUCTIONS: "same samples",
    Timing.UNTESTED: "none",
    Timing.MODELLED: "same samples",
    Timing.MODELLED_UNTESTED: "none",
    Timing.HOST_TIMED: "other samples",
    Timing.REAL: "-",
}
