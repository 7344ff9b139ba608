# SPDX-License-Identifier: MIT
"""A program's figures from its log: misses, rows of them, chains, and threads that fit none or two."""

from rtqual.base.architecture import AMD64
from rtqual.engine.mission.program import Program
from rtqual.parts.programs.judged import judged
from rtqual.parts.programs.report import Report, read_report
from rtqual.parts.programs.trace import read
from rtqual.protocols.record.schema import Measurement

_PERIOD_NS = 1_000_000
_REPORT = Report(started=0, begin=0, end=100 * _PERIOD_NS)


def _log(responses_ns: dict[int, int], *, jobs: int = 10, gone: tuple[int, ...] = ()) -> str:
    """A thread `tick` that a signal's timer releases each ms, and `act`, which it wakes at once."""
    lines = [
        "1 n 0 7 7 1 2 tick",
        "1 n 0 8 7 9 1 act",
        "2 s 0 7 128 0 0",
        "3 o 0 7 1 0 0",
        "4 s 0 8 202 64 0",
        "5 o 0 8 1 0 0",
    ]
    for number in range(1, jobs + 1):
        if number in gone:
            continue
        due = number * _PERIOD_NS
        end = due + responses_ns.get(number, 50_000)
        lines += [
            f"{due + 100} t 0 0 {due} 77 0", f"{due + 200} w 0 7 0 0 0", f"{due + 300} i 0 7 0 0 0",
            f"{due + 400} w 0 8 7 0 0", f"{end} s 0 7 128 0 0", f"{end + 10} o 0 7 1 8 0", f"{end + 20} i 0 8 0 0 0",
            f"{end + 5_020} s 0 8 202 64 0", f"{end + 5_030} o 0 8 1 0 0",
        ]  # fmt: skip
    return "\n".join([*lines, "end", ""])


def _program(*tasks: dict[str, object]) -> Program:
    usual = {"name": "tick", "thread": "tick", "period": "1 ms", "deadline": "500 us"}
    return Program.model_validate({"name": "own", "binary": "x", "task": list(tasks or (usual,))}, context={})


def _judged(log: str, *tasks: dict[str, object]) -> Measurement:
    return judged(_program(*tasks), read(log, AMD64), _REPORT)


def _value(measured: Measurement, name: str) -> float:
    return measured.scalars[name].value


def test_misses_are_counted_with_their_longest_row() -> None:
    measured = _judged(_log({2: 600_000, 3: 700_000, 4: 500_000, 8: 900_000}))
    assert not measured.problems
    assert [_value(measured, f"tick {name}") for name in ("jobs", "missed", "longest row missed", "skipped")] == [
        10,
        3,
        2,
        0,
    ]
    assert _value(measured, "tick period p50") == _PERIOD_NS
    response = next(one for one in measured.series if one.info.name == "tick response")
    assert response.total == 10
    worst = measured.late[0]
    assert (worst.series, worst.number, worst.value_ns) == ("tick response", 8, 900_000)
    assert sum(part.duration_ns for part in worst.parts) == 900_000


def test_a_release_that_never_came_is_a_miss() -> None:
    measured = _judged(_log({}, gone=(4, 5)))
    assert [_value(measured, f"tick {name}") for name in ("jobs", "missed", "longest row missed", "skipped")] == [
        10,
        2,
        2,
        2,
    ]


def test_jobs_outside_of_what_is_judged_do_not_count() -> None:
    program = _program()
    trace = read(_log({1: 900_000, 9: 900_000}), AMD64)
    measured = judged(program, trace, Report(begin=int(1.5 * _PERIOD_NS), end=int(8.5 * _PERIOD_NS)))
    assert (_value(measured, "tick jobs"), _value(measured, "tick missed")) == (7, 0)


def test_a_job_at_work_when_its_deadline_passes_is_a_miss() -> None:
    log = _log({}).replace("end\n", "") + "\n".join(
        ["11000100 t 0 0 11000000 77 0", "11000200 w 0 7 0 0 0", "11000300 i 0 7 0 0 0", "end", ""]
    )
    measured = judged(_program(), read(log, AMD64), Report(begin=0, end=12 * _PERIOD_NS))
    assert (_value(measured, "tick jobs"), _value(measured, "tick missed")) == (11, 1)


def test_a_chain_counts_from_its_first_task() -> None:
    tick = {"name": "tick", "thread": "tick", "deadline": "500 us"}
    act = {"name": "act", "priority": 90, "after": "tick", "deadline": "60 us"}
    measured = _judged(_log({2: 100_000}), act, tick)
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
        measured = _judged(_log({}), task)
        (problem,) = measured.problems
        assert says in problem
        assert "x response" in measured.absent
        assert not measured.series
    assert not _judged(_log({}), {"name": "x", "thread": "*", "nth": 2}).problems


def test_another_release_than_the_mission_says_is_a_problem() -> None:
    (problem,) = _judged(_log({}), {"name": "act", "thread": "act", "released_by": "timer"}).problems
    assert "10 of 10 jobs were released by no timer" in problem
    (problem,) = _judged(_log({}), {"name": "tick", "thread": "tick", "released_by": "wake"}).problems
    assert "10 of 10 jobs were released by a timer" in problem


def test_a_log_that_is_not_whole_is_a_problem() -> None:
    measured = _judged(_log({}).removesuffix("end\n"))
    assert any("not all of its events" in one for one in measured.problems)


def test_a_period_that_drifts_is_told_in_percent() -> None:
    measured = _judged(_log({}), {"name": "tick", "thread": "tick", "period": "990 us"})
    assert round(_value(measured, "tick drift"), 3) == 1.010


def test_raised_threads_of_the_kernel_stand_in_the_record() -> None:
    report = read_report("started 1\nbegin 1\nend 9\nraised 1 1 99 ktimers/0\nunraised nothing/*\n")
    measured = judged(_program(), read(_log({}), AMD64), report)
    assert _value(measured, "kernel thread ktimers/0") == 99
