# SPDX-License-Identifier: MIT
"""Where a loaded module's functions lie, of a kernel that tells no symbols (CONFIG_KALLSYMS is off).

It still tells where a module's code begins. The code is laid out as the sections come in the file, each at its own
alignment, without those that are dropped after loading (kernel/module/main.c, __layout_sections).
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.program import run

TOLD = "module "  # each line of /proc/modules, with this before it
_LINE = re.compile(rf"^{TOLD}([\w-]+) .*0x([0-9a-f]{{8,16}})", re.MULTILINE | re.ASCII)
_WRITE, _ALLOCATED, _CODE = 1, 2, 4  # sh_flags


def functions(told: str, initramfs: Path) -> str:
    """Lines as of /proc/kallsyms. Raises BadInput where a file in the guest is no module."""
    loaded = [(name, int(base, 16)) for name, base in _LINE.findall(told)]
    return "".join(line for name, base in loaded for line in _of(name, base, _file(name, initramfs)))


def _file(module: str, initramfs: Path) -> bytes:
    """As the guest loads it; where the kernel has _ in its name, the file may have -."""
    command = ("cpio", "--extract", "--to-stdout", "--quiet", f"*/{module.replace('_', '[-_]')}.ko")
    with initramfs.open("rb") as archive:
        return run(command, package="cpio", source=archive).require(f"{initramfs} cannot be read").out


def _of(module: str, base: int, content: bytes) -> Iterator[str]:
    from rtqual.base.elf_file import DAMAGED, opened, symbols  # noqa: PLC0415 - slow to load

    try:
        elf = opened(BytesIO(content))
        places: dict[int, int] = {}
        end = base
        for number, section in enumerate(elf.iter_sections()):
            flags = section["sh_flags"] & (_WRITE | _ALLOCATED | _CODE)
            if flags == _ALLOCATED | _CODE and not section.name.startswith(".init"):
                places[number] = end + -end % (section["sh_addralign"] or 1)
                end = places[number] + section["sh_size"]
        for symbol in symbols(elf):
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] in places:
                yield f"{places[symbol['st_shndx']] + symbol['st_value']:016x} t {symbol.name}\t[{module}]\n"
    except DAMAGED:
        raise BadInput(f"its module {module} is no ELF file") from None
