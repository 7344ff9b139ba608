# SPDX-License-Identifier: MIT
"""`rtqual tailor --until`: no further than a kernel's configuration, or its package. Nothing is measured."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual import __version__
from rtqual.base.architecture import Architecture
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.base.units import format_bytes, format_duration
from rtqual.engine.mission import Candidate, Mission, Tailor
from rtqual.parts.tailor.configure.rules import wishes
from rtqual.parts.tailor.make.build import BuiltKernel, expected
from rtqual.parts.tailor.tailored import KernelOrder

_S_PER_FILE = 0.5  # of one free processor at 3 GHz: a tailored kernel took 8 minutes of two
_DATED = "1767225600"  # 2026-01-01, as images are
_NO_NAME = re.compile(r"[^a-z0-9.+-]+")
_TOLD = """\
#!/bin/sh
# SPDX-License-Identifier: MIT
# Tells boot loaders of the kernel that came or went, as Debian's own packages do.
set -e
[ ! -d /etc/kernel/{when}.d ] || run-parts --arg={release} --arg=/boot/vmlinuz-{release} /etc/kernel/{when}.d
"""


@dataclass(frozen=True)
class Configured:
    """A kernel's configuration. `needs`: symbols that are on for each; `removed`: entries of the removal list that are
    gone; `files`: about how many will be compiled, in `build_s` where all processors are free."""

    name: str
    config: Path
    version: str
    on: int
    modules: int
    needs: Mapping[str, Sequence[str]]
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    files: int
    build_s: float


@dataclass(frozen=True)
class Packaged:
    """A built kernel, and its Debian package."""

    name: str
    package: Path
    release: str
    size_b: int


def configure(
    mission: Mission, candidates: Sequence[Candidate], out: Path | None, tell: Callable[[str], None]
) -> list[Configured]:
    """The configuration of each, as NAME.config in `out`, where that is given."""
    found = []
    for candidate in candidates:
        wanted, architecture = _wanted(candidate)
        tree, resolution = KernelOrder(candidate.name, wanted, mission.mission.needs, architecture, tell).configured()
        path, config = resolution.config_path, resolution.config
        if out:
            out.mkdir(parents=True, exist_ok=True)
            path = Path(shutil.copyfile(path, out / f"{candidate.name}.config"))
        needs: dict[str, list[str]] = {}
        for wish in wishes((*mission.mission.needs, *wanted.needs), architecture, tree.number):
            if config.get(wish.symbol) in ("y", "m"):
                needs.setdefault(wish.need, []).append(wish.symbol)
        files, values = expected(path.read_text()), [*config.values()]
        found.append(
            Configured(
                candidate.name,
                path,
                tree.version,
                values.count("y"),
                values.count("m"),
                needs,
                tuple(outcome.removal.id for outcome in resolution.outcomes if outcome.state != "kept"),
                tuple(outcome.removal.id for outcome in resolution.kept),
                files,
                build_s=files * _S_PER_FILE / (os.cpu_count() or 1),
            )
        )
    return found


def package(
    mission: Mission, candidates: Sequence[Candidate], out: Path, tell: Callable[[str], None]
) -> list[Packaged]:
    """Build each, and write its Debian package into `out`."""
    found = []
    for candidate in candidates:
        wanted, architecture = _wanted(candidate)
        built = KernelOrder(candidate.name, wanted, mission.mission.needs, architecture, tell).tailored().built
        tell(f"{candidate.name}: its package")
        out.mkdir(parents=True, exist_ok=True)
        found.append(packaged(candidate.name, built, architecture, out))
    return found


def packaged(name: str, built: BuiltKernel, architecture: Architecture, out: Path) -> Packaged:
    """Write a built kernel's package; the same kernel gives the same bytes."""
    own = _NO_NAME.sub("-", f"linux-image-{built.release}-{name}".lower())
    version = f"{built.version.split('-')[0]}-1"
    path = out / f"{own}_{version}_{architecture.name}.deb"
    with scratch(out) as folder:
        root = folder / "root"
        shutil.copytree(built.folder, root, symlinks=True, ignore=shutil.ignore_patterns("built"))
        control = root / "DEBIAN"
        control.mkdir()
        lines = {
            "Package": own,
            "Version": version,
            "Architecture": architecture.name,
            "Maintainer": f"rtqual {__version__} <root@localhost>",
            "Installed-Size": str(built.installed_size_b // 1024),
            "Section": "kernel",
            "Priority": "optional",
            "Description": f"Linux {built.release}, tailored to a mission\n Its files' SHA-256: {built.sha256}",
        }
        (control / "control").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
        for script in ("postinst", "postrm"):
            (control / script).write_text(_TOLD.format(when=script, release=built.release))
            (control / script).chmod(0o755)
        words = ["dpkg-deb", "--build", "--root-owner-group", str(root), str(folder / "deb")]
        run(words, also={"SOURCE_DATE_EPOCH": _DATED}).require(f"{path}: dpkg-deb could not write it")
        (folder / "deb").replace(path)
    return Packaged(name, path, built.release, path.stat().st_size)


def _wanted(candidate: Candidate) -> tuple[Tailor, Architecture]:
    assert candidate.tailor is not None and candidate.architecture is not None, "a tailored candidate"  # noqa: S101
    return candidate.tailor, candidate.architecture


def configured_lines(made: Configured) -> Iterator[str]:
    yield f"{made.name}: Linux {made.version}, {made.on:,} symbols built in, {made.modules} modules: {made.config}"
    yield from (f"  {need}: {', '.join(symbols)}" for need, symbols in made.needs.items())
    yield f"  of the removal list {len(made.removed)} entries are gone; kept: {', '.join(made.kept) or 'none'}"
    took = format_duration(made.build_s)
    yield f"  to build it compiles about {made.files:,} files: about {took} where this machine is free, once"


def packaged_lines(made: Packaged) -> Iterator[str]:
    yield f"{made.package}: kernel {made.release}, {format_bytes(made.size_b)}"
    yield f"  install it on the board: dpkg --install {made.package.name}"
