# SPDX-License-Identifier: MIT
"""Sources that rtqual carries for what is built where a mission asks for it: the probe's, the camera driver's."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def probe_sources() -> dict[str, bytes]:
    """target/probe/ and what it compiles of target/common/: path -> content."""
    return _below("probe", "common")


def camera_sources() -> dict[str, bytes]:
    """docking/camera/driver/ and what it compiles of docking/camera/ds325/: path -> content."""
    return _below("kmod", "ds325")


def write_sources(tree: Path, sources: Mapping[str, bytes]) -> Path:
    for name, content in sources.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"#!") else 0o644)
    return tree


def _below(*folders: str) -> dict[str, bytes]:
    return {name: content for one in folders for name, content in _walk(files("rtqual") / one, f"{one}/")}


def _walk(folder: Traversable, within: str = "") -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            yield from _walk(one, f"{within}{one.name}/")
        else:
            yield within + one.name, one.read_bytes()
