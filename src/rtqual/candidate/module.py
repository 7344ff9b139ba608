# SPDX-License-Identifier: MIT
"""Our kernel modules (the probe, the camera's driver), built for one of Debian's kernels against its headers, which are
not installed."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rtqual.architecture import AMD64, ARMHF, Architecture
from rtqual.candidate.sources import camera_sources, probe_sources, write_sources
from rtqual.errors import RunFailed
from rtqual.instrument.output import last_line
from rtqual.packages import Package, cache_dir, fetch, locked

MODULE = "rtqual-probe.ko"
MODULE_PATH = f"/lib/rtqual/{MODULE}"  # in the guest
CAMERA_MODULES = ("ds325-ring.ko", "ds325-usb.ko", "ds325-dmabuf.ko")  # kmod/Kbuild; the first is needed by the others
_INCLUDED = re.compile(r"include /usr/src/(linux-headers-[\w.+-]+)/Makefile")
_KBUILD = re.compile(r"linux-kbuild-[\w.+-]+")
_KERNELS_NAME = {AMD64: "x86", ARMHF: "arm"}  # of an architecture


def build_module(release: str, architecture: Architecture = AMD64) -> Path:
    """rtqual-probe.ko for the kernel of that release; as build_modules()."""
    return build_modules(release, probe_sources(), "kernel", (MODULE,), architecture)[0]


def build_camera_modules(release: str, architecture: Architecture = AMD64) -> tuple[Path, ...]:
    """CAMERA_MODULES for the kernel of that release; as build_modules()."""
    return build_modules(release, camera_sources(), "kmod", CAMERA_MODULES, architecture)


def build_modules(
    release: str,
    sources: Mapping[str, bytes],
    kbuild_in: str,
    names: Sequence[str],
    architecture: Architecture = AMD64,
) -> tuple[Path, ...]:
    """The modules `names` that `kbuild_in`/Kbuild makes, from the cache if headers and sources are the same.

    Raises RunFailed with the compiler's first complaint when they do not build.
    """
    headers = fetch(f"linux-headers-{release}", architecture=architecture)
    folder = headers.tree / "usr/src" / f"linux-headers-{release}"
    included = _INCLUDED.match((folder / "Makefile").read_text())
    if included is None:
        raise RunFailed(f"{headers.name}: its Makefile includes no common headers: it is not built as Debian's are")
    common = fetch(included[1])
    kbuild = fetch(next(_kbuild(folder)))
    identity = hashlib.sha256()
    for part in (headers, common, kbuild):
        identity.update(part.sha256.encode())
    for name, content in sorted({**sources, "": Path(__file__).read_bytes()}.items()):
        identity.update(f"{name} {len(content)}\n".encode() + content)
    built = cache_dir() / "modules" / identity.hexdigest()[:32]
    modules = tuple(built / name for name in names)
    with locked(built):
        if not all(module.exists() for module in modules):
            _build(release, architecture, (headers, common, kbuild), sources, kbuild_in, modules)
    return modules


def _kbuild(headers: Path) -> Iterator[str]:
    """The package that the headers' build scripts come from, as their links name it."""
    target = str((headers / "scripts").readlink())
    yield from _KBUILD.findall(target)
    raise RunFailed(f"{headers}: its scripts are {target}, of no linux-kbuild package")


def _build(
    release: str,
    architecture: Architecture,
    packages: Sequence[Package],
    sources: Mapping[str, bytes],
    kbuild_in: str,
    modules: Sequence[Path],
) -> None:
    target = modules[0].parent
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target) as folder:
        root = Path(folder) / "root"
        tree = write_sources(Path(folder) / "sources", sources)
        for package in packages:
            shutil.copytree(package.tree, root, symlinks=True, dirs_exist_ok=True, copy_function=os.link)
        headers = root / "usr/src" / f"linux-headers-{release}"
        makefile = headers / "Makefile"
        text = makefile.read_text().replace("/usr/src/", f"{root}/usr/src/")
        makefile.unlink()  # and not the package's, which it is a link to
        makefile.write_text(text)
        cross = f"{architecture.triplet}-" if architecture.foreign else ""
        arch = f"ARCH={_KERNELS_NAME[architecture]}"
        command = ["make", "-s", "-C", str(headers), f"M={tree / kbuild_in}", arch, "modules"]
        command.append("CONFIG_DEBUG_INFO_BTF_MODULES=")  # type information would need pahole and the kernel itself
        if cross:
            command.append(f"CROSS_COMPILE={cross}")
        _run(command, release)
        for module in modules:
            built = tree / kbuild_in / module.name
            _run([f"{cross}strip", "--strip-debug", str(built)], release)
            built.rename(module)


def _run(command: list[str], release: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RunFailed(f"{command[0]} is missing: `rtqual doctor` says what installs it") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise RunFailed(f"a module of ours for {release} does not build: {(errors or [last_line(done.stderr)])[0]}")
