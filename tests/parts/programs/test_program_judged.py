# SPDX-License-Identifier: MIT
"""A program's figures from its log: misses, rows of them, chains, and threads that fit none or two."""

import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.mission.program import Program
from rtqual.parts.programs.judged import judged
from rtqual.parts.programs.run_report import RunReport, read_report
from rtqual.parts.programs.tasks import tables, threads_of
from rtqual.parts.programs.thread_trace import read
from rtqual.protocols.record.schema import Measurement
from support.program_logs import PERIOD_NS, job_log

_REPORT = RunReport(started=0, begin=0, end=100 * PERIOD_NS)


def _program(*tasks: dict[str, object]) -> Program:
    usual = {"name": "tick", "thread": "tick", "period": "1 ms", "deadline": "500 us"}
    return Program.model_validate({"name": "own", "binary": "x", "task": list(tasks or (usual,))}, context={})


def _judged(text: str, *tasks: dict[str, object], ticks_per_s: int = 0) -> Measurement:
    return judged(_program(*tasks), read(text, AMD64), _REPORT, ticks_per_s)


def _value(measured: Measurement, name: str) -> float:
    return measured.scalars[name].value


def test_misses_are_counted_with_their_longest_row() -> None:
    measured = _judged(job_log({2: 600_000, 3: 700_000, 4: 500_000, 8: 900_000}))
    assert not measured.problems
    assert [_value(measured, f"tick {name}") for name in ("jobs", "missed", "longest row missed", "skipped")] == [
        10,
        3,
        2,
        0,
    ]
    assert _value(measured, "tick period p50") == PERIOD_NS
    response = next(one for one in measured.series if one.info.name == "tick response")
    assert response.total == 10
    worst = measured.late[0]
    assert (worst.series, worst.number, worst.value_ns) == ("tick response", 8, 900_000)
    assert sum(part.duration_ns for part in worst.parts) == 900_000


def test_a_release_that_never_came_is_a_miss() -> None:
    measured = _judged(job_log({}, gone=(4, 5)))
    assert [_value(measured, f"tick {name}") for name in ("jobs", "missed", "longest row missed", "skipped")] == [
        10,
        2,
        2,
        2,
    ]


def test_jobs_outside_of_what_is_judged_do_not_count() -> None:
    program = _program()
    trace = read(job_log({1: 900_000, 9: 900_000}), AMD64)
    measured = judged(program, trace, RunReport(begin=int(1.5 * PERIOD_NS), end=int(8.5 * PERIOD_NS)))
    assert (_value(measured, "tick jobs"), _value(measured, "tick missed")) == (7, 0)


def _polled_first(times: int = 20) -> str:
    """The tick's thread sleeps 1 us so many times before it is ready, as programs do while they start."""
    head, *rest = job_log({}).splitlines()
    polls = [
        line
        for at in range(100, 100 + times * 1000, 1000)
        for line in (
            f"{at} s 0 7 230 1 0",
            f"{at + 1} o 0 7 1 0 0",
            f"{at + 500} w 0 7 0 0 0",
            f"{at + 501} i 0 7 0 0 0",
        )
    ]
    rest = [f"{30_000 + number} {line.split(' ', 1)[1]}" for number, line in enumerate(rest[:5])] + rest[5:]
    return "\n".join([head, *polls, *rest, ""])


