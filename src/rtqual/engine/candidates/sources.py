# SPDX-License-Identifier: MIT
"""Sources that rtqual carries for what is built where a mission asks for it, as the probe's."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from rtqual.base.errors import BadInput

STATE = "state.h"  # holds the state as a macro
_BATTERY = re.compile(r"probe/(battery/|rtos/waker\.c$|(battery|port)\.h$|run\.c$)")
_APART = re.compile(rb"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)  # comments, and texts


def probe_sources() -> dict[str, bytes]:
    """target/probe/ and what it compiles of target/common/: path -> content."""
    return below("probe", "common")


def battery_state(sources: Mapping[str, bytes]) -> str:
    """Name the state of the battery: figures of two states are not ranked together.

    A hash of what an image compiles of it, whatever its port; comments and blanks do not count.
    """
    state = hashlib.sha256()
    for name in sorted(name for name in sources if name.endswith((".c", ".h")) and _BATTERY.match(name)):
        if not name.endswith("/" + STATE):
            code = _APART.sub(lambda found: found[0] if found[0][:1] in b"\"'" else b" ", sources[name])
            state.update(f"{name}\n".encode() + b" ".join(code.split()) + b"\n")
    return state.hexdigest()[:16]


@cache
def own_state() -> str:
    """The state of the battery that this rtqual has."""
    return battery_state(probe_sources())


def write_to(folder: Path, sources: Mapping[str, bytes]) -> None:
    """Write sources for somebody to keep. Raises BadInput where something is there already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise BadInput(f"{folder} is not empty: name a new folder")
        write_sources(folder, sources)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}") from None


def write_sources(tree: Path, sources: Mapping[str, bytes]) -> Path:
    for name, content in sources.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if content.startswith(b"#!") else 0o644)
    return tree


def below(*folders: str) -> dict[str, bytes]:
    """Return what lies in folders that rtqual is installed with: path -> content."""
    return {name: content for folder in folders for name, content in _walk(files("rtqual") / folder, f"{folder}/")}


def _walk(folder: Traversable, within: str = "") -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.iterdir(), key=lambda traversable: traversable.name):
        if path.is_dir():
            yield from _walk(path, f"{within}{path.name}/")
        else:
            yield within + path.name, path.read_bytes()
