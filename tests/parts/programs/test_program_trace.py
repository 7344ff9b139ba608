# SPDX-License-Identifier: MIT
"""What a program's threads did, from the plugin's log: jobs, their due times, and what their time was made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtqual.base.architecture import AMD64
from rtqual.base.errors import RunFailed
from rtqual.parts.programs.thread_jobs import (
    ThreadJob,
    chained,
    jobs,
    parts,
    release_point,
    row_of_misses,
    skipped,
    waits_of,
)
from rtqual.parts.programs.thread_trace import ThreadTrace, WaitPoint, read
from support.program_logs import job_log

_SLEEP = WaitPoint("clock_nanosleep", 1)
_SIGNAL = WaitPoint("rt_sigtimedwait", 0)
# A loop of 1,000 us: its second job is preempted by another of the program's threads, its third cycle is already past.
_LOOP = """\
10 c 0 0 500 0 0
100 n 0 7 7 29 1 loop
100 i 0 7 0 0 0
200 s 0 7 230 1 1000000
210 o 0 7 1 0 0
1000500 x 0 7 1000000 0 0
1000520 w 0 7 0 0 0
1003000 i 0 7 0 0 0
1100000 s 0 7 230 1 2000000
1100100 o 0 7 1 0 0
2000500 x 0 7 2000000 0 0
2000600 w 0 7 0 0 0
2002000 n 0 8 7 9 1 other
2002000 i 0 8 0 0 0
2052000 o 0 8 1 7 0
2052000 i 0 7 0 0 0
3100000 s 0 7 230 1 3000000
3300000 s 0 7 230 1 4000000
3300100 o 0 7 1 0 0
end
"""


def _loop() -> tuple[ThreadTrace, list[ThreadJob]]:
    trace = read(_LOOP, AMD64)
    return trace, jobs(trace.threads[7], _SLEEP)


def test_jobs_are_due_when_the_thread_asked_to_be_woken() -> None:
    trace, some = _loop()
    assert (trace.whole, trace.clock_ns, trace.threads[7].name, trace.threads[7].priority) == (True, 500, "loop", 70)
    assert release_point(trace.threads[7]) == _SLEEP
    assert [(job.due_ns, job.started_ns, job.finished_ns) for job in some] == [
        (1_000_000, 1_003_000, 1_100_000),
        (2_000_000, 2_052_000, 3_100_000),
        (3_000_000, 3_100_000, 3_300_000),  # it asked for a moment that had passed, and was not put to sleep
    ]
    assert all(job.timed for job in some)
    assert [job.ran_ns for job in some] == [97_000, 1_048_000, 200_000]


def test_the_parts_of_a_late_job_add_up_and_name_who_went_first() -> None:
    trace, some = _loop()
    told = [
        (part.source, part.begin_ns, part.duration_ns, part.name) for part in parts(some[1], trace.threads[7], trace)
    ]
    assert told == [
        ("before", 0, 500, ""),
        ("switch", 500, 1_500, ""),
        ("sibling", 2_000, 50_000, "other:8"),
        ("own", 52_000, 1_048_000, ""),
    ]
    for job in some:
        assert sum(part.duration_ns for part in parts(job, trace.threads[7], trace)) == job.response_ns


def test_a_moment_that_had_passed_is_told_by_the_job_before() -> None:
    """No timer was late: another thread went before the thread while it was at that job."""
    before = "2950000 o 0 7 0 9 0\n2950000 r 0 9 20 0 0 above\n3050000 i 0 7 0 0 0\n3100000 s"
    log = _LOOP.replace("3100000 s", before)
    trace = read(log, AMD64)
    job = jobs(trace.threads[7], _SLEEP)[2]
    assert (job.due_ns, job.started_ns) == (3_000_000, 3_100_000)
    told = [(part.source, part.duration_ns, part.name) for part in parts(job, trace.threads[7], trace)]
    assert told == [("thread", 50_000, "above:9"), ("own", 50_000, "its job before"), ("own", 200_000, "")]


def test_a_timer_that_was_due_when_it_was_set_was_not_late() -> None:
    """The thread asked for a moment that had passed by 2 us, and was put to sleep all the same."""
    log = """\
