# SPDX-License-Identifier: MIT
"""Samples found among the readings, and told in parts that add up."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput, RunFailed
from rtqual.parts.explain import context
from rtqual.parts.explain.cause_tally import tally, waterfalls
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.export import chrome, write_ctf
from rtqual.parts.explain.matching import Sample, match
from rtqual.parts.explain.processor import X86_64
from rtqual.parts.explain.sections import longest
from rtqual.parts.explain.timeline import TimeKind, Timeline, timeline
from rtqual.parts.explain.trace import KernelThread, Trace
from rtqual.parts.explain.windows import apart, window
from rtqual.protocols.record.schema import Series
from support.watched_runs import AT, CYCLICTEST, IDLE, LOAD, SYMBOLS, USER, Log

THREAD = KernelThread(CYCLICTEST, "cyclictest", 19)
EXPIRY_NS, READ_NS = 10_000, 20_000


def run(cause: str) -> Log:
    """hackbench makes a system call and holds up cyclictest, whose timer expires at 10 us, until 18 us."""
    log = Log().switch(1_000, LOAD).add("s", 2_000, 1).add("E", 2_000, AT["entry_SYSCALL_64"])
    log.add("w", 2_100).blocks(2_200, "do_syscall_64", "late_hold")
    fires_ns = 17_000 if cause == "irqs" else 10_100
    if cause == "irqs":
        log.add("v", 5_000, AT["late_hold"] + 20).add("b", 6_000, AT["late_hold"] + 24)
        log.add("w", 16_990, AT["late_hold"] + 40).add("b", 16_990, AT["late_hold"] + 41)
    if cause == "preempt":
        log.add("m", 6_000, 1)
    log.add("b", fires_ns, AT["asm_sysvec_apic_timer_interrupt"])
    log.add("k", fires_ns, AT["asm_sysvec_apic_timer_interrupt"] + 9)
    log.add("I", fires_ns, AT["asm_sysvec_apic_timer_interrupt"]).add("b", fires_ns + 10, AT["hrtimer_interrupt"])
    if cause == "softirq":
        log.add("k", 10_500, AT["hrtimer_interrupt"] + 50).blocks(10_510, "handle_softirqs.constprop.0", "flood")
    log.add("O", 17_500, AT["asm_sysvec_apic_timer_interrupt"] + 80).add("b", 17_500, AT["late_hold"] + 41)
    if cause == "preempt":
        log.add("m", 17_900, 0)
    log.add("k", 17_990, AT["late_hold"] + 60).blocks(18_000, "__schedule", "finish_task_switch.isra.0")
    log.switch(18_010, CYCLICTEST).add("b", 18_500, AT["do_syscall_64"]).add("O", 19_000, 0).add("b", 19_000, USER)
    return log.add("R", READ_NS, USER)


def told(cause: str) -> Timeline:
    trace = run(cause).trace()
    sample = Sample(1, READ_NS - EXPIRY_NS, int(trace.events[-1]), READ_NS)
    return timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))


@pytest.mark.parametrize(
    ("cause", "kind", "where"),
    [
        ("irqs", TimeKind.IRQS_OFF, "late_hold"),
        ("preempt", TimeKind.INTERRUPT, "hrtimer_interrupt"),
        ("softirq", TimeKind.SOFTIRQ, "flood"),
        ("none", TimeKind.INTERRUPT, "hrtimer_interrupt"),
    ],
)
def test_the_cause_is_named_and_the_parts_add_up(cause: str, kind: TimeKind, where: str) -> None:
    line = told(cause)
    assert (line.worst.kind, line.worst.where) == (kind, where)
    assert sum(part.duration_ns for part in line.parts) == line.sample.value_ns == 10_000
    assert [part.begin_ns for part in line.parts] == [
        sum(part.duration_ns for part in line.parts[:number]) for number in range(len(line.parts))
    ]
    assert line.parts[-1].kind == TimeKind.OWN
    assert line.named == 1.0


def test_it_says_where_interrupts_were_switched_off_and_how_long_before() -> None:
    part = told("irqs").worst
    assert part.off_at == "late_hold < do_syscall_64"
    assert (part.begin_ns, part.duration_ns, part.off_before_ns) == (0, 6_990, 5_000)
    assert part.thread == "hackbench"


def test_an_interrupted_function_goes_on_below_no_interrupt() -> None:
    after = [part for part in told("none").parts if part.kind == TimeKind.OTHER]
    assert [part.chain for part in after] == [("do_syscall_64", "late_hold")]


def test_short_stretches_without_preemption_are_the_thread_that_runs() -> None:
    assert TimeKind.PREEMPT_OFF not in told("preempt").causes  # 400 ns of it
    assert told("preempt").causes[TimeKind.OTHER] == told("none").causes[TimeKind.OTHER]


def test_a_function_that_is_not_known_is_a_part_of_its_own() -> None:
    log = Log().switch(1_000, LOAD).add("s", 2_000, 1).add("E", 2_000, AT["entry_SYSCALL_64"])
    log.add("I", 10_000, AT["asm_sysvec_apic_timer_interrupt"]).add("b", 12_000, 0xFFFFFFFFF0000000).add(
        "R", READ_NS, USER
    )
    trace = log.trace()
    sample = Sample(1, 10_000, int(trace.events[-1]), READ_NS)
    line = timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))
    assert line.causes[TimeKind.UNNAMED] == 8_000
    assert line.named == pytest.approx(0.2)


def test_a_lock_that_the_thread_waits_for_is_told_with_the_thread_that_runs() -> None:
    log = Log().switch(1_000, CYCLICTEST).add("s", 2_000, 1).add("E", 2_000, AT["entry_SYSCALL_64"])
    log.add("I", 10_000, AT["asm_sysvec_apic_timer_interrupt"]).add("O", 10_500, 0)
    log.blocks(10_500, "do_syscall_64", "rt_mutex_slowlock", "__schedule", "finish_task_switch.isra.0")
    log.switch(11_000, LOAD).add("b", 11_100, AT["late_hold"]).add("b", 15_000, AT["__schedule"])
    log.switch(15_500, CYCLICTEST).add("b", 16_000, AT["do_syscall_64"]).add("O", 19_000, 0).add("b", 19_000, USER)
    trace = log.add("R", READ_NS, USER).trace()
    sample = Sample(1, READ_NS - EXPIRY_NS, int(trace.events[-1]), READ_NS)
    line = timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))
    (wait,) = [part for part in line.parts if part.kind == TimeKind.LOCK]
    assert (wait.thread, wait.where, wait.duration_ns) == ("hackbench", "late_hold", 3_900)


def test_who_held_a_lock_is_told_for_all_of_the_wait_whoever_ran_meanwhile() -> None:
    log = Log().switch(1_000, CYCLICTEST).add("s", 2_000, 1).add("E", 2_000, AT["entry_SYSCALL_64"])
    log.add("I", 10_000, AT["asm_sysvec_apic_timer_interrupt"]).add("O", 10_500, 0)
    log.blocks(10_500, "do_syscall_64", "rt_mutex_slowlock", "__schedule", "finish_task_switch.isra.0")
    log.switch(11_000, IDLE).add("b", 11_100, AT["do_idle"]).add("b", 15_000, AT["__schedule"])
    log.switch(15_500, LOAD).blocks(15_600, "late_hold", "mutex_unlock", "try_to_wake_up").add(
        "b", 17_000, AT["__schedule"]
    )
    log.switch(17_500, CYCLICTEST).add("b", 17_600, AT["do_syscall_64"]).add("O", 19_000, 0).add("b", 19_000, USER)
    trace = log.add("R", READ_NS, USER).trace()
    sample = Sample(1, READ_NS - EXPIRY_NS, int(trace.events[-1]), READ_NS)
    line = timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))
    waits = [part for part in line.parts if part.kind == TimeKind.LOCK]
    assert [(part.thread, part.where, part.duration_ns) for part in waits] == [
        ("hackbench", "mutex_unlock", 3_900), ("hackbench", "mutex_unlock", 1_400),
    ]  # fmt: skip
    assert TimeKind.IDLE_EXIT not in line.causes


def test_a_sample_of_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "_MOST", 3)
    trace = readings(10, 20, 30, 40).trace()
    with pytest.raises(RunFailed, match="takes 4 steps"):
        list(slices(trace, X86_64, SYMBOLS, 0, 4))


def test_slices_that_lack_a_moment_are_refused() -> None:
    trace = run("none").trace()
    sample = Sample(1, READ_NS - 1_500, int(trace.events[-1]), READ_NS)
    with pytest.raises(RunFailed, match="do not add up"):
        timeline(sample, X86_64, THREAD, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))


def readings(*ns: int) -> Log:
    log = Log().switch(1, CYCLICTEST)
    for one in ns:
        log.add("R", one, USER)
    return log


def test_readings_are_matched_to_samples_by_all_their_values() -> None:
    trace = readings(3, 50_007, 1_050_009, 2_050_030).trace()  # the first is not of a wake-up
    series = Series.counted({7: 1, 9: 1, 30: 1}, name="latency")
    matched = match(trace, series, 1_000_000, 80, "cyclictest")
    assert [(one.number, one.value_ns, one.expiry_ns) for one in matched.samples] == [
        (1, 7, 50_000), (2, 9, 1_050_000), (3, 30, 2_050_000),
    ]  # fmt: skip


def test_periods_that_were_missed_are_left_out_as_cyclictest_does() -> None:
    trace = readings(50_007, 3_050_001, 4_050_009).trace()
    series = Series.raw([7, 2_000_001, 9], name="latency")
    values = [one.value_ns for one in match(trace, series, 1_000_000, 80, "cyclictest").samples]
    assert values == [7, 2_000_001, 9]


def test_a_clock_of_nearly_a_nanosecond_a_count_is_told_by_its_rate() -> None:
    """999.951 MHz, as Debian's kernel first thinks: 49 ns more in each ms."""
    trace = readings(50_007, 1_050_060, 2_049_932, 3_049_911).trace()
    series = Series.counted({7: 1, 109: 1, 30: 1, 58: 1}, name="latency")
    values = [one.value_ns for one in match(trace, series, 1_000_000, 80, "cyclictest").samples]
    assert values == [7, 109, 30, 58]


