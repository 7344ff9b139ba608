# SPDX-License-Identifier: MIT
"""Several CPUs, which take turns on one clock: whose time is whose."""

import pytest

from rtqual.base.errors import RunFailed
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.matching import Sample, match
from rtqual.parts.explain.processor import X86_64
from rtqual.parts.explain.sections import longest, placed
from rtqual.parts.explain.stretch_words import cause, described
from rtqual.parts.explain.timeline import TimeKind, Timeline, timeline
from rtqual.parts.explain.trace import KernelThread, Trace
from rtqual.parts.explain.windows import places, window
from rtqual.protocols.record.schema import Series
from support.watched_runs import AT, CYCLICTEST, IDLE, LOAD, SYMBOLS, USER, Log

THREAD = KernelThread(CYCLICTEST, "cyclictest", 19)
EXPIRY_NS, READ_NS = 10_000, 20_000
TIMER = AT["asm_sysvec_apic_timer_interrupt"]


def begun() -> Log:
    """CPU 0 runs hackbench and CPU 1 idles; the closer look begins at CPU 0's system call."""
    log = Log().switch(1_000, LOAD).add("a", 1_500, 1).switch(1_500, IDLE).add("a", 2_000, 0)
    log.add("s", 2_000, 1).add("m", 2_000, 0).add("a", 2_000, 1).add("s", 2_000, 1).add("m", 2_000, 1)
    log.add("a", 2_000, 0).add("E", 2_000, AT["entry_SYSCALL_64"]).add("w", 2_100)
    return log.blocks(2_200, "do_syscall_64", "late_hold")


def woken(log: Log, fires_ns: int) -> Log:
    """CPU 0 has its timer's interrupt and switches to cyclictest, which reads its clock."""
    log.add("b", fires_ns, TIMER).add("I", fires_ns, TIMER).add("b", fires_ns + 10, AT["hrtimer_interrupt"])
    log.add("O", fires_ns + 500, TIMER + 80).add("b", fires_ns + 500, AT["late_hold"] + 41)
    return back(log)


def back(log: Log) -> Log:
    log.add("k", 17_990, AT["late_hold"] + 60).blocks(18_000, "__schedule", "finish_task_switch.isra.0")
    log.switch(18_010, CYCLICTEST).add("b", 18_500, AT["do_syscall_64"]).add("O", 19_000, 0).add("b", 19_000, USER)
    return log.add("R", READ_NS, USER)


def turn(log: Log, begin_ns: int, end_ns: int, *, halts: bool = False) -> Log:
    """CPU 1's, in do_idle."""
    log.add("a", begin_ns, 1).add("b", begin_ns, AT["do_idle"])
    if halts:
        log.add("H", end_ns - 100, AT["do_idle"] + 9)
    return log.add("a", end_ns, 0)


def told(log: Log) -> Timeline:
    trace = log.trace()
    sample = Sample(1, READ_NS - EXPIRY_NS, len(trace.events) - 1, READ_NS)
    wanted = window(trace, EXPIRY_NS, READ_NS)
    return timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, *places(trace, wanted, [wanted])))


def held_off() -> Log:
    """Interrupts are off for 5 us before the timer's, and CPU 1 has a turn of 4 us meanwhile."""
    log = begun().add("v", 8_000, AT["late_hold"] + 20).add("b", 8_000, AT["late_hold"] + 24)
    turn(log, 11_000, 15_000).add("b", 15_000, AT["late_hold"] + 30).add("w", 16_990, AT["late_hold"] + 40)
    return woken(log, 17_000)


def test_another_cpus_turn_is_a_part_of_its_own() -> None:
    line = told(held_off())
    assert [(part.label, part.begin_ns, part.duration_ns) for part in line.parts[:4]] == [
        ("interrupts off", 0, 1_000), ("another CPU's turn", 1_000, 4_000), ("interrupts off", 5_000, 1_990),
        ("until the timer's interrupt", 6_990, 10),
    ]  # fmt: skip
    assert sum(part.duration_ns for part in line.parts) == line.sample.value_ns
    assert line.turns_ns == 4_000 and line.named == 1.0


def test_a_turn_says_what_held_up_the_samples_cpu_meanwhile() -> None:
    line = told(held_off())
    other = line.parts[1]
    assert (other.turn, other.kind, other.thread) == ("swapper/0 on CPU 1", TimeKind.IRQS_OFF, "hackbench")
    assert described(other).startswith("swapper/0 on CPU 1; meanwhile interrupts off; in hackbench; late_hold; off in ")
    assert line.causes[TimeKind.IRQS_OFF] == 6_990
    assert cause(line).startswith("mostly interrupts off, 6.99 us (69.9 % of it): in hackbench; late_hold")
    assert cause(line).endswith("; 4 us of the sample are other CPUs' turns")


