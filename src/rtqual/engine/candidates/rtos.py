# SPDX-License-Identifier: MIT
"""FreeRTOS as a candidate: the probe and FreeRTOS's kernel in one image for the virtual ARM board.

The image is built from the probe's sources, which rtqual carries, and the kernel's, which cargo fetches or
FREERTOS_KERNEL_PATH names (fetch-kernel). It is built once: equal sources and an equal compiler give
the image in the cache.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.engine.candidates.linked import looked_at
from rtqual.engine.candidates.sources import probe_sources, write_sources
from rtqual.protocols.board.system import Rtos

COMPILER, STRIP = "arm-none-eabi-gcc", "arm-none-eabi-strip"
_IMAGE = "rtqual-probe-freertos.elf"
_KERNEL_SOURCES = ("*.c", "include/*.h", "portable/GCC/ARM_CA9/*")
_OTHERS = re.compile(r"probe/(?!(battery|rtos|virt|freertos)/).*/|.*\.md$")  # ports to other systems
_SIZE = re.compile(r"^(\w+_b)=(\d+)$", re.MULTILINE)


def prepare(name: str) -> Rtos:
    """FreeRTOS with the probe. Raises RunFailed when the compiler or the kernel's source cannot be had."""
    compiler = _said([COMPILER, "--version"], "`apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi`")
    sources = {name: content for name, content in probe_sources().items() if not _OTHERS.match(name)}
    with scratch() as work:
        tree = write_sources(work, sources) / "probe/freertos"
        kernel = Path(_said([str(tree / "fetch-kernel")], "reinstall rtqual").strip())
        folder = cache_dir() / "freertos" / _identity(compiler, sources, kernel)
        kept(folder, lambda fresh: shutil.copytree(_build(tree, kernel), fresh))
    image = folder / _IMAGE
    made = looked_at(name, image.read_bytes(), lambda _: image)
    return replace(made, sizes={**made.sizes, **dict(_SIZE.findall((folder / "sizes").read_text()))})


def _identity(compiler: str, sources: Mapping[str, bytes], kernel: Path) -> str:
    identity = hashlib.sha256(compiler.encode())
    paths = sorted(path for pattern in _KERNEL_SOURCES for path in kernel.glob(pattern) if path.is_file())
    of_kernel = ((str(path.relative_to(kernel)), path.read_bytes()) for path in paths)
    for name, content in (*sorted(sources.items()), *of_kernel):
        identity.update(f"{name} {len(content)}\n".encode() + content)
    return identity.hexdigest()[:32]


def _build(folder: Path, kernel: Path) -> Path:
    """The folder with the image and its sizes."""
    out = folder / "out"
    make = ["make", "--silent", "-C", str(folder), f"KERNEL={kernel}", f"OUT={out}"]
    _said([*make, "virt"], "the compiler's complaint says why")
    sizes = _said([*make, "size"], "the linker's map is not as expected")
    kept = folder / "kept"
    kept.mkdir()
    # Without what debuggers read, a comment that moved makes no other image.
    _said([STRIP, "--strip-debug", str(out / _IMAGE), "-o", str(kept / _IMAGE)], "it comes with the compiler")
    (kept / "sizes").write_text(sizes)
    return kept


def _said(command: list[str], advice: str) -> str:
    """What a program prints. Raises RunFailed with its last words."""
    cannot = "FreeRTOS's image cannot be built"
    if not shutil.which(command[0]):
        raise RunFailed(f"{cannot}: {command[0]} is missing: {advice}")
    return run(command).require(cannot, "error", "fetch-kernel:", then=advice).stdout
