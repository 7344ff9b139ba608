# SPDX-License-Identifier: MIT
"""What ds325-stream, the software camera and `rtqual-agent times` print, read with every line checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtqual.base.errors import RunFailed
from rtqual.protocols.instrument.output import last_line

_SECTION = re.compile(r"^== (\w+)\n", re.MULTILINE | re.ASCII)
_VALUE = re.compile(r"^(\w+)=(.*)$", re.MULTILINE | re.ASCII)
_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)
_PRIORITY = re.compile(r"scheduling priority: (\d{1,2})$", re.MULTILINE | re.ASCII)
_RUN_TIME = re.compile(r"^(\d{1,9}) (\d{1,18}) (.+)$", re.MULTILINE | re.ASCII)
_REPORTED = re.compile(r"^(\w+) (\d{1,18})$", re.MULTILINE | re.ASCII)
_SENT = re.compile(r"^(\d{1,9}) \d+ \S+ sent \d+ \d+ (\d{1,18})$", re.MULTILINE | re.ASCII)
_NS_PER_S = 10**9
POSES = ("valid", "degenerate", "not_found")
# Whose a thread is, by the beginning of its name; the first match counts. Others (loads, the shell) are left out.
_OWNERS = (
    ("ds325-emulator", "emulator"),
    ("ds325-stream", ""),  # reports its own time: here it has ended, or not begun
    ("vhci_", "usb"),
    ("usbip_", "usb"),
    *((name, "kernel") for name in ("kworker/", "ds325-", "ksoftirqd/", "ktimers/", "irq/", "irq_work/")),
)


@dataclass(frozen=True)
class StreamRun:
    """One run of ds325-stream."""

    latency_ns: tuple[int, ...]  # of each frame, from its end to its ranges
    cpu_ns: tuple[int, ...]  # of the program's thread for each frame, the comparison with what was sent left out
    elapsed_ns: int
    lost: int
    refused: int
    disconnections: int
    replug_ns: int  # longest from a camera's return to its first good frame
    matched: int
    wrong: int
    range_copies: int
    stamp_error_ns: int | None  # largest, of invented times
    page_faults: int
    memory_b: int
    stamped: bool
    ended: str
    numbers: tuple[int, ...] = ()  # of a ring: each frame's, as the driver counts them
    end_ns: tuple[int, ...] = ()  # and the frame's end, from which its latency counts, on the guest's clock
    pose_ns: tuple[int, ...] = ()  # from each frame's end to its pose, or to "not found"
    pose_cpu_ns: tuple[int, ...] = ()
    poses: Mapping[str, int] = field(default_factory=dict)  # valid | degenerate | not found -> frames

    @property
    def per_s(self) -> float:
        return len(self.latency_ns) * _NS_PER_S / self.elapsed_ns


def sections(text: str, wanted: Sequence[str], of: str = "ds325-stream") -> dict[str, str]:
    """The parts of an output below lines `== NAME`; the last is `== end`. Raises RunFailed if one is missing, or there
    twice."""
    pieces = _SECTION.split(text)
    if len(twice := pieces[1::2]) != len(set(twice)):
        raise RunFailed(f"{of}'s output has a part twice, last line: {last_line(text)!r}")
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    missing = [name for name in (*wanted, "end") if name not in parts]
    if missing:
        raise RunFailed(f"{of}'s output has no part {missing[0]!r}, last line: {last_line(text)!r}")
    return parts


def values_of(text: str) -> dict[str, str]:
    """Lines of `name=value`."""
    return dict(_VALUE.findall(text))


def stream_of(text: str, what: str) -> StreamRun:
    """Raises RunFailed naming what is missing or not a number."""
    values = values_of(text)

    def number(name: str, default: int | None = None) -> int:
        said = values.get(name)
        if said is None and default is not None:
            return default
        if said is None or not _NUMBER.fullmatch(said):
            shown = (said or "missing")[:40]
            raise RunFailed(f"{what}: {name} is {shown!r}, a number was due; last line: {last_line(text)!r}")
        return int(said)

    def samples(name: str) -> tuple[int, ...]:
        said = values.get(name, "").split()
        if not all(_NUMBER.fullmatch(one) for one in said):
            raise RunFailed(f"{what}: {name} holds what is no number; last: {last_line(text)!r}")
        return tuple(map(int, said))

    frames = number("frames")
    latency_ns, frame_cpu_ns = samples("latency_ns"), samples("frame_cpu_ns")
    if not len(latency_ns) == len(frame_cpu_ns) == frames or frames < 1:
        raise RunFailed(f"{what}: {frames} frames, but {len(latency_ns)} latencies; last: {last_line(text)!r}")
    elapsed_ns = number("elapsed_ns")
    if elapsed_ns <= 0:
        raise RunFailed(f"{what}: it took {elapsed_ns} ns")
    per_frame = {name: samples(name) for name in ("frame_number", "frame_end_ns", "pose_latency_ns", "pose_cpu_ns")}
    if any(len(some) not in (0, frames) for some in per_frame.values()):
        raise RunFailed(f"{what}: {frames} frames, but not as many ends and poses; last: {last_line(text)!r}")
    lost = ("lost", "lost_unseen_by_driver", "ring_lost", "ring_missed", "ring_torn")
    return StreamRun(
        latency_ns,
        frame_cpu_ns,
        elapsed_ns,
        lost=sum(number(name, 0) for name in lost),
        refused=number("refused", 0) + number("ring_refused", 0),
        disconnections=number("disconnections", 0),
        replug_ns=number("replug_to_frame_ns", 0),
        matched=number("check_good", 0),
        wrong=number("check_wrong", 0),
        range_copies=number("range_copies", 0),
        stamp_error_ns=number("stamp_error_max_ns") if "stamp_error_max_ns" in values else None,
        page_faults=number("page_faults"),
        memory_b=number("memory_kib") * 1024,
        stamped=values.get("latency_from") in ("stamp", "ring"),
        ended=values.get("ended", "cut off")[:120],
        numbers=per_frame["frame_number"],
        end_ns=per_frame["frame_end_ns"],
        pose_ns=per_frame["pose_latency_ns"],
        pose_cpu_ns=per_frame["pose_cpu_ns"],
        poses={name: number(f"poses_{name}") for name in POSES} if per_frame["pose_latency_ns"] else {},
    )


def since_sent(stream: StreamRun, log: str) -> StreamRun:
    """A ring's stream with latencies from where all others count: when the camera had handed its frame to the USB host.

    A driver takes the last transfer's completion for a frame's end. That is late where decoding earlier transfers holds
    up the host. `log` is the emulator's of this stream alone. The first frame in the ring is the last that had been
    sent by its end, and from there on both count the same. Raises RunFailed where a frame ends before it was sent.
    """
    sent_ns = {int(number): int(ns) for number, ns in _SENT.findall(log)}
    first = max((number for number, ns in sent_ns.items() if stream.end_ns and ns <= stream.end_ns[0]), default=-1)
    place = [first + number - stream.numbers[0] for number in stream.numbers]
    if (
        first < 0
        or len(place) != len(stream.end_ns)
        or any(sent_ns.get(one, end + 1) > end for one, end in zip(place, stream.end_ns, strict=True))
    ):
        raise RunFailed(f"the emulator's log does not have the {len(stream.latency_ns)} frames that the ring had")
    held_ns = [end - sent_ns[one] for one, end in zip(place, stream.end_ns, strict=True)]
    return replace(
        stream,
        latency_ns=tuple(latency + held for latency, held in zip(stream.latency_ns, held_ns, strict=True)),
        pose_ns=tuple(latency + held for latency, held in zip(stream.pose_ns, held_ns, strict=False)),
    )


def fifo_of(text: str) -> list[int]:
    """Priorities above 0 that `chrt -a -p` printed: those of SCHED_FIFO, which is all that is asked for here."""
    return [int(priority) for priority in _PRIORITY.findall(text) if int(priority)]


def cpu_ns(before: str, after: str) -> dict[str, int]:
    """Run time between two looks at all threads, in ns, of `kernel`, `usb` and `emulator`."""
    began = {pid: int(ns) for pid, ns, _ in _RUN_TIME.findall(before)}
    spent = dict.fromkeys(("kernel", "usb", "emulator"), 0)
    for pid, ns, name in _RUN_TIME.findall(after):
        owner = next((owner for start, owner in _OWNERS if name.startswith(start)), "")
        if owner:
            spent[owner] += max(0, int(ns) - began.get(pid, 0))
    if not began or not spent["emulator"]:
        raise RunFailed("no run time of the camera's emulator was seen")
    return spent


def of_emulator(text: str) -> Mapping[str, int]:
    """The emulator's report. Raises RunFailed where a figure of it is missing."""
    said = {name: int(value) for name, value in _REPORTED.findall(text)}
    for name in ("frames_sent", "frames_lost_without_urb", "late_most_ns"):
        if name not in said:
            raise RunFailed(f"the emulator's report has no {name}, last line: {last_line(text)!r}")
    return said
