# SPDX-License-Identifier: MIT
"""What a guest carries besides Debian's programs, by what the instruments need: our programs and kernel modules."""

import gzip
from collections.abc import Callable, Collection
from pathlib import Path

from rtqual.base.apt import fetch
from rtqual.base.architecture import Architecture
from rtqual.base.cache import kept
from rtqual.base.disk import blank_disk
from rtqual.engine.candidates.headers import Headers
from rtqual.engine.candidates.module import CAMERA_MODULES, MODULE, MODULE_PATH, build_camera_modules, build_module
from rtqual.engine.initramfs.contents import KEPT_DISK, guest_file

CAMERA_PROGRAMS = ("ds325-stream", "ds325-emulator")
FLIGHT_PROGRAM = "ds325-flight"
FLIGHT_PROGRAMS = (FLIGHT_PROGRAM, *CAMERA_PROGRAMS, "rtqual-ground")
CHASER, PEER = "rtqual-chaser", "rtqual-peer"
_KEPT_B = 32 * 2**20


def carried(programs: Collection[str], architecture: Architecture, headers: Callable[[], Headers]) -> dict[str, Path]:
    """Path in the guest -> file, for instruments whose `program`s these are; `headers` are the kernel's."""
    files: dict[str, Path] = {}
    if MODULE in programs:
        files[MODULE_PATH.lstrip("/")] = build_module(headers())
    own: tuple[str, ...] = CAMERA_PROGRAMS if {*CAMERA_PROGRAMS, *CAMERA_MODULES} & {*programs} else ()
    own += FLIGHT_PROGRAMS if {FLIGHT_PROGRAM, CHASER, PEER} & {*programs} else ()
    own += (CHASER,) if CHASER in programs else ()
    own += (PEER,) if {FLIGHT_PROGRAM, PEER} & {*programs} else ()
    if own:
        files |= {f"usr/bin/{name}": guest_file(name + architecture.suffix) for name in own}
        # Gives the threads that act as the USB host's interrupts the priority that these would have.
        files["usr/bin/chrt"] = fetch("util-linux", architecture=architecture).tree / "usr/bin/chrt"
    if FLIGHT_PROGRAM in programs:
        files[KEPT_DISK.lstrip("/")] = _kept_disk()
    if {*CAMERA_MODULES} & {*programs}:
        files |= {f"lib/rtqual/{path.name}": path for path in build_camera_modules(headers())}
    return files


def _kept_disk() -> Path:
    plain = blank_disk("kept", _KEPT_B)
    return kept(plain.with_suffix(".gz"), lambda fresh: fresh.write_bytes(gzip.compress(plain.read_bytes(), mtime=0)))
