# SPDX-License-Identifier: MIT
"""Programs that somebody else linked: read in bounded time, and of damaged ones what is raised is known."""

import io
import random
import struct
import time
from pathlib import Path

import pytest
from elftools.elf.sections import Section

from rtqual.base.elf_file import DAMAGED, loaded_with, octets, opened, symbols
from rtqual.base.errors import BadInput

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


def with_sections(*rows: tuple[bytes, int, int, int, int]) -> bytes:
    """Sections of these names, types, flags, sizes and sizes of an entry, which all begin with the file; what each is
    linked with, and the last, is the table of strings."""
    names = b"\0" + b"\0".join((*(name for name, *_ in rows), b".strtab")) + b"\0"
    at = _HEADER.size + len(names)
    table = _SECTION.pack(*[0] * 10)
    for name, kind, flags, size, entry in rows:
        table += _SECTION.pack(names.index(name), kind, flags, 0, 0, size, len(rows) + 1, 0, 1, entry)
    table += _SECTION.pack(names.index(b".strtab"), _STRINGS, 0, 0, _HEADER.size, len(names), 0, 0, 1, 0)
    sizes = (_HEADER.size, _SEGMENT.size, 0, _SECTION.size, len(rows) + 2, len(rows) + 1)
    return _HEADER.pack(b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, at, 0, *sizes) + names + table


@pytest.mark.parametrize(("kind", "flags"), [(8, 0), (1, 0x800)], ids=["of zeros", "packed"])
def test_a_section_that_is_not_in_the_file_is_not_made(kind: int, flags: int) -> None:
    """SHT_NOBITS, SHF_COMPRESSED: a terabyte, by some octets."""
    with pytest.raises(DAMAGED):  # of the packed one either step may
        octets(section_of(with_sections((b".modinfo", kind, flags, 1 << 40, 0))))
    assert octets(section_of(with_sections((b".modinfo", 1, 0, 4, 0)))) == b"\x7fELF"


def section_of(content: bytes) -> Section:
    section = opened(io.BytesIO(content)).get_section_by_name(".modinfo")
    assert section is not None
    return section


def test_symbols_that_lie_on_one_another_end() -> None:
    """Ten million entries of one octet each, of which most begin a name of a megabyte."""
    content = with_sections((b".symtab", 2, 0, 10_000_000, 1)) + b"\1" * (1 << 20) + bytes(10_000_000)
    started, read = time.process_time(), 0
    with pytest.raises(BadInput, match="more than 16 MiB"):
        for symbol in symbols(opened(io.BytesIO(content))):
            read += len(symbol.name)
    assert 0 < read <= 16 << 20
    assert time.process_time() - started < 30


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
