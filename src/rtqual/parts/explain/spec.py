# SPDX-License-Identifier: MIT
"""What the plugin watches (target/observers/watch.c reads it)."""

from collections.abc import Iterable

from rtqual.base.errors import BadInput
from rtqual.parts.explain.processor import Processor
from rtqual.parts.explain.symbols import Symbols

_NS = 2  # of an instruction (engine/boards/machine.py: shift=1)
SECTION_NS = 5_000  # shorter sections without interrupts or preemption are not noted
MOST_WINDOWS = 4096
_MOST_WATCHED = 4096  # that the plugin takes


def spec(processor: Processor, symbols: Symbols, windows: Iterable[tuple[int, int]] = ()) -> str:
    """Raises BadInput where the kernel lacks what has to be watched."""
    watched = [(address, kind) for address, name in symbols.own_functions() if (kind := processor.kind(name))]
    values = processor.values(symbols)
    kinds = {*processor.entries.values()}
    if kinds - {kind for _, kind in watched} or not values:
        names = ", ".join([*processor.entries, *processor.needed.values()])
        raise BadInput(
            f"the kernel's symbols lack what is watched ({names}): it needs CONFIG_KALLSYMS_ALL and {processor.lacks}"
        )
    if len(watched) > _MOST_WATCHED:
        raise BadInput(f"its kernel names {len(watched):,} ways into it, and {_MOST_WATCHED:,} at most are watched")
    lines = [f"entry {kind} {address:x}" for address, kind in watched]
    lines += [f"value {name} {value:x}" for name, value in (values | {"ns": _NS, "section_ns": SECTION_NS}).items()]
    lines += [f"window {first} {last}" for first, last in windows]
    return "\n".join(lines) + "\n"
