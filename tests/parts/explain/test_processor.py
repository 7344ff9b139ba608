# SPDX-License-Identifier: MIT
"""What is told of ARM, of FreeRTOS and of other systems, which are entered, counted and left in other ways."""

import struct

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.image import of_image
from rtqual.parts.explain.matching import Sample, match, match_by_function
from rtqual.parts.explain.processor import ARM_32, ARM_64, FREERTOS, Processor, of_vectors
from rtqual.parts.explain.spec import spec
from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.timeline import TimeKind, Timeline, timeline
from rtqual.parts.explain.trace import NOBODY, KernelThread, parse
from rtqual.protocols.record.schema import Series
from support.watched_runs import CYCLICTEST, IDLE, Log

CORE = 0xFFFF800008000000
READ_NS = 20_000
MEASURED = KernelThread(CYCLICTEST, "cyclictest", 19)


def places(base: int, *names: str) -> dict[str, int]:
    return {name: base + 0x1000 * number for number, name in enumerate(names)}


AT = places(
    CORE, "vectors", "el1h_64_irq", "el0t_64_irq", "el0t_32_irq", "el1h_64_sync", "el0t_64_sync", "el0t_32_sync",
    "finish_task_switch.isra.0", "gic_handle_irq", "arch_timer_handler_virt", "cpu_do_idle", "do_idle", "do_page_fault",
    "uart_interrupt", "__schedule", "cpu_switch_to",
)  # fmt: skip
ARM64_SYMBOLS = Symbols.read(
    "".join(f"{address:016x} T {name}\n" for name, address in AT.items())
    + f"{CORE + 0x500:016x} t $x\n"
)  # fmt: skip


def told(
    log: Log, processor: Processor, symbols: Symbols, value_ns: int, measured: KernelThread = MEASURED
) -> Timeline:
    trace = parse(log.content(), linux=processor in (ARM_32, ARM_64))
    sample = Sample(1, value_ns, int(trace.events[-1]), READ_NS)
    first = int((trace.kinds == ord("s")).argmax())
    return timeline(sample, processor, measured, slices(trace, processor, symbols, first, len(trace.kinds) - 2))


def test_a_cpu_that_wakes_with_interrupts_off_comes_from_idle_and_another_interrupt_is_not_the_timers() -> None:
    log = Log().switch(1_000, IDLE).add("s", 2_000, 0).add("b", 2_000, AT["do_idle"]).add("k", 2_010, AT["do_idle"] + 8)
    log.add("b", 2_020, AT["cpu_do_idle"]).add("H", 2_030, AT["cpu_do_idle"] + 4)
    log.add("b", 10_000, AT["cpu_do_idle"] + 8).add("v", 10_000, AT["cpu_do_idle"] + 8)
    log.add("b", 12_000, AT["do_idle"] + 8).add("w", 12_000, AT["do_idle"] + 8)
    for handler, ns in (("uart_interrupt", 12_100), ("arch_timer_handler_virt", 15_000)):
        log.add("b", ns, AT["vectors"] + 0x280).add("v", ns, AT["vectors"] + 0x280).add("b", ns + 10, AT["el1h_64_irq"])
        log.add("I", ns + 10, AT["el1h_64_irq"]).add("k", ns + 20, AT["el1h_64_irq"] + 8).add("b", ns + 30, AT[handler])
        log.add("O", ns + 900, AT["el1h_64_irq"] + 80).add("b", ns + 900, AT["do_idle"] + 12)
        log.add("w", ns + 900, AT["do_idle"] + 12)
    log.add("k", 16_000, AT["do_idle"] + 16).add("b", 16_000, AT["__schedule"]).add("k", 16_100, AT["__schedule"] + 8)
    log.add("b", 16_200, AT["finish_task_switch.isra.0"]).switch(16_200, CYCLICTEST)
    log.add("O", 17_000, AT["el0t_64_sync"] + 80).add("b", 17_000, 0x4000).add("R", READ_NS, 0x4000)
    line = told(log, ARM_64, ARM64_SYMBOLS, 10_000)
    assert [(part.kind, part.duration_ns) for part in line.parts] == [
        (TimeKind.IDLE_EXIT, 2_000), (TimeKind.DELIVERY, 110), (TimeKind.INTERRUPT, 890), (TimeKind.DELIVERY, 2_010),
        (TimeKind.INTERRUPT, 890), (TimeKind.IDLE_EXIT, 100), (TimeKind.SCHEDULING, 1_000), (TimeKind.OWN, 3_000),
    ]  # fmt: skip
    assert line.named == 1.0


