# SPDX-License-Identifier: MIT
"""A kernel's functions and variables by address, as /proc/kallsyms or System.map names them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO

from rtqual.base.errors import BadInput

_LINE = re.compile(r"^([0-9a-f]{8,16}) ([a-zA-Z]) ([\w.$]+)(?:\t\[([\w-]+)\])?$", re.MULTILINE | re.ASCII)
# The linker's own, which give way to a function that begins there (scripts/kallsyms.c of Linux).
_LINKERS = re.compile(r"__(?:(?:start|stop|end)_\w+|\w+_(?:start|end))", re.ASCII)
_CODE = "tTwW"
SWITCHES_OF_FREERTOS = ("switch_before_exit", "FreeRTOS_SWI_Handler")  # from there on: registers, and the next thread
_LABELS = {"vectors", *SWITCHES_OF_FREERTOS}  # of the image, whose assembler says not of all that they are functions
_EXECUTABLE = 4
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
                if _LINKERS.fullmatch(functions.get(place, "")):
                    del functions[place]
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
    def of_image(cls, content: bytes, *, labels: bool = False) -> "Symbols":
        """Of an ELF file for 32-bit ARM; `labels`: with those of assemblers that say of nothing that it is a function.

        Raises BadInput where it is none, or tells none.
        """
        from rtqual.base import elf_file  # noqa: PLC0415 - slow to load

        functions: dict[int, str] = {}
        variables: dict[str, int] = {}
        try:
            elf = elf_file.opened(BytesIO(content))
            code = (
                {n for n, section in enumerate(elf.iter_sections()) if section["sh_flags"] & _EXECUTABLE}
                if labels
                else ()
            )
            for symbol in elf_file.symbols(elf):
                address, kind = symbol["st_value"], symbol["st_info"]["type"]
                label = symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] in code
                if kind == "STT_FUNC" or symbol.name in _LABELS or (kind == "STT_NOTYPE" and label):
                    functions.setdefault(address & ~1, symbol.name)  # the lowest bit says that it is Thumb code
                elif kind == "STT_OBJECT":
                    variables.setdefault(symbol.name, address)
        except elf_file.DAMAGED:
            functions = {}
        if not functions:
            raise BadInput("its image tells no addresses of its functions: link it with its symbols (docs/port.md)")
        ordered = tuple(sorted(functions.items()))
        return cls(ordered, variables, tuple(address for address, _ in ordered))

    def named(self, address: int) -> str:
        """The function at an address of the kernel; empty where none is known."""
        place = bisect_right(self._starts, address) - 1
        if place < 0 or address - self._starts[place] > _LONGEST_B:
            return ""
        return self.functions[place][1]

    def begins(self, address: int) -> bool:
        """Whether a function begins there."""
        place = bisect_right(self._starts, address) - 1
        return place >= 0 and self._starts[place] == address

    def own_functions(self) -> Iterator[tuple[int, str]]:
        """Those that are no module's, without what compilers append (`.isra.0`)."""
        for address, name in self.functions:
            if "[" not in name:
                yield address, name.partition(".")[0]
