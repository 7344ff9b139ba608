# SPDX-License-Identifier: MIT
"""Which ARM instructions the plugin that watches a guest takes for what (target/observers/watch_arm.c)."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "target/observers"
KERNEL, USER = 0xC0100000, 0x10400


class Arm(ctypes.Structure):
    """As target/observers/watch.h has it."""

    _fields_ = (
        ("wide", ctypes.c_bool), ("thumb", ctypes.c_bool), ("kernel", ctypes.c_uint64), ("count", ctypes.c_uint64),
    )  # fmt: skip


A64, A32, T32 = Arm(True, False, KERNEL, 8), Arm(False, False, KERNEL, 4), Arm(False, True, 0, 0)


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("watch") / "watch.so"
    # What QEMU brings is not called here.
    brought = "void *g_byte_array_new(void) { return 0; } void *g_byte_array_set_size(void *a) { return a; }"
    (library.parent / "brought.c").write_text(brought)
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", GUEST / "watch_arm.c"]
    subprocess.run([*command, library.parent / "brought.c", "-o", library], check=True)
    found = ctypes.CDLL(str(library))
    found.arm_kind_of.restype, found.arm_is_call.restype = ctypes.c_char, ctypes.c_bool
    found.arm_masks.restype = ctypes.c_bool
    return found


def assembled(text: str, arm: Arm, folder: Path) -> bytes:
    """As the compilers' own assembler has it."""
    tools = "aarch64-linux-gnu-" if arm.wide else "arm-linux-gnueabihf-"
    if not shutil.which(f"{tools}as"):
        pytest.skip(f"no assembler here: `apt-get install binutils-{tools.removesuffix('-')}`")
    (folder / "it.s").write_text(f".syntax unified\n{'.thumb' if arm.thumb else '.arm'}\n{text}\n" if not arm.wide
                                 else f"{text}\n")  # fmt: skip
    flags = [] if arm.wide else ["-march=armv7-a"]
    subprocess.run([f"{tools}as", *flags, "it.s", "-o", "it.o"], cwd=folder, check=True)
    subprocess.run([f"{tools}objcopy", "-O", "binary", "-j", ".text", "it.o", "it"], cwd=folder, check=True)
    return (folder / "it").read_bytes()


@pytest.mark.parametrize(
    ("arm", "text", "wanted"),
    [
        (A64, "mrs x3, cntvct_el0", "R"), (A64, "mrs x3, cntpct_el0", ""), (A64, "eret", "O"), (A64, "wfi", "H"),
        (A64, "str w1, [x0, #8]", "u"), (A64, "str w1, [x0, #16]", "u"), (A64, "str w1, [x0, #12]", ""),
        (A64, "str x1, [x0, #8]", ""), (A64, "ldr w1, [x0, #8]", ""), (A64, "ret", ""),
        (A32, "mrrc p15, 1, r2, r3, c14", "R"), (A32, "mrrc p15, 0, r2, r3, c14", ""), (A32, "movs pc, lr", "O"),
        (A32, "subs pc, lr, #4", "O"), (A32, "ldm sp, {r0-pc}^", "O"), (A32, "rfeia sp!", "O"), (A32, "wfi", "H"),
        (A32, "mov pc, lr", ""), (A32, "pop {r4, pc}", ""), (A32, "str r3, [r2, #4]", "u"),
        (A32, "str r3, [r2, #8]", ""), (A32, "ldr r3, [r2, #4]", ""), (A32, "strb r3, [r2, #4]", ""),
        (T32, "mrrc p15, 1, r2, r3, c14", "R"), (T32, "wfi", "H"), (T32, "str r3, [r2, #0]", "u"),
        (T32, "str.w r3, [r2, #64]", "u"), (T32, "ldr r3, [r2, #0]", ""), (T32, "bx lr", ""),
    ],
)  # fmt: skip
def test_returns_halts_readings_and_stores(
    decoder: ctypes.CDLL, tmp_path: Path, arm: Arm, text: str, wanted: str
) -> None:
    code = assembled(text, arm, tmp_path)
    size, address = ctypes.c_size_t(len(code)), ctypes.c_uint64(KERNEL)
    assert decoder.arm_kind_of(code, size, address, ctypes.byref(arm)).decode().strip("\0") == wanted
    if arm.kernel:
        in_user_space = decoder.arm_kind_of(code, size, ctypes.c_uint64(USER), ctypes.byref(arm))
        assert in_user_space.decode().strip("\0") == (wanted if wanted == "R" else "")


def test_linuxs_vectors_go_on_with_what_elsewhere_returns(decoder: ctypes.CDLL) -> None:
    code, size = bytes.fromhex("0ef0b0e1"), ctypes.c_size_t(4)
    assert decoder.arm_kind_of(code, size, ctypes.c_uint64(0xFFFF1004), ctypes.byref(A32)) == b"\0"


@pytest.mark.parametrize(
    ("arm", "text", "wanted"),
    [
        (A64, "bl .", True), (A64, "blr x8", True), (A64, "b .", False), (A64, "br x8", False), (A64, "ret", False),
        (A32, "bl .", True), (A32, "blne .", True), (A32, "blx r3", True), (A32, "bx lr", False), (A32, "b .", False),
        (T32, "bl .", True), (T32, "blx r3", True), (T32, "bx lr", False), (T32, "b .", False),
        (T32, "pop {r4, pc}", False), (T32, "push {r4, lr}", False),
    ],
)  # fmt: skip
def test_calls(decoder: ctypes.CDLL, tmp_path: Path, arm: Arm, text: str, wanted: bool) -> None:
    code = assembled(text, arm, tmp_path)
    assert decoder.arm_is_call(code, ctypes.c_size_t(len(code)), ctypes.byref(arm)) == wanted


@pytest.mark.parametrize(
    ("arm", "text", "wanted"),
    [
        (A64, "msr daif, x3", True), (A64, "msr daifset, #3", True), (A64, "msr daifclr, #2", True),
        (A64, "mrs x3, daif", False), (A64, "msr spsel, #1", False), (A32, "cpsid i", True), (A32, "cpsie if", True),
        (A32, "cps #19", True), (A32, "msr cpsr_c, r3", True), (A32, "mrs r3, cpsr", False),
        (A32, "msr spsr_cxsf, r3", False),
    ],
)  # fmt: skip
def test_what_changes_the_mask(decoder: ctypes.CDLL, tmp_path: Path, arm: Arm, text: str, wanted: bool) -> None:
    assert decoder.arm_masks(assembled(text, arm, tmp_path), ctypes.byref(arm)) == wanted