def test_a_rate_between_two_kilohertz_is_told_by_the_kernels_multiplier() -> None:
    """999,999.046 kHz, whose multiplier of 2^-23 is 8 above 2^23: over 300 ms whole kHz are 14 ns off."""
    late = [7 + 41 * number % 1009 for number in range(300)]
    trace = readings(*(50_000 + round((1_000_000 * place + ns) * 2**23 / (2**23 + 8)) for place, ns in enumerate(late)))
    series = Series.counted(dict.fromkeys(late, 1), name="latency")
    assert [one.value_ns for one in match(trace.trace(), series, 1_000_000, 80, "cyclictest").samples] == late


LOST_NS = 113  # while it changes
CHANGED_NS = 110_000_123  # in a kernel that is up so soon that it refines its clock's rate meanwhile


def changed(before_khz: float, after_khz: float, late: list[int], *changes_ns: int) -> Trace:
    """Readings of a clock that counts another rate from CHANGED_NS on, and what the trace tells of that."""
    log = readings()
    for place, ns in enumerate(late):
        by_kernel_ns = 1_000_000 * place + ns + (LOST_NS if 1_000_000 * place + ns > CHANGED_NS else 0)
        until_ns = CHANGED_NS * 1e6 / before_khz
        before, after = min(by_kernel_ns, until_ns), max(by_kernel_ns - until_ns, 0)
        log.add("R", 50_000 + round(before * before_khz / 1e6 + after * after_khz / 1e6), USER)
    for ns in changes_ns:
        log.add("g", 50_000 + ns)
    return log.trace()


