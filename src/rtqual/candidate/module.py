# SPDX-License-Identifier: MIT
"""The probe as a kernel module, built for one of Debian's kernels against its headers, which are not installed."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rtqual.architecture import AMD64, ARMHF, Architecture
from rtqual.candidate.sources import probe_sources, write_sources
from rtqual.errors import RunFailed
from rtqual.instrument.output import last_line
from rtqual.packages import Package, cache_dir, fetch, locked

MODULE = "rtqual-probe.ko"
MODULE_PATH = f"/lib/rtqual/{MODULE}"  # in the guest
_INCLUDED = re.compile(r"include /usr/src/(linux-headers-[\w.+-]+)/Makefile")
_KBUILD = re.compile(r"linux-kbuild-[\w.+-]+")
_KERNELS_NAME = {AMD64: "x86", ARMHF: "arm"}  # of an architecture


def build_module(release: str, architecture: Architecture = AMD64) -> Path:
    """rtqual-probe.ko for the kernel of that release, from the cache if headers and sources are the same.

    Raises RunFailed with the compiler's first complaint when it does not build.
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
    sources = probe_sources()
    for name, content in sorted({**sources, "": Path(__file__).read_bytes()}.items()):
        identity.update(f"{name} {len(content)}\n".encode() + content)
    module = cache_dir() / "modules" / identity.hexdigest()[:32] / MODULE
    with locked(module.parent):
        if not module.exists():
            _build(release, architecture, (headers, common, kbuild), sources, module)
    return module


def _kbuild(headers: Path) -> Iterator[str]:
    """The package that the headers' build scripts come from, as their links name it."""
    target = str((headers / "scripts").readlink())
    yield from _KBUILD.findall(target)
    raise RunFailed(f"{headers}: its scripts are {target}, of no linux-kbuild package")


def _build(
    release: str, architecture: Architecture, packages: Sequence[Package], sources: Mapping[str, bytes], module: Path
) -> None:
    module.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=module.parent) as folder:
        root = Path(folder) / "root"
        probe = write_sources(Path(folder) / "probe", sources)
        for package in packages:
            shutil.copytree(package.tree, root, symlinks=True, dirs_exist_ok=True, copy_function=os.link)
        headers = root / "usr/src" / f"linux-headers-{release}"
        makefile = headers / "Makefile"
        text = makefile.read_text().replace("/usr/src/", f"{root}/usr/src/")
        makefile.unlink()  # and not the package's, which it is a link to
        makefile.write_text(text)
        cross = f"{architecture.triplet}-" if architecture.foreign else ""
        arch = f"ARCH={_KERNELS_NAME[architecture]}"
        command = ["make", "-s", "-C", str(headers), f"M={probe / 'kernel'}", arch, "modules"]
        command.append("CONFIG_DEBUG_INFO_BTF_MODULES=")  # type information would need pahole and the kernel itself
        if cross:
            command.append(f"CROSS_COMPILE={cross}")
        _run(command, release)
        built = probe / "kernel" / MODULE
        _run([f"{cross}strip", "--strip-debug", str(built)], release)
        built.rename(module)


def _run(command: list[str], release: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise RunFailed(f"{command[0]} is missing: `rtqual doctor` says what installs it") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise RunFailed(f"the probe's module for {release} does not build: {(errors or [last_line(done.stderr)])[0]}")