1 n 0 7 7 29 1 loop
2 s 0 7 230 1 1000
3 o 0 7 1 0 0
1500 x 0 7 1000 0 0
1600 w 0 7 0 0 0
1700 i 0 7 0 0 0
7000 s 0 7 230 1 5000
7100 o 0 7 1 0 0
7400 x 0 7 5000 0 0
7500 w 0 7 0 0 0
7700 i 0 7 0 0 0
9000 s 0 7 230 1 9500
end
"""
    trace = read(log, AMD64)
    job = jobs(trace.threads[7], _SLEEP)[1]
    told = [(one.source, one.duration_ns, one.name) for one in parts(job, trace.threads[7], trace)]
    assert told == [("own", 2_000, "its job before"), ("before", 400, ""), ("switch", 300, ""), ("own", 1_300, "")]


def test_an_idle_cpu_is_nobody_who_went_first() -> None:
    """It took the timer's interrupt, and to switch."""
    log = """\
1 n 0 7 7 29 1 loop
2 s 0 7 230 1 1000000
3 o 0 7 1 0 0
3 r 0 0 120 0 0 swapper/0
1000500 x 0 7 1000000 0 0
1000600 w 0 7 0 0 0
1002000 i 0 7 0 0 0
1100000 s 0 7 230 1 2000000
1100010 o 0 7 1 0 0
end
"""
    trace = read(log, AMD64)
    (job,) = [one for one in jobs(trace.threads[7], _SLEEP) if one.finished_ns]
    told = [(part.source, part.duration_ns) for part in parts(job, trace.threads[7], trace)]
    assert told == [("irq", 500), ("switch", 1_500), ("own", 98_000)]


def test_waits_within_a_job_are_told_with_their_point() -> None:
    log = """\
1 n 0 7 7 29 1 loop
1 n 0 9 7 120 0 other
1 s 0 7 230 1 0
2 o 0 7 1 0 0
1000 x 0 7 900 0 0
1010 w 0 7 0 0 0
1020 i 0 7 0 0 0
2000 s 0 7 202 4096 0
2010 o 0 7 1 9 0
5000 w 0 7 9 0 0
5020 i 0 7 0 0 0
6000 o 0 7 2 0 0
7000 w 0 7 9 0 0
7500 i 0 7 0 0 0
8000 s 0 7 230 1 0
end
"""
    trace = read(log, AMD64)
    (job,) = jobs(trace.threads[7], _SLEEP)
    assert (job.due_ns, job.response_ns, job.locked) == (900, 7_100, 1)
    assert job.waits == {WaitPoint("futex", 4096): 1}
    told = [
        (one.source, one.duration_ns, one.name) for one in parts(job, trace.threads[7], trace) if one.source == "wait"
    ]
    assert told == [("wait", 2_990, "futex(1000), until other:9"), ("wait", 1_000, "lock in the kernel, until other:9")]


