# SPDX-License-Identifier: MIT
"""Trim's evidence: which symbols an object rests on, what is in it, and from code that ran to functions and objects."""

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.machine import PC
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.parts.tailor.make.kbuild import gates
from rtqual.parts.tailor.trim.objects import Code, objects_of
from rtqual.parts.tailor.trim.used import entered
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from support.kernel_trees import write_tree

# --- which symbols an object rests on -------------------------------------------------------------------------------

MAKEFILES = {
    "Kbuild": "obj-y += init/\nobj-$(CONFIG_NET) += net/ # the network\nobj-y += drivers/\n",
    "init/Makefile": "obj-y := main.o\n",
    "net/Makefile": (
        "obj-y += core.o\nobj-$(CONFIG_WIFI) += wifi.o shared.o\nobj-$(CONFIG_OTHER) += shared.o\n"
        "wifi-y := \\\n\tlink.o \\\n\tscan.o\nwifi-$(CONFIG_MESH) += mesh.o\nwifi-$(CONFIG_OFF) += off.o\n"
        "obj-$(CONFIG_MODULE) += module.o\n"
    ),
    "drivers/Makefile": (
        "ifdef CONFIG_USB\nobj-y += usb.o\nelse\nobj-y += none.o\nendif\n"
        "ifeq ($(CONFIG_PM),y)\nobj-$(CONFIG_USB) += sleep.o\nendif\n"
        "ifneq ($(CONFIG_OFF),)\nobj-y += gone.o\nendif\nobj-y += $(wildcard *.o) ../evil.o\n"
    ),
    "arch/x86/Kbuild": "obj-$(CONFIG_HPET) += kernel/\n",
    "arch/x86/kernel/Makefile": "obj-y += hpet.o\n",
}
ON = dict.fromkeys(("NET", "WIFI", "OTHER", "MESH", "USB", "PM", "HPET"), "y") | {"MODULE": "m"}


def test_an_object_rests_on_the_symbols_of_its_line_its_name_and_the_folders_above(tmp_path: Path) -> None:
    for name, text in MAKEFILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = {name: set(symbols) for name, symbols in gates(tmp_path, "x86", ON).items()}
    assert found == {
        "init/main.o": set(),
        "net/core.o": {"NET"},
        "net/wifi.o": {"NET", "WIFI"},
        "net/link.o": {"NET", "WIFI"},
        "net/scan.o": {"NET", "WIFI"},
        "net/mesh.o": {"NET", "WIFI", "MESH"},
        "net/shared.o": {"NET"},  # either of two symbols brings it
        "drivers/usb.o": {"USB"},
        "drivers/sleep.o": {"USB", "PM"},
        "arch/x86/kernel/hpet.o": {"HPET"},
    }