def test_where_a_thread_waited_while_it_started_is_not_where_its_jobs_begin() -> None:
    report = RunReport(begin=PERIOD_NS // 2, end=100 * PERIOD_NS)
    trace = read(_polled_first(), AMD64)
    measured = judged(_program({"name": "tick", "thread": "tick"}), trace, report)
    assert _value(measured, "tick jobs") == 10
    seen, _ = threads_of(trace, (PERIOD_NS // 2, 100 * PERIOD_NS))
    assert [each.point.call for each in seen if each.thread.name == "tick"] == ["rt_sigtimedwait"]
    assert 'period = "1 ms"' in tables(seen)
    everything, _ = threads_of(trace)
    assert [each.point.call for each in everything if each.thread.name == "tick"] == ["clock_nanosleep"]


def test_a_thread_that_waits_only_before_it_is_judged_keeps_its_point_and_has_no_job() -> None:
    trace = read(_polled_first(), AMD64)
    report = RunReport(begin=90 * PERIOD_NS, end=99 * PERIOD_NS)
    measured = judged(_program({"name": "tick", "thread": "tick"}), trace, report)
    which = "tick at priority 98 was never released from clock_nanosleep(1)"
    assert measured.absent == {"tick response": f"no job of it was seen: {which}"}


def test_a_job_at_work_when_its_deadline_passes_is_a_miss() -> None:
    text = job_log({}).replace("end\n", "") + "\n".join(
        ["11000100 t 0 0 11000000 77 0", "11000200 w 0 7 0 0 0", "11000300 i 0 7 0 0 0", "end", ""]
    )
    measured = judged(_program(), read(text, AMD64), RunReport(begin=0, end=12 * PERIOD_NS))
    assert (_value(measured, "tick jobs"), _value(measured, "tick missed")) == (11, 1)


def test_a_chain_counts_from_its_first_task() -> None:
    tick = {"name": "tick", "thread": "tick", "deadline": "500 us"}
    act = {"name": "act", "priority": 90, "after": "tick", "deadline": "60 us"}
    measured = _judged(job_log({2: 100_000}), act, tick)
    series = next(one for one in measured.series if one.info.name == "act response")
    assert sorted({*series.values.tolist()}) == [55_020, 105_020]
    assert _value(measured, "act missed") == 1


def test_a_thread_must_fit_alone() -> None:
    for task, says in (
        ({"name": "x", "thread": "nobody"}, "no thread fits it; the program's threads were tick at priority 98"),
        ({"name": "x", "thread": "*"}, "2 threads fit it (tick at priority 98 and act at priority 90)"),
        ({"name": "x", "thread": "tick", "waits_at": "read"}, "no thread fits it"),
        ({"name": "x", "priority": 97}, "no thread fits it"),
    ):
        measured = _judged(job_log({}), task)
        (problem,) = measured.problems
        assert says in problem
        assert "x response" in measured.absent
        assert not measured.series
    assert not _judged(job_log({}), {"name": "x", "thread": "*", "nth": 2}).problems


def test_another_release_than_the_mission_says_is_a_problem() -> None:
    (problem,) = _judged(job_log({}), {"name": "act", "thread": "act", "released_by": "timer"}).problems
    assert "10 of 10 jobs were released by no timer" in problem
    (problem,) = _judged(job_log({}), {"name": "tick", "thread": "tick", "released_by": "wake"}).problems
    assert "10 of 10 jobs were released by a timer" in problem


def test_a_log_that_is_not_whole_is_a_problem() -> None:
    measured = _judged(job_log({}).removesuffix("end\n"))
    assert any("not all of its events" in one for one in measured.problems)


def test_a_period_that_drifts_is_told_in_percent() -> None:
    measured = _judged(job_log({}), {"name": "tick", "thread": "tick", "period": "990 us"})
    assert round(_value(measured, "tick drift"), 3) == 1.010


def test_raised_threads_of_the_kernel_stand_in_the_record() -> None:
    report = read_report("started 1\nbegin 1\nend 9\nraised 1 1 99 ktimers/0\nunraised nothing/*\n")
    measured = judged(_program(), read(job_log({}), AMD64), report)
    assert _value(measured, "kernel thread ktimers/0") == 99
    assert any("this kernel has no thread nothing/*" in caution for caution in measured.cautions)


def test_misses_of_any_so_many_jobs_in_a_row_are_counted() -> None:
    task = {"name": "tick", "thread": "tick", "period": "1 ms", "deadline": "500 us", "window": 4}
    measured = _judged(job_log({2: 600_000, 5: 600_000, 6: 600_000, 9: 600_000}), task)
    assert _value(measured, "tick missed in any 4") == 2
    assert _value(_judged(job_log({}, jobs=3, gone=(2,)), task), "tick missed in any 4") == 1


def test_what_an_owner_ought_to_know_is_told_once() -> None:
    assert _judged(job_log({})).cautions == ()
    drifting = {"name": "tick", "thread": "tick", "period": "990 us"}
    (said,) = _judged(job_log({}), drifting).cautions
    assert "differs by +1 %" in said
    (said,) = _judged(job_log({}), ticks_per_s=1000).cautions
    assert "multiple of the kernel's tick" in said
    assert _judged(job_log({}), ticks_per_s=300).cautions == ()
    (said,) = _judged(
        job_log({}).replace("200050000 s", "x").replace("1050010 o", "1040000 f 0 7 0 0 0\n1050010 o")
    ).cautions
    assert "page faults" in said
    both = job_log({}).replace("1 n 0 8 7 9 1 act", "1 n 0 8 7 1 2 act")  # SCHED_RR, the same priority
    (said,) = _judged(both).cautions
    assert "tick and act share priority 98 under SCHED_RR" in said
    (said,) = _judged(both.replace("1 2 act", "1 2 tick")).cautions  # F Prime gives all of its threads one name
    assert said.startswith("2 threads called tick share priority 98 under SCHED_RR")
    report = read_report("started 1\nbegin 0\nend 100000000\nmemory end 100 400\n")
    (said,) = judged(_program(), read(job_log({}), AMD64), report).cautions
    assert "not all of its memory is locked" in said


def test_a_timer_thread_below_the_programs_is_told() -> None:
    """On PREEMPT_RT: `act` runs while the timer of `tick` waits for its thread of the kernel."""
    text = """\
1 n 0 7 7 1 2 tick
1 n 0 8 7 9 1 act
2 s 0 7 128 0 0
3 o 0 7 1 8 0
900000 i 0 8 0 0 0
1500000 o 0 8 1 12 0
1500000 r 0 12 98 0 0 ktimers/0
1500100 t 0 0 1000000 77 12
1500200 w 0 7 12 0 0
1500300 i 0 7 0 0 0
1600000 s 0 7 128 0 0
1600100 o 0 7 1 0 0
end
"""
    measured = _judged(text, {"name": "tick", "thread": "tick", "deadline": "500 us"})
    (said,) = measured.cautions
    assert "expire in ktimers/0, a thread of a lower priority" in said
    assert [(one.source, one.duration_ns, one.name) for one in measured.late[0].parts] == [
        ("timer", 500_000, "act:8"), ("timer", 100, "ktimers/0:12"), ("held", 200, "ktimers/0:12"), ("own", 99_700, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prios", "told", "says"),
    [
        ([0] * 9, "", "at priority 99, which the mission does not say"),
        ([98] + [0] * 19, "", "at priority 99, which the mission does not say"),
        ([0, 98] * 5, "", ""),
        ([0] * 9, "raised 1 1 99 ktimers/0\n", ""),
        ([0] * 9, "raised 1 1 2 ktimers/0\n", "at priority 99, where the mission says 2"),
    ],
)
def test_a_priority_of_the_kernels_that_the_mission_hides_is_told(prios: list[int], told: str, says: str) -> None:
    """One that is lent now and then is none; what it had before the time that is judged hides nothing."""
    rows = [f"{11_000_000 + number} r 0 12 {prio} 0 0 ktimers/0" for number, prio in enumerate(prios)]
    before = [f"{10_000_100 + number} r 0 12 98 0 0 ktimers/0" for number in range(9)]
    log = job_log({}).replace("end\n", "\n".join([*before, *rows, "end", ""]))
    report = read_report(f"started 1\nbegin 11000000\nend 100000000\n{told}")
    cautions = [said for said in judged(_program(), read(log, AMD64), report).cautions if "ktimers/0 ran" in said]
    assert [says in said for said in cautions] == [True] * bool(says)