def test_after_an_exception_interrupts_are_as_the_mask_says() -> None:
    """A page fault in a section without interrupts: on x86-64, where the mask is not looked at, it would end there."""
    log = Log().switch(1_000, IDLE).add("s", 2_000, 1).add("b", 2_000, AT["do_idle"])
    log.add("b", 9_000, AT["do_idle"] + 8).add("v", 9_000, AT["do_idle"] + 8)
    log.add("b", 11_000, AT["el1h_64_sync"]).add("X", 11_000, AT["el1h_64_sync"])
    log.add("O", 12_000, AT["el1h_64_sync"] + 80).add("b", 12_000, AT["do_idle"] + 8)
    line = told(log.add("R", READ_NS, 0), ARM_64, ARM64_SYMBOLS, 10_000)
    assert line.causes == {TimeKind.IRQS_OFF: 10_000}
    assert line.worst.off_at == "do_idle"


def test_what_is_watched_of_each() -> None:
    lines = spec(ARM_64, ARM64_SYMBOLS).splitlines()
    assert {"value arm_bits 40", "value word_bytes 8", "value count_in_task 1", f"entry I {AT['el1h_64_irq']:x}"} <= {
        *lines
    }
    with pytest.raises(BadInput, match=r"32-bit ARM kernel from 5\.18 on"):
        spec(ARM_32, ARM64_SYMBOLS)


SLEEPER, IDLE_TASK = 0x40409000, 0x4040A000
OF_IMAGE = places(
    0x40400000, "vectors", "FreeRTOS_SWI_Handler", "FreeRTOS_IRQ_Handler", "switch_before_exit", "prvIdleTask",
    "FreeRTOS_Tick_Handler", "vPortEnterCritical", "sleep_until",
)  # fmt: skip
IMAGE = Symbols(tuple((at, name) for name, at in OF_IMAGE.items()), {}, tuple(OF_IMAGE.values()))


def freertos(log: Log, ns: int, task: int) -> None:
    for word in (b"sleeper\0", b"\0" * 8) if task == SLEEPER else (b"IDLE\0\0\0\0", b"\0" * 8):
        log.add("n", ns, int.from_bytes(word, "little"))
    log.add("y", ns, 4 if task == SLEEPER else 0).add("S", ns, task)


def test_freertos_switches_when_its_interrupt_ends_and_masks_where_it_counts() -> None:
    at, log = OF_IMAGE, Log()
    freertos(log, 1_000, SLEEPER)
    log.add("s", 2_000, 1).add("b", 2_000, at["sleep_until"]).add("E", 3_000, at["FreeRTOS_SWI_Handler"])
    freertos(log, 4_000, IDLE_TASK)
    log.add("O", 4_000, at["FreeRTOS_SWI_Handler"] + 80).add("b", 4_000, at["prvIdleTask"])
    log.add("w", 4_000, at["prvIdleTask"])
    log.add("k", 9_000, at["prvIdleTask"] + 4).add("b", 9_000, at["vPortEnterCritical"]).add("m", 9_500, 1)
    log.add("m", 13_000, 0).add("b", 13_000, at["prvIdleTask"] + 4)
    log.add("b", 14_000, at["vectors"] + 0x18).add("v", 14_000, at["vectors"] + 0x18)
    log.add("b", 14_010, at["FreeRTOS_IRQ_Handler"]).add("I", 14_010, at["FreeRTOS_IRQ_Handler"])
    log.add("k", 15_000, at["FreeRTOS_IRQ_Handler"] + 8).add("b", 15_000, at["FreeRTOS_Tick_Handler"])
    log.add("b", 16_000, at["FreeRTOS_IRQ_Handler"] + 8).add("b", 17_000, at["switch_before_exit"])
    freertos(log, 18_000, SLEEPER)
    log.add("O", 18_000, at["switch_before_exit"] + 8).add("b", 18_000, at["sleep_until"] + 8)
    log.add("w", 18_000, at["sleep_until"] + 8).add("R", READ_NS, at["sleep_until"] + 12)
    line = told(log, FREERTOS, IMAGE, 10_000, KernelThread(SLEEPER, "sleeper", 4, linux=False))
    assert [(part.kind, part.duration_ns) for part in line.parts] == [
        (TimeKind.IRQS_OFF, 3_000), (TimeKind.DELIVERY, 1_010), (TimeKind.INTERRUPT, 2_990),
        (TimeKind.SCHEDULING, 1_000), (TimeKind.RETURN, 2_000),
    ]  # fmt: skip
    assert (line.parts[0].off_at, line.parts[0].thread) == ("vPortEnterCritical < prvIdleTask", "IDLE (priority 0)")
    assert line.parts[-1].thread == "sleeper (priority 4)"


