# SPDX-License-Identifier: MIT
"""Whether a report that was written before still stands, so that a finished campaign's need not be written again.

A report is a pure function of its inputs. For each hash of inputs (the campaign, rtqual's own files, the libraries'
versions) the user's cache keeps the hashes of the files that came out; a folder whose files have these is left as it
is. A stranger's folder cannot say so of itself, and no time stamp takes part.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import rtqual
from rtqual.base import unlinked
from rtqual.base.cache import cache_dir, sha256_of
from rtqual.base.errors import BadInput
from rtqual.protocols.part import packages

_KEPT = 200  # campaigns


def key(*inputs: str) -> str:
    """The hash of a report's inputs, of the program that writes it among them."""
    return sha256_of(json.dumps([*_program(), *inputs]).encode())


@cache
def _program() -> tuple[str, ...]:
    whole = hashlib.sha256()
    for root in packages():
        for folder, below, files in os.walk(root):
            below[:] = sorted(name for name in below if name != "__pycache__")
            for file in sorted(Path(folder) / name for name in files):
                content = file.read_bytes()
                whole.update(f"{file.relative_to(root)} {len(content)} ".encode())
                whole.update(content)
    described = (
        distribution.metadata for distribution in distributions()
    )  # each time it is asked for, it is read anew
    libraries = sorted(f"{package_metadata['Name']} {package_metadata['Version']}" for package_metadata in described)
    return (rtqual.__version__, whole.hexdigest(), *libraries)


def stands(folder: Path, inputs: str) -> bool:
    """Whether these inputs were reported on, and the folder has what came out."""
    try:
        files = json.loads((_memory() / inputs).read_bytes())
        return bool(files) and all(sha256_of(unlinked.read(folder, name)) == item for name, item in files.items())
    except (OSError, ValueError, AttributeError, BadInput):
        return False


def remember(inputs: str, contents: Mapping[str, bytes]) -> None:
    """Where the cache cannot be written, the next report is written again."""
    files = {name: sha256_of(content) for name, content in contents.items()}
    with suppress(OSError):
        _memory().mkdir(exist_ok=True)
        fresh = _memory() / f"{inputs}.{os.getpid()}"
        fresh.write_text(json.dumps(files))
        fresh.rename(_memory() / inputs)
        for old in sorted(_memory().iterdir(), key=lambda path: path.stat().st_mtime_ns)[:-_KEPT]:
            old.unlink(missing_ok=True)


def _memory() -> Path:
    return cache_dir() / "reports"
