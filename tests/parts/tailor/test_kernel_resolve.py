# SPDX-License-Identifier: MIT
"""From wishes and removals to a final configuration: each trap in a tree of a few lines."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.tailor.configure.difference import by_menu, in_words
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.resolve import Resolution, resolve, resolve_wishes
from rtqual.parts.tailor.configure.rules import Removal, Wish
from support.kernel_trees import write_tree

USB = """
menu "Device Drivers"

config VT
    bool "Virtual terminal"
    default y
    select INPUT

config INPUT
    tristate "Generic input layer" if VT

menu "USB support"

config USB
    tristate "USB core"
    default m

config USB_XHCI
    tristate "xHCI host controller" if USB

config PHONE
    tristate "A phone with a screen"
    depends on USB
    default m
    select USB_XHCI
    select INPUT

endmenu
endmenu
"""


def removal(name: str, *symbols: str, below: str = "", gone: str = "") -> Removal:
    return Removal(name, f"Device drivers -> {name}", "group", symbols, "not needed on board", below, gone)


def tried(
    tmp_path: Path,
    kconfig: str,
    wishes: Mapping[str, str],
    away: Sequence[Removal] = (),
    start: str = "CONFIG_MODULES=y\n",
) -> Resolution:
    tree = write_tree(tmp_path / "tree", kconfig)
    (tmp_path / "start").write_text(start)
    asked = [Wish(symbol, value, "usb", "the mission has a camera") for symbol, value in wishes.items()]
    which = "minimal" if start == "minimal" else tmp_path / "start"
    return resolve_wishes(tree, asked, start=which, removals=away, folder=tmp_path / "out")


def test_what_selects_a_removed_symbol_is_removed_with_it(tmp_path: Path) -> None:
    found = tried(tmp_path, USB, {"USB": "y", "USB_XHCI": "y"}, [removal("input", "INPUT")])
    assert (found.config.get("INPUT"), found.config.get("PHONE"), found.config.get("VT")) == (None, None, None)
    assert (found.config["USB"], found.config["USB_XHCI"]) == ("y", "y")
    assert any("INPUT is selected by VT and PHONE" in line for line in found.explanations)
    assert [(one.state, one.text) for one in found.outcomes] == [("gone", "off: INPUT")]
    assert {one.symbol for one in found.removed} == {"INPUT", "PHONE", "VT"}
    reasons = {one.symbol: one.reason for one in found.removed}
    assert reasons["VT"] == "removal list: input (INPUT cannot go without)"


def test_a_removal_that_a_need_stands_on_is_kept_with_the_chain(tmp_path: Path) -> None:
    found = tried(tmp_path, USB, {"PHONE": "y"}, [removal("input", "INPUT")])
    (kept,) = found.kept
    assert kept.state == "kept"
    assert kept.text == "INPUT is selected by PHONE; PHONE is needed by usb (the mission has a camera)"
    assert found.config["INPUT"] == found.config["PHONE"] == "y"


def test_what_the_mission_forbids_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"forbids INPUT .*selected by PHONE; PHONE is needed by usb.*leave one out"):
        tried(tmp_path, USB, {"PHONE": "y", "INPUT": "n"})


def test_the_minimal_start_has_nothing_that_is_not_needed(tmp_path: Path) -> None:
    found = tried(tmp_path, USB, {"USB": "y"}, start="minimal")
    assert {name for name in found.config if found.config.on(name)} >= {"USB"}
    assert not any(found.config.on(name) for name in ("VT", "INPUT", "PHONE", "USB_XHCI"))
    assert not found.explanations


FILTER = """
config EXPERT
    def_bool y

config MEDIA_FILTER
    bool "Filter media drivers"
    default y if !EXPERT

config TV
    bool "Television" if MEDIA_FILTER
    default y if !MEDIA_FILTER

config VIDEO
    bool "Video"
    default TV

config CAMERA
    bool "Camera"
    depends on VIDEO
    default y
