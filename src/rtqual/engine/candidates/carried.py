# SPDX-License-Identifier: MIT
"""What a guest carries besides Debian's programs, by what the instruments need: our programs and kernel modules."""

from collections.abc import Callable, Collection
from pathlib import Path

from rtqual.base.architecture import Architecture
from rtqual.engine.candidates.headers import Headers
from rtqual.engine.candidates.module import MODULE, MODULE_PATH, build_module
from rtqual.protocols.part import brought


def carried(programs: Collection[str], architecture: Architecture, headers: Callable[[], Headers]) -> dict[str, Path]:
    """Return path in the guest -> file, for instruments whose `program`s these are; `headers` are the kernel's."""
    return {place: file for of in brought("carried") for place, file in of(programs, architecture, headers).items()}


def probes(programs: Collection[str], _architecture: Architecture, headers: Callable[[], Headers]) -> dict[str, Path]:
    """Return the same for the probe within the kernel."""
    return {MODULE_PATH.lstrip("/"): build_module(headers())} if MODULE in programs else {}