def test_on_several_cpus_those_are_told_that_ran_where_it_waited() -> None:
    """Its timer expires on CPU 0, late by what ran there; it waits on CPU 1, where one of lower priority goes on."""
    log = """\
1 n 0 7 7 29 1 loop
1 s 0 7 230 1 0
2 o 0 7 1 0 0
800 r 0 40 120 0 0 load
800 r 1 41 120 0 0 other
1500 x 0 7 1000 0 0
1600 w 0 7 40 0 0
1700 r 0 42 50 0 0 above
2600 i 1 7 0 0 0
3000 s 1 7 230 1 0
end
"""
    trace = read(log, AMD64)
    (job,) = jobs(trace.threads[7], _SLEEP)
    assert [(one.source, one.duration_ns, one.name) for one in parts(job, trace.threads[7], trace)] == [
        ("before", 500, "load:40"), ("held", 1_100, "other:41"), ("own", 400, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("prio", "source"), [(120, "timer"), (29, "before")])
def test_a_sleeper_without_priority_waits_for_the_timers_thread(prio: int, source: str) -> None:
    """On PREEMPT_RT, which wakes no others there."""
    log = f"""\
1 n 0 7 7 {prio} 0 loop
1 s 0 7 230 1 0
2 o 0 7 1 0 0
800 r 0 40 50 0 0 load
1400 r 0 15 98 0 0 ktimers/0
1500 x 0 7 1000 0 0
1600 w 0 7 15 0 0
1700 i 0 7 0 0 0
3000 s 0 7 230 1 0
end
"""
    trace = read(log, AMD64)
    (job,) = jobs(trace.threads[7], _SLEEP)
    told = [(one.source, one.duration_ns, one.name) for one in parts(job, trace.threads[7], trace)]
    assert told[:2] == [(source, 400, "load:40"), (source, 100, "ktimers/0:15")]


def test_a_futex_call_that_wakes_is_no_point() -> None:
    trace = read("1 n 0 7 7 120 0 x\n2 s 0 7 202 4096 129\n3 s 0 7 202 4096 128\nend\n", AMD64)
    assert [step.point for step in trace.threads[7].steps] == [WaitPoint("futex", 4096)]


def test_a_signal_timer_belongs_to_the_thread_that_it_wakes() -> None:
    """And to the same one later, when that is still at work and is not woken: the next job is due then."""
    log = """\
1 n 0 7 7 0 2 tick
2 s 0 7 128 99 0
3 o 0 7 1 0 0
1000 t 0 0 900 77 0
1010 w 0 7 0 0 0
1020 i 0 7 0 0 0
2000 t 0 0 1900 77 0
2500 i 0 7 0 0 0
2600 s 0 7 128 99 0
2700 s 0 7 1 0 0
3000 s 0 7 128 99 0
3100 o 0 7 1 0 0
end
"""
    trace = read(log, AMD64)
    some = jobs(trace.threads[7], _SIGNAL)
    assert [(job.due_ns, job.timed, job.finished_ns) for job in some] == [(900, True, 2_600), (1_900, True, 3_000)]
    told = [(part.source, part.duration_ns, part.name) for part in parts(some[1], trace.threads[7], trace)]
    assert told == [("own", 700, "its job before"), ("own", 400, "")]


def test_a_chain_is_due_when_its_head_was() -> None:
    head = ThreadJob(1_000, True, 1_010, 0, 1_020, 1_500)
    released = ThreadJob(1_300, False, 1_300, 7, 1_600, 2_000)
    by_others = ThreadJob(9_000, False, 9_000, 8, 9_100, 9_200)
    some = chained([released, by_others], [head], tid=7)
    assert [(job.due_ns, job.response_ns, job.timed) for job in some] == [(1_000, 1_000, True)]


def test_a_chain_is_told_from_its_head_on() -> None:
    """What the head waited for is no timer of the chain's own; its work is another thread's of the program."""
    trace = read(job_log({}), AMD64)
    head, act = jobs(trace.threads[7], _SIGNAL), release_point(trace.threads[8])
    assert act
    job = chained(jobs(trace.threads[8], act), head, 7)[3]
    told = [(part.source, part.duration_ns, part.name) for part in parts(job, trace.threads[8], trace)]
    assert told == [("before", 100, "act:8"), ("held", 200, "act:8"), ("sibling", 49_720, "tick:7"), ("own", 5_000, "")]


def test_releases_that_never_came_are_counted_by_the_gaps() -> None:
    some = [ThreadJob(due, True, due, 0, due) for due in (0, 10, 20, 50, 60, 74)]
    assert skipped(some, 10) == [0, 0, 2, 0, 0]
    assert row_of_misses([True, False, True, True, True, False, True]) == 3


def test_a_thread_that_ends_leaves_no_job_behind() -> None:
    trace = read(_LOOP.replace("3300100 o 0 7 1 0 0", "3300100 i 0 7 0 0 0\n3300200 o 0 7 128 0 0"), AMD64)
    assert len(jobs(trace.threads[7], _SLEEP)) == 3


def test_a_log_that_was_cut_is_not_whole() -> None:
    assert not read(_LOOP.removesuffix("end\n"), AMD64).whole
    assert not read(_LOOP.replace("end", "full"), AMD64).whole


@pytest.mark.parametrize("line", ["x", "1 z 0 7 0 0 0", "1 i 0 seven 0 0 0", "1 i 0 7"])
def test_a_damaged_log_is_refused_in_a_line(line: str) -> None:
    with pytest.raises(RunFailed, match="log of a program's jobs") as caught:
        read(f"{line}\n{_LOOP}", AMD64)
    assert "\n" not in str(caught.value)


_NUMBER = st.sampled_from([0, 1, 7, 8, 128, 202, 230, 10**6, 2**63, -1])
_LINE = st.builds(
    "{} {} {} {} {} {} {} name".format,
    *(st.integers(0, 4 * 10**6), st.sampled_from("nsxtwiorcf"), st.sampled_from([0, 1]), st.sampled_from([0, 7, 8])),
    *(_NUMBER, _NUMBER, _NUMBER),
)


@given(st.lists(st.tuples(st.integers(0, 40), _LINE), max_size=40))
def test_whatever_a_log_says_parts_add_up(more: list[tuple[int, str]]) -> None:
    """Lines in any order and number: nothing but RunFailed, and no part of a job is negative."""
    lines = _LOOP.splitlines() * 2
    for at, line in more:
        lines.insert(at, line)
    try:
        trace = read("\n".join(lines), AMD64)
    except RunFailed:
        return
    for thread in trace.threads.values():
        for point in waits_of(thread):
            for job in jobs(thread, point):
                if job.finished_ns and job.response_ns > 0:
                    told = parts(job, thread, trace)
                    assert sum(part.duration_ns for part in told) <= job.response_ns


def test_a_thread_has_the_priority_that_it_ran_at_most_often() -> None:
    """As cyclictest's threads, which give theirs back at the end."""
    log = job_log({}).replace("end\n", "11000000 n 0 7 7 120 0 tick\n11000001 i 0 7 0 0 0\nend\n")
    thread = read(log, AMD64).threads[7]
    assert (thread.priority, thread.policy) == (98, 2)
