# SPDX-License-Identifier: MIT
"""What the plugin watches (guest/watch.c reads it)."""

from collections.abc import Iterable

from rtqual.base.errors import BadInput
from rtqual.cause.symbols import Symbols

_ENTRIES = {"entry_SYSCALL_64": "E", "asm_common_interrupt": "I", "finish_task_switch": "S"}
_PREFIXES = {"asm_sysvec_": "I", "asm_exc_": "X"}
_NS = 2  # of an instruction (board/machine.py: shift=1)
SECTION_NS = 5_000  # shorter sections without interrupts or preemption are not noted
MOST_WINDOWS = 4096
_MOST_WATCHED = 4096  # that the plugin takes


def spec(symbols: Symbols, windows: Iterable[tuple[int, int]] = ()) -> str:
    """Raises BadInput where the kernel lacks what has to be watched."""
    watched = [(address, _kind(name)) for address, name in symbols.own_functions() if _kind(name)]
    values = _values(symbols)
    missing = [kind for kind in "EIS" if kind not in {found for _, found in watched}]
    if missing or not values:
        raise BadInput(
            "the kernel's symbols lack what is watched (finish_task_switch, entry_SYSCALL_64, init_task...): "
            "it needs CONFIG_KALLSYMS_ALL and an x86-64 kernel from 5.8 on"
        )
    if len(watched) > _MOST_WATCHED:
        raise BadInput(f"its kernel names {len(watched):,} ways into it, and {_MOST_WATCHED:,} at most are watched")
    lines = [f"entry {kind} {address:x}" for address, kind in watched]
    lines += [f"value {name} {value:x}" for name, value in values.items()]
    lines += [f"window {first} {last}" for first, last in windows]
    return "\n".join(lines) + "\n"


def _kind(name: str) -> str:
    return _ENTRIES.get(name) or next((kind for start, kind in _PREFIXES.items() if name.startswith(start)), "")


def _values(symbols: Symbols) -> dict[str, int]:
    """Where the CPU keeps its thread and preempt_count; from 6.2 to 6.14 both lie in pcpu_hot, in this order."""
    known = symbols.variables
    hot = known.get("pcpu_hot")
    current, count = known.get("current_task", hot), known.get("__preempt_count", None if hot is None else hot + 8)
    needed = {
        "per_cpu": known.get("__per_cpu_offset"),
        "current": current,
        "count": count,
        "init_task": known.get("init_task"),
    }
    found = {name: value for name, value in needed.items() if value is not None}
    return {**found, "ns": _NS, "section_ns": SECTION_NS} if len(found) == len(needed) else {}
