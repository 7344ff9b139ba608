# SPDX-License-Identifier: MIT
"""What differs between the systems that are told: how their kernels are entered and what their functions are called.

Linux on x86-64 and on 64- and 32-bit ARM, and FreeRTOS on 32-bit ARM; a row each. Of other systems' images nothing is
known but where interrupts begin (image.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.parts.explain.symbols import Symbols


@dataclass(frozen=True)
class Processor:
    """`entries`: the functions that the kernel is entered by, and their kinds: I(nterrupt), X (exception), E (system
    call), S, where another thread runs, and x, where on ARM a register says which; `prefixes`: the same by how names
    begin, and g, by which Linux takes another clock; no kernel has to have these."""

    name: str  # that a refusal says
    word_bytes: int
    kernel: int  # its lowest address
    entries: Mapping[str, str]
    needed: Mapping[str, str]  # the plugin's values, by the variables they are the addresses of
    stubs: tuple[str, ...]  # how the names of the code begin that stands before entries
    lacks: str  # what a kernel without those is to be
    prefixes: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)  # values that are the same in each
    own: str = ""  # symbols beside the kernel's
    thunks: tuple[str, ...] = ()  # functions that are none of the source's
    timers: frozenset[str] = frozenset()  # entries that are the timer's interrupt
    timer_handlers: frozenset[str] = frozenset()  # functions that only that calls
    faults: frozenset[str] = frozenset()  # entries that are a page fault
    fault_handlers: frozenset[str] = frozenset()
    vectors: tuple[str, ...] = ()  # code before entries whose names begin so, already with interrupts off
    halts: tuple[str, ...] = ()  # functions in which the CPU waits with interrupts off
    threads: bool = True  # whether it is told who runs
    masks: bool = False  # what is counted are not sections without preemption, but those without interrupts

    @property
    def mask_is_told(self) -> bool:
        """Whether the plugin looks at what masks interrupts, so that it is known after an interrupt too."""
        return "arm_bits" in self.fixed

    @property
    def switches_at_leave(self) -> bool:
        """Whether threads switch when an interrupt ends."""
        return "at_leave" in self.fixed

    def kind(self, function: str) -> str:
        found = (kind for start, kind in self.prefixes.items() if function.startswith(start))
        return self.entries.get(function) or next(found, "")

    def values(self, symbols: Symbols) -> dict[str, int]:
        """Of the spec; empty where a variable is not known."""
        known = symbols.variables
        hot = known.get("pcpu_hot")  # from 6.2 to 6.14 x86 keeps both there, in this order
        more = {} if hot is None else {"current_task": hot, "__preempt_count": hot + 8}
        found = {value: {**more, **known}.get(variable) for value, variable in self.needed.items()}
        own = {name: address for name, address in found.items() if address is not None}
        told = {"kernel": self.kernel, "word_bytes": self.word_bytes, **self.fixed}
        return {**own, **told} if len(own) == len(self.needed) else {}


_ARM_TIMERS = frozenset({"arch_timer_handler_virt", "arch_timer_handler_phys"})
X86_64 = Processor(
    name="x86-64",
    word_bytes=8,
    kernel=1 << 63,
    entries={"entry_SYSCALL_64": "E", "asm_common_interrupt": "I", "finish_task_switch": "S"},
    prefixes={"asm_sysvec_": "I", "asm_exc_": "X", "change_clocksource": "g"},
    needed={
        "per_cpu": "__per_cpu_offset",
        "init_task": "init_task",
        "current": "current_task",
        "count": "__preempt_count",
    },
    lacks="an x86-64 kernel from 5.8 on",
    stubs=("asm_", "irq_entries_start", "spurious_entries_start", "entry_SYSCALL_64"),
    thunks=("__x86_indirect_thunk", "__x86_return_thunk", "__x86_call_thunk", "srso_", "retbleed_"),
    timers=frozenset({"asm_sysvec_apic_timer_interrupt", "asm_common_interrupt"}),
    faults=frozenset({"asm_exc_page_fault"}),
)
ARM_64 = Processor(
    name="64-bit ARM",
    word_bytes=8,
    kernel=1 << 63,
    entries={
        "el1h_64_irq": "I", "el0t_64_irq": "I", "el0t_32_irq": "I", "el1h_64_sync": "X", "el0t_64_sync": "E",
        "el0t_32_sync": "E", "finish_task_switch": "S", "cpu_switch_to": "x",
    },
    needed={},
    lacks="an arm64 kernel from 5.14 on",
    fixed={"arm_bits": 0x40, "count": 8, "count_in_task": 1},
    vectors=("vectors", "tramp_vectors"),
    stubs=("vectors", "tramp_vectors", "el1h_64_irq", "el0t_64_irq", "el0t_32_", "el1h_64_sync", "el0t_64_sync"),
    timer_handlers=_ARM_TIMERS,
    fault_handlers=frozenset({"do_page_fault", "do_translation_fault"}),
    halts=("cpu_do_idle",),
)  # fmt: skip
ARM_32 = Processor(
    name="32-bit ARM",
    word_bytes=4,
    kernel=0xBF000000,  # modules; the kernel from 3 GiB on
    entries={
        "__irq_svc": "I", "__irq_usr": "I", "vector_swi": "E", "vector_bhb_loop8_swi": "E",
        "vector_bhb_bpiall_swi": "E", "__dabt_svc": "X", "__dabt_usr": "X", "__pabt_svc": "X",
        "__pabt_usr": "X", "__und_svc": "X", "__und_usr": "X", "finish_task_switch": "S", "__switch_to": "x",
    },
    needed={},
    own="ffff0000 t vector_table\nffff1000 t vector_stubs\n",  # a page of its own, which no kernel names
    lacks="a 32-bit ARM kernel from 5.18 on",
    fixed={"arm_bits": 0x20, "count": 4, "count_in_task": 1},
    vectors=("vector_table", "vector_stubs"),
    stubs=("vector_", "__irq_", "__dabt_", "__pabt_", "__und_"),
    timer_handlers=_ARM_TIMERS,
    faults=frozenset({"__dabt_svc", "__dabt_usr", "__pabt_svc", "__pabt_usr"}),
    halts=("cpu_v7_do_idle", "cpu_ca"),  # by processor
)  # fmt: skip
FREERTOS = Processor(
    name="FreeRTOS",
    word_bytes=4,
    kernel=0,
    entries={"FreeRTOS_IRQ_Handler": "I", "FreeRTOS_SWI_Handler": "E"},
    needed={"current": "pxCurrentTCB", "count": "ulCriticalNesting"},
    lacks="rtqual's image of FreeRTOS",
    # Of a TCB (tasks.c), as the probe's FreeRTOSConfig.h has it: a pointer and two list items come before the priority.
    fixed={"arm_bits": 0x20, "at_leave": 1, "prio_at": 44, "comm_at": 52},
    vectors=("vectors",),
    stubs=("vectors", "FreeRTOS_IRQ_Handler", "FreeRTOS_SWI_Handler"),
    timer_handlers=frozenset({"FreeRTOS_Tick_Handler"}),
    masks=True,
)
VECTORS = "vectors"


def of_vectors(handlers: tuple[str, ...], zero: int) -> Processor:
    """Of a system that has no row, whose interrupts begin in these functions; `zero`: where its code has a zero."""
    return Processor(
        name="an RTOS image",
        word_bytes=4,
        kernel=0,
        entries=dict.fromkeys(handlers, "I"),
        needed={},
        lacks="symbols",
        fixed={"arm_bits": 0x20, "at_leave": 1, "current": zero},  # at_leave, as else no reading is noted: nobody runs
        vectors=(VECTORS,),
        stubs=(VECTORS, *handlers),
        timers=frozenset(handlers),
        threads=False,
    )


_OF_LINUX = {AMD64.name: X86_64, ARM64.name: ARM_64, ARMHF.name: ARM_32}


def processor_of(architecture: str) -> Processor:
    """Of Linux on an architecture by Debian's name."""
    return _OF_LINUX[architecture]
