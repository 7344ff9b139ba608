# SPDX-License-Identifier: MIT
"""Programs, modules and kernels that somebody else linked (ELF), which pyelftools reads a header at a time.

Slow to load: import it where a file is read.
"""

from collections.abc import Iterator
from itertools import islice
from typing import IO, cast

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection
from elftools.elf.segments import InterpSegment

from rtqual.base.errors import BadInput

# What pyelftools raises of a damaged file, as fuzzing showed; UnicodeDecodeError is a ValueError.
DAMAGED = (ELFError, ValueError, ArithmeticError, LookupError, AssertionError, TypeError)
_MOST_SECTIONS = 10_000  # sections and segments may lie on one another, so that some MB tell of billions of bytes
_MOST_TAGS = 10_000  # for the loader; chromium has some hundred
_SYMBOL_B, _MOST_SYMBOLS_B = 16, 16 << 20  # one without its name; all with their names, which may lie on one another


def opened(content: IO[bytes]) -> ELFFile:
    """Raises one of DAMAGED."""
    elf = ELFFile(content)
    if max(elf.num_sections(), elf.num_segments()) > _MOST_SECTIONS:
        raise ELFError(f"more than {_MOST_SECTIONS:,} sections")
    return elf


def octets(section: Section) -> bytes:
    """Return what lies of a section in the file. Raises one of DAMAGED where it would be made to the size that it
    tells, unpacked or of zeros."""
    if section.compressed or section["sh_type"] == "SHT_NOBITS":
        raise ELFError(f"section {section.name} does not lie in the file as it is")
    return section.data()


def symbols(elf: ELFFile) -> Iterator[Symbol]:
    """Yield those of its own table (.symtab). Raises one of DAMAGED, and BadInput where they take more than 16 MiB."""
    table = elf.get_section_by_name(".symtab")
    read_b = 0
    for symbol in table.iter_symbols() if isinstance(table, SymbolTableSection) else ():
        read_b += _SYMBOL_B + len(symbol.name)
        if read_b > _MOST_SYMBOLS_B:
            raise BadInput(f"its symbols take more than {_MOST_SYMBOLS_B >> 20} MiB")
        yield symbol


def loaded_with(elf: ELFFile) -> list[str]:
    """Return the loader and the shared libraries that an opened one asks for, as the kernel and the loader find them:
    by the first segment of each kind. Raises one of DAMAGED."""
    loader = next(elf.iter_segments("PT_INTERP"), None)
    dynamic = next(elf.iter_segments("PT_DYNAMIC"), None)
    names = [] if loader is None else [cast("InterpSegment", loader).get_interp_name().rpartition("/")[2]]
    if dynamic is not None:
        tags = islice(cast("DynamicSegment", dynamic).iter_tags(), _MOST_TAGS)
        names += [str(tag.needed) for tag in tags if tag.entry.d_tag == "DT_NEEDED"]  # type: ignore[attr-defined]
    return list(dict.fromkeys(names))
