# SPDX-License-Identifier: MIT
"""The root of a system image with what measuring in it needs, as an initial RAM file system for the virtual board.

The root is the one that `rtqual image` makes, and starts as it would on board; where its start-up ends, the jobs begin.
Sizes are taken before what measures is added: rtqual-agent, cyclictest and hackbench with their libraries, busybox's
usleep; and for instruments of ours all that they have in the guest of a kernel without a root.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rtqual.base.apt import Package
from rtqual.base.architecture import Architecture
from rtqual.base.cache import cache_dir, locked
from rtqual.base.scratch import scratch
from rtqual.engine.candidates import roots
from rtqual.engine.candidates.roots import PROGRAMS, packages_for
from rtqual.engine.initramfs import contents
from rtqual.engine.mission import Need, RootSystem
from rtqual.parts.images import archive, assembly, debian_root, inside, minimal
from rtqual.parts.images import root as root_files
from rtqual.parts.images.archive import write_cpio
from rtqual.parts.images.assembly import Filled, Request, fill
from rtqual.parts.images.own_files import own_text
from rtqual.parts.images.root import Root, epoch_s, size, unpack_tar
from rtqual.parts.images.sbom import installed
from rtqual.protocols.board.system import HeldPackage, Kernel

_MEASURE = "usr/lib/rtqual/measure"
_SHARED = "# The teardown must not wait"  # from here on the same as the first process of the board's own root
_BEGIN = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
# Where start-up has ended: stop for the snapshot, then run the one job the host hands in.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mkdir -p /run/memory /run/root /run/usb /run/result
read -r started < /started
"""
_FIRST = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
/usr/bin/rtqual-agent now > /started
exec /sbin/init
"""


@dataclass(frozen=True)
class Sizes:
    """In bytes, but for the modules' number. `minbase_b`: of a Debian root with nothing but mmdebstrap's minbase."""

    root_b: int
    modules_b: int
    modules: int
    minbase_b: int | None
    packages: tuple[HeldPackage, ...] = ()


def under_root(kernel: Kernel, root: RootSystem, needs: Sequence[Need], tools: Sequence[Package]) -> Kernel:
    """A candidate's kernel with the root of a system image. Its sizes are then those of all that is installed."""
    package = Package(kernel.package, kernel.version, "", kernel.installed_size_b, kernel.image.parent.parent)
    request = Request(package, kernel.architecture, flavour=root, form="initramfs", needs=tuple(needs))
    identity = hashlib.sha256(f"{kernel.release} {root} {needs} {epoch_s()} packages told".encode())
    for program in (kernel.image, *_own_files(kernel.architecture), *kernel.carried.values()):
        identity.update(program.read_bytes())
    for tool in tools:
        identity.update(tool.sha256.encode())
    if root == RootSystem.DEBIAN:
        packages = packages_for(request.needs)
        identity.update(debian_root.bootstrap(packages, kernel.architecture).name.encode())
    made = cache_dir() / "initramfs" / f"{identity.hexdigest()[:32]}.cpio"
    told = made.with_suffix(".json")
    with locked(made) as place, locked(told) as beside:
        if not (place.is_sound() and beside.is_sound()):
            with scratch(made.parent) as work:
                filled = fill(request, work)
                sizes = replace(_sizes(filled, root, kernel.architecture), packages=_packages(filled, root, kernel))
                _add(filled.root, root, kernel, tools)
                place.take(write_cpio(filled.root, work / "archive", compress=False))
                (work / "told").write_text(json.dumps(asdict(sizes)))
                beside.take(work / "told")
    known = json.loads(told.read_text())
    sizes = Sizes(**{**known, "packages": tuple(HeldPackage(**item) for item in known["packages"])})
    return replace(
        kernel,
        initramfs=made,
        disk_initramfs=made,
        installed_size_b=kernel.image_size_b + sizes.modules_b + sizes.root_b,
        facts={**kernel.facts, **_facts(kernel, sizes)},
        packages=tuple(dict.fromkeys((*kernel.packages, *sizes.packages))),
    )


def _packages(filled: Filled, root: RootSystem, kernel: Kernel) -> tuple[HeldPackage, ...]:
    """That the root has installed, or its files are of."""
    name = kernel.architecture.name
    if root == RootSystem.DEBIAN:
        return tuple(HeldPackage(part.name, part.version, name) for part in installed(filled.root))
    return tuple(HeldPackage(package.name, package.version, name, package.sha256) for package in filled.packages)


def _facts(kernel: Kernel, sizes: Sizes) -> dict[str, str]:
    base_b = sizes.root_b if sizes.minbase_b is None else sizes.minbase_b
    return {
        "root_size": str(sizes.root_b),
        "installed_with_minbase": str(kernel.image_size_b + sizes.modules_b + base_b),
        "modules_available": str(sizes.modules),
    }


def _sizes(filled: Filled, root: RootSystem, architecture: Architecture) -> Sizes:
    modules = sum("modules" in path.parts for path in filled.root.folder.rglob("*.ko*"))
    minbase_b = None
    if root == RootSystem.DEBIAN:
        with scratch(filled.root.folder.parent) as work:
            minbase_b = size(unpack_tar(debian_root.bootstrap((), architecture), work / "root").folder).content_b
    return Sizes(filled.content.content_b, filled.modules.content_b, modules, minbase_b)


def _own_files(architecture: Architecture) -> tuple[Path, ...]:
    agent, probe = (contents.guest_file(name + architecture.suffix) for name in ("rtqual-agent", "rtqual-probe"))
    modules = (roots, assembly, minimal, debian_root, archive, root_files, inside)
    sources = [Path(__file__), *(Path(str(module.__file__)) for module in modules)]
    scripts = [Path(__file__).with_name("files") / name for name in ("rcS", "report", "measure.service")]
    return (agent, probe, contents.guest_file("init"), *sources, *scripts)


def _add(root: Root, flavour: RootSystem, kernel: Kernel, tools: Sequence[Package]) -> None:
    """What measuring needs besides the root."""
    architecture = kernel.architecture
    trees = [tool.tree for tool in tools]
    root.copy(contents.guest_file(f"rtqual-agent{architecture.suffix}"), "usr/bin/rtqual-agent")
    tail = contents.guest_file("init").read_text().partition(_SHARED)[2]
    root.write(_MEASURE, f"{_BEGIN}{_SHARED}{tail}", executable=True)
    root.write("init", _FIRST, executable=True)
    if flavour == RootSystem.DEBIAN:  # the need `realtime` brings the programs
        root.copy(contents.find(trees, ("bin", "usr/bin"), "busybox"), "usr/lib/rtqual/busybox")
        root.link("usr/bin/usleep", "/usr/lib/rtqual/busybox")
        root.write("usr/lib/systemd/system/rtqual-measure.service", own_text("measure.service"))
        wants = "etc/systemd/system/multi-user.target.wants/rtqual-measure.service"
        root.link(wants, "/usr/lib/systemd/system/rtqual-measure.service")
        return
    root.link("etc/init.d/mission", os.path.relpath(_MEASURE, "etc/init.d"))
    for name in contents.PROGRAMS if kernel.carried else PROGRAMS:
        contents.copy_program(name, root.folder, trees, architecture.triplet)
    for place, file in kernel.carried.items():
        root.copy(file, place)
    if kernel.carried:
        modules = (*contents.DISK_MODULES, *contents.JOB_MODULES, *contents.modules_for(kernel.carried))
        contents.copy_modules(root.folder, kernel.image.parent.parent, kernel.release, modules)
