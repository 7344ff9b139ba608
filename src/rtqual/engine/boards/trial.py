# SPDX-License-Identifier: MIT
"""A guest of seven bytes: does QEMU run a guest here with these options, or does it abort or hang?"""

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

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
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False
        )  # fmt: skip
    except FileNotFoundError:
        return f"{_QEMU} is missing"
    except OSError as error:
        return f"{_QEMU} does not start ({error.strerror})"
    except subprocess.TimeoutExpired:
        return f"hangs: no answer in {timeout_s:.0f} s"
    if done.returncode == _EXIT_CODE:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["QEMU said nothing"]
    how = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"ended with {done.returncode}"
    return f"{how}: {said[0].removeprefix(f'{_QEMU}: ')[:160]}"
