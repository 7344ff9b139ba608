# SPDX-License-Identifier: MIT
"""A kernel tailored to a mission and built here, as a candidate like any other."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.apt import Package
from rtqual.base.architecture import Architecture
from rtqual.base.cache import cache_dir, locked
from rtqual.base.errors import BadInput
from rtqual.engine.candidates.carried import carried
from rtqual.engine.candidates.ready import make_ready
from rtqual.engine.mission import Candidate, Mission, Tailor
from rtqual.parts.tailor.built_headers import of_built
from rtqual.parts.tailor.configure.resolve import Resolution, resolve
from rtqual.parts.tailor.configure.rules import Removal, removals
from rtqual.parts.tailor.configure.tree import Tree, debian_tree, open_tree, patched
from rtqual.parts.tailor.make.build import BuiltKernel, as_steps, build, tree_identity
from rtqual.parts.tailor.tailor_account import ACCOUNTS, Account, account_of
from rtqual.protocols.board.system import Kernel

_SYSCALL = re.compile(r"^[0-9a-f]+ T __(?:x64|arm64)_sys_\w+$", re.MULTILINE)
_FUNCTION = re.compile(r"^[0-9a-f]+ [tT] ", re.MULTILINE)
_RESOLVED: dict[Path, Resolution] = {}  # of this process: a kernel is asked for again when it is measured


@dataclass(frozen=True)
class Tailored:
    """A tailored kernel with the reasons for its configuration."""

    tree: Tree
    resolution: Resolution
    built: BuiltKernel


@dataclass(frozen=True)
class KernelOrder:
    """A kernel to be tailored. `without`: in place of the whole removal list."""

    name: str
    wanted: Tailor
    needs: Sequence[str]
    architecture: Architecture
    tell: Callable[[str], None] = lambda _: None
    without: Sequence[Removal] | None = None

    def tailored(self, objects: Path | None = None) -> Tailored:
        """Resolve and build, from the cache where that was done before. `objects`: a folder of object files that a
        kernel like it left."""
        tree, resolution = self.configured()
        # Kernels of the stepwise mode differ by little: each is built from the previous kernel's object files.
        kept = objects or (kept_objects(tree) if self.wanted.restore else None)
        watch = as_steps(self.tell, f"{self.name}: building")
        built = build(tree, resolution.config_path.read_text(), watch=watch, kept_objects=kept)
        return Tailored(tree, resolution, built)

    def configured(self) -> tuple[Tree, Resolution]:
        """Resolve."""
        wanted = self.wanted
        self.tell(f"{self.name}: the kernel's source")
        tree = source_of(wanted, self.architecture)
        staying, every = {*wanted.keep, *wanted.restore}, removals()
        asked = [removal for removal in (every if self.without is None else self.without) if removal.id not in staying]
        if unknown := staying - {removal.id for removal in every}:
            raise BadInput(
                f"candidate {self.name}: keep or restore names no entry of the removal list: {sorted(unknown)[0]}; "
                f"they are {', '.join(removal.id for removal in every)}"
            )
        self.tell(f"{self.name}: its configuration")
        return tree, _resolve(tree, (*self.needs, *wanted.needs), wanted, asked)


def kept_objects(tree: Tree, purpose: str = "") -> Path:
    """The folder of object files that stays from one kernel of a tree to the next."""
    return cache_dir() / "kernel-objects" / f"{tree_identity(tree.path)[:32]}-{tree.arch}{purpose}"


def _resolve(tree: Tree, needs: Sequence[str], wanted: Tailor, asked: Sequence[Removal]) -> Resolution:
    start = Path(wanted.start) if "/" in wanted.start else wanted.start
    begun = start.read_bytes() if isinstance(start, Path) and start.is_file() else b""
    identity = repr((tree_identity(tree.path), tree.arch, tuple(needs), wanted, tuple(asked), begun))
    folder = cache_dir() / "configurations" / hashlib.sha256(identity.encode()).hexdigest()[:32]
    with locked(folder):
        if folder in _RESOLVED and _RESOLVED[folder].config_path.is_file():
            return _RESOLVED[folder]
        folder.mkdir(parents=True, exist_ok=True)
        _RESOLVED[folder] = resolve(
            tree,
            needs,
            start=start,
            removals=asked,
            extra_require={symbol: str(value) for symbol, value in wanted.require.items()},
            extra_forbid=wanted.forbid,
            restore=[removal for removal in removals() if removal.id in wanted.restore],
            folder=folder,
        )
        return _RESOLVED[folder]


def source_of(wanted: Tailor, architecture: Architecture) -> Tree:
    """The tree a mission names, with its patches applied."""
    if "/" not in wanted.source:
        tree = debian_tree(architecture, wanted.source)
        return patched(tree.path, [Path(patch) for patch in wanted.patches], architecture) if wanted.patches else tree
    path = Path(wanted.source).expanduser()
    patches = [Path(patch) for patch in wanted.patches]
    return patched(path, patches, architecture) if patches else open_tree(path, architecture)


def package_of(candidate: Candidate, mission: Mission) -> Package:
    """Build its kernel, and return it as a package that an image can carry."""
    wanted, architecture = candidate.tailor, candidate.architecture
    assert wanted is not None and architecture is not None, "a tailored candidate"  # noqa: S101
    made = KernelOrder(candidate.name, wanted, mission.mission.needs, architecture).tailored().built
    return Package(f"linux-{candidate.name}", made.version, made.sha256, made.installed_size_b, made.folder)


def of_mission(
    candidate: Candidate,
    mission: Mission,
    tools: Sequence[Package],
    *,
    tell: Callable[[str], None],
    programs: Collection[str],
) -> tuple[Kernel, dict[str, Account]]:
    """Prepare a candidate of a mission's, as prepare() does; with its account, for the annex of these."""
    needs, baseline = mission.mission.needs, mission.baseline(candidate)
    kernel, account = prepare(candidate, needs, tools=tools, tell=tell, baseline=baseline, programs=programs)
    return kernel, {ACCOUNTS.file: account}


