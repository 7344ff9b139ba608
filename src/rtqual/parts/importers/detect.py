# SPDX-License-Identifier: MIT
"""The formats that are read, and which of them a file has."""

from collections.abc import Mapping
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format
from rtqual.parts.importers.source import sniffed
from rtqual.protocols.part import by_name


def formats() -> Mapping[str, Format]:
    """Return the formats that parts bring by their names, in the order in which a file is tried."""
    return by_name("imports")


def detect(path: Path) -> Format:
    """Return the format of a file, by what stands at its beginning or end. Raises BadInput where it has none."""
    text = sniffed(path)
    found = next((known for known in formats().values() if known.marks(text)), None)
    if found is None:
        raise bad(path, None, f"none of the formats known: name one with --format ({', '.join(formats())})")
    return found


def named(name: str) -> Format:
    """Return the format of a name. Raises BadInput where no part brings it."""
    if name not in formats():
        raise BadInput(f"--format {name[:40]}: not known; write one of {', '.join(formats())}")
    return formats()[name]
