# SPDX-License-Identifier: MIT
"""Sources that rtqual carries for what is built where a mission asks for it: the probe's, the camera driver's."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def probe_sources() -> dict[str, bytes]:
    """File name below probe/ -> its content."""
    return dict(_walk(files("rtqual") / "probe"))


def camera_sources() -> dict[str, bytes]:
    """kmod/ and what it compiles of ds325/: path -> content."""
    return {n: c for folder in ("kmod", "ds325") for n, c in _walk(files("rtqual") / folder, f"{folder}/")}


def write_sources(tree: Path, sources: Mapping[str, bytes]) -> Path:
    for name, content in sources.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"#!") else 0o644)
    return tree


def _walk(folder: Traversable, within: str = "") -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            yield from _walk(one, f"{within}{one.name}/")
        else:
            yield within + one.name, one.read_bytes()
