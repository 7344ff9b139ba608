# SPDX-License-Identifier: MIT
"""What lies on the boot partition besides the kernel: for the Raspberry Pi's firmware, for UEFI."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.apt import Package, fetch, package_at
from rtqual.base.architecture import AMD64, ARM64, Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.boards.device_tree import has_off
from rtqual.engine.mission import Need

# The files of the Raspberry Pi's firmware that a model needs to start.
_FIRMWARE = {
    "Raspberry Pi 3 or 2": ("bootcode.bin", "start.elf", "fixup.dat"),
    "Raspberry Pi 4": ("start4.elf", "fixup4.dat"),
}
_BUSES = {Need.SPI: "spi", Need.I2C: "i2c"}
_FIRMWARE_PACKAGE, _FIRMWARE_PLACE = "raspi-firmware", "usr/lib/raspi-firmware"
_DEVICE_TREES = ("bcm2836-rpi-2-*.dtb", "bcm2837-rpi-3-*.dtb", "bcm2837-rpi-cm3-*.dtb", "bcm2711-rpi-*.dtb")
_MISSING = (
    f"not in apt's sources: add the component non-free-firmware and run `apt-get update`, or give --firmware the path "
    f"of the package {_FIRMWARE_PACKAGE} or of a folder with these files"
)


@dataclass(frozen=True)
class Uefi:
    """A processor's: the word in loaders' names (uefi.org/specs, "Removable Media Boot Behavior"), a serial port."""

    word: str
    console: str


# Nothing for 32-bit ones: the serial port of a Raspberry Pi 2 is another than that of a 3, as their device trees say.
_CONSOLES = {ARM64: "console=tty0 console=ttyS1,115200 "}
UEFI = {AMD64: Uefi("x64", "ttyS0"), ARM64: Uefi("aa64", "ttyAMA0")}


@dataclass
class BootFiles:
    """Files by their place on the partition, the packages they are from, and the files that were not found."""

    files: dict[str, Path] = field(default_factory=dict)
    packages: list[Package] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def boot_files(
    work: Path,
    kernel: Package,
    architecture: Architecture,
    *,
    uefi: bool,
    initrd: Path | None,
    parameters: str,
    firmware: Path | None,
    needs: Sequence[Need] = (),
) -> BootFiles:
    """`parameters`: the kernel's command line; `needs`: the mission's. Small files are written into `work`."""
    made = BootFiles()
    if uefi:
        add_loader(made, architecture)
        entry = ["title Flight system", "linux /vmlinuz", *(["initrd /initrd.img"] if initrd else [])]
        options = f"options console={UEFI[architecture].console} {parameters}"
        texts = {
            "loader/loader.conf": "default flight.conf\ntimeout 0\n",
            "loader/entries/flight.conf": "\n".join([*entry, options, ""]),
        }
    else:
        _raspberry(made, kernel, firmware, needs)
        texts = {
            "config.txt": _config_txt(architecture, initrd is not None),
            "cmdline.txt": f"{_CONSOLES.get(architecture, '')}{parameters}\n",
        }
    for name, text in texts.items():
        path = work / name.replace("/", "-")
        path.write_text(text)
        made.files[name] = path
    return made


def add_loader(made: BootFiles, architecture: Architecture) -> None:
    """systemd-boot, where UEFI looks on removable disks."""
    boot, word = fetch("systemd-boot-efi", architecture=architecture), UEFI[architecture].word
    made.packages.append(boot)
    made.files[f"EFI/BOOT/BOOT{word.upper()}.EFI"] = boot.tree / f"usr/lib/systemd/boot/efi/systemd-boot{word}.efi"


def _config_txt(architecture: Architecture, initrd: bool) -> str:
    """raspberrypi.com/documentation/computers/config_txt.html; upstream_kernel: device trees by Linux's names."""
    lines = [f"arm_64bit={int(architecture == ARM64)}", "kernel=vmlinuz", "upstream_kernel=1", "enable_uart=1"]
    return "\n".join([*lines, *(["initramfs initrd.img followkernel"] if initrd else []), ""])


def _raspberry(made: BootFiles, kernel: Package, firmware: Path | None, needs: Sequence[Need]) -> None:
    add_device_trees(made, kernel.tree, kernel.name)
    trees = [path.read_bytes() for name, path in made.files.items() if name.endswith(".dtb")]
    for need, kind in _BUSES.items():
        if need in needs and any(has_off(tree, kind) for tree in trees):
            made.missing.append(
                f"{kind.upper()}: the device trees of the kernel {kernel.name} have it off; on the boot partition, put "
                f"trees that have it on in their place (of the makers' kernels: dtparam={kind}=on in config.txt)"
            )
    add_firmware(made, firmware)


def add_device_trees(made: BootFiles, tree: Path, name: str, folder: str = "") -> None:
    """Those that a kernel brings, into a folder of the partition, "rtqual/c0ffee/"."""
    trees = sorted(path for pattern in _DEVICE_TREES for path in tree.rglob(pattern))
    made.files |= {f"{folder}{path.name}": path for path in trees}
    if not trees:
        made.missing.append(f"device trees of the Raspberry Pi: the kernel {name} brings none")


def add_firmware(made: BootFiles, firmware: Path | None) -> None:
    folders = _firmware_folders(made, firmware)
    for model, names in _FIRMWARE.items():
        found = {name: folder / name for folder in folders for name in names if (folder / name).is_file()}
        made.files |= found
        if absent := [name for name in names if name not in found]:
            why = f"not in {firmware}" if firmware else _MISSING
            made.missing.append(f"firmware, without which a {model} does not start: {', '.join(absent)} ({why})")


def _firmware_folders(made: BootFiles, given: Path | None) -> list[Path]:
    if given is None:
        try:
            package = fetch(_FIRMWARE_PACKAGE, architecture=ARM64)
        except BadInput:
            return []
        made.packages.append(package)
        return [package.tree / _FIRMWARE_PLACE]
    if given.is_dir():
        return [given, given / _FIRMWARE_PLACE]
    if given.suffix == ".deb" and given.is_file():
        package = _local_package(given)
        made.packages.append(package)
        return [package.tree / _FIRMWARE_PLACE]
    raise BadInput(f"--firmware {given}: neither a folder nor a Debian package (.deb)")


def _local_package(deb: Path) -> Package:
    """Raises BadInput for one that is none, and for a link that would take a file of this machine into the image."""
    try:
        package = package_at(deb)
    except BadInput as error:
        raise BadInput(f"--firmware {error}") from None
    tree, folder = package.tree.resolve(), package.tree / _FIRMWARE_PLACE
    if away := next((path for path in (folder, *folder.rglob("*")) if not path.resolve().is_relative_to(tree)), None):
        raise BadInput(f"--firmware {deb}: {away.name} is a link that leads out of it")
    return package
