# SPDX-License-Identifier: MIT
"""What a candidate boots from on a board that is reached over ssh: as small as its boot partition wants it."""

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from rtqual.base.apt import Package, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.engine.initramfs import contents
from rtqual.engine.initramfs.contents import TOOL_PACKAGES, guest_file

# Always there, so that another plan makes no other candidate; programs beyond these come along where they are needed.
_PROGRAMS = ("cyclictest", "hackbench", "dropbear", "dropbearconvert")
_EACH = ("rtqual-agent", "rtqual-here", "rtqual-probe")
_OWN = {"amd64": _EACH, "arm64": (*_EACH, "rtqual-firmware")}
# Boot partition, network, random numbers and watchdog of boards that were thought of, by their modules' names.
_STORAGE = ("virtio_pci", "virtio_blk", "vfat", "nls_cp437", "nls_ascii", "nls_utf8", "efivarfs")
_BOARDS = ("mmc_block", "sdhci_iproc", "bcm2835", "usb_storage", "sd_mod", "xhci_pci")
_NETWORK = (
    *("phy_generic", "dwc2"),  # of the Raspberry Pi 3's USB, which the network is on
    *("virtio_net", "genet", "bcm_phy_lib", "broadcom", "lan78xx", "smsc95xx", "e1000e", "igb", "r8169", "realtek"),
)
_OTHERS = ("virtio_rng", "bcm2835_rng", "iproc_rng200", "i6300esb", "iTCO_wdt", "bcm2835_wdt")
_LATER = ("ext4", "crc32c_generic")  # for jobs on a disk
# For the software camera, where programs of ours come along.
_CARRIED = ("uvcvideo", "vhci_hcd")
MODULES = (*_STORAGE, *_BOARDS, *_NETWORK, *_OTHERS)
_FOLDERS = ("bin", "boot", "dev", "etc/rtqual", "lib", "proc", "root", "run", "sys", "tmp", "usr/bin", "var/log")
_TEXTS = {
    "passwd": "root:*:0:0:root:/root:/bin/sh\n",
    "group": "root:x:0:\n",
    "shells": "/bin/sh\n",
    "inittab": "::sysinit:/bin/true\n::ctrlaltdel:/sbin/reboot\n::shutdown:/bin/umount -a -r\n",
}


def packages(architecture: Architecture) -> list[Package]:
    """What its programs are from, with all that they depend on; not all of it comes along."""
    return fetch_closure([*TOOL_PACKAGES, "dropbear-bin"], architecture=architecture)


def build(
    tree: Path,
    release: str,
    architecture: Architecture,
    *,
    programs: Collection[str] = (),
    carried: Mapping[str, Path] | None = None,
    init: str = "init-board",
) -> Path:
    """From a kernel's files as its package lays them out; from the cache if the contents are the same. `carried`: path
    in it -> file of ours."""
    tools = packages(architecture)
    own = {f"usr/bin/{name}": guest_file(name + architecture.suffix) for name in _OWN[architecture.name]}
    own |= {"init": guest_file(init), **(carried or {})}
    wanted = tuple(sorted({*_PROGRAMS, *(name for name in programs if name in contents.PROGRAMS)}))
    identity = hashlib.sha256(f"{tree.name} {release} {wanted} {MODULES}".encode())
    for tool in tools:
        identity.update(tool.sha256.encode())
    for place, file in own.items():
        identity.update(place.encode() + file.read_bytes())
    for file in (Path(__file__), Path(contents.__file__)):
        identity.update(file.read_bytes())

    def fill(root: Path) -> None:
        (root / "sbin").symlink_to("bin")
        contents.begin(root, _FOLDERS, [tool.tree for tool in tools], architecture, wanted)
        contents.lay(root, own)
        contents.copy_modules(root, tree, release, (*MODULES, *_LATER, *(_CARRIED if carried else ())))
        (root / "etc/rtqual/modules").write_text("".join(f"{name}\n" for name in MODULES))
        for place, text in _TEXTS.items():
            (root / "etc" / place).write_text(text)

    return contents.image_of(f"board-{identity.hexdigest()[:32]}.cpio.gz", fill, zipped=True)
