# SPDX-License-Identifier: MIT
"""The words of the report, for who signs it without having measured."""

from collections.abc import Iterator

from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, TableCell, texts

TERMS = {
    "95 % interval": "A range that holds the true figure in 95 of 100 campaigns like this one.",
    "candidate": "An operating system under evaluation, with its kernel and boot parameters.",
    "counted instructions \u25c7": "The virtual board's clock: 2 ns for each instruction that a processor executes. It "
    "repeats to the last digit and ranks kernels; a flight computer's caches and memory are not in it.",
    "criterion": "A weighted preference: it ranks candidates that meet every requirement.",
    "host-timed \u2020": "Something in the run waited for the machine that emulates, so the figure does not repeat.",
    "from how the runs differ": "How most intervals are found: each run counts as one draw, since samples of one run "
    "resemble each other.",
    "indicative": "Met, or not, by counted instructions: to be measured on the board before it is decided.",
    "load": "What disturbs while something is measured, as hackbench, which passes messages between many processes.",
    "look": "Where runs are not fixed in number: when the campaign asks whether it is decided, and stops if it is.",
    "median run max": "The median over the runs of the largest sample of each. Candidates are compared by it: the "
    "largest of all samples only grows with more runs.",
    "modelled \u25c8": "Time of an emulated board whose instructions take what a model says, and stall for its caches "
    "and memory. It repeats to the last digit. No board was measured for it.",
    "need": "What a kernel must be able to do, read from its configuration.",
    "p50, p95, p99, p99.9": "The value that 50, 95, 99 or 99.9 % of the samples do not exceed.",
    "PREEMPT_RT": "Linux whose interrupt handlers and locks give way to a real-time thread.",
    "requirement": "A gate: a candidate that does not meet it is out.",
    "run": "One execution of an instrument, with a seed of its own; runs of one kind share all else.",
    "upper run max": "What the largest samples of nine of ten runs stay below: it sees bad runs, a median does not.",
    "undecided": "The measurement does not suffice: more runs or samples are needed, as the reason says.",
    "virtual board": "An emulated computer (QEMU) on which kernels are compared.",
    "wake-up latency": "How long after its timer a real-time thread runs.",
}


def glossary(material: Material) -> Iterator[Block]:
    columns = texts("Term", "Meaning")
    yield material.numbering.table(
        "Words of this report", columns, [[TableCell(t), TableCell(m)] for t, m in TERMS.items()]
    )
