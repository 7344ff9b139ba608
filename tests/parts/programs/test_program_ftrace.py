# SPDX-License-Identifier: MIT
"""What the kernel's tracer told of a program: pages of its ring buffer as jobs; and whatever is damaged, one line."""

import struct
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.architecture import AMD64
from rtqual.base.errors import RunFailed
from rtqual.parts.programs.ftrace import as_log
from rtqual.parts.programs.thread_jobs import jobs
from rtqual.parts.programs.thread_trace import WaitPoint, read

_COMMON = (("common_type", 2), ("common_flags", 1), ("common_preempt_count", 1), ("common_pid", 4))
_EVENTS = {
    "sched_switch": (
        ("prev_comm[16]", 16), ("prev_pid", 4), ("prev_prio", 4), ("prev_state", 8), ("next_comm[16]", 16),
        ("next_pid", 4), ("next_prio", 4),
    ),
    "sched_waking": (("comm[16]", 16), ("pid", 4), ("prio", 4)),
    "sys_enter": (("id", 8), ("args[6]", 48)),
    "hrtimer_start": (("hrtimer", 8), ("function", 8), ("expires", 8), ("softexpires", 8)),
    "hrtimer_expire_entry": (("hrtimer", 8), ("now", 8), ("function", 8)),
}  # fmt: skip
_WAKEUP, _POSIX = 0xFFFF1000, 0xFFFF2000


def _formats() -> str:
    text = ""
    for number, (name, fields) in enumerate(_EVENTS.items(), 1):
        text += f"format\nname: {name}\nID: {number}\nformat:\n"
        at = 0
        for label, size in (*_COMMON, *fields):
            text += f"\tfield:long {label};\toffset:{at};\tsize:{size};\tsigned:1;\n"
            at += size
        text += "\n"
    return text


def _entry(delta: int, name: str, pid: int, *values: bytes | int) -> bytes:
    number = [*_EVENTS].index(name) + 1
    raw = struct.pack("<HBBi", number, 0, 0, pid)
    for (_, size), value in zip(_EVENTS[name], values, strict=True):
        raw += value.ljust(size, b"\0") if isinstance(value, bytes) else value.to_bytes(size, "little", signed=True)
    raw += b"\0" * (-len(raw) % 4)
    head = struct.pack("<II", delta << 5, len(raw) + 4)  # a length of its own: kind 0
    return head + raw


