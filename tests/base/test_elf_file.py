# SPDX-License-Identifier: MIT
"""Programs that somebody else linked: read in bounded time, and of damaged ones what is raised is known."""

import io
import random
import struct
import time
from pathlib import Path

import pytest

from rtqual.base.elf_file import DAMAGED, loaded_with, opened

_HEADER, _SEGMENT = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ")
_SECTION, _TAG = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<QQ")
_DYNAMIC, _STRINGS, _NEEDED = 6, 3, 1  # SHT_DYNAMIC, SHT_STRTAB, DT_NEEDED


def program(sections: int, tags: int) -> bytes:
    """So many sections, each of all the tags, which lie there once."""
    names, told, at = b"\0libc.so.6\0", _TAG.pack(_NEEDED, 1) * tags, _HEADER.size + _SEGMENT.size
    strings, headers = at + len(told), at + len(told) + len(names)
    table = _SECTION.pack(*[0] * 10) + _SECTION.pack(0, _STRINGS, 0, 0, strings, len(names), 0, 0, 1, 0)
    table += _SECTION.pack(0, _DYNAMIC, 0, 0, at, len(told), 1, 0, 8, _TAG.size) * sections
    sizes = (_HEADER.size, _SEGMENT.size, 1, _SECTION.size, sections + 2, 1)
    header = _HEADER.pack(b"\x7fELF\2\1\1", 2, 62, 1, 0, _HEADER.size, headers, 0, *sizes)
    segment = _SEGMENT.pack(2, 4, at, at, at, len(told), len(told), 8)
    return header + segment + told + names + table


def test_sections_that_lie_on_one_another_are_read_once() -> None:
    """Of 5,000 times 5,000 names of libraries; all of them would take minutes."""
    started = time.process_time()
    assert loaded_with(opened(io.BytesIO(program(5_000, 5_000)))) == ["libc.so.6"]
    assert time.process_time() - started < 30
    with pytest.raises(DAMAGED):
        opened(io.BytesIO(program(10_000, 1)))


def test_of_a_damaged_program_what_is_raised_is_known() -> None:
    content, drawn = Path("/bin/true").read_bytes(), random.Random(1)  # noqa: S311 - no secret
    assert "libc.so.6" in loaded_with(opened(io.BytesIO(content)))
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(drawn.randint(1, 5)):
            place = (
                drawn.randrange(1000) if drawn.random() < 0.5 else drawn.randrange(len(content) - 2000, len(content))
            )
            damaged[place] = drawn.choice((0, 1, 0x7F, 0x80, 0xFF))
        try:
            elf = opened(io.BytesIO(damaged))
            assert all(isinstance(name, str) for name in loaded_with(elf))
            elf.get_section_by_name(".modinfo")
        except DAMAGED:
            pass
