# SPDX-License-Identifier: MIT
"""Frames and telecommands: which readings of the clock they lie between, and whose time they were."""

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.matching import Sample
from rtqual.parts.explain.processor import X86_64
from rtqual.parts.explain.roles import EMULATOR, STREAM, Players, Roles, between, logged
from rtqual.parts.explain.timeline import TimeKind, told_by
from rtqual.parts.explain.trace import Trace
from support.watched_runs import (
    AT,
    CAMERA,
    COMMANDS,
    DRIVER,
    GROUND,
    HOST,
    IDLE,
    LINK,
    LOAD,
    READER,
    SYMBOLS,
    USER,
    Log,
)

SENT_NS, RANGE_NS, POSE_NS = 10_000, 20_000, 26_000  # of a frame
PERIOD_NS = 16_666_667


def frames(number: int, rate: float = 1.0) -> Trace:
    """Frame k takes k ns more than the first. Each reading has others of the same thread beside it."""
    log = Log()
    for frame in range(number):
        at_ns = PERIOD_NS * (frame + 1)
        log.switch(round(rate * (at_ns - 500)), CAMERA).add("R", round(rate * (at_ns - 400)), USER)
        log.add("R", round(rate * at_ns), USER).add("R", round(rate * (at_ns + 2_000)), USER)
        log.switch(round(rate * (at_ns + 3_000)), READER).add("R", round(rate * (at_ns + 4_000)), USER)
        log.add("R", round(rate * (at_ns + 10_000 + frame)), USER).add("R", round(rate * (at_ns + 16_000)), USER)
    return log.trace()


@pytest.mark.parametrize("rate", [1.0, 1.00005])
def test_a_frame_lies_between_its_stamp_and_its_readers_clock(rate: float) -> None:
    ranges, poses = [10_000 + frame for frame in range(20)], [16_000] * 20
    found = between(frames(20, rate), [ranges, poses], EMULATOR, STREAM)
    assert [[one.value_ns for one in some.samples] for some in found] == [ranges, poses]
    numbers = [one.number for some in found for one in some.samples]
    assert numbers == list(range(1, 41))
    assert found[0].samples[3].read_ns == round(rate * (4 * PERIOD_NS + 10_003))
    assert found[0].thread.name == STREAM


@pytest.mark.parametrize("values", [[10_000, 10_001, 10_001], [10_020, 10_001], [0], [10_000] * 3])
def test_durations_that_no_readings_give_are_refused(values: list[int]) -> None:
    with pytest.raises(BadInput, match=r"durations from|no one rate"):
        between(frames(2), [values], EMULATOR, STREAM)
    with pytest.raises(BadInput, match="durations from nobody"):
        between(frames(2), [[10_000]], "nobody", STREAM)


