# SPDX-License-Identifier: MIT
"""What modules for a kernel are built against: the headers that Debian packages for its own kernels, or what is kept of
a kernel built here (parts/tailor/built_headers.py)."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.apt import Package, fetch
from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.base.errors import RunFailed

_INCLUDED = re.compile(r"include /usr/src/(linux-headers-[\w.+-]+)/Makefile")
_KBUILD = re.compile(r"linux-kbuild-[\w.+-]+")
_KERNELS_NAME = {AMD64: "x86", ARM64: "arm64", ARMHF: "arm"}  # of an architecture


@dataclass(frozen=True)
class Headers:
    """`make`: an empty folder to work in -> make's command line, which `M=` and a target complete."""

    release: str
    architecture: Architecture
    identity: tuple[str, ...]  # hashes of all that they are made of
    make: Callable[[Path], list[str]]
    environment: Mapping[str, str] | None = None  # of make; None is ours


def of_debian(release: str, architecture: Architecture = AMD64) -> Headers:
    """The headers of Debian's kernel of that release, fetched and not installed."""
    headers = fetch(f"linux-headers-{release}", architecture=architecture)
    folder = headers.tree / "usr/src" / f"linux-headers-{release}"
    included = _INCLUDED.match((folder / "Makefile").read_text())
    if included is None:
        raise RunFailed(f"{headers.name}: its Makefile includes no common headers: it is not built as Debian's are")
    scripts = str((folder / "scripts").readlink())
    kbuild = _KBUILD.search(scripts)
    if kbuild is None:
        raise RunFailed(f"{folder}: its scripts are {scripts}, of no linux-kbuild package")
    packages = (headers, fetch(included[1]), fetch(kbuild[0]))

    def make(scratch: Path) -> list[str]:
        return ["make", "-s", "-C", str(_laid_out(packages, release, scratch)), *variables]

    variables = [f"ARCH={_KERNELS_NAME[architecture]}"]
    variables.append("CONFIG_DEBUG_INFO_BTF_MODULES=")  # type information would need pahole and the kernel itself
    if architecture.foreign:
        variables.append(f"CROSS_COMPILE={architecture.triplet}-")
    return Headers(release, architecture, tuple(package.sha256 for package in packages), make)


def _laid_out(packages: tuple[Package, ...], release: str, scratch: Path) -> Path:
    """The packages in one root, whose makefile looks nowhere else."""
    for package in packages:
        shutil.copytree(package.tree, scratch, symlinks=True, dirs_exist_ok=True, copy_function=os.link)
    headers = scratch / "usr/src" / f"linux-headers-{release}"
    makefile = headers / "Makefile"
    text = makefile.read_text().replace("/usr/src/", f"{scratch}/usr/src/")
    makefile.unlink()  # and not the package's, which it is a link to
    makefile.write_text(text)
    return headers
