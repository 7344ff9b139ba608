# SPDX-License-Identifier: MIT
"""A kernel's source tree: Debian's, or any by its path, and make in it, out of tree and in a fixed environment."""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rtqual.base import named
from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.base.cache import CachePlace, cache_dir, locked
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.program import Ended, run
from rtqual.base.scratch import scratch
from rtqual.base.words import listed

DEBIAN_SOURCE = "linux-source-6.12"  # the first of Debian's whose source has PREEMPT_RT; 6.1's has not
_UNPACKED_B = 2 * 2**30  # of that one: 1.7 GB

# Architecture -> what the kernel's makefiles call it (ARCH), and the folder below arch/ (SRCARCH). ARCH=x86 would mean
# 32 bits wherever a configuration does not say otherwise, as with tinyconfig.
_ARCH = {AMD64: "x86_64", ARM64: "arm64", ARMHF: "arm"}
_FOLDER = {AMD64: "x86", ARM64: "arm64", ARMHF: "arm"}
_TAILORED = (AMD64, ARM64)  # the rules know these
_SELECTS_RT = re.compile(r"^\s*select\s+ARCH_SUPPORTS_RT\b", re.MULTILINE)
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,6})?(?:[-.+~_]\S*)?")
_LONGEST = 2**22  # characters of a Makefile, of an architecture's Kconfig: these have up to 0.1 million
_FIELD = re.compile(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION)[ \t]*=[ \t]*(\S*)", re.MULTILINE)


