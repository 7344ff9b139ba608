# SPDX-License-Identifier: MIT
"""Timelines for other programs' viewers.

Chrome's trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open:
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)
The Common Trace Format, which babeltrace2 and Trace Compass open: https://diamon.org/ctf/v1.8.3/
"""

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rtqual.base.errors import BadInput
from rtqual.base.words import clean
from rtqual.parts.explain.timeline import Stretch, TimeKind, Timeline

_NS_PER_US = 1_000


def chrome(timelines: Iterable[tuple[str, Timeline]]) -> dict[str, Any]:
    """Each timeline, with the name of its run, is a process of its own that begins at 0: the timer's expiry."""
    events: list[dict[str, Any]] = []
    for process, (run, line) in enumerate(timelines, 1):
        name = f"{run}, sample {line.sample.number}: {line.sample.value_ns} ns"
        events.append({"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}})
        events += [event for part in line.parts for event in _events(process, part)]
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _events(process: int, part: Stretch) -> Iterator[dict[str, Any]]:
    """The kind on one track, the function below it."""
    base = {
        "ph": "X", "pid": process, "cat": part.kind, "ts": part.begin_ns / _NS_PER_US,
        "dur": part.duration_ns / _NS_PER_US,
        "args": {"thread": part.thread, "entry": part.entry, "calls": list(part.chain), "off at": part.off_at},
    }  # fmt: skip
    yield {**base, "tid": 1, "name": part.label}
    if part.where:
        yield {**base, "tid": 2, "name": part.where}


_KINDS = tuple(TimeKind)
_TEXTS = ("where", "thread", "entry", "calls", "off_at")
_CTF_MAGIC = 0xC1FC1FC1
_METADATA = """\
/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ uint32_t magic; }}; }};
env {{ run = {run}; sample = {number}; value_ns = {value_ns}; }};
clock {{ name = guest; description = "ns of the virtual board"; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.guest.value; }} := ns_t;
stream {{
	packet.context := struct {{ ns_t timestamp_begin; ns_t timestamp_end; }};
	event.header := struct {{ uint8_t id; ns_t timestamp; }};
}};
"""
_EVENT = "event {{ name = {name}; id = {id}; fields := struct {{ uint64_t duration_ns; {texts} }}; }};\n"


def write_ctf(timelines: Iterable[tuple[str, Timeline]], folder: Path) -> None:
    """Each timeline, with the name of its run, is a trace of its own in the folder; its parts are its events, at the
    guest's time. Raises BadInput where the folder is there already or cannot be made."""
    try:
        folder.mkdir()
        for number, (run, line) in enumerate(timelines, 1):
            trace = folder / f"{number}-sample-{line.sample.number}"
            trace.mkdir()
            (trace / "metadata").write_text(_metadata(run, line), encoding="utf-8")
            (trace / "stream").write_bytes(_packet(line.sample.expiry_ns, line.parts))
    except OSError as error:
        raise BadInput(f"--ctf {folder}: {error.strerror}: name a new folder in one that is there") from None


def _metadata(run: str, line: Timeline) -> str:
    head = _METADATA.format(run=_literal(run), number=line.sample.number, value_ns=line.sample.value_ns)
    texts = " ".join(f"string {name};" for name in _TEXTS)
    return head + "".join(_EVENT.format(name=_literal(kind), id=i, texts=texts) for i, kind in enumerate(_KINDS))


def _literal(text: str) -> str:
    return json.dumps(clean(text), ensure_ascii=False)


def _packet(expiry_ns: int, parts: Sequence[Stretch]) -> bytes:
    """Hold all events, and say when they begin and end: where a packet does not, Babeltrace 2.1 aborts."""
    begin_ns = min((part.begin_ns for part in parts), default=0)
    end_ns = max((part.begin_ns + part.duration_ns for part in parts), default=0)
    head = struct.pack("<IQQ", _CTF_MAGIC, expiry_ns + begin_ns, expiry_ns + end_ns)
    return head + b"".join(_event(expiry_ns, part) for part in parts)


def _event(expiry_ns: int, part: Stretch) -> bytes:
    texts = (part.where, part.thread, part.entry, " < ".join(reversed(part.chain)), part.off_at)
    head = struct.pack("<BQQ", _KINDS.index(part.kind), expiry_ns + part.begin_ns, part.duration_ns)
    return head + b"".join(clean(text).encode() + b"\0" for text in texts)
