# SPDX-License-Identifier: MIT
"""Between which events the second run looks closer."""

from collections.abc import Iterable

import numpy as np

from rtqual.base.errors import RunFailed
from rtqual.parts.explain.trace import Trace

_BACK = 200  # events at most, to begin where a thread entered the kernel


def window(trace: Trace, from_ns: int, to_ns: int, cpu: int = 0) -> tuple[int, int]:
    """The events (first, last) around two moments. It begins where the kernel was entered on a CPU, if that is not far
    before: from there on its calls are known."""
    kinds = trace.kinds[trace.events]
    first = max(0, int(np.searchsorted(trace.event_ns, from_ns, side="right")) - 1)
    last = min(len(kinds) - 1, int(np.searchsorted(trace.event_ns, to_ns, side="left")) + 1)
    before = slice(max(0, first - _BACK), first + 1)
    own = trace.cpus[trace.events[before]] == cpu
    entered = np.flatnonzero(own & np.isin(kinds[before], np.frombuffer(b"ER", np.uint8)))
    return (max(0, first - _BACK) + int(entered[-1]) if len(entered) else first), last


def apart(windows: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ascending; those that touch become one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(windows):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def places(trace: Trace, wanted: tuple[int, int], windows: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Where a closer look (first and last record) holds a window. Raises RunFailed where it has none."""
    starts = np.flatnonzero((trace.kinds == ord("s")) & (trace.cpus == 0))  # then come the other CPUs'
    for (first, last), start in zip(windows, starts.tolist(), strict=False):
        if first <= wanted[0] and wanted[1] <= last and start <= trace.events[last]:
            return start, int(trace.events[last])
    raise RunFailed("the second run took another course than the first: its windows are not there")