"""


def test_a_default_that_cannot_be_answered_is_freed(tmp_path: Path) -> None:
    """Such as television, radio and SDR, which are on while EXPERT hides the media filter."""
    found = tried(tmp_path, FILTER, {"CAMERA": "y"}, [removal("tv", "TV")])
    assert (found.config.get("TV"), found.config["CAMERA"], found.config["MEDIA_FILTER"]) == (None, "y", "y")
    assert "TV is on by default while !MEDIA_FILTER" in found.explanations[0]


def test_menus_and_dependencies_of_a_need_are_switched_on(tmp_path: Path) -> None:
    kconfig = """
menuconfig SCSI
    tristate "SCSI"
    depends on BLOCK

config BLOCK
    bool "Block layer"

if SCSI
config DISK
    tristate "SCSI disk"
    depends on !SLOW && (FAKE || COMPILE_TEST)
endif

config SLOW
    bool "Slow"
    default y

config FAKE
    bool "Fake"

config COMPILE_TEST
    bool "Compile test"
"""
    found = tried(tmp_path, kconfig, {"DISK": "y"}, start="minimal")
    assert [found.config[name] for name in ("SCSI", "BLOCK", "DISK", "FAKE")] == ["y"] * 4
    assert not found.config.on("COMPILE_TEST")
    found = tried(tmp_path / "2", kconfig, {"DISK": "m"}, start="CONFIG_SLOW=y\nCONFIG_BLOCK=y\n")
    assert (found.config["DISK"], found.config.get("SLOW")) == ("m", None)


def test_built_in_needs_what_it_rests_on_built_in(tmp_path: Path) -> None:
    kconfig = """
config RFKILL
    tristate "RF switch"

config WIFI
    tristate "Wi-Fi"
    depends on RFKILL || !RFKILL
    select CRC

config CRC
    tristate
"""
    found = tried(tmp_path, kconfig, {"WIFI": "y"}, start="CONFIG_RFKILL=m\nCONFIG_WIFI=m\n")
    assert (found.config["WIFI"], found.config["RFKILL"], found.config["CRC"]) == ("y", "y", "y")
    assert {(one.symbol, one.before, one.after) for one in found.forced} == {
        ("WIFI", "m", "y"),
        ("RFKILL", "m", "y"),
        ("CRC", "m", "y"),
    } | {(one.symbol, one.before, one.after) for one in found.forced if one.symbol not in ("WIFI", "RFKILL", "CRC")}


def test_numbers_texts_choices_and_symbols_that_others_select(tmp_path: Path) -> None:
    kconfig = """
choice
    prompt "Tick"
    default HZ_250

config HZ_250
    bool "250 Hz"

config HZ_1000
    bool "1000 Hz"
endchoice

config PORTS
    int "Ports"
    default 8

config NAME
    string "Name"

config LIBRARY
    bool

config USER
    bool "A user of the library"
    select LIBRARY
"""
    wishes = {"HZ_1000": "y", "PORTS": "4", "NAME": 'fl"ight', "LIBRARY": "y"}
    found = tried(tmp_path, kconfig, {**wishes, "NAME": "flight 1"}, start="minimal")
    assert (found.config["HZ_1000"], found.config["PORTS"], found.config["NAME"]) == ("y", "4", "flight 1")
    assert not found.config.on("HZ_250")
    assert found.config["USER"] == "y"


def test_what_cannot_be_is_told_with_the_chain(tmp_path: Path) -> None:
    kconfig = """
config ARM
    bool

config GPIO
    bool "Pins"
    depends on ARM

config ARM_CAMERA
    bool "A camera on ARM"
    depends on GPIO
"""
    with pytest.raises(BadInput) as error:
        tried(tmp_path, kconfig, {"ARM_CAMERA": "y"})
    assert "ARM_CAMERA needs GPIO; GPIO needs ARM" in str(error.value)
    assert "\n" not in str(error.value)


def test_contradictory_wishes_name_each_other(tmp_path: Path) -> None:
    kconfig = """
config DEBUG
    bool "Debug"

config TRACE
    bool "Trace"
    depends on DEBUG