def prepare(
    candidate: Candidate,
    needs: Sequence[str],
    *,
    tools: Sequence[Package],
    tell: Callable[[str], None] = lambda _: None,
    baseline: str | None = None,
    programs: Collection[str] = (),
) -> tuple[Kernel, Account]:
    """Tailor and build a kernel, and make the guest's file systems for it; `baseline`: what it is compared with."""
    wanted, architecture = candidate.tailor, candidate.architecture
    assert wanted is not None and architecture is not None, "a tailored candidate"  # noqa: S101
    made = KernelOrder(candidate.name, wanted, needs, architecture, tell).tailored()
    account = account_of(
        candidate.name,
        baseline,
        source=wanted.source,
        start=wanted.start,
        every=removals(),
        architecture=architecture.name,
        resolution=made.resolution,
        made=made.built,
    )
    extra = carried(programs, architecture, lambda: of_built(made.tree, made.built))
    kernel = as_candidate(candidate.name, made.built, architecture, boot=candidate.boot, tools=tools, extra=extra)
    return kernel, account


def as_candidate(
    name: str,
    made: BuiltKernel,
    architecture: Architecture,
    *,
    boot: Sequence[str],
    tools: Sequence[Package],
    extra: Mapping[str, Path] | None = None,
) -> Kernel:
    package = Package(f"linux-{name}", made.version, made.sha256, made.installed_size_b, made.folder)
    symbols = made.system_map.read_text()
    facts = {"symbols": len(_FUNCTION.findall(symbols)), "syscalls": len(_SYSCALL.findall(symbols))}
    told = {fact: str(count) for fact, count in facts.items()} | {"compiler": made.compiler}
    return make_ready(name, package, boot=boot, tools=tools, architecture=architecture, extra=extra, facts=told)