def test_time_in_which_all_cpus_wait_is_no_turn() -> None:
    """CPU 1 halts at 12.9 us, and the clock goes on to CPU 0's timer."""
    log = begun().add("H", 9_000, AT["late_hold"] + 20)
    line = told(woken(turn(log, 9_500, 13_000, halts=True), 13_000))
    assert [(part.kind, part.duration_ns, bool(part.turn)) for part in line.parts[:2]] == [
        (TimeKind.DELIVERY, 2_900, True), (TimeKind.DELIVERY, 100, False),
    ]  # fmt: skip


def test_a_short_stretch_stays_one_though_a_turn_cuts_it() -> None:
    """1.5 us without preemption of its own, half before a turn and half behind it, is told; 0.9 us is not."""
    for own_ns, kind in ((1_500, TimeKind.PREEMPT_OFF), (900, TimeKind.OTHER)):
        log = begun().add("b", 10_000, TIMER).add("I", 10_000, TIMER).add("O", 10_500, TIMER + 80)
        log.add("b", 10_500, AT["late_hold"] + 41).add("m", 11_000, 1)
        half_ns = own_ns // 2
        turn(log, 11_000 + half_ns, 15_000).add("m", 15_000 + half_ns, 0)
        line = told(back(log))
        assert (TimeKind.PREEMPT_OFF in line.causes) == (kind == TimeKind.PREEMPT_OFF)
        assert line.turns_ns == 4_000 - half_ns


def test_a_timer_that_fires_on_another_cpu_is_refused() -> None:
    log = begun().add("a", 10_000, 1).add("b", 10_000, TIMER).add("I", 10_000, TIMER).add("O", 10_500, TIMER + 80)
    with pytest.raises(RunFailed, match="on another CPU"):
        told(back(log.add("a", 10_500, 0).add("b", 10_500, AT["late_hold"] + 41)))


def both() -> Trace:
    """A cyclictest on each CPU, and a section of 6 us on CPU 1."""
    log = Log().switch(1_000, CYCLICTEST).add("R", 50_007, USER).add("a", 60_000, 1).switch(60_000, LOAD)
    log.add("c", 70_000, AT["late_hold"]).add("t", 76_000, AT["late_hold"] + 9).switch(80_000, CYCLICTEST)
    log.add("R", 550_020, USER).add("a", 1_050_000, 0).add("R", 1_050_009, USER).add("a", 1_550_000, 1)
    return log.add("R", 1_550_031, USER).trace()


@pytest.mark.parametrize(("cpu", "values", "first_ns"), [(0, [7, 9], 50_000), (1, [20, 31], 550_000)])
def test_samples_are_looked_for_on_the_cpu_of_their_series(cpu: int, values: list[int], first_ns: int) -> None:
    series = Series.counted(dict.fromkeys(values, 1), name="latency", cpu=cpu)
    samples = match(both(), series, 1_000_000, 80, "cyclictest").samples
    assert [(one.value_ns, one.expiry_ns) for one in samples] == [(values[0], first_ns), (values[1], first_ns + 10**6)]


def test_a_section_is_told_with_its_cpus_thread_and_less_the_others_turns() -> None:
    (section,) = longest(both(), 0, 2_000_000, 3)
    assert (section.thread, section.cpu, section.duration_ns) == ("hackbench", 1, 6_000)
    trace = held_off().trace()
    wanted = window(trace, EXPIRY_NS, READ_NS)
    run = slices(trace, X86_64, SYMBOLS, *places(trace, wanted, [wanted]))
    (own,) = longest(Log().switch(1, LOAD).add("c", 8_000, 1).add("t", 16_990, 2).trace(), 0, READ_NS, 1)
    found = placed(own, run)
    assert (found.turns_ns, found.chain) == (4_000, ("do_syscall_64", "late_hold"))


def test_a_closer_look_that_begins_after_its_end_is_refused() -> None:
    trace = Log().switch(1, LOAD).add("s", 2, 1).switch(3, IDLE).trace()
    with pytest.raises(RunFailed, match="another course"):
        places(trace, (0, 0), [(0, 0)])


def test_a_log_of_a_cpu_that_no_board_has_is_refused() -> None:
    with pytest.raises(RunFailed, match="CPU that no board has"):
        Log().switch(1, LOAD).add("a", 2, 16).trace()