@settings(deadline=None)  # of what is tried, not of how busy the machine is
@given(st.text(alphabet="obj-y$()+=: \\\nifdefqnlsCONFIG_AB.o/#\t", max_size=300))
def test_any_makefile_is_read(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("makefile")
    (folder / "Kbuild").write_text(text)
    assert all(name.endswith(".o") for name in gates(folder, "x86", {"A": "y", "AB": "y"}))


# --- what is in an object -------------------------------------------------------------------------------------------

SOURCES = {
    "init/main.c": 'static __attribute__((noinline, section(".init.text"))) int once(int a) { return a * 3; }\n'
    "static __attribute__((noinline)) int probe(int a) { return a + 1; }\nint data = 7;\n"
    "int start(int a) { return once(a) + probe(a); }\n",
    "drivers/usb.c": "static __attribute__((noinline)) int probe(int a) { return a - 1; }\n"
    "int usb(int a) { return probe(a); }\n",
}


def compiled(folder: Path) -> None:
    """Object files with kbuild's archive of them."""
    for name, text in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        subprocess.run(["gcc", "-O1", "-c", str(path), "-o", str(path.with_suffix(".o"))], check=True)
    names = [name.replace(".c", ".o") for name in SOURCES]
    subprocess.run(["ar", "cDPrST", "vmlinux.a", *names], cwd=folder, check=True)


def test_objects_are_told_with_their_functions_in_the_order_they_are_linked(tmp_path: Path) -> None:
    compiled(tmp_path / "build")
    found = objects_of(write_tree(tmp_path / "tree", ""), tmp_path / "build")
    assert list(found) == ["init/main.o", "drivers/usb.o"]
    main = found["init/main.o"]
    assert main.functions == {"start", "probe"} and main.init == {"once"}
    assert found["drivers/usb.o"].functions == {"usb", "probe"} and main.size_b > 10


# --- what ran -------------------------------------------------------------------------------------------------------

CODE = {
    "init/main.o": Code(100, {"start": ".text", "probe": ".text", "once": ".init.text"}),
    "drivers/usb.o": Code(60, {"usb": ".text", "probe": ".text", "cold": ".text.unlikely"}),
    "drivers/odd.o": Code(20, {"cold": ".text"}),
}
MAP = """\
ffffffff81000000 T _stext
ffffffff81000000 T start
ffffffff81000040 t probe
ffffffff81000080 T usb
ffffffff810000c0 t probe
ffffffff81000100 t cold
ffffffff81000140 t cold
ffffffff81001000 D _etext
ffffffff81002000 t once
ffffffff81003000 T _einittext
"""


def log(*addresses: int) -> bytes:
    return struct.pack(f"={len(addresses)}Q", *addresses)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (0xFFFFFFFF81000004, {"init/main.o": {"start"}}),
        (0xFFFFFFFF8100007F, {"init/main.o": {"probe"}}),  # the first of that name is the first object's
        (0xFFFFFFFF810000C0, {"drivers/usb.o": {"probe"}}),
        (0xFFFFFFFF81000100, {"drivers/usb.o": {"cold"}, "drivers/odd.o": {"cold"}}),  # of several sections: either
        (0xFFFFFFFF81002010, {"init/main.o": {"once"}}),
    ],
)
def test_an_address_is_a_function_of_an_object(address: int, expected: dict[str, set[str]]) -> None:
    module = 0xFFFFFFFFA0001000  # above the kernel: of a loadable module
    assert entered(log(address, module) + b"cut", MAP, CODE) == expected


def test_code_of_another_place_or_no_kernel_is_named() -> None:
    with pytest.raises(RunFailed, match="none of 1 noted addresses lies in the kernel: was it run with nokaslr"):
        entered(log(0xFFFFFFFF91000004), MAP, CODE)
    with pytest.raises(RunFailed, match=r"System\.map: names no code"):
        entered(log(0xFFFFFFFF81000004), "nothing", CODE)


@settings(deadline=None)
@given(st.binary(max_size=64), st.text(alphabet="0123456789abcdefgtTD _\nets", max_size=200))
def test_any_log_and_map_are_read_or_refused(noted: bytes, text: str) -> None:
    try:
        assert set(entered(noted, MAP + text, CODE)) <= set(CODE)
    except RunFailed as error:
        assert "\n" not in str(error)


def test_a_board_notes_code_only_when_asked(tmp_path: Path) -> None:
    kernel = Kernel("tailored", tmp_path, tmp_path, tmp_path, (), "", "6.12", "linux", "6.12", 1, 1)
    plain = VirtualBoard(kernel, Machine(), tmp_path)
    noting = VirtualBoard(kernel, Machine(), tmp_path, used=tmp_path / "a,b")
    option = f"file={PC.plugin('rtqual-used')},log={tmp_path}/a,,b"
    command = plain._command(tmp_path, tmp_path, saving=True)
    assert set(noting._command(tmp_path, tmp_path, saving=True)) - set(command) == {f"{option}.boot"}
    assert f"{option}.jobs" in noting._command(tmp_path, tmp_path)
