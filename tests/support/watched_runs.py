# SPDX-License-Identifier: MIT
"""Logs of the plugin (target/observers/watch.c) of runs that are made up."""

import struct

from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.trace import Trace, parse

KERNEL = 0xFFFFFFFF81000000
FUNCTIONS = (
    "asm_sysvec_apic_timer_interrupt", "hrtimer_interrupt", "asm_exc_page_fault", "entry_SYSCALL_64", "do_syscall_64",
    "late_hold", "finish_task_switch.isra.0", "__schedule", "handle_softirqs.constprop.0", "flood",
    "asm_common_interrupt",
    "rt_mutex_slowlock", "mutex_unlock", "try_to_wake_up", "do_idle",
)  # fmt: skip
AT = {name: KERNEL + 0x1000 * number for number, name in enumerate(FUNCTIONS)}
END = KERNEL + 0x1000 * len(FUNCTIONS)
TEXT = "".join(f"{address:016x} T {name}\n" for name, address in AT.items())
VARIABLES = """\
0000000000000000 D pcpu_hot
ffffffff82000000 D __per_cpu_offset
ffffffff82001000 D init_task
"""
SYMBOLS = Symbols.read(TEXT + VARIABLES)
CYCLICTEST, LOAD, IDLE, CAMERA, READER, HOST, DRIVER, GROUND, LINK, COMMANDS = (0x1000 * n for n in range(1, 11))
USER = 0x7FFFF7FC86B8
_THREADS = {
    CYCLICTEST: ("cyclictest", 19), LOAD: ("hackbench", 120), IDLE: ("swapper/0", 140), CAMERA: ("ds325-emulator", 29),
    READER: ("ds325-stream", 19), HOST: ("vhci_rx", 49), DRIVER: ("ds325-usb", 49),
    GROUND: ("rtqual-ground", 39), LINK: ("ds325-flight", 69), COMMANDS: ("ds325-flight", 59),
}  # fmt: skip


class Log:
    """Records as they are written, in the order in which they come."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.events = 0

    def add(self, kind: str, ns: int, word: int = 0) -> "Log":
        self.records.append(struct.pack("<QQ", ord(kind) << 56 | ns, word & (1 << 64) - 1))
        self.events += kind.isupper()
        return self

    def switch(self, ns: int, task: int, lent: int | None = None) -> "Log":
        """`lent`: the priority that it has for a while."""
        name, priority = _THREADS[task]
        packed = name.encode().ljust(16, b"\0")
        for word in struct.unpack("<QQ", packed):
            self.add("n", ns, word)
        return self.add("y", ns, priority if lent is None else lent).add("S", ns, task)

    def blocks(self, ns: int, *names: str) -> "Log":
        """A block of each function, 10 ns apart, each called by the one before."""
        for number, name in enumerate(names):
            self.add("b", ns + 10 * number, AT[name] + 16 * number)
            if number + 1 < len(names):
                self.add("k", ns + 10 * number, AT[name] + 16 * number + 5)
        return self

    def content(self) -> bytes:
        return b"".join(self.records) + struct.pack("<QQ", ord("z") << 56, self.events)

    def trace(self) -> Trace:
        return parse(self.content())
