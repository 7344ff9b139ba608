# SPDX-License-Identifier: MIT
"""The Debian root: mmdebstrap's minbase with the mission's packages; documentation and languages stay out of it."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from rtqual.base.apt import indexes, known, need_space
from rtqual.base.architecture import Architecture
from rtqual.base.cache import cache_dir, locked
from rtqual.base.errors import RunFailed
from rtqual.base.program import find, run
from rtqual.base.scratch import scratch
from rtqual.parts.images.own_files import own_text
from rtqual.parts.images.root import Root, epoch_s, unpack_tar

# What dpkg does not unpack (dpkg.conf, path-exclude). Copyright files stay: licences require it, and the list of
# contents reads them.
_LEFT_OUT = (
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    *(f"path-exclude=/usr/share/{name}/*" for name in ("man", "info", "locale", "help", "gnome/help", "lintian")),
    "path-include=/usr/share/locale/locale.alias",
)
_FORGET = ("var/log/apt", "var/log/dpkg.log", "var/log/bootstrap.log", "var/log/alternatives.log", "etc/resolv.conf")
_ROOM_B = 2 * 2**30  # a minbase, its archive and what is unpacked on the way
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_BINFMT = Path("/proc/sys/fs/binfmt_misc")
_EMULATORS = {"arm64": "qemu-aarch64", "armhf": "qemu-arm"}


def fill(folder: Path, *, architecture: Architecture, packages: Sequence[str], modules: Sequence[str]) -> Root:
    """The root without the kernel's modules. udev loads these as it finds devices; `modules` are loaded in any case."""
    root = unpack_tar(bootstrap(packages, architecture), folder)
    for place in _FORGET:
        root.inside.remove(place)
    root.write("etc/hostname", "flight\n")
    root.write("etc/fstab", "")  # the kernel's command line says where the root is
    root.write("etc/modules-load.d/mission.conf", "".join(f"{name}\n" for name in modules))
    root.write("usr/lib/rtqual/report", own_text("report"), executable=True)
    root.write("usr/lib/systemd/system/rtqual-report.service", own_text("report.service"))
    wanted = "etc/systemd/system/multi-user.target.wants/rtqual-report.service"
    root.link(wanted, "/usr/lib/systemd/system/rtqual-report.service")
    if not root.inside.exists("init"):
        root.link("init", "sbin/init")
    return root


def bootstrap(packages: Sequence[str], architecture: Architecture) -> Path:
    """mmdebstrap's archive, from the cache where apt's lists and the packages are the same."""
    mmdebstrap = find("mmdebstrap", "mmdebstrap")
    for name in packages:
        known(name, architecture)
    _check_foreign(architecture)
    sources = [f"deb [signed-by={_KEYRING}] {uri} {suite} {component}" for uri, suite, component, _ in _mirrors()]
    release = next(suite for _, suite, _, _ in _mirrors() if "-" not in suite)
    asked = (*packages, *sources, *_LEFT_OUT, architecture.name, str(epoch_s()), *(x[3] for x in _mirrors()))
    archive = cache_dir() / "roots" / f"{hashlib.sha256(chr(0).join(asked).encode()).hexdigest()[:32]}.tar"
    with locked(archive) as place:
        if not place.is_sound():
            with scratch(archive.parent) as work:
                fresh = work / "root.tar"
                command = [
                    *(mmdebstrap, "--quiet", "--variant=minbase", f"--architectures={architecture.name}"),
                    *(f"--dpkgopt={option}" for option in (*_LEFT_OUT, "force-unsafe-io")),
                    "--aptopt=Acquire::Languages none",
                    *([f"--include={','.join(packages)}"] if packages else []),
                    *(release, str(fresh), *sources),
                ]
                _run(command, work)
                place.take(fresh)
    return archive


def _run(command: list[str], work: Path) -> None:
    need_space(work.parent, _ROOM_B)
    done = run(command, also={"SOURCE_DATE_EPOCH": str(epoch_s()), "TMPDIR": str(work), "LC_ALL": "C"})
    mend = "check the network and the free space"
    done.require("mmdebstrap could not make the Debian root", "E: ", "dpkg: error", then=mend)


def _mirrors() -> list[tuple[str, str, str, str]]:
    found = [index for index in indexes() if index[4] == "Debian"]
    if not any("-" not in suite for _, suite, *_ in found):
        raise RunFailed("apt's sources have no release of Debian: a Debian root is made on Debian, or with its sources")
    return [(uri, suite, component, digest) for uri, suite, component, digest, _ in found]


def _check_foreign(architecture: Architecture) -> None:
    """Maintainer scripts run on the processor they are for, or under QEMU, which the kernel starts by itself."""
    if architecture.foreign and not (_BINFMT / _EMULATORS[architecture.name]).exists():
        raise RunFailed(
            f"this machine runs no programs for {architecture.name}, as packages' scripts need: "
            "`apt-get install qemu-user-static`, or take --flavour minimal"
        )
