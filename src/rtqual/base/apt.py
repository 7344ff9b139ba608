# SPDX-License-Identifier: MIT
"""Debian packages fetched through apt, without installing them and without being root.

Downloads and unpacked trees lie in the cache; an unpacked tree is named by the hash of its package.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from functools import cache
from pathlib import Path
from typing import Self

from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.cache import cache_dir, kept, locked, sha256_file
from rtqual.base.child import with_us
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import Ended, find, run
from rtqual.base.scratch import scratch
from rtqual.base.words import whole

_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]+")
KERNELS = "linux-image-"  # how the names of packages with kernels begin
_SOURCES = (Path("/etc/apt/sources.list"), Path("/etc/apt/sources.list.d"))
_MAKE_ROOM = "make room or set XDG_CACHE_HOME"
MOST_PACKAGE_B, MOST_UNPACKED_B = 2 << 30, 8 << 30  # with symbols to debug by a kernel has some GB


@dataclass(frozen=True)
class Package:
    """A downloaded package and where it was unpacked."""

    name: str
    version: str
    sha256: str
    installed_size_b: int
    tree: Path


def fetch(name: str, *, kernel: bool = False, architecture: Architecture = AMD64) -> Package:
    """Download and unpack one package; a metapackage of a kernel stands for the kernel it depends on."""
    apt = _Apt.of(architecture)
    record = _show(name, apt)
    if kernel:
        for dependency in re.findall(r"(linux-image-\d[\w.+-]*)", record.get("Depends", "")):
            return fetch(dependency, architecture=architecture)
        if not re.match(r"linux-image-\d", name):
            raise BadInput(f"candidate package {name}: it is no kernel; `apt-cache search linux-image` lists them")
    return unpacked(_download(name, record, apt), name, record)


def fetch_closure(names: Sequence[str], *, architecture: Architecture = AMD64) -> list[Package]:
    """Download and unpack packages with all they depend on, as on an empty system, recommendations left out."""
    apt = _Apt.of(architecture)
    archives = cache_dir() / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    quiet = ("-qq", "-y", "--no-install-recommends")
    options = [*apt.options, *quiet, "-o", "Dir::State::status=/dev/null", "-o", "Debug::NoLocking=1"]
    with locked(archives / "apt"), scratch() as nothing:
        # apt leaves out of its list what lies in its archives already, so it is given an empty folder.
        (nothing / "partial").mkdir()
        listing = [*options, "-o", f"Dir::Cache::archives={nothing}", "-o", "Acquire::ForceHash=SHA256"]
        listing += ["--print-uris", "install", *names]
        wanted = [line.split() for line in apt.run(["apt-get", *listing], "resolve", names).splitlines()]
        files = {archives / name: (int(size), known.rpartition("SHA256:")[2]) for _, name, size, known in wanted}
        damaged = [file for file, (_, sha256) in files.items() if not _sound(file, sha256)]
        if damaged:
            need_space(archives, 4 * sum(size for size, _ in files.values()))
            kept = ["-o", f"Dir::Cache::archives={archives}", "-o", "APT::Sandbox::User="]
            apt.run(["apt-get", *options, *kept, "--download-only", "install", *names], "download", names)
    return sorted((unpacked(file, *_named(file)) for file in files), key=lambda package: package.name)


def _sound(file: Path, sha256: str) -> bool:
    """Whether it is the archive that apt's signed lists name. Another goes: apt would be content with its size."""
    if not file.exists():
        return False
    if sha256_file(file) == sha256:
        return True
    file.unlink()
    return False


def _named(file: Path) -> tuple[str, dict[str, str]]:
    """Name and fields of a package as its file's name has them."""
    name, version, _ = file.stem.split("_")
    return name, {"Version": version.replace("%3a", ":")}


def _run(command: list[str], folder: Path | None = None) -> Ended:
    if not shutil.which(command[0]):
        raise RunFailed("apt is missing: Debian's kernels and tools are fetched on Debian or Ubuntu")
    return run(with_us(command), folder=folder, also={"LC_ALL": "C.UTF-8"})  # what it says is read


def _complaint(done: Ended, otherwise: str) -> str:
    """The first error that apt printed."""
    return next((line[3:] for line in done.stderr.splitlines() if line.startswith("E: ")), otherwise)


def _room(done: Ended) -> str:
    """The advice where a disk is full, which apt tells as it tells of a network; else nothing."""
    full = any(sign in done.stderr for sign in (os.strerror(ENOSPC), os.strerror(EDQUOT), "enough free space"))
    return f"{cache_dir()} is full: {_MAKE_ROOM}" if full else ""


def _options(folder: Path, places: Mapping[str, str], *others: str) -> tuple[str, ...]:
    settings = [*(f"Dir::{key}={folder / place}" for key, place in places.items()), *others]
    return tuple(word for setting in settings for word in ("-o", setting))


