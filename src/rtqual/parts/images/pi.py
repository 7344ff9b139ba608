# SPDX-License-Identifier: MIT
"""A card for a Raspberry Pi, in the one that QEMU emulates: started from its boot partition as the firmware would.

The firmware itself is not emulated: what config.txt tells it is done here, as far as our cards say it
(raspberrypi.com/documentation/computers/config_txt.html). Time is the host's: no figure of this machine is a board's.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.architecture import ARM64, ARMHF, Architecture
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.device_tree import with_seed
from rtqual.engine.boards.machine import ARM, ARM_64, PI_3, Emulator
from rtqual.engine.mission import Need
from rtqual.parts.images.flash import read_fat


@dataclass(frozen=True)
class Model:
    """A Raspberry Pi that QEMU emulates, and what of it QEMU has not."""

    machine: str
    qemu: Emulator
    device_tree: str
    kernel: str  # that its firmware loads where config.txt names none
    absent: tuple[str, ...]


MODELS = {
    ARM64.name: Model("raspi3b", ARM_64, PI_3.device_tree, "kernel8.img", ("firmware", "Ethernet", "Wi-Fi", "camera")),
    ARMHF.name: Model("raspi2b", ARM, "bcm2836-rpi-2-b.dtb", "kernel7.img", ("firmware", "Ethernet", "camera")),
}
MACHINE = MODELS[ARM64.name].machine
PORT = "ttyS1,115200"  # the one that our images write to
_USB_DISK_B = 2**25
# What the report says of a device, and what it shows; a need is asked for, the rest always.
_SHOWN: dict[str, tuple[str, str, Need | None]] = {
    "SD card": ("block", "/mmc", None),
    "watchdog": ("watchdog", "", None),
    "random generator": ("random", "ready", None),
    "USB disk": ("block", "/usb", Need.USB_STORAGE),
    "I2C": ("i2c", "", Need.I2C),
    "pins": ("gpio", "", Need.GPIO),
}


@dataclass(frozen=True)
class Tried:
    """What of an image worked, what did not, and what the machine has not."""

    machine: str
    emulator: str
    works: tuple[str, ...]
    fails: tuple[str, ...]
    absent: tuple[str, ...] = MODELS[ARM64.name].absent


@dataclass(frozen=True)
class _Start:
    model: Model
    kernel: Path
    tree: Path
    initrd: Path | None
    parameters: str


def command(card: Path, folder: Path, console: Path, parameters: Sequence[str] = ()) -> list[str]:
    """QEMU's, with a copy of the card as it is now below `folder`; with further parameters of the kernel."""
    start, held, disk = _start(card, folder), folder / "card", folder / "usb"
    if card != held:
        shutil.copyfile(card, held)
    with held.open("r+b") as file:
        file.truncate(1 << (card.stat().st_size - 1).bit_length())  # QEMU takes cards of such sizes only
    with disk.open("wb") as file:
        file.truncate(_USB_DISK_B)
    both = f"file,id=console,mux=on,path={_doubled(console)}"  # whichever port the image writes to
    return [
        *(start.model.qemu.qemu, "-M", start.model.machine, "-accel", "tcg", "-no-reboot"),
        *("-display", "none", "-monitor", "none"),
        *("-chardev", both, "-serial", "chardev:console", "-serial", "chardev:console"),
        *("-drive", f"if=sd,format=raw,file={_doubled(held)}"),
        *("-drive", f"if=none,id=usb,format=raw,file={_doubled(disk)}", "-device", "usb-storage,drive=usb,port=1"),
        *("-kernel", str(start.kernel), "-dtb", str(start.tree)),
        *(("-initrd", str(start.initrd)) if start.initrd else ()),
        *("-append", " ".join((start.parameters, *parameters))),
    ]


def version(architecture: Architecture = ARM64) -> str:
    """QEMU's. Raises RunFailed where it is missing."""
    return MODELS[architecture.name].qemu.version()


def tried(
    report: Sequence[tuple[str, str]], needs: Sequence[Need], *, off: bool, architecture: Architecture = ARM64
) -> Tried:
    """`report`: kind and path of each device; `off`: whether it switched itself off."""
    found = {"console": True}
    for name, (kind, part, need) in _SHOWN.items():
        if need is None or need in needs:
            found[name] = any(kind == device and part in path for device, path in report)
    found["power off"] = off
    works, fails = (tuple(name for name, works in found.items() if works is wanted) for wanted in (True, False))
    model = MODELS[architecture.name]
    return Tried(model.machine, version(architecture), works, fails, model.absent)


def _start(card: Path, folder: Path) -> _Start:
    settings = _settings(_read(card, folder, "config.txt").read_text(errors="replace"))
    model = MODELS[ARMHF.name if settings.get("arm_64bit") == "0" else ARM64.name]
    prefix = settings.get("os_prefix", "")
    kernel, parameters = settings.get("kernel", model.kernel), settings.get("cmdline", "cmdline.txt")
    initrd = settings.get("initramfs", "").split()[:1]

    def read(name: str) -> Path:
        return _read(card, folder, name, model.machine)

    tree = read(prefix + model.device_tree)
    try:
        tree.write_bytes(with_seed(tree.read_bytes()))  # as the firmware does
    except BadInput as error:
        raise RunFailed(f"{card}: {prefix}{model.device_tree}: {error}") from None
    return _Start(
        model,
        read(prefix + kernel),
        tree,
        read(prefix + initrd[0]) if initrd else None,
        read(prefix + parameters).read_text(errors="replace").strip(),
    )


def _settings(text: str) -> dict[str, str]:
    """By their names; initramfs is the one that has no sign of equality."""
    lines = (line.strip().replace("initramfs ", "initramfs=", 1) for line in text.splitlines())
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _read(card: Path, folder: Path, name: str, machine: str = "Raspberry Pi") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    found = read_fat(card, folder, (name,))
    if name not in found:
        raise RunFailed(f"{card}: its boot partition has no {name}, without which a {machine} does not start")
    return found[name]


def _doubled(path: Path) -> str:
    return str(path.absolute()).replace(",", ",,")
