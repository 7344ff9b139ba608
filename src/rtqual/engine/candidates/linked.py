# SPDX-License-Identifier: MIT
"""An RTOS image that was linked elsewhere, with rtqual's probe in it (docs/nuttx.md, chibios.md, rtems.md).

The probe's port leaves a text in the image that says which system it is. What the board starts is a copy in the cache
under the hash of the file's contents: an image that was built anew is another system, and a record can be reproduced
after the file is gone.
"""

import hashlib
import re
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from rtqual.base import named
from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput
from rtqual.engine.mission.candidate import Rtos as Named
from rtqual.protocols.board.system import Rtos

IMAGE = "rtqual-probe.elf"
# What the port's system.c leaves in the image: "NuttX 13.0.0 (4ebc8a7), a tick every 1000 us".
_MARK = re.compile(
    rb"rtqual-probe image: ((NuttX|ChibiOS|RTEMS)(?:/RT)? [\w.+-]{1,40}(?: \([\w.+-]{0,60}\))?, [a-z0-9 ]{1,60})\0",
    re.ASCII,
)
_NAMES = {Named.NUTTX: "NuttX", Named.CHIBIOS: "ChibiOS", Named.RTEMS: "RTEMS"}
_MOST_B, _MOST_SECTIONS = 64 << 20, 100  # an image has some twenty; a stranger's could take minutes to read
# Of RTEMS: what is left of the memory, for its heap, and what keeps code and data in pages of their own.
_FILLERS = {".work", ".rwbarrier", ".nocachenoload"}
_WRITABLE, _ALLOCATED, _EMPTY = 1, 2, "SHT_NOBITS"


def prepare(name: str, of: Named, path: Path) -> Rtos:
    """The image at `path`. Raises BadInput where it is none that has the probe in it."""
    try:
        content, system, sizes = look(of, path)
    except BadInput as error:
        raise BadInput(f"candidate {name}: {error}") from None
    return Rtos(name, _kept(content), system, sizes)


def look(of: Named, path: Path) -> tuple[bytes, str, Mapping[str, str]]:
    """An image's content, its system and its sizes; nothing of it is run. Raises BadInput as `prepare` does."""
    path, page = path.expanduser(), f"(docs/{of}.md)"
    try:
        content = named.read(path, _MOST_B)
    except OSError as error:
        raise BadInput(f"image {path}: {error.strerror}; it is what {_NAMES[of]} was linked into {page}") from None
    found = sizes(content)
    if not found:
        raise BadInput(f"image {path} is no linked ELF program for 32-bit ARM, which the virtual ARM board starts")
    system = _MARK.search(content)
    if system is None or system[2].decode() != _NAMES[of]:
        raise BadInput(f"image {path} has no rtqual-probe for {_NAMES[of]} in it; link it in {page}")
    return content, system[1].decode("ascii"), found


def _kept(content: bytes) -> Path:
    folder = cache_dir() / "images" / hashlib.sha256(content).hexdigest()[:32]

    def make(fresh: Path) -> None:
        fresh.mkdir()
        (fresh / IMAGE).write_bytes(content)

    return kept(folder, make) / IMAGE


def sizes(content: bytes) -> Mapping[str, str]:
    """As facts of its runs: code and constants, initialised and zeroed data; empty where this is no program for ARM."""
    from elftools.common.exceptions import ELFError  # noqa: PLC0415 - slow to load, and only images need it
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415

    parts = {"text_b": 0, "data_b": 0, "bss_b": 0}
    try:
        elf = ELFFile(BytesIO(content))
        if (elf["e_machine"], elf.elfclass, elf["e_type"]) != ("EM_ARM", 32, "ET_EXEC"):
            return {}
        if elf.num_sections() > _MOST_SECTIONS:
            return {}
        for section in elf.iter_sections():
            if section["sh_flags"] & _ALLOCATED and section.name not in _FILLERS:
                empty, writable = section["sh_type"] == _EMPTY, section["sh_flags"] & _WRITABLE
                parts["bss_b" if empty else "data_b" if writable else "text_b"] += section["sh_size"]
    except (ELFError, UnicodeDecodeError):
        return {}
    figures = {"image_size_b": parts["text_b"] + parts["data_b"], **parts}
    return {name: str(size) for name, size in figures.items()}
