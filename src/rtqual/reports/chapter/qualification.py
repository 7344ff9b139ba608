# SPDX-License-Identifier: MIT
"""The tool's own qualification: what of rtqual is verified and how, and which faults are known.

docs/qualification.md has the same, and a test compares the two.
"""

from collections.abc import Iterator

from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Paragraph, TableCell, bullets, texts
from rtqual.reports.page.text import prose

WHO = (
    "rtqual was verified by those who make it, with the tests that come with its source; nobody else has qualified it. "
    "What decides a run stands in its record, so whoever doubts a figure can have it again (rtqual reproduce)."
)
# What is claimed, how it is verified, and what that gave or where it ends.
VERIFIED = (
    (
        "Runs of the virtual board repeat to the last sample",
        "The first run of each cell is made twice in every campaign",
        "Stands with each cell of this report; what differed is marked as timed by the host",
    ),
    (
        "A program's output is read as the program meant it",
        "Recorded outputs of every program; its own extremes and averages against the samples; damaged outputs",
        "A difference, a lost sample or another priority is a problem of the record, which then decides nothing",
    ),
    (
        "95 % intervals hold",
        "2,000 made-up campaigns of each of ten kinds with a known truth, ten runs and more",
        "No kind below 94 %; 86 to 92 % where one run in five is another kind and ten were made",
    ),
    (
        "Nobody is named to fly by luck",
        "Made-up campaigns of five equal candidates",
        "None of 161 named one",
    ),
    (
        "No clock decides more than it can",
        "Missions as stories, through every output to the exit code; records that claim another clock",
        "A limit in time is met in real time on hardware only",
    ),
    (
        "Records are not changed unnoticed",
        "Every byte of what a verdict reads is under a hash; flipped bytes, lines and files taken out or replaced",
        "Whoever makes all hashes anew is found by a signature alone (rtqual seal)",
    ),
    (
        "What strangers' files can do",
        "A million mutated inputs for the parsers in C, with sanitizers; a list of attacks with a test each",
        "docs/verification/attacks.md, with what is not answered yet",
    ),
    (
        "Explanations of late samples",
        "Parts of a sample must add up to it; all samples of the watched run must be the record's",
        "Else nothing is explained",
    ),
    (
        "Nothing on the first page is out of sight",
        "Boxes measured in a browser, 390 to 1,400 px, and on paper: one to eight candidates, none to 30 requirements",
        "docs/qualification.md",
    ),
)
FAULTS = (
    "No campaign was measured on a flight computer yet: boards over ssh and cards were tried on stand-ins.",
    "Virtual time has no caches, memory contention, frequency changes or firmware interrupts: it ranks kernels.",
    "Seeds vary the load and not the boot: what differs from boot to boot is in no interval but by its least width.",
    "A fault that strikes one run in five is missed by ten runs altogether in 11 % of campaigns.",
    "Several CPUs take turns on one thread of the host: races are seen at the grain of a turn.",
    "Disks of the virtual board take a model's times; with another QEMU than 7.2 the host's, which do not repeat.",
    "An RTOS image tells its own figures, and what is on a card is not signed: either is believed.",
)


def qualification(material: Material) -> Iterator[Block]:
    yield Paragraph(prose(WHO))
    rows = [tuple(TableCell(prose(text)) for text in row) for row in VERIFIED]
    columns = texts("What is claimed", "How it is verified", "What that gave, and where it ends")
    yield material.numbering.table("What of rtqual is verified", columns, rows)
    yield from bullets("Known faults and limits", FAULTS, "open")
