# SPDX-License-Identifier: MIT
"""What sysbench prints, as the instruments and the import read it.

sysbench 1.0 keeps no samples: its latencies come in 1024 bins, logarithmic from 1 us to 100 s, each printed as its
middle (src/sb_histogram.c), with three decimals of a millisecond.
"""

import re
from decimal import Decimal

from rtqual.protocols.record.schema import Series, SeriesKind

NS_PER_S = 10**9
FIGURE_STEP_NS = 10_000  # min, avg, max... are printed as 0.01 ms
_NS_PER_MS = 10**6
_BIN_STEP = (1e5 / 1e-3) ** (1 / 1023)  # each bin's middle is 1.8 % above the one before
_LAST_BIN_NS = 100 * NS_PER_S
# The last bin also takes everything longer: its samples have no value, only this lower edge.
_OVERFLOW_FROM_NS = round(_LAST_BIN_NS / _BIN_STEP**0.5)
_BIN = re.compile(r"^ *(\d{1,6}\.\d{3}) \|[* ]{40} (\d{1,12})$", re.MULTILINE | re.ASCII)
# What fileio calls its rates, and their names here.
FILE_RATES = {"reads_per_s": "reads/s", "writes_per_s": "writes/s", "fsyncs_per_s": "fsyncs/s"}
FILE_THROUGHPUTS = {"read": "read, MiB/s", "written": "written, MiB/s"}


def milliseconds_ns(text: Decimal | str) -> int:
    return int(Decimal(text) * _NS_PER_MS)


def latency_series(stdout: str, reported: dict[str, float]) -> Series | None:
    """The latency histogram with sysbench's own figures on it; None where none is printed."""
    counts: dict[int, int] = {}
    for milliseconds, count in _BIN.findall(stdout):  # neighbours below 0.028 ms are printed alike
        value_ns = milliseconds_ns(milliseconds)
        counts[value_ns] = counts.get(value_ns, 0) + int(count)
    if not counts:
        return None
    overflow = counts.pop(_LAST_BIN_NS, 0)
    return Series.counted(
        counts,
        SeriesKind.BINNED,
        name="latency",
        overflow=overflow,
        overflow_from=_OVERFLOW_FROM_NS if overflow else None,
        reported=reported,
    )


def inconsistencies(series: Series, events: int) -> list[str]:
    """Where the histogram and sysbench's own figures disagree by more than their roundings."""
    problems: list[str] = []
    if series.total != events:
        problems.append(f"sysbench's histogram holds {series.total} of {events} events")
    reported = series.info.reported
    ends_ns = {"min": int(series.values[0]), "max": int(series.values[-1])} if len(series.values) else {}
    if series.info.overflow:
        ends_ns.pop("max", None)
    for key, value_ns in ends_ns.items():
        if key in reported and abs(value_ns - reported[key]) > FIGURE_STEP_NS + (_BIN_STEP - 1) * reported[key]:
            problems.append(f"sysbench's {key} is {reported[key]:.0f} ns, its histogram's {value_ns} ns")
    return problems
