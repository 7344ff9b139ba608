# SPDX-License-Identifier: MIT
"""Which instructions the plugin that watches a guest takes for what (target/observers/watch_x86.c)."""

import ctypes
import subprocess
from pathlib import Path

import pytest

GUEST = Path(__file__).parents[2] / "target/observers"
KERNEL, USER, COUNT = 0xFFFFFFFF81000000, 0x7FFFF7FC86B8, 0x1FB40


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("watch") / "watch.so"
    command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", GUEST / "watch_x86.c"]
    subprocess.run([*command, "-o", library], check=True)
    found = ctypes.CDLL(str(library))
    found.kind_of.restype, found.count_change.restype = ctypes.c_char, ctypes.c_int32
    found.is_call.restype = ctypes.c_bool
    return found


def kind(decoder: ctypes.CDLL, code: bytes, address: int = KERNEL, count: int = COUNT) -> str:
    told = decoder.kind_of(code, ctypes.c_size_t(len(code)), ctypes.c_uint64(address), ctypes.c_uint64(count))
    return str(told.decode().strip("\0"))


def on_count(head: str, tail: str = "", at: int = COUNT) -> bytes:
    """An instruction on gs:count(%rip), at KERNEL."""
    size = len(bytes.fromhex(head + tail)) + 4
    return bytes.fromhex(head) + ((at - KERNEL - size) & 0xFFFFFFFF).to_bytes(4, "little") + bytes.fromhex(tail)


@pytest.mark.parametrize(
    ("code", "address", "wanted"),
    [
        ("fa", KERNEL, "v"), ("fb", KERNEL, "w"), ("f4", KERNEL, "H"), ("48cf", KERNEL, "O"), ("480f07", KERNEL, "O"),
        ("0f31", USER, "R"), ("0f01f9", USER, "R"), ("0f31", KERNEL, ""), ("fa", USER, ""), ("90", KERNEL, ""),
    ],
)  # fmt: skip
def test_interrupts_returns_and_readings(decoder: ctypes.CDLL, code: str, address: int, wanted: str) -> None:
    assert kind(decoder, bytes.fromhex(code), address) == wanted


@pytest.mark.parametrize(
    ("head", "tail", "change"),
    [
        ("65ff05", "", 1), ("65ff0d", "", -1), ("658305", "02", 2), ("65832d", "7f", -127), ("658105", "00010000", 256),
        ("65812d", "00010000", -256),
    ],
)  # fmt: skip
def test_what_is_added_to_preempt_count(decoder: ctypes.CDLL, head: str, tail: str, change: int) -> None:
    code = on_count(head, tail)
    size, address, count = ctypes.c_size_t(len(code)), ctypes.c_uint64(KERNEL), ctypes.c_uint64(COUNT)
    assert (kind(decoder, code), decoder.count_change(code, size, address, count)) == ("m", change)
    assert kind(decoder, on_count(head, tail, at=COUNT + 4)) == ""
    assert kind(decoder, code, count=0) == ""


def test_what_a_register_adds_is_looked_up_afterwards(decoder: ctypes.CDLL) -> None:
    assert [kind(decoder, on_count(head)) for head in ("652905", "650105", "658905", "658b05")] == ["r", "r", "r", ""]


def test_calls(decoder: ctypes.CDLL) -> None:
    calls = {"e800000000": True, "ffd0": True, "41ffd3": True, "2ee800000000": True, "ffe0": False, "c3": False}
    found = {code: decoder.is_call(bytes.fromhex(code), ctypes.c_size_t(len(code) // 2)) for code in calls}
    assert found == calls
