# SPDX-License-Identifier: MIT
"""The stand-in on another processor: QEMU's machine `virt` with UEFI and systemd-boot."""

import shutil
from pathlib import Path

from rtqual.base.apt import fetch
from rtqual.base.architecture import ARM64
from rtqual.initramfs import remote
from support.stand_in import OPTIONS, devices, own, write_disk

GOOD, CANDIDATE = "linux-image-arm64", "linux-image-rt-arm64"


def machine(folder: Path, port: int) -> list[str]:
    firmware = fetch("qemu-efi-aarch64").tree / "usr/share/AAVMF"
    shutil.copy(firmware / "AAVMF_VARS.fd", folder / "vars.fd")
    words = ("qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-m", "768")
    return [*words, *devices(folder, firmware / "AAVMF_CODE.fd", port)]


def disk(folder: Path) -> str:
    package = fetch(GOOD, kernel=True, architecture=ARM64)
    image = next((package.tree / "boot").glob("vmlinuz-*"))
    release = image.name.removeprefix("vmlinuz-")
    loader = fetch("systemd-boot-efi", architecture=ARM64).tree / "usr/lib/systemd/boot/efi/systemd-bootaa64.efi"
    options = OPTIONS.replace("ttyS0", "ttyAMA0")
    texts = {
        "loader/loader.conf": "default good.conf\ntimeout 0\n",
        "loader/entries/good.conf": f"title good\nlinux /good/vmlinuz\ninitrd /good/initrd\noptions {options}\n",
        **own(folder),
    }
    initrd = remote.build(package.tree, release, ARM64)
    write_disk(folder, texts, {"EFI/BOOT/BOOTAA64.EFI": loader, "good/vmlinuz": image, "good/initrd": initrd})
    return release