def _page(ns: int, *entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<QQ", ns, len(body)) + body


def _text(*pages: bytes, lost: int = 0) -> str:
    told = "".join(f"page 0 {b64encode(page).decode()}\n" for page in pages)
    functions = f"function {_WAKEUP:x} hrtimer_wakeup\nfunction {_POSIX:x} posix_timer_fn\n"
    return f"pid 6\n{functions}{_formats()}{told}lost {lost}\n"


def _switch(delta: int, last: int, state: int, following: int) -> bytes:
    names = {7: b"loop", 40: b"load", 0: b"swapper/0"}
    prios = {7: 29, 40: 120, 0: 120}
    return _entry(
        delta, "sched_switch", last, names[last], last, prios[last], state, names[following], following,
        prios[following],
    )  # fmt: skip


def _call(delta: int, number: int, *arguments: int) -> bytes:
    more = (1, 0, 0, 0, 0, 0)
    return _entry(delta, "sys_enter", 7, number, struct.pack("<6Q", *(*arguments, *more[len(arguments) - 1 :])[:6]))


_LOOP = _page(
    1_000,
    _call(0, 230, 1),
    _entry(10, "hrtimer_start", 7, 0xAA, _WAKEUP, 10_000, 10_000),
    _switch(10, 7, 1, 40),
    _entry(9_480, "hrtimer_expire_entry", 40, 0xAA, 10_490, _WAKEUP),  # at 10,500
    _entry(10, "sched_waking", 40, b"loop", 7, 29),
    _switch(490, 40, 0, 7),  # at 11,000
    _call(2_000, 230, 1),  # at 13,000
    _entry(10, "hrtimer_start", 7, 0xAA, _WAKEUP, 12_000, 12_000),  # a moment that has passed
    _call(1_000, 230, 1),
    _switch(10, 7, 1, 0),
)


def test_jobs_are_those_of_the_events() -> None:
    trace = read(as_log(_text(_LOOP), AMD64), AMD64)
    assert trace.whole
    (thread,) = trace.threads.values()
    assert (thread.name, thread.priority) == ("loop", 70)
    some = jobs(thread, WaitPoint("clock_nanosleep", 1))
    assert [(job.due_ns, job.timed, job.started_ns, job.finished_ns) for job in some] == [
        (10_000, True, 11_000, 13_000),
        (12_000, True, 13_000, 14_010),
    ]


@pytest.mark.parametrize(
    ("number", "point", "at_most"),
    [
        (232, WaitPoint("epoll_wait", 5), (5, 1, 1)),
        (281, WaitPoint("epoll_pwait", 5), (5, 1, 1)),
        (7, WaitPoint("poll", 0), (5, 1)),
    ],
)
def test_a_call_that_only_looks_is_no_job(number: int, point: WaitPoint, at_most: tuple[int, ...]) -> None:
    """As asyncio's loop does, once more than it waits; no time is 0 of 32 bits, whatever lies above."""
    page = _page(
        1_000,
        _call(0, number, *at_most, 10),
        _switch(10, 7, 1, 40),
        _entry(9_000, "sched_waking", 40, b"loop", 7, 29),
        _switch(10, 40, 0, 7),
        _call(1_000, number, *at_most, 7 << 32),
        _call(1_000, number, *at_most, 0xFFFFFFFF),  # for ever
        _switch(10, 7, 1, 40),
    )
    (thread,) = read(as_log(_text(page), AMD64), AMD64).threads.values()
    assert [(job.woken_ns, job.finished_ns) for job in jobs(thread, point)] == [(10_010, 12_020)]


def test_another_clock_is_told_by_the_expiry() -> None:
    """CLOCK_REALTIME is far ahead of the trace's clock."""
    far = 1_700_000_000 * 10**9
    page = _page(
        1_000,
        _call(0, 230, 0),
        _entry(10, "hrtimer_start", 7, 0xAA, _WAKEUP, far + 10_000, far + 10_000),
        _switch(10, 7, 1, 40),
        _entry(9_480, "hrtimer_expire_entry", 40, 0xAA, far + 10_500, _WAKEUP),
        _entry(10, "sched_waking", 40, b"loop", 7, 29),
        _switch(490, 40, 0, 7),
        _call(2_000, 230, 0),
    )
    (thread,) = read(as_log(_text(page), AMD64), AMD64).threads.values()
    (job,) = jobs(thread, WaitPoint("clock_nanosleep", 0))
    assert (job.due_ns, job.start_ns) == (10_000, 1_000)


def test_a_timer_of_a_signal_belongs_to_whom_it_wakes() -> None:
    page = _page(
        1_000,
        _entry(0, "hrtimer_start", 7, 0xBB, _POSIX, 10_000, 10_000),
        _call(0, 128, 5),
        _switch(20, 7, 1, 40),
        _entry(9_480, "hrtimer_expire_entry", 40, 0xBB, 10_500, _POSIX),
        _entry(10, "sched_waking", 40, b"loop", 7, 29),
        _switch(490, 40, 0, 7),
        _call(2_000, 128, 5),
    )
    (thread,) = read(as_log(_text(page), AMD64), AMD64).threads.values()
    (job,) = jobs(thread, WaitPoint("rt_sigtimedwait", 0))
    assert (job.due_ns, job.timed) == (10_000, True)


def test_a_switch_that_the_kernel_did_not_tell_loses_no_job() -> None:
    page = _page(
        1_000,
        _call(0, 230, 1),
        _entry(10, "hrtimer_start", 7, 0xAA, _WAKEUP, 10_000, 10_000),
        _switch(10, 7, 1, 0),
        _entry(9_480, "hrtimer_expire_entry", 0, 0xAA, 10_490, _WAKEUP),  # at 10,500
        _entry(10, "sched_waking", 0, b"loop", 7, 29),
        _call(2_490, 1, 1),  # at 13,000 it writes
        _call(1_000, 230, 1),
        _switch(10, 7, 1, 0),
    )
    trace = read(as_log(_text(page), AMD64), AMD64)
    (thread,) = trace.threads.values()
    (job,) = jobs(thread, WaitPoint("clock_nanosleep", 1))
    assert (job.due_ns, job.timed, job.started_ns, job.finished_ns) == (10_000, True, 13_000, 14_000)
    assert trace.untold == 1


def test_lost_events_are_no_whole_trace() -> None:
    assert not read(as_log(_text(_LOOP, lost=1), AMD64), AMD64).whole
    assert not read(as_log(_text(_LOOP).replace("lost 0\n", ""), AMD64), AMD64).whole


@pytest.mark.parametrize("line", ["pid x", "page 0 !!!", "page 0 AAAA", "page x AAAA", "function zz hrtimer_wakeup"])
def test_a_damaged_trace_is_one_line(line: str) -> None:
    with pytest.raises(RunFailed, match="tracer wrote is damaged") as caught:
        as_log(f"{line}\n{_text(_LOOP)}", AMD64)
    assert "\n" not in str(caught.value)


@given(st.binary(max_size=200), st.integers(0, 200), st.text(alphabet="format page0 lost\n", max_size=40))
def test_whatever_a_page_holds_it_is_read_or_refused(noise: bytes, at: int, more: str) -> None:
    page = _LOOP[:at] + noise + _LOOP[at + len(noise) :]
    try:
        read(as_log(_text(page) + more, AMD64), AMD64)
    except RunFailed as error:
        assert "\n" not in str(error)