@pytest.mark.parametrize("number", [300, 150])  # the change is before their middle, and behind it
@pytest.mark.parametrize("raw", [False, True])
def test_a_rate_that_is_refined_among_the_readings_is_told_from_there_on(number: int, raw: bool) -> None:
    late = [7_000 + 41 * place % 1009 for place in range(number)]
    series = Series.raw(late, name="latency") if raw else Series.counted(dict.fromkeys(late, 1), name="latency")
    trace = changed(999_951, 999_999, late, CHANGED_NS)
    assert [one.value_ns for one in match(trace, series, 1_000_000, 80, "cyclictest").samples] == late
    for told in ([], [CHANGED_NS + 20_000_000], [CHANGED_NS, CHANGED_NS + 10_000_000]):
        with pytest.raises(BadInput, match="do not give"):
            match(changed(999_951, 999_999, late, *told), series, 1_000_000, 80, "cyclictest")


def test_readings_that_do_not_give_the_values_are_refused() -> None:
    series = Series.counted({7: 1, 9: 1, 531: 1}, name="latency")
    with pytest.raises(BadInput, match="3 readings"):
        match(readings(50_007, 1_050_009, 2_050_030).trace(), series, 1_000_000, 80, "cyclictest")
    with pytest.raises(BadInput, match="0 readings"):
        match(readings(50_007).trace(), series, 1_000_000, 79, "cyclictest")


