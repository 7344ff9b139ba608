# SPDX-License-Identifier: MIT
"""QEMU's instruction clock is moved on by hand, or not at all where its code is another (target/observers/icount.c)."""

import ctypes
import platform
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "target/observers/icount.c"
# icount_update() of Debian's QEMU 7.2, qemu-system-x86_64: what stands before and between the three fields is its own.
KNOWN = (
    "55 53 48 89 fb 48 83 ec 08 48 8b 87 e0 00 00 00 0f b7 97 a0 13 00 00 48 8d 2d 00 00 00 00 48 03 97 e8 00 00 00 c3"
)
FIELDS = (0xE0, 0x13A0, 0xE8)
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code of QEMU for x86-64 is looked at")


class Icount(ctypes.Structure):
    _fields_ = (("budget", ctypes.c_int32), ("low", ctypes.c_int32), ("extra", ctypes.c_int32))


def library(folder: Path, code: str) -> ctypes.CDLL:
    """icount.c in a program whose icount_update() is that code."""
    octets = ", ".join(f"0x{octet}" for octet in code.split())
    asm = f'__asm__(".text\\n.globl icount_update\\nicount_update:\\n.byte {octets}\\n.fill 256, 1, 0x90\\n");\n'
    (folder / "update.c").write_text(asm)
    made = folder / "icount.so"
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, SOURCE, folder / "update.c", "-o", made], check=True)
    found = ctypes.CDLL(str(made))
    found.icount_find.restype = ctypes.c_bool
    return found


def test_the_fields_are_read_off_the_code(tmp_path: Path) -> None:
    at = Icount()
    assert library(tmp_path, KNOWN).icount_find(ctypes.byref(at))
    assert (at.budget, at.low, at.extra) == FIELDS


@pytest.mark.parametrize(
    ("what", "by"),
    [
        ("48 8b 87", "48 8b 8f"),  # another register
        ("0f b7 97 a0 13 00 00", "0f b7 97 00 00 00 00"),  # no field
        ("48 03 97 e8 00 00 00", "48 03 97 f8 00 00 00"),  # not beside the budget
        (KNOWN, "c3"),
    ],
)
def test_other_code_is_refused(tmp_path: Path, what: str, by: str) -> None:
    assert not library(tmp_path, KNOWN.replace(what, by)).icount_find(ctypes.byref(Icount()))


@pytest.mark.parametrize(
    ("charged", "budget", "low", "extra"),
    [
        (0, 1000, 400, 500),
        (300, 1000, 400, 200),
        (700, 1000, 200, 0),
        (1400, 1500, 0, 0),  # beyond the next timer, which is late by that
        (-50, 1000, 400, 550),
    ],
)
def test_the_clock_goes_on_by_what_is_charged(tmp_path: Path, charged: int, budget: int, low: int, extra: int) -> None:
    """What has run is the budget without what is left of it: 100 before."""
    cpu = ctypes.create_string_buffer(0x2000)
    at = Icount(*FIELDS)
    fields = (ctypes.c_int64, ctypes.c_uint16, ctypes.c_int64)
    for field, offset, value in zip(fields, FIELDS, (1000, 400, 500), strict=True):
        field.from_buffer(cpu, offset).value = value
    library(tmp_path, KNOWN).icount_charge(ctypes.byref(at), cpu, ctypes.c_int64(charged))
    left = [field.from_buffer(cpu, offset).value for field, offset in zip(fields, FIELDS, strict=True)]
    assert left == [budget, low, extra]
    assert left[0] - left[1] - left[2] == 100 + charged