def test_parts_are_told_by_who_runs_and_add_up() -> None:
    """The camera, the USB host and an interrupt, a load, nobody, the driver; the reader decodes and makes a pose."""
    log = Log().switch(5_000, CAMERA).add("R", SENT_NS, USER).add("s", 9_000, 1).add("m", 9_000, 0)
    log.blocks(9_100, "entry_SYSCALL_64", "do_syscall_64").switch(12_000, HOST).blocks(12_000, "do_idle")
    log.blocks(12_500, "asm_sysvec_apic_timer_interrupt").add("I", 12_500, AT["asm_sysvec_apic_timer_interrupt"])
    log.blocks(12_600, "hrtimer_interrupt").add("O", 13_000).blocks(13_010, "do_idle")
    log.switch(14_000, LOAD).blocks(14_000, "flood").switch(15_000, IDLE).blocks(15_000, "do_idle")
    log.switch(16_000, DRIVER).blocks(16_000, "do_syscall_64").switch(16_500, READER)
    for ns in (16_500, RANGE_NS, RANGE_NS + 10):
        log.add("b", ns, USER)
    log.add("R", RANGE_NS, USER).add("b", RANGE_NS + 20, USER).add("R", POSE_NS, USER).add("H", POSE_NS + 1)
    log.records.sort(key=lambda record: int.from_bytes(record[:7], "little"))
    trace = log.trace()
    (ranges, poses) = between(trace, [[RANGE_NS - SENT_NS], [POSE_NS - SENT_NS]], EMULATOR, STREAM)
    for matched, wanted in ((ranges, RANGE_NS), (poses, POSE_NS)):
        (one,) = matched.samples
        roles = Roles.of(trace, one, matched.thread, poses=wanted == POSE_NS)
        line = told_by(one, roles.kind, slices(trace, X86_64, SYMBOLS, 4, len(trace.kinds) - 2))
        assert sum(part.duration_ns for part in line.parts) == wanted - SENT_NS
        causes = dict(line.causes)
        assert causes.pop(TimeKind.POSE, 0) == (POSE_NS - RANGE_NS if wanted == POSE_NS else 0)
        assert causes == {
            TimeKind.DECODE: 3_500, TimeKind.CAMERA: 2_000, TimeKind.HOST: 1_500, TimeKind.OTHER: 1_000,
            TimeKind.IDLE: 1_000, TimeKind.WORKER: 500, TimeKind.INTERRUPT: 500,
        }  # fmt: skip


LOGGED_NS = (0, 1_000_000, 1_163_000, 3_000_000, 3_160_000, 9_000_000)


def ground(rate: float = 1.0) -> Trace:
    """It reads its clock before what it logs too, and another thread reads its own when it has ended."""
    log = Log()
    for at_ns in LOGGED_NS:
        for before_ns in (400, 0):
            log.switch(ns := round(50_000 + rate * (at_ns + 1_000 - before_ns)), GROUND).add("R", ns, USER)
    return log.switch(10_000_000, LINK).add("R", 10_000_000, USER).trace()


@pytest.mark.parametrize("rate", [1.0, 0.99995])
def test_what_the_ground_logged_are_its_readings(rate: float) -> None:
    found = logged(ground(rate), "rtqual-ground", LOGGED_NS)
    assert [ns for _, ns, _ in found] == [round(50_000 + rate * (at_ns + 1_000)) for at_ns in LOGGED_NS]


@pytest.mark.parametrize("times", [(0, 1_000_000, 1_163_100, 9_000_000), LOGGED_NS[:-1], (0, 9_003_000)])
def test_times_that_it_did_not_read_are_refused(times: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="rtqual-ground logged are not those of its 12 readings"):
        logged(ground(), "rtqual-ground", times)


def test_a_telecommands_parts_are_told_by_who_runs_and_add_up() -> None:
    """Ground, link, commands, camera and nobody; a lock lends the link the commands' priority for a while."""
    log = Log().switch(1_000, LINK).switch(1_500, LINK).switch(5_000, GROUND).add("R", 10_000, USER)
    log.add("s", 10_000, 1).add("m", 10_000, 0).add("b", 10_000, USER)
    turns = ((12_000, LINK), (15_000, COMMANDS), (19_000, LINK), (20_000, CAMERA), (22_000, IDLE), (23_000, GROUND))
    for ns, task in turns:
        log.switch(ns, task, 59 if ns == 19_000 else None).add("b", ns, USER)
    trace = log.add("R", 24_000, USER).trace()
    kind = Players.of(trace).kind
    first = trace.kinds.tolist().index(ord("s"))
    line = told_by(Sample(1, 14_000, 0, 24_000), kind, slices(trace, X86_64, SYMBOLS, first, len(trace.kinds) - 2))
    assert dict(line.causes) == {
        TimeKind.LINK: 4_000, TimeKind.COMMANDS: 4_000, TimeKind.GROUND: 3_000, TimeKind.OTHER: 2_000,
        TimeKind.IDLE: 1_000,
    }  # fmt: skip
