# SPDX-License-Identifier: MIT
"""Debian's kernels by package name, fetched through apt without installing them."""

from collections.abc import Sequence

from rtqual.architecture import of_kernel
from rtqual.candidate import Kernel
from rtqual.candidate.module import MODULE_PATH, build_module
from rtqual.errors import BadInput
from rtqual.image import guest
from rtqual.packages import Package, fetch


def prepare(
    name: str, package: str, *, preempt: str | None, boot: Sequence[str], tools: Sequence[Package], module: bool = False
) -> Kernel:
    """Fetch a kernel and build the guest's file systems for it, with the probe's kernel module if asked for.

    `preempt` selects the boot mode of a kernel with PREEMPT_DYNAMIC (Documentation/admin-guide/kernel-parameters).
    """
    architecture = of_kernel(package)
    kernel = fetch(package, kernel=True, architecture=architecture)
    images = sorted((kernel.tree / "boot").glob("vmlinuz-*"))
    if len(images) != 1:
        raise BadInput(f"candidate {name}: package {package} holds {len(images)} kernel images, one is needed")
    release = images[0].name.removeprefix("vmlinuz-")
    config = (kernel.tree / "boot" / f"config-{release}").read_text()
    if preempt and "CONFIG_PREEMPT_DYNAMIC=y" not in config:
        raise BadInput(
            f"candidate {name}: {package} has no PREEMPT_DYNAMIC, so preempt = {preempt!r} would be ignored: remove it"
        )
    extra = {MODULE_PATH.lstrip("/"): build_module(release, architecture)} if module else {}
    initramfs, disk_initramfs = (
        guest.build(kernel, release, tools, disks=disks, architecture=architecture, extra=extra)
        for disks in (False, True)
    )
    return Kernel(
        candidate=name,
        image=images[0],
        initramfs=initramfs,
        disk_initramfs=disk_initramfs,
        boot=(*([f"preempt={preempt}"] if preempt else []), *boot),
        config=config,
        release=release,
        package=kernel.name,
        version=kernel.version,
        image_size_b=images[0].stat().st_size,
        installed_size_b=kernel.installed_size_b,
        architecture=architecture,
    )