@dataclass(frozen=True)
class _Apt:
    """apt's options for the packages of one processor, and what to do where its lists are old."""

    options: tuple[str, ...]
    refresh: str

    @classmethod
    def of(cls, architecture: Architecture) -> Self:
        """Lists of another processor's packages lie in the cache: the system's own stay as they are."""
        folder = cache_dir() / "apt" / architecture.name
        folder.mkdir(parents=True, exist_ok=True)
        # Where a system keeps no index of its lists (as container images do), every call would build an index.
        places = {"Cache::pkgcache": "pkgcache.bin", "Cache::srcpkgcache": "srcpkgcache.bin"}
        if not architecture.foreign:
            return cls(_options(folder, places), "run `apt-get update`")
        places |= {"State::lists": "lists", "Cache": ".", "Cache::archives": "archives", "State::status": "status"}
        processor = (f"APT::Architecture={architecture.name}", f"APT::Architectures::={architecture.name}")
        others = (*processor, "APT::Sandbox::User=", "Acquire::Languages=none")
        apt = cls(_options(folder, places, *others), f"delete {folder}")
        with locked(folder):
            apt._update(folder, architecture)
        return apt

    def _update(self, folder: Path, architecture: Architecture) -> None:
        """Fetch the lists where there are none or a source came since; one source that can be fetched is enough."""
        lists, asked = folder / "lists", folder / "status"
        if any(lists.glob("*_Packages*")) and asked.exists() and asked.stat().st_mtime_ns >= _sources_changed_ns():
            return
        for needed in ("lists/partial", "archives/partial"):
            (folder / needed).mkdir(parents=True, exist_ok=True)
        asked.touch()
        done = _run(["apt-get", *self.options, "-qq", "update"])
        if not any(lists.glob("*_Packages*")):
            reason = _complaint(done, "its sources have none")
            mend = _room(done) or "check the network and apt's sources, then run the same command again"
            raise RunFailed(f"apt could not list Debian's packages for {architecture.name}: {reason}; {mend}")

    def run(self, command: list[str], verb: str, names: Sequence[str]) -> str:
        done = _run(command)
        if done.code:
            reason = _complaint(done, done.last_words())
            mend = _room(done) or f"check the network, then {self.refresh} and the same command again"
            raise RunFailed(f"apt could not {verb} {', '.join(names)}: {reason}; {mend}")
        return done.stdout


def _sources_changed_ns() -> int:
    """When apt's sources were last written."""
    written = [path for place in _SOURCES for path in (place, *place.glob("*")) if path.exists()]
    return max((path.stat().st_mtime_ns for path in written), default=0)


def known(name: str, architecture: Architecture = AMD64) -> str:
    """A package's newest version. Raises BadInput where apt knows no such package."""
    return _show(name, _Apt.of(architecture))["Version"]


def require_known(name: str, architecture: Architecture = AMD64) -> None:
    """Raises BadInput where apt knows no such package. It takes a tenth of the time that its version takes; lists of
    another processor's packages are fetched where there are none."""
    if name not in _names_once(KERNELS if name.startswith(KERNELS) else name, architecture):
        raise _unknown(name, _Apt.of(architecture))


def names(start: str, architecture: Architecture = AMD64) -> tuple[str, ...]:
    """The packages whose names begin so, of all that apt can fetch; none where apt has no lists."""
    if not _NAME.fullmatch(start):
        raise _no_name(start)
    done = _run(["apt-cache", *_Apt.of(architecture).options, "pkgnames", start])
    if full := _room(done):
        raise RunFailed(f"apt could not look {start} up: {full}")
    return tuple(sorted(done.stdout.split()))


_names_once = cache(names)  # a mission's check asks for each scale and candidate


def indexes() -> list[tuple[str, str, str, str, str]]:
    """Where apt has its lists from: address, suite, component, hash of the list, who made it."""
    fields = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(FILENAME)|$(ORIGIN)"
    lines = _run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"]).stdout.splitlines()
    found = [line.split("|") for line in lines if line.count("|") == 4]
    return [(uri, suite, part, _list_hash(Path(file)), origin) for uri, suite, part, file, origin in found]


def _list_hash(file: Path) -> str:
    """apt leaves the ending of a packed list out of its name."""
    packed = sorted(file.parent.glob(f"{file.name}*"))
    return sha256_file(packed[0]) if packed else ""


def _show(name: str, apt: _Apt) -> dict[str, str]:
    """The fields of the version that apt would install, from its lists.

    Of all versions, and chosen here: apt's own --no-all-versions plans an installation first, ten times the work.
    """
    if not _NAME.fullmatch(name):
        raise _no_name(name)
    versions = [_fields(word) for word in _asked("show", name, apt).split("\n\n") if word.strip()]
    wanted = re.search(r"^  Candidate: (\S+)$", _asked("policy", name, apt), re.M)
    found = [version for version in versions if wanted and version.get("Version") == wanted[1]]
    if not found:
        raise _unknown(name, apt)
    return next((table for table in found if "SHA256" in table), found[0])  # one that is only installed has no hash


