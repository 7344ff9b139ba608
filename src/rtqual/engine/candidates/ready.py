# SPDX-License-Identifier: MIT
"""From a kernel's files, laid out as in Debian's packages, to a candidate that a board boots."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rtqual import __version__
from rtqual.base import named
from rtqual.base.apt import Package
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.initramfs import contents
from rtqual.engine.initramfs.appended import overlaid
from rtqual.protocols.board.system import HeldPackage, Kernel


def image_of(name: str, package: Package) -> tuple[Path, str]:
    """The kernel image in a package, and its release."""
    images = sorted((package.tree / "boot").glob("vmlinuz-*"))
    if len(images) != 1:
        raise BadInput(f"candidate {name}: package {package.name} holds {len(images)} kernel images, one is needed")
    release = images[0].name.removeprefix("vmlinuz-")
    return images[0], release


def config_of(name: str, package: Package, release: str) -> str:
    """The configuration in a package, of the kernel of this release."""
    try:
        return named.read(package.tree / "boot" / f"config-{release}").decode(errors="replace")
    except OSError:
        raise BadInput(
            f"candidate {name}: package {package.name} lacks boot/config-{release} (Ubuntu has it in another): "
            "give the files in [candidate.built] (docs/mission.md)"
        ) from None


def make_ready(
    name: str,
    package: Package,
    *,
    boot: Sequence[str],
    tools: Sequence[Package],
    architecture: Architecture,
    extra: Mapping[str, Path] | None = None,  # path in the guest -> file
    facts: Mapping[str, str] | None = None,
) -> Kernel:
    """Build the guest's file systems for a kernel, and read the facts that its files state."""
    image, release = image_of(name, package)
    debian = architecture.name
    initramfs, disk_initramfs = (
        contents.build(package, release, tools, disks=disks, architecture=architecture, extra=extra or {})
        for disks in (False, True)
    )
    return Kernel(
        candidate=name,
        image=image,
        initramfs=initramfs,
        disk_initramfs=disk_initramfs,
        boot=tuple(boot),
        config=config_of(name, package, release),
        release=release,
        package=package.name,
        version=package.version,
        image_size_b=image.stat().st_size,
        installed_size_b=package.installed_size_b,
        architecture=architecture,
        facts={**_module_counts(package.tree, release), **(facts or {})},
        carried=extra or {},
        packages=(
            HeldPackage(
                package.name, package.version, "" if package.name == f"linux-{name}" else debian, package.sha256
            ),
            HeldPackage("rtqual", __version__),
            *(HeldPackage(tool.name, tool.version, debian, tool.sha256) for tool in tools),
        ),
    )


def with_files(kernel: Kernel, files: Mapping[str, Path]) -> Kernel:
    """A kernel whose guests hold these files of the user's too, by path."""
    if not files:
        return kernel
    images = (overlaid(kernel.initramfs, files), overlaid(kernel.disk_initramfs, files))
    return replace(kernel, initramfs=images[0], disk_initramfs=images[1], carried={**kernel.carried, **files})


def _module_counts(tree: Path, release: str) -> dict[str, str]:
    """Loadable modules, and the drivers and other parts that are built in but could be modules."""
    folders = [tree / place / release for place in ("lib/modules", "usr/lib/modules")]
    modules = [path for folder in folders for path in folder.rglob("*.ko*")]
    counts = {"modules_available": str(len(modules))}
    for folder in folders:
        if (folder / "modules.builtin").exists():
            counts["built_in_drivers"] = str(len(named.read(folder / "modules.builtin").split()))
    return counts
