# SPDX-License-Identifier: MIT
"""What an RTOS image tells of itself by its symbols and its code, whichever system it is.

FreeRTOS's kernel says who runs. Of any other system the image's table of vectors says where interrupts begin, and the
battery, which is in every image (target/probe/), has the functions that the measured thread is in.
"""

import struct
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import islice

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.parts.explain.processor import FREERTOS, VECTORS, Processor, of_vectors
from rtqual.parts.explain.symbols import Symbols

_LDR_PC, _LDR_PC_MASK = 0xE59FF000, 0xFFFFF000  # ldr pc, [pc, #number]
_B, _B_MASK = 0xEA000000, 0xFF000000
_SLOTS, _IRQ = (0, 1, 2, 3, 4, 6), 6  # of eight; one is reserved, and the last, of fast interrupts, seldom used
_TABLE_B = 32
_WRITABLE, _ALLOCATED = 1, 2
_AHEAD = 8  # the program counter is so many bytes ahead
_MOST_TABLES = 1000  # a switch of branches looks like one
_MOST_B = 256 << 20  # of its segments, and of its sections, which may lie on one another


def of_image(content: bytes) -> tuple[Processor, Symbols]:
    """Raises BadInput where it cannot be watched."""
    symbols = Symbols.of_image(content)
    known = {name for _, name in symbols.functions}
    if FREERTOS.entries.keys() <= known and {*FREERTOS.needed.values()} <= symbols.variables.keys():
        return FREERTOS, symbols
    loaded = list(_loaded(content))
    tables = [*islice((table for base, code in loaded for table in _tables(base, code)), _MOST_TABLES)]
    handlers = {handler for table in tables if (handler := _handler(table, loaded))}
    if not handlers:
        raise BadInput("its image has no table of vectors from which an interrupt's function can be read")
    symbols = Symbols.of_image(content, labels=True)
    named = dict(symbols.functions)
    for handler in handlers:
        named.setdefault(handler, f"interrupt_at_{handler:x}")
    named |= dict.fromkeys(tables, VECTORS)
    watched = of_vectors(tuple(named[handler] for handler in sorted(handlers)), _zero(content))
    return watched, replace(symbols, functions=tuple(sorted(named.items())), _starts=tuple(sorted(named)))


def _loaded(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The address of each part that is loaded, and its octets. Raises BadInput where they are too many."""
    from rtqual.base.elf_file import DAMAGED, opened  # noqa: PLC0415 - slow to load

    held_b = 0
    try:
        for segment in opened(BytesIO(content)).iter_segments("PT_LOAD"):
            held_b += segment["p_filesz"]
            if held_b > _MOST_B:
                raise BadInput(f"its image's segments take more than {_MOST_B >> 20} MiB")
            yield segment["p_vaddr"], segment.data()
    except DAMAGED:
        return


def _zero(content: bytes) -> int:
    """The address of a zero that nobody writes to; 0 where there is none."""
    from rtqual.base.elf_file import DAMAGED, octets, opened  # noqa: PLC0415 - slow to load

    read_b = 0
    try:
        for section in opened(BytesIO(content)).iter_sections("SHT_PROGBITS"):
            if section["sh_flags"] & (_ALLOCATED | _WRITABLE) == _ALLOCATED and not section["sh_addr"] % 4:
                read_b += section["sh_size"]
                if read_b > _MOST_B:
                    return 0
                data = octets(section)
                zeros = np.flatnonzero(np.frombuffer(data[: len(data) // 4 * 4], "<u4") == 0)
                if len(zeros):
                    return int(section["sh_addr"] + 4 * zeros[0])
    except DAMAGED:
        return 0
    return 0


def _tables(base: int, code: bytes) -> Iterator[int]:
    """Where eight words lie, aligned as a table of vectors has to be, that all go elsewhere."""
    skipped = -base % _TABLE_B
    words = np.frombuffer(code[skipped : skipped + (len(code) - skipped) // _TABLE_B * _TABLE_B], "<u4").reshape(-1, 8)
    goes = ((words & _LDR_PC_MASK) == _LDR_PC) | ((words & _B_MASK) == _B)
    for row in np.flatnonzero(goes[:, list(_SLOTS)].all(axis=1)).tolist():
        yield base + skipped + row * _TABLE_B


def _handler(table: int, loaded: list[tuple[int, bytes]]) -> int:
    """Where its interrupts go; 0 where that is nowhere, as to itself."""
    at = table + 4 * _IRQ
    word = _word(at, loaded)
    if word & _B_MASK == _B:
        to = at + _AHEAD + 4 * ((word & 0xFFFFFF) - ((word & 0x800000) << 1))
    else:
        to = _word(at + _AHEAD + (word & 0xFFF), loaded) & ~1  # the lowest bit says that it is Thumb code
    return to if to != at and _word(to & ~3, loaded) else 0


def _word(address: int, loaded: list[tuple[int, bytes]]) -> int:
    for base, code in loaded:
        if base <= address <= base + len(code) - 4:
            return int(struct.unpack_from("<I", code, address - base)[0])
    return 0