def test_windows_begin_where_the_kernel_was_entered_and_touching_ones_are_one() -> None:
    trace = run("none").trace()
    assert window(trace, EXPIRY_NS, READ_NS) == (1, len(trace.events) - 1)
    assert apart([(5, 9), (1, 3), (4, 6), (20, 22)]) == [(1, 9), (20, 22)]


def test_the_longest_sections_between_two_moments() -> None:
    log = run("none")
    log.add("c", 11_000, 1).add("t", 13_000, 2).add("p", 500, 1).add("q", 12_000, 2).add("c", 14_000, 1).add(
        "t", 15_000, 2
    )
    found = longest(log.trace(), 1_000, READ_NS, most=1)
    assert [(one.kind, one.begin_ns, one.duration_ns) for one in found] == [("interrupts off", 11_000, 2_000)]


def test_a_waterfall_adds_up_to_the_difference() -> None:
    a, b = (tally(name, "none", [told(name)]) for name in ("irqs", "none"))
    (fall,) = waterfalls([a, b])
    assert sum(step.ns for step in fall.steps) == fall.difference_ns == 0
    assert fall.later.places[0][2] == 1


def test_the_trace_for_viewers_holds_each_part_in_us() -> None:
    line = told("irqs")
    trace = json.loads(json.dumps(chrome([("stock", line)])))
    kinds = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] == 1]
    assert sum(event["dur"] for event in kinds) == pytest.approx(10.0)
    assert kinds[0]["name"] == "interrupts off"


def test_babeltrace_reads_each_part_at_the_guests_time(tmp_path: Path) -> None:
    line = told("irqs")
    strange = replace(line, parts=(replace(line.parts[0], thread='a"\x1b\0;{é'), *line.parts[1:]))
    write_ctf([('stock "rt"\\', line), ("stock, seed 2", strange)], tmp_path / "late")
    names = sorted(path.name for path in (tmp_path / "late").iterdir())
    assert names == [f"{number}-sample-{line.sample.number}" for number in (1, 2)]
    for name in names:
        read = run_babeltrace(tmp_path / "late" / name)
        assert len(read) == len(line.parts)
        for text, part in zip(read, line.parts, strict=True):
            at_s, at_ns = divmod(line.sample.expiry_ns + part.begin_ns, 10**9)
            assert text.startswith(f"[{at_s}.{at_ns:09}] ")
            assert f"{part.kind}: {{ duration_ns = {part.duration_ns}," in text
            assert f'where = "{part.where}"' in text
    with pytest.raises(BadInput, match="File exists: name a new folder"):
        write_ctf([("stock", line)], tmp_path / "late")


def run_babeltrace(trace: Path) -> list[str]:
    """What babeltrace2 prints, a line each event."""
    if not shutil.which("babeltrace2"):
        pytest.fail("no babeltrace2: `apt-get install babeltrace2`, or `make test`")
    done = subprocess.run(
        ["babeltrace2", "--clock-seconds", "--no-delta", trace], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
