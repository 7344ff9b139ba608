# SPDX-License-Identifier: MIT
"""An RTOS image: a file that a system was linked into with rtqual's probe, and whose mark says which (docs/port.md).

What the board starts is a copy in the cache under the hash of the file's contents: an image that was built anew is
another system, and a record can be reproduced after the file is gone.
"""

import hashlib
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from rtqual.base import named
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput
from rtqual.base.words import listed
from rtqual.engine.boards.machine import MACHINES, Emulator
from rtqual.engine.candidates import mark
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Rtos

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

IMAGE = "rtqual-probe.elf"
_MOST_B, _MOST_SECTIONS = 64 << 20, 100  # an image has some twenty; a stranger's could take minutes to read
# Of RTEMS: what is left of the memory, for its heap, and what keeps code and data in pages of their own.
_FILLERS = {".work", ".rwbarrier", ".nocachenoload"}
_WRITABLE, _ALLOCATED, _EMPTY = 1, 2, "SHT_NOBITS"
_RAM = 0x40000000  # of QEMU's `virt`
_NO_PROGRAM = "is no linked ELF program (docs/port.md)"


def prepare(name: str, path: Path, claimed: str = "") -> Rtos:
    """The image at `path`. Raises BadInput where it is none, or its mark cannot be believed.

    `claimed`: the system that the mission says it is, where it says one.
    """
    path = path.expanduser()
    try:
        content = named.read(path, _MOST_B)
    except OSError as error:
        told = f"{error.strerror}; it is the file that a system was linked into with rtqual's probe (docs/port.md)"
        raise BadInput(f"candidate {name}: image {path}: {told}") from None
    try:
        return looked_at(name, content, _kept, claimed)
    except BadInput as error:
        raise BadInput(f"candidate {name}: image {path} {error}") from None


def looked_at(name: str, content: bytes, keep: Callable[[bytes], Path], claimed: str = "") -> Rtos:
    """What an image is, by its bytes alone; `keep` puts a good one where it can be started.

    Raises BadInput, beginning with a verb, where it is none.
    """
    elf = _program(content)
    said = mark.read(content)
    if claimed and not said.rows["system"].lower().startswith(claimed):
        raise BadInput(f'is {said.rows["system"]} by its mark, and the mission says rtos = "{claimed}": leave that out')
    machine = MACHINES.get(said.rows["machine"])
    if machine is None:
        known = listed(list(MACHINES), "or")
        raise BadInput(f"is for the machine {said.rows['machine']} by its mark; the boards here are {known}")
    _require_fit(elf, machine, said.memory_mib)
    return Rtos(name, keep(content), said.name, {**sizes(elf), **said.rows}, said.steps_ns)


def _kept(content: bytes) -> Path:
    folder = cache_dir() / "images" / hashlib.sha256(content).hexdigest()[:32]

    def make(fresh: Path) -> None:
        fresh.mkdir()
        (fresh / IMAGE).write_bytes(content)

    return kept(folder, make) / IMAGE


def _program(content: bytes) -> "ELFFile":
    from rtqual.base.elf_file import DAMAGED, opened  # noqa: PLC0415 - slow to load, and only images need it

    try:
        elf = opened(BytesIO(content))
        if elf["e_type"] != "ET_EXEC" or max(elf.num_sections(), elf.num_segments()) > _MOST_SECTIONS:
            raise BadInput(_NO_PROGRAM)
        list(elf.iter_segments()), list(elf.iter_sections())  # all of them can be read
    except DAMAGED:
        raise BadInput(_NO_PROGRAM) from None
    return elf


def _require_fit(elf: "ELFFile", machine: Emulator, memory_mib: int) -> None:
    """Raises BadInput where the machine cannot start it."""
    if (elf["e_machine"], elf.elfclass) != machine.elf:
        raise BadInput(f"is a program for {elf['e_machine']}, {elf.elfclass} bits, which its machine does not run")
    given_mib = Machine().memory_mib
    if memory_mib > given_mib:
        raise BadInput(f"needs {memory_mib} MiB by its mark; the board has {given_mib}")
    first, end = _RAM, _RAM + (memory_mib << 20)
    loaded = [
        iter_segment.header
        for iter_segment in elf.iter_segments()
        if iter_segment["p_type"] == "PT_LOAD" and iter_segment["p_memsz"]
    ]
    for container in loaded:
        if not first <= container["p_paddr"] <= container["p_paddr"] + container["p_memsz"] <= end:
            raise BadInput(
                f"lies at 0x{container['p_paddr']:08x}; the machine's memory is 0x{first:08x} to 0x{end:08x}"
            )
    if not any(segment["p_vaddr"] <= elf["e_entry"] < segment["p_vaddr"] + segment["p_memsz"] for segment in loaded):
        raise BadInput(f"starts at 0x{elf['e_entry']:08x}, where nothing of it lies")


def sizes(elf: "ELFFile") -> Mapping[str, str]:
    """As facts of its runs: code and constants, initialised and zeroed data."""
    parts = {"text_b": 0, "data_b": 0, "bss_b": 0}
    for section in elf.iter_sections():
        if section["sh_flags"] & _ALLOCATED and section.name not in _FILLERS:
            empty, writable = section["sh_type"] == _EMPTY, section["sh_flags"] & _WRITABLE
            parts["bss_b" if empty else "data_b" if writable else "text_b"] += section["sh_size"]
    figures = {"image_size_b": parts["text_b"] + parts["data_b"], **parts}
    return {name: str(size) for name, size in figures.items()}
