# SPDX-License-Identifier: MIT
"""A kernel's functions and variables by address, as /proc/kallsyms or System.map names them."""

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rtqual.base.errors import BadInput

_LINE = re.compile(r"^([0-9a-f]{8,16}) ([a-zA-Z]) ([\w.$]+)(?:\t\[([\w-]+)\])?$", re.MULTILINE | re.ASCII)
_CODE = "tTwW"
_SYMBOL_TABLE, _OBJECT, _FUNCTION = 2, 1, 2  # in ELF files
_VECTORS = "vectors"  # which is in the image's start and no function
_LONGEST_B = 1 << 20  # no function is longer: an address further on lies in none


@dataclass(frozen=True)
class Symbols:
    """`functions` ascend; a function of a module is `name [module]`."""

    functions: tuple[tuple[int, str], ...]
    variables: Mapping[str, int]
    _starts: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, text: str) -> "Symbols":
        """Raises BadInput where the text names no code."""
        functions: dict[int, str] = {}
        variables: dict[str, int] = {}
        for address, kind, name, module in _LINE.findall(text):
            place = int(address, 16)
            if name.startswith("$"):
                continue  # ARM's marks of code and data
            if kind in _CODE and place:
                functions.setdefault(place, f"{name} [{module}]" if module else name)
            elif not module:
                variables.setdefault(name, place)
        if not functions:
            raise BadInput(
                "the kernel tells no addresses of its functions: build it with CONFIG_KALLSYMS_ALL, or explain a run "
                "of Debian's kernels"
            )
        ordered = tuple(sorted(functions.items()))
        return cls(ordered, variables, tuple(address for address, _ in ordered))

    @classmethod
    def of_image(cls, content: bytes) -> "Symbols":
        """Of an ELF file for 32-bit ARM. Raises BadInput where it is none, or tells none."""
        functions: dict[int, str] = {}
        variables: dict[str, int] = {}
        try:
            for name, address, kind in _elf_symbols(content):
                if kind == _FUNCTION or name == _VECTORS:
                    functions.setdefault(address & ~1, name)  # the lowest bit says that it is Thumb code
                elif kind == _OBJECT:
                    variables.setdefault(name, address)
        except (struct.error, ValueError, IndexError):
            functions = {}
        if not functions:
            raise BadInput("its image tells no addresses of its functions")
        ordered = tuple(sorted(functions.items()))
        return cls(ordered, variables, tuple(address for address, _ in ordered))

    def named(self, address: int) -> str:
        """The function at an address of the kernel; empty where none is known."""
        place = bisect_right(self._starts, address) - 1
        if place < 0 or address - self._starts[place] > _LONGEST_B:
            return ""
        return self.functions[place][1]

    def own_functions(self) -> Iterator[tuple[int, str]]:
        """Those that are no module's, without what compilers append (`.isra.0`)."""
        for address, name in self.functions:
            if "[" not in name:
                yield address, name.partition(".")[0]


def _elf_symbols(content: bytes) -> Iterator[tuple[str, int, int]]:
    """(name, address, type) of each in its symbol table (ELF-32, little endian)."""
    if content[:6] != b"\x7fELF\x01\x01":
        raise ValueError
    (at,), (size, number) = struct.unpack_from("<I", content, 32), struct.unpack_from("<HH", content, 46)
    sections = [struct.unpack_from("<10I", content, at + size * place) for place in range(number)]
    for _, kind, _, _, begin, length, link, *_ in sections:
        if kind != _SYMBOL_TABLE:
            continue
        names = content[sections[link][4] : sections[link][4] + sections[link][5]]
        for name, address, _, info, _, _ in struct.iter_unpack("<IIIBBH", content[begin : begin + length]):
            yield names[name : names.index(b"\0", name)].decode("ascii", "replace"), address, info & 15
