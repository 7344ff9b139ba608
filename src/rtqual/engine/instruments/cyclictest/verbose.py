# SPDX-License-Identifier: MIT
"""cyclictest's verbose output (-v), as the instrument and the import read it: lines of thread:cycle:value.

The measuring threads leave their samples in a ring of 16,384 (VALBUF_SIZE), which the main thread prints every 10 ms.
When that is held up for longer, samples are overwritten and the newer ones printed twice: the lines do not show it.
The histogram that is counted in the same run does.
"""

import re
from collections import Counter

from rtqual.engine.instruments.cyclictest.json_output import MeasuredThread
from rtqual.protocols.record.schema import Int64Array

_LINE = rb"\d{1,4}:[ \t]*\d{1,15}:[ \t]*\d{1,15}(?=[ \t]*\r?$)"
# cyclictest pads its figures; if a script has removed the blanks, a time of day looks like a sample.
PADDED, BARE = (re.compile(start + _LINE, re.MULTILINE) for start in (rb"^[ \t]{2,}", rb"^"))


def samples(block: bytes, style: re.Pattern[bytes] = PADDED) -> Int64Array:
    """(N, 3): thread, cycle, value. Lines that are not a whole sample are left out."""
    import numpy as np  # noqa: PLC0415 - slow to load, and missions name instruments too

    found = style.findall(block)
    numbers = b" ".join(found).replace(b":", b" ")
    return np.fromstring(numbers.decode("ascii"), dtype=np.int64, sep=" ").reshape(-1, 3)


def in_order(
    printed: Int64Array, thread: MeasuredThread, limit: int, most_unprinted: int
) -> tuple[Int64Array, list[str]]:
    """A thread's samples as they came, and why they may not be all or not in order.

    `printed` are the values of its lines, `limit` is where its histogram ends. When one thread is done, cyclictest
    ends and leaves the last samples of the others unprinted: up to `most_unprinted` of them are put at the end,
    ascending, with the values that the histogram has and the lines have not.
    """
    import numpy as np  # noqa: PLC0415

    values, counts = np.unique(printed, return_counts=True)
    seen = Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    below = Counter({value: count for value, count in seen.items() if value < limit})
    counted = Counter(thread.histogram)
    foreign = (below - counted).total() + max(0, seen.total() - below.total() - thread.overflow)
    if foreign:
        return printed, [
            f"{foreign} of {len(printed)} samples were printed but not counted: the buffer overran, the order is lost"
        ]
    rest = sorted((counted - below).elements())
    beyond = thread.overflow - (seen.total() - below.total())
    if beyond == 1 and thread.max not in seen:
        rest, beyond = [*rest, thread.max], 0
    problems = [f"{beyond} samples beyond {limit} ns were counted but not printed"] if beyond else []
    if len(rest) > most_unprinted:
        problems.append(f"{len(rest)} of {thread.cycles} samples were counted but not printed: their order is lost")
    return np.concatenate([printed, np.array(rest, np.int64)]), problems
