# SPDX-License-Identifier: MIT
"""The formats of dictionaries, a row each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import cosmos, fprime, packet_table, scos, xtce
from rtqual.parts.dictionaries.model import Dictionary


@dataclass(frozen=True)
class DictionaryFormat:
    """`read` takes paths, and values for names that a file leaves open."""

    title: str
    read: Callable[[Sequence[Path], Mapping[str, str]], Dictionary]


def _closed(
    title: str, read: Callable[[Sequence[Path]], Dictionary]
) -> Callable[[Sequence[Path], Mapping[str, str]], Dictionary]:
    """A reader of files that leave no name open."""

    def closed(paths: Sequence[Path], names: Mapping[str, str]) -> Dictionary:
        if names:
            raise BadInput(f"{title} has no names to be given: leave out {', '.join(names)}")
        return read(paths)

    return closed


FORMATS = {
    "fprime": DictionaryFormat("an F' JSON dictionary", _closed("an F' JSON dictionary", fprime.read)),
    "xtce": DictionaryFormat("an XTCE database", _closed("an XTCE database", xtce.read)),
    "cosmos": DictionaryFormat("COSMOS definitions", cosmos.read),
    "table": DictionaryFormat("packets written by hand", _closed("a table of packets", packet_table.read)),
    "scos": DictionaryFormat("a SCOS-2000 MIB", _closed("a SCOS-2000 MIB", scos.read)),
}


def read(name: str, paths: Sequence[Path], names: Mapping[str, str]) -> Dictionary:
    """Return the dictionary that the files hold together. Raises BadInput."""
    if name not in FORMATS:
        raise BadInput(f"there is no format {name!r:.40} of dictionaries; there is {', '.join(FORMATS)}")
    if not paths:
        raise BadInput("give the dictionary's files")
    return FORMATS[name].read(paths, names)
