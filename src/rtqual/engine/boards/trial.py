# SPDX-License-Identifier: MIT
"""A guest of seven bytes: does QEMU run a guest here with these options, or does it abort or hang?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rtqual.base.errors import RunFailed
from rtqual.base.program import run
from rtqual.base.scratch import scratch

_QEMU = "qemu-system-x86_64"
_ANSWER = 0x21
# mov al, ANSWER; out 0xf4, al; hlt; jmp to the hlt. 0xf4 is where isa-debug-exit is put below.
_CODE = bytes([0xB0, _ANSWER, 0xE6, 0xF4, 0xF4, 0xEB, 0xFD])
_BOOT_SECTOR = _CODE.ljust(510, b"\0") + b"\x55\xaa"
_EXIT_CODE = 2 * _ANSWER + 1  # as isa-debug-exit makes it (QEMU, hw/misc/debugexit.c)


@dataclass(frozen=True)
class BootTrial:
    """`failure` is empty when the guest answered."""

    failure: str
    took_s: float


def try_guest(options: Sequence[str], timeout_s: float) -> BootTrial:
    """Boot the guest through QEMU's own BIOS, as a kernel is."""
    started = time.monotonic()
    with scratch() as folder:
        disk = folder / "disk"
        disk.write_bytes(_BOOT_SECTOR)
        command = [
            *(_QEMU, *options, "-m", "16M", "-nodefaults", "-display", "none", "-no-reboot"),
            *("-drive", f"file={disk},format=raw,if=ide", "-device", "isa-debug-exit,iobase=0xf4"),
        ]
        failure = _run(command, timeout_s)
    return BootTrial(failure, time.monotonic() - started)


def _run(command: Sequence[str], timeout_s: float) -> str:
    try:
        done = run(command, package="qemu-system-x86", timeout_s=timeout_s)
    except RunFailed as error:
        return f"does not run: {error}"
    said = done.said.removeprefix(f"{_QEMU}: ")[:160] or "QEMU said nothing"
    return "" if done.code == _EXIT_CODE else f"{done.how}: {said}"