@dataclass(frozen=True)
class Tree:
    """Sources of one kernel, read for one architecture. Nothing is ever written below `path`."""

    path: Path
    version: str  # as its Makefile has it, "6.12.117"
    architecture: Architecture  # rtqual.base.architecture's AMD64 or ARM64

    @property
    def number(self) -> tuple[int, int]:
        """Version and patch level, as (6, 12)."""
        found = _VERSION.fullmatch(self.version)
        assert found, "of a tree that was opened"  # noqa: S101
        return int(found[1]), int(found[2])

    @property
    def arch(self) -> str:
        """ARCH, as make takes it: "x86_64" or "arm64"."""
        return _ARCH[self.architecture]

    @property
    def folder(self) -> str:
        """SRCARCH, the folder below arch/: "x86" or "arm64"."""
        return _FOLDER[self.architecture]

    @property
    def cross_compile(self) -> str:
        """The prefix of the compiler's programs; empty where this machine's own are used."""
        return f"{self.architecture.triplet}-" if self.architecture.foreign else ""

    def command(self, objects: Path, *targets: str, variables: Mapping[str, str] | None = None) -> list[str]:
        """make's command line; `variables` are further NAME=value of it."""
        own = {"O": str(objects), "ARCH": self.arch, "CROSS_COMPILE": self.cross_compile}
        words = [f"{name}={value}" for name, value in {**own, **(variables or {})}.items()]
        return ["make", "-s", "-C", str(self.path), *words, *targets]

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of make: of the user's only the paths of programs and scratch space."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        return {**kept, "LC_ALL": "C", "TZ": "UTC", **(extra or {})}

    def make(
        self,
        objects: Path,
        *targets: str,
        variables: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run make to its end. Raises RunFailed with make's first complaint."""
        self.check_compiler()
        objects.mkdir(parents=True, exist_ok=True)
        command = self.command(objects, *targets, variables=variables)
        done = run(command, environment=self.environment(environment))
        if done.code:
            raise RunFailed(f"make {' '.join(targets)} in {self.path} failed: {complaint(done.stderr + done.stdout)}")
        return done

    def compiler(self) -> str:
        """The compiler's name and version, one line. Raises RunFailed where it is missing."""
        self.check_compiler()
        lines = run([f"{self.cross_compile}gcc", "--version"], environment=self.environment()).stdout.splitlines()
        return lines[0] if lines else ""

    def check_compiler(self) -> None:
        compiler = f"{self.cross_compile}gcc"
        if shutil.which(compiler) is None:
            package = f"gcc-{self.architecture.triplet.replace('_', '-')}" if self.architecture.foreign else "gcc"
            raise RunFailed(
                f"the compiler {compiler} for {self.architecture.name} is missing: `apt-get install {package}`"
            )


def open_tree(path: Path, architecture: Architecture = AMD64, *, tailored: bool = True) -> Tree:
    """The tree at `path`. Raises BadInput where there is none, or none for `architecture`; and if a kernel is to be
    `tailored` from it, where it cannot be real-time there."""
    path = path.absolute()
    if tailored and architecture not in _TAILORED:
        known = ", ".join(architecture.name for architecture in _TAILORED)
        raise BadInput(f"no kernel is tailored for {architecture.name}; it can be for {known}")
    tree = Tree(path, _version(path), architecture)
    kconfig = _kconfig(tree)
    if tailored and not _SELECTS_RT.search(kconfig):
        raise BadInput(
            f"{tree.path}: Linux {tree.version} has no real-time support for {tree.architecture.name} "
            f"(arch/{tree.folder}/Kconfig does not select ARCH_SUPPORTS_RT): take 6.12 or later, or give the RT patch"
        )
    return tree


def of_configuration(path: Path) -> Architecture | None:
    """The architecture of a tree's own configuration, arch/NAME/configs/..., by its path; None for any other file.
    Raises BadInput for an architecture that is not known here."""
    parts = path.absolute().parts
    folder = parts[-3] if len(parts) > 3 and parts[-4] == "arch" and parts[-2] == "configs" else ""
    found = next((architecture for architecture, name in _FOLDER.items() if name == folder), None)
    if folder and found is None:
        known = listed([architecture.name for architecture in _FOLDER], "or")
        raise BadInput(f"{path}: is for {folder}, which is not known here; add --architecture {known}, or take another")
    return found


def _version(path: Path) -> str:
    try:
        text = _text(path / "Makefile")
    except OSError:
        raise BadInput(f"{path}: no kernel source there (it has no Makefile): give an unpacked tree") from None
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(name, value)
    version = f"{fields.get('VERSION', '')}.{fields.get('PATCHLEVEL', '')}"
    version += f".{fields['SUBLEVEL']}" if fields.get("SUBLEVEL") else ""
    version += fields.get("EXTRAVERSION", "")
    if not _VERSION.fullmatch(version):
        raise BadInput(f"{path}: no kernel source: its Makefile states no VERSION and PATCHLEVEL, as 6 and 12")
    return version


def _text(path: Path) -> str:
    """Of a file; what is none, or has no end, is not waited for."""
    if not path.is_file():
        raise FileNotFoundError(path)
    with path.open(errors="replace") as file:
        return file.read(_LONGEST)


def _kconfig(tree: Tree) -> str:
    try:
        return _text(tree.path / "arch" / tree.folder / "Kconfig")
    except OSError:
        raise BadInput(
            f"{tree.path}: this tree (Linux {tree.version}) has no arch/{tree.folder}/Kconfig: "
            f"it cannot be built for {tree.architecture.name}"
        ) from None


def debian_tree(architecture: Architecture = AMD64, package: str = DEBIAN_SOURCE, *, tailored: bool = True) -> Tree:
    """Debian's source package, fetched and unpacked once into the cache; `tailored` as of open_tree()."""
    source = fetch(package)
    archives = sorted((source.tree / "usr/src").glob("linux-source-*.tar.*"))
    if len(archives) != 1:
        raise BadInput(f"package {package}: holds {len(archives)} archives of kernel source, one is needed")
    return open_tree(_unpacked(archives[0], source.sha256), architecture, tailored=tailored)


def patched(tree: Path, patches: Sequence[Path], architecture: Architecture = AMD64) -> Tree:
    """A copy of `tree` in the cache with the patches applied in order; nothing is copied where it is there already.

    Raises BadInput with the patch that does not apply and the first file it fails on.
    """
    if not patches:
        return open_tree(tree, architecture)
    version = _version(tree)
    identity = hashlib.sha256(f"{tree.absolute()} {_changed(tree)}".encode())
    for patch in patches:
        try:
            identity.update(named.read(patch))
        except OSError as error:
            raise BadInput(f"{patch}: this patch cannot be read: {error.strerror}") from None
    place = cache_dir() / "kernel-trees" / f"patched-{identity.hexdigest()[:32]}"
    with locked(place) as cached:
        if not cached.is_sound():
            with _fresh(cached) as fresh:
                run(["cp", "-a", f"{tree.absolute()}/.", fresh]).require(f"cannot copy {tree} to {fresh}")
                for patch in patches:
                    _apply(fresh, patch, version)
    return open_tree(place, architecture)


def _changed(tree: Path) -> str:
    """Identifies a tree without reading 1.7 GB: the state of its Makefile, and its commit where it has one."""
    stat = (tree / "Makefile").stat() if (tree / "Makefile").exists() else None
    head = run(["git", "-C", str(tree), "rev-parse", "HEAD"]) if (tree / ".git").exists() else None
    return f"{stat.st_mtime_ns if stat else 0} {head.stdout.strip() if head else ''}"


def _apply(tree: Path, patch: Path, version: str) -> None:
    source = ["xz", "-dc"] if patch.suffix == ".xz" else ["gzip", "-dc"] if patch.suffix == ".gz" else ["cat"]
    text = run([*source, patch])
    if text.code:
        raise BadInput(f"{patch}: this patch cannot be unpacked: {text.last_words()}")
    done = run(["patch", "-p1", "--batch", "--forward", "--fuzz=1", "-d", tree], package="patch", given=text.out)
    if done.code:
        said = (done.stdout + done.stderr).splitlines()
        telling = ("FAILED", "ignored", "patch:")
        failed = [number for number, line in enumerate(said) if any(word in line for word in telling)]
        hunk = said[failed[0]].strip() if failed else done.last_words()
        files = [
            line.removeprefix("patching file ") for line in said[: failed[0] if failed else 0] if "patching" in line
        ]
        where = f" in {files[-1]}" if files else ""
        raise BadInput(f"patch {patch} does not apply to Linux {version}{where}: {hunk}; take the one for this version")


def _unpacked(archive: Path, sha256: str) -> Path:
    place = cache_dir() / "kernel-trees" / sha256[:32]
    with locked(place) as cached:
        if not cached.is_sound():
            free_b = shutil.disk_usage(place.parent).free
            if free_b < _UNPACKED_B:
                raise RunFailed(
                    f"{place.parent} has {free_b // 2**20} MiB free of the {_UNPACKED_B // 2**20} MiB that a kernel's "
                    "source needs: make room or set XDG_CACHE_HOME"
                )
            with _fresh(cached) as fresh:
                done = run(["tar", "-xf", archive, "-C", fresh, "--strip-components=1"])
                done.require(f"cannot unpack {archive.name}", then="delete it and try again")
    return place


@contextmanager
def _fresh(cached: CachePlace) -> Iterator[Path]:
    """A folder beside a place that takes its name once it is filled; after an error it is removed."""
    with scratch(cached.path.parent) as folder:
        fresh = folder / cached.path.name
        fresh.mkdir()
        yield fresh
        cached.take(fresh)


def complaint(output: str) -> str:
    """The line of make's output that says why it stopped."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"\berror\b|not found|No space left|missing|undefined", line, re.I)]
    blamed = [line for line in telling if not line.startswith("make")]
    return next(iter(blamed or telling or lines[-1:]), "it said nothing")[:300]
