# SPDX-License-Identifier: MIT
"""A histogram as a table: the first column counts up by one and is the bin, the others are counts, a column a thread.

People make it of cyclictest's rows for their plots. It must not be read as samples, which a column of numbers would
be: is_one() tells the two apart.
"""

import re
from itertools import pairwise

from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format
from rtqual.parts.importers.reading import UNITS_NS, Reading, resolution, settle_unit, thread_cpus
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import Tally
from rtqual.protocols.record.schema import Measurement

_ROW = re.compile(r"[ \t]*\d{1,15}[ \t]*(?:[,;\t][ \t]*\d{1,15}[ \t]*){1,4096}[,;]?[ \t]*", re.ASCII)
_SPLIT = re.compile(r"[ \t]*[,;\t][ \t]*")
_COUNTS = re.compile(
    r'[\s"]*(core|cpu|thread|count|samples|freq\w*|hist\w*|occurrence\w*|n|number|c|t)[\s_-]*\d*[\s"]*', re.I
)
_INDEX = re.compile(
    r'[\s"]*(index|idx|i|n|no|nr|sample|seq\w*|cycle|iteration|iter|loop|run|id|#)[\s"]*', re.IGNORECASE
)
_FEWEST = 3
_ALIKE = 0.7  # of its rows count up by one: a damaged histogram is one still, and no column of samples
_ZEROS = 0.3  # of a histogram's counts, at least; samples are hardly ever 0
UNTOLD = (
    "the order of the samples: how they depend on each other and drift cannot be judged",
    "how many samples lay above the last bin, and the tool that took them",
)


def is_one(text: str) -> bool:
    """Whether a text's table is a histogram: by its names, its padded bins, or counts of which many are 0."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        return False
    names = None if _ROW.fullmatch(lines[0]) else _SPLIT.split(lines[0])
    rows = [_SPLIT.split(line.rstrip(" \t,;")) for line in lines[1 if names else 0 :] if _ROW.fullmatch(line)]
    if len(rows) < _FEWEST or len(rows) < _ALIKE * (len(lines) - bool(names)):
        return False
    first = [int(row[0]) for row in rows]
    steps = [later - earlier for earlier, later in pairwise(first)]
    if steps.count(1) < _ALIKE * len(steps):
        return False
    if names and _INDEX.fullmatch(names[0]):
        return False
    if names and len(names) > 1 and all(map(_COUNTS.fullmatch, names[1:])):
        return True
    counts = [int(cell) for row in rows for cell in row[1:]]
    return len(rows[0][0].strip()) >= 6 or counts.count(0) >= _ZEROS * len(counts)


def read(source: Source, unit: str | None) -> list[Reading]:
    names: list[str] = []
    rows: dict[int, list[int]] = {}
    columns = 0
    for number, line in source.lines(re.compile(r"\s*\d")):
        if not _ROW.fullmatch(line):
            if not rows and not names and _SPLIT.search(line) and not line.lstrip().startswith("#"):
                names = [cell.strip(' "\t') for cell in _SPLIT.split(line)]
                source.skip("the columns' names")
            continue
        bin_, *counts = (int(cell) for cell in _SPLIT.split(line.rstrip(" \t,;")))
        if rows and (len(counts) != columns or bin_ != max(rows) + 1):
            raise bad(source.path, number, "a bin that does not follow, or a count too many: the table is damaged")
        columns = len(counts)
        rows[bin_] = counts
        if len(rows) == 1:
            source.begin()
        else:
            source.use()
    if not rows:
        raise bad(source.path, None, "no row of a bin and its counts in it: give a histogram as a table")
    told = next((name for name in ("ns", "us") if names and re.search(rf"[\s_.(\[]{name}\b|^{name}$", names[0])), None)
    unit_name, assumed = settle_unit(source.path, unit, told, "the name of its first column")
    tallies = [Tally({bin_: counts[column] for bin_, counts in rows.items()}) for column in range(columns)]
    cpus, by_number = thread_cpus(list(range(columns)))
    filled = [tally for tally in tallies if tally.samples]
    if not filled:
        raise bad(source.path, None, "every count is 0: give a histogram with samples")
    last = max(rows)
    problems = [f"column {number + 1}: its last bin has samples: what lay above it is not counted"
                for number, tally in enumerate(tallies) if rows[last][number]]  # fmt: skip
    return [
        Reading(
            instrument="cyclictest",
            measurement=Measurement(
                tuple(
                    tally.series("latency", UNITS_NS[unit_name], cpus[number]) for number, tally in enumerate(tallies)
                ),
                resolution(UNITS_NS[unit_name]),
                tuple(problems),
            ),
            cpus=columns,
            assumed=(*assumed, *by_number, "it is of cyclictest: say what else took it with --instrument"),
            untold=UNTOLD,
        )
    ]


FORMAT = Format("histogram-table", "a histogram as a table", is_one, read, has_unit=True)
