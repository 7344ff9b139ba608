# SPDX-License-Identifier: MIT
"""The minimal root: busybox, the static probe, the modules the mission's needs name; mounted read-only."""

from collections.abc import Collection, Sequence
from pathlib import Path

from rtqual.base.apt import Package, fetch, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.engine.initramfs import contents
from rtqual.parts.images.own_files import own_text
from rtqual.parts.images.root import Root

_INITTAB = """\
::sysinit:/etc/init.d/rcS
::respawn:-/bin/sh
::ctrlaltdel:/sbin/reboot
::shutdown:/bin/umount -a -r
"""
_FOLDERS = ("dev", "etc/init.d", "mnt", "proc", "root", "run", "sys", "tmp", "usr/bin", "usr/lib/rtqual", "var")


def busybox(folder: Path, architecture: Architecture) -> Package:
    """Put busybox and the links to all it can do into bin/."""
    package = fetch("busybox-static", architecture=architecture)
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    contents.copy_busybox(folder, [package.tree], architecture)
    return package


def fill(
    folder: Path, *, architecture: Architecture, packages: Sequence[str], modules: Sequence[str]
) -> tuple[Root, list[Package]]:
    """The root without the kernel's modules, and the packages it was taken from.

    Of `packages` it takes the programs and the libraries these load, not the rest. `modules` are loaded at boot.
    """
    for name in _FOLDERS:
        (folder / name).mkdir(parents=True)
    root = Root(folder)
    taken = [busybox(folder, architecture)]
    if packages:
        closure = fetch_closure(packages, architecture=architecture)
        trees = [package.tree for package in closure]
        for package in closure:
            if package.name in packages:
                for program in _programs(package.tree):
                    contents.copy_program(program, folder, trees, architecture.triplet)
        taken += used(closure, {path.name for path in folder.rglob("*") if path.is_file() and not path.is_symlink()})
    root.link("sbin", "bin")
    root.link("bin/init", "busybox")
    root.link("init", "sbin/init")
    root.copy(contents.guest_file(f"rtqual-probe{architecture.suffix}"), "usr/bin/rtqual-probe")
    root.write("etc/init.d/rcS", own_text("rcS"), executable=True)
    root.write("usr/lib/rtqual/report", own_text("report"), executable=True)
    root.write("etc/inittab", _INITTAB)
    root.write("etc/hostname", "flight\n")
    root.write("etc/passwd", "root::0:0:root:/root:/bin/sh\n")
    root.write("etc/group", "root:x:0:\n")
    root.write("etc/modules", "".join(f"{name}\n" for name in modules))
    return root, taken


def _programs(tree: Path) -> list[Path]:
    folders = (tree / place for place in ("bin", "sbin", "usr/bin", "usr/sbin"))
    return sorted(path for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_file())


def used(closure: Sequence[Package], present: Collection[str]) -> list[Package]:
    """Of packages that others depend on, those whose libraries or programs came along, by their files' names."""
    present = set(present)
    return [package for package in closure if present & {path.name for path in _loadable(package.tree)}]


def _loadable(tree: Path) -> list[Path]:
    files = (path for path in tree.rglob("*") if path.is_file() and "share" not in path.parts)
    return [path for path in files if ".so" in path.name or path.stat().st_mode & 0o111]