def test_samples_are_found_among_readings_for_other_ends() -> None:
    log = Log()
    freertos(log, 1, SLEEPER)
    for ns in (3, 40_000, 50_003, 50_007, 1_050_005, 1_050_009, 2_050_030, 2_050_050):
        log.add("R", ns)
    trace = parse(log.content(), linux=False)
    matched = match(trace, Series.raw([7, 9, 30], name="latency"), 1_000_000, None, "sleeper")
    assert [(one.value_ns, one.expiry_ns) for one in matched.samples] == [(7, 50_000), (9, 1_050_000), (30, 2_050_000)]
    with pytest.raises(BadInput, match="of 3 samples of sleeper, 8 readings"):
        match(trace, Series.raw([7, 9, 70], name="latency"), 1_000_000, None, "sleeper")


SYSTEM = places(
    0x40400000, "vectors", "handles", "tick", "schedule", "preempts", "idle", "suspends", "other", "sleep_until",
    "port_now_ns", "clock_of_the_system",
)  # fmt: skip
SYMBOLS = Symbols(tuple((at, name) for name, at in SYSTEM.items()), {}, tuple(SYSTEM.values()))


@pytest.mark.parametrize("left", ["by another thread", "with interrupts on", "by its last instruction"])
def test_of_a_system_that_does_not_say_who_runs_each_function_is_told(left: str) -> None:
    at, log = SYSTEM, Log()
    log.add("s", 2_000, 1).add("b", 2_000, at["idle"] + 4).add("H", 2_500, at["idle"] + 4)
    log.add("b", 11_000, at["vectors"] + 0x18).add("v", 11_000, at["vectors"] + 0x18)
    log.add("b", 11_010, at["handles"]).add("I", 11_010, at["handles"])
    log.add("k", 11_100, at["handles"] + 8).add("b", 11_200, at["tick"])
    log.add("b", 13_800, at["handles"] + 8).add("b", 13_900, at["preempts"])
    if left == "with interrupts on":
        log.add("b", 14_000, at["schedule"]).add("w", 14_000, at["schedule"])
    if left == "by its last instruction":
        log.add("O", 14_000, at["handles"] + 80).add("w", 14_000, 0)
    # A return to a function that nobody called since, then to its caller.
    log.add("b", 15_000, at["suspends"] + 16).add("w", 15_100, at["suspends"] + 16)
    log.add("b", 17_000, at["sleep_until"] + 16).add("k", 18_000, at["sleep_until"] + 20)
    log.add("b", 18_000, at["port_now_ns"]).add("R", READ_NS, at["port_now_ns"])
    line = told(log, of_vectors(("handles",), 0), SYMBOLS, 10_000, NOBODY)
    assert line.named == 1.0
    assert [(part.kind, part.begin_ns) for part in line.parts[:2]] == [
        (TimeKind.DELIVERY, 0),
        (TimeKind.INTERRUPT, 1_010),
    ]
    assert (line.parts[1].entry, line.parts[1].chain[-1]) == ("handles", "tick")
    places_of = [(part.kind, part.where, part.duration_ns) for part in line.parts[-2:]]
    assert places_of == [(TimeKind.SYSTEM, "suspends", 2_000), (TimeKind.RETURN, "port_now_ns", 3_000)]


def test_an_interrupt_whose_function_switches_interrupts_on_goes_on() -> None:
    at, log = SYSTEM, Log()
    log.add("s", 2_000, 1).add("b", 2_000, at["idle"] + 4)
    log.add("b", 10_000, at["handles"]).add("I", 10_000, at["handles"]).add("b", 11_000, at["handles"] + 8)
    log.add("w", 11_000, at["handles"] + 8).add("k", 12_000, at["handles"] + 12).add("b", 12_000, at["tick"])
    log.add("v", 13_000, at["tick"]).add("b", 14_000, at["tick"] + 8).add("w", 14_000, at["tick"] + 8)
    log.add("b", 15_000, at["handles"] + 12).add("O", 18_000, at["handles"] + 20).add("b", 18_000, at["idle"] + 4)
    line = told(log.add("R", READ_NS, 0), of_vectors(("handles",), 0), SYMBOLS, 10_000, NOBODY)
    assert line.causes == {TimeKind.INTERRUPT: 8_000, TimeKind.SYSTEM: 2_000}


