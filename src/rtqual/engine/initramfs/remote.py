# SPDX-License-Identifier: MIT
"""What a candidate boots from on a board that is reached over ssh: as small as its boot partition wants it."""

import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path

from rtqual.base.apt import Package, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.base.cache import cache_dir, kept
from rtqual.base.scratch import scratch
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
    "phy_generic",  # of the Raspberry Pi 3's USB, which the network is on
    "dwc2",
    "virtio_net",
    "genet",
    "bcm_phy_lib",
    "broadcom",
    "lan78xx",
    "smsc95xx",
    "e1000e",
    "igb",
    "r8169",
    "realtek",
)
_OTHERS = ("virtio_rng", "bcm2835_rng", "iproc_rng200", "i6300esb", "iTCO_wdt", "bcm2835_wdt")
_LATER = ("ext4", "crc32c_generic")  # for jobs on a disk
# For the software camera, where programs of ours come along.
_CARRIED = ("uvcvideo", "vhci_hcd")
MODULES = (*_STORAGE, *_BOARDS, *_NETWORK, *_OTHERS)
_INITTAB = "::sysinit:/bin/true\n::ctrlaltdel:/sbin/reboot\n::shutdown:/bin/umount -a -r\n"


def packages(architecture: Architecture) -> list[Package]:
    """What its programs are from, with all that they depend on; not all of it comes along."""
    return fetch_closure([*TOOL_PACKAGES, "dropbear-bin"], architecture=architecture)


def names(image: Path) -> set[str]:
    """The names of the files in it, without their folders."""
    done = subprocess.run(
        ["cpio", "--list", "--quiet"], input=gzip.decompress(image.read_bytes()), capture_output=True, check=True
    )
    return {line.rpartition("/")[2] for line in done.stdout.decode().splitlines()}


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
    image = cache_dir() / "initramfs" / f"board-{identity.hexdigest()[:32]}.cpio.gz"

    def make(fresh: Path) -> None:
        with scratch(image.parent) as folder:
            root = folder / "root"
            modules = (*MODULES, *_LATER, *(_CARRIED if carried else ()))
            _fill(root, tree, release, [tool.tree for tool in tools], architecture, wanted, own, modules)
            plain = contents.pack(root, folder / "plain")
            fresh.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))

    return kept(image, make)


def _fill(
    root: Path,
    tree: Path,
    release: str,
    trees: list[Path],
    architecture: Architecture,
    programs: Collection[str],
    own: dict[str, Path],
    modules: Collection[str],
) -> None:
    for folder in (
        "bin",
        "boot",
        "dev",
        "etc/rtqual",
        "lib",
        "proc",
        "root",
        "run",
        "sys",
        "tmp",
        "usr/bin",
        "var/log",
    ):
        (root / folder).mkdir(parents=True)
    (root / "sbin").symlink_to("bin")
    contents.copy_busybox(root, trees, architecture)
    for program in programs:
        contents.copy_program(program, root, trees, architecture.triplet)
    for place, file in own.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, root / place)
    contents.copy_modules(root, tree, release, modules)
    (root / "etc/rtqual/modules").write_text("".join(f"{name}\n" for name in MODULES))
    (root / "etc/passwd").write_text("root:*:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    (root / "etc/shells").write_text("/bin/sh\n")
    (root / "etc/inittab").write_text(_INITTAB)