def _asked(verb: str, name: str, apt: _Apt) -> str:
    done = _run(["apt-cache", *apt.options, verb, name])
    if full := _room(done):
        raise RunFailed(f"apt could not look {name} up: {full}")
    if done.code:
        raise _unknown(name, apt)
    return done.stdout


def _fields(paragraph: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in paragraph.splitlines():
        if line[:1] not in (" ", "") and ":" in line:
            key, _, value = line.partition(":")
            fields[key] = value.strip()
    return fields


def _no_name(name: str) -> BadInput:
    return BadInput(f"{name!r} is not a Debian package name: lower-case letters, digits and + - . only")


def _unknown(name: str, apt: _Apt) -> BadInput:
    return BadInput(
        f"no Debian package {name} is known to apt: check the name with `apt-cache search`, or {apt.refresh}"
    )


def _download(name: str, record: dict[str, str], apt: _Apt) -> Path:
    archives = cache_dir() / "archives"
    archives.mkdir(exist_ok=True)
    file = archives / "{}_{}_{}.deb".format(name, record["Version"].replace(":", "%3a"), record["Architecture"])
    with locked(file):
        if _sound(file, record.get("SHA256", "")):
            return file
        need_space(archives, int(record.get("Size", 0)) * 8)
        options = ["-qq", "-o", "APT::Sandbox::User=", *apt.options]
        done = _run(["apt-get", *options, "download", f"{name}={record['Version']}"], archives)
        if done.code or not file.exists():
            reason = _complaint(done, "apt gave no reason")
            mend = _room(done) or "check the network, then run the same command again"
            raise RunFailed(f"cannot download {name}: {reason}; {mend}")
    return file


def need_space(folder: Path, needed_b: int) -> None:
    free_b = shutil.disk_usage(folder).free
    if free_b < needed_b:
        raise RunFailed(f"{folder} has {free_b // 2**20} MiB free of the {needed_b // 2**20} MiB needed: {_MAKE_ROOM}")


def package_at(deb: Path, architecture: str = "") -> Package:
    """Unpack a package by its path, which may be anybody's. Raises BadInput where it is none, is for another
    architecture than one that is given, or holds more than a kernel does; RunFailed."""
    if deb.stat().st_size > MOST_PACKAGE_B:  # which is hashed
        raise BadInput(f"{deb}: is larger than {MOST_PACKAGE_B >> 30} GiB")
    done = _run(["dpkg-deb", "--field", str(deb.absolute())])
    if done.code:
        raise BadInput(f"{deb}: is no Debian package")
    said = _fields(done.stdout)
    if architecture and said.get("Architecture") != architecture:
        raise BadInput(f"{deb}: is for {said.get('Architecture')}, and the candidate for {architecture}")
    return unpacked(deb, said.get("Package", ""), {"Version": "", **said}, most_b=MOST_UNPACKED_B)


def unpacked(deb: Path, name: str, record: Mapping[str, str], *, most_b: int = 0) -> Package:
    """From the cache if it was unpacked before. `most_b`: of what it holds, where it may be anybody's. Raises BadInput
    where there is more, and RunFailed."""
    sha256 = sha256_file(deb)

    def make(fresh: Path) -> None:
        if most_b and _packed_b(deb, most_b) >= most_b:
            raise BadInput(f"{deb}: holds more than {most_b >> 30} GiB")
        done = _run(["dpkg-deb", "--extract", str(deb.absolute()), str(fresh)])
        if done.code:
            mend = _room(done) or "delete it and try again"
            raise RunFailed(f"cannot unpack {deb.name}: {done.last_words()}; {mend}")
        # Holes take no room, and as long to read as what is there.
        if most_b and sum(path.lstat().st_size for path in fresh.rglob("*")) > most_b:
            raise BadInput(f"{deb}: holds files of more than {most_b >> 30} GiB")

    tree = kept(cache_dir() / "unpacked" / sha256, make)
    installed_kib = whole(record.get("Installed-Size", "")) or 0  # as its packer wrote it
    return Package(name, record["Version"], sha256, installed_kib * 1024, tree)


def _packed_b(deb: Path, most_b: int) -> int:
    """The size of its archive, counted up to `most_b`: some MB may unpack to terabytes."""
    command = with_us([find("dpkg-deb"), "--fsys-tarfile", str(deb.absolute())])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reading:
        assert reading.stdout is not None  # noqa: S101
        counted = 0
        while counted < most_b and (piece := reading.stdout.read(1 << 20)):
            counted += len(piece)
        reading.kill()
    return counted