def test_who_polls_waits_for_no_interrupt() -> None:
    at, log = SYSTEM, Log()
    log.add("s", 2_000, 1).add("b", 2_000, at["suspends"] + 4).add("k", 9_000, at["suspends"] + 8)
    log.add("b", 9_000, at["clock_of_the_system"]).add("b", 16_000, at["suspends"] + 8)
    log.add("b", 18_000, at["sleep_until"] + 8).add("R", READ_NS, at["sleep_until"] + 8)
    line = told(log, of_vectors(("handles",), 0), SYMBOLS, 10_000, NOBODY)
    assert line.causes == {TimeKind.SYSTEM: 8_000, TimeKind.RETURN: 2_000}
    assert line.worst.chain == ("suspends", "clock_of_the_system")


def test_readings_are_the_batterys_or_of_one_function_alone() -> None:
    def matched(**readings: tuple[int, ...]) -> list[tuple[int, int]]:
        log = Log()
        for ns, name in sorted((ns, name) for name, some in readings.items() for ns in some):
            log.add("R", ns, SYSTEM[name])
        found = match_by_function(parse(log.content(), linux=False), series, 1_000_000, SYMBOLS)
        return [(one.value_ns, one.expiry_ns) for one in found.samples]

    series = Series.raw([7, 7, 7], name="latency")
    own, of_ticks = (50_007, 60_000, 1_050_007, 2_050_007), (40_000, 1_040_000, 2_040_000)
    wanted = [(7, 50_000), (7, 1_050_000), (7, 2_050_000)]
    assert matched(port_now_ns=own, tick=of_ticks) == wanted
    assert matched(clock_of_the_system=own, tick=of_ticks[1:]) == wanted
    with pytest.raises(BadInput, match="7 readings of the counter were seen, and those of 2 functions give"):
        matched(clock_of_the_system=own, tick=of_ticks)
    with pytest.raises(BadInput, match="4 readings of the counter were seen, which do not give"):
        matched(port_now_ns=(1, 2, 3, 4))


def _with_a_table_of_symbols_that_is_none() -> bytes:
    names = b"\0.symtab\0.shstrtab\0"
    head = b"\x7fELF\1\1\1".ljust(16, b"\0")
    head += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0, 0, 52 + len(names), 0, 52, 32, 0, 40, 3, 2)
    rows = ((0, 0, 0, 0), (1, 1, 52, 0), (9, 3, 52, len(names)))  # PROGBITS in the place of SYMTAB
    return head + names + b"".join(struct.pack("<10I", *row[:2], 0, 0, *row[2:], 0, 0, 1, 0) for row in rows)


def test_an_image_that_is_none_is_refused() -> None:
    for content in (b"", b"\x7fELF", b"\x7fELF" + bytes(200), _with_a_table_of_symbols_that_is_none()):
        with pytest.raises(BadInput, match="no addresses"):
            Symbols.of_image(content)


def _of_segments(number: int, size_b: int) -> bytes:
    """A function, and so many segments that all begin with the file."""
    names, segments = b"\0.symtab\0.strtab\0f\0", struct.pack("<8I", 1, 0, 0, 0, size_b, size_b, 5, 4) * number
    at = 52 + len(segments)
    table = struct.pack("<3I2BH", 0, 0, 0, 0, 0, 0) + struct.pack("<3I2BH", 17, 0x8000, 4, 0x12, 0, 1)
    rows = (0,) * 10, (1, 2, 0, 0, at, 32, 2, 0, 4, 16), (9, 3, 0, 0, at + 32, len(names), 0, 0, 1, 0)
    sizes = (52, 32, number, 40, 3, 2)
    head = b"\x7fELF\1\1\1".ljust(16, b"\0")
    head += struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, 0, 52, at + 32 + len(names), 0, *sizes)
    return head + segments + table + names + b"".join(struct.pack("<10I", *row) for row in rows) + bytes(size_b)


def test_segments_that_lie_on_one_another_are_refused() -> None:
    with pytest.raises(BadInput, match="no table of vectors"):
        of_image(_of_segments(50, 4 << 20))
    with pytest.raises(BadInput, match="more than 256 MiB"):
        of_image(_of_segments(100, 4 << 20))
