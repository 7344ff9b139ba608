# SPDX-License-Identifier: MIT
"""Kernel modules of ours, as the probe, built for a kernel of Debian's or one built here."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.cache import cache_dir, kept
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.engine.candidates import headers as headers_module
from rtqual.engine.candidates.headers import Headers, of_debian
from rtqual.engine.candidates.sources import probe_sources, write_sources

MODULE = "rtqual-probe.ko"
MODULE_PATH = f"/lib/rtqual/{MODULE}"  # in the guest
_OWN = tuple(Path(str(file)).read_bytes() for file in (__file__, headers_module.__file__))


def build_module(kernel: Headers | str, architecture: Architecture = AMD64) -> Path:
    """rtqual-probe.ko; as build_modules()."""
    return build_modules(kernel, probe_sources(), "probe/kernel", (MODULE,), architecture)[0]


def build_modules(
    kernel: Headers | str,  # or the release of a kernel of Debian's
    sources: Mapping[str, bytes],
    kbuild_in: str,
    names: Sequence[str],
    architecture: Architecture = AMD64,
) -> tuple[Path, ...]:
    """The modules `names` that `kbuild_in`/Kbuild makes, from the cache if headers and sources are the same.

    Raises RunFailed with the compiler's first complaint when they do not build.
    """
    headers = of_debian(kernel, architecture) if isinstance(kernel, str) else kernel
    identity = hashlib.sha256("".join(headers.identity).encode())
    for content in _OWN:
        identity.update(content)
    for name, content in sorted(sources.items()):
        identity.update(f"{name} {len(content)}\n".encode() + content)
    built = cache_dir() / "modules" / identity.hexdigest()[:32]
    kept(built, lambda fresh: _build(headers, sources, kbuild_in, [fresh / name for name in names]))
    return tuple(built / name for name in names)


def _build(headers: Headers, sources: Mapping[str, bytes], kbuild_in: str, modules: Sequence[Path]) -> None:
    target = modules[0].parent
    target.mkdir(parents=True, exist_ok=True)
    with scratch(target.parent) as folder:
        root = folder / "root"
        root.mkdir()
        tree = write_sources(folder / "sources", sources)
        # A module does not show where it was built: the same inputs give the same bytes.
        unseen = f"KCFLAGS=-ffile-prefix-map={folder}/="
        _run([*headers.make(root), f"M={tree / kbuild_in}", unseen, "modules"], headers)
        cross = f"{headers.architecture.triplet}-" if headers.architecture.foreign else ""
        for module in modules:
            built = tree / kbuild_in / module.name
            _run([f"{cross}strip", "--strip-debug", str(built)], headers)
            built.rename(module)


def _run(command: list[str], headers: Headers) -> None:
    done = run(command, environment=headers.environment)
    done.require(f"a module of ours for {headers.release} does not build", "error", "Error", "ERROR")
