# SPDX-License-Identifier: MIT
"""What guests carry for the camera's instruments: programs, the camera's kernel modules, a disk that a reset keeps."""

import gzip
from collections.abc import Callable, Collection
from pathlib import Path

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.cache import kept
from rtqual.base.disk import blank_disk
from rtqual.engine.candidates.headers import Headers
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.candidates.sources import below
from rtqual.engine.initramfs.contents import guest_file
from rtqual_docking.air import PROGRAM as PEER
from rtqual_docking.guest_script import CHASER, DMABUF_MODULE, DRIVER_MODULE, EMULATOR, GROUND, RING_MODULE, STREAM
from rtqual_docking.procedures.script import PROGRAM as FLIGHT

MODULES = (RING_MODULE, DRIVER_MODULE, DMABUF_MODULE)  # camera/driver/Kbuild; the first is needed by the others
KEPT_DISK = "/usr/lib/rtqual/kept.ext4.gz"  # an empty one, for memory that a reset keeps
# Of the kernel's modules those that a program needs: the watchdog, memory that a reset keeps; a way that loses packets.
NEEDED = {
    f"usr/bin/{GROUND}": ("i6300esb", "nd_e820", "nd_pmem"),
    f"usr/bin/{PEER}": ("sch_netem",),
}
_CAMERA = (STREAM, EMULATOR)
_KEPT_B = 32 * 2**20


def carried(programs: Collection[str], architecture: Architecture, headers: Callable[[], Headers]) -> dict[str, Path]:
    """Return path in the guest -> file, for instruments whose `program`s these are; `headers` are the kernel's."""
    asked = {*programs}
    own: tuple[str, ...] = _CAMERA if {*_CAMERA, *MODULES} & asked else ()
    own += (FLIGHT, *_CAMERA, GROUND) if {FLIGHT, CHASER, PEER} & asked else ()
    own += (CHASER,) if CHASER in asked else ()
    own += (PEER,) if {FLIGHT, PEER} & asked else ()
    files = {f"usr/bin/{name}": guest_file(name + architecture.suffix) for name in own}
    if own:
        # Gives the threads that act as the USB host's interrupts the priority that these would have.
        files["usr/bin/chrt"] = fetch("util-linux", architecture=architecture).tree / "usr/bin/chrt"
    if FLIGHT in asked:
        files[KEPT_DISK.lstrip("/")] = _kept_disk()
    if {*MODULES} & asked:
        files |= {f"lib/rtqual/{path.name}": path for path in camera_modules(headers())}
    return files


def camera_modules(kernel: Headers | str, architecture: Architecture = AMD64) -> tuple[Path, ...]:
    """Build MODULES for a kernel, as build_modules()."""
    return build_modules(kernel, camera_sources(), "kmod", MODULES, architecture)


def camera_sources() -> dict[str, bytes]:
    """Return camera/driver/ and what it compiles of camera/ds325/: path -> content."""
    return below("kmod", "ds325")


def _kept_disk() -> Path:
    plain = blank_disk("kept", _KEPT_B)
    return kept(plain.with_suffix(".gz"), lambda fresh: fresh.write_bytes(gzip.compress(plain.read_bytes(), mtime=0)))
