# SPDX-License-Identifier: MIT
"""Timelines as Chrome's trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)
"""

from collections.abc import Iterable, Iterator
from typing import Any

from rtqual.cause.timeline import Part, Timeline

_NS_PER_US = 1_000


def chrome(timelines: Iterable[tuple[str, Timeline]]) -> dict[str, Any]:
    """Each timeline, with the name of its run, is a process of its own that begins at 0: the timer's expiry."""
    events: list[dict[str, Any]] = []
    for process, (run, line) in enumerate(timelines, 1):
        name = f"{run}, sample {line.sample.number}: {line.sample.value_ns} ns"
        events.append({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}})
        events += [event for part in line.parts for event in _events(process, part)]
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _events(process: int, part: Part) -> Iterator[dict[str, Any]]:
    """The kind on one track, the function below it."""
    base = {
        "ph": "X", "pid": process, "cat": part.kind, "ts": part.begin_ns / _NS_PER_US,
        "dur": part.duration_ns / _NS_PER_US,
        "args": {"thread": part.thread, "entry": part.entry, "calls": list(part.chain), "off at": part.off_at},
    }  # fmt: skip
    yield {**base, "tid": 1, "name": part.kind.value}
    if part.where:
        yield {**base, "tid": 2, "name": part.where}