"""
    with pytest.raises(BadInput, match=r"TRACE needs DEBUG; DEBUG=n is the wish of usb \(the mission has a camera\)"):
        tried(tmp_path, kconfig, {"TRACE": "y", "DEBUG": "n"})


def test_symbols_this_tree_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no symbol 'USB_XHCY'; did you mean .*USB_XHCI"):
        tried(tmp_path, USB, {"USB_XHCY": "y"})
    found = tried(tmp_path / "2", USB, {"USB_XHCY": "n"}, [removal("rio", "USB_RIO500", gone="replaced by libusb")])
    assert [(one.state, one.text) for one in found.outcomes] == [("no longer exists", "replaced by libusb")]
    with pytest.raises(BadInput, match=r"USB=4: this symbol is on or off"):
        tried(tmp_path / "3", USB, {"USB": "4"})


def test_a_whole_folder_is_removed_but_for_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "tree/drivers/misc").mkdir(parents=True)
    lines = "".join(f'config {name}\n\ttristate "{name}"\n\tdefault m\n' for name in ("PVPANIC", "EEPROM", "TOY"))
    (tmp_path / "tree/drivers/misc/Kconfig").write_text(lines)
    found = tried(
        tmp_path, 'source "drivers/misc/Kconfig"\n', {"EEPROM": "y"}, [removal("misc", "MISC", below="drivers/misc")]
    )
    assert [found.config.get(name) for name in ("PVPANIC", "EEPROM", "TOY")] == [None, "y", None]
    assert found.outcomes[0].held == {"EEPROM": "EEPROM is needed by usb: the mission has a camera"}


def test_a_start_that_is_no_configuration_is_refused(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", USB)
    with pytest.raises(BadInput, match=r"start 'debain': cannot be read: .*write debian, minimal, or the path"):
        resolve_wishes(tree, [], start="debain", removals=[], folder=tmp_path / "out")
    (tmp_path / "start").write_text("no configuration")
    with pytest.raises(BadInput, match="line 1: not a line of a kernel configuration"):
        resolve_wishes(tree, [], start=tmp_path / "start", removals=[], folder=tmp_path / "out")


def test_needs_against_what_the_caller_asks_for(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", USB)
    with pytest.raises(BadInput, match=r"PREEMPT_RT is to be left out .*but realtime wants y"):
        resolve(tree, ["realtime"], start="minimal", removals=[], extra_forbid=["PREEMPT_RT"], folder=tmp_path / "out")
    with pytest.raises(BadInput, match=r"no rules for the need 'wify'; did you mean .*wifi"):
        resolve(tree, ["wify"], start="minimal", removals=[], folder=tmp_path / "out")


def test_the_difference_in_words(tmp_path: Path) -> None:
    found = tried(tmp_path, USB, {"USB": "y", "USB_XHCI": "y"}, [removal("input", "INPUT")])
    usb = next(one for one in by_menu(found) if one.menu == "Device Drivers -> USB support")
    assert [one.symbol for one in usb.removed] == ["PHONE"]
    lines = list(in_words(found, {"Device Drivers": 2_000_000}))
    assert lines[0].startswith("3 symbols removed, 2 forced;")
    assert lines[1] == "Device Drivers: removed 2 symbols (INPUT and VT); 2000 kB less"
    assert "gone, of the removal list: input" in lines


def test_the_modules_keyword_of_todays_kernels_is_read(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", USB)
    (tree.path / "kernel/module").mkdir(parents=True)
    (tree.path / "kernel/module/Kconfig").write_text('menuconfig MODULES\n\tbool "Modules"\n\tmodules\n')
    text = (tree.path / "Kconfig").read_text()
    without = re.sub(r"config MODULES\n.*?modules\n", 'source "kernel/module/Kconfig"\n', text, flags=re.DOTALL)
    (tree.path / "Kconfig").write_text(without)
    kconfig = Kconfig(tree)
    (tmp_path / "config").write_text("CONFIG_MODULES=y\nCONFIG_USB=m\n")
    kconfig.read(tmp_path / "config")
    assert kconfig.value("USB") == "m"
    (tree.path / "Kconfig").write_text(without + "nonsense\n")
    with pytest.raises(BadInput, match=r"its Kconfig files cannot be read: Kconfig:\d+"):
        Kconfig(tree)
    deep = write_tree(tmp_path / "deep", f"config DEEP\n    bool\n    depends on {'(' * 5000}DEEP{')' * 5000}\n")
    with pytest.raises(BadInput, match="its Kconfig files cannot be read: maximum recursion depth"):
        Kconfig(deep)
