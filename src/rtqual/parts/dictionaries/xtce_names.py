# SPDX-License-Identifier: MIT
"""XTCE files as bounded trees, and the names in them: which element a reference means.

Nothing outside the files is opened, no entity is expanded. Source: OMG XTCE 1.1, 1.2 and 1.3 (20250214), 7.2 on names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from rtqual.base.errors import BadInput
from rtqual.parts.dictionaries import bounded_files
from rtqual.protocols.dictionary import Refused

MOST_ELEMENTS, MOST_LEVELS = 200_000, 64
# kind -> where a space system holds elements of it, below TelemetryMetaData or CommandMetaData
_HELD = (
    ("type", "ParameterTypeSet/*"),
    ("parameter", "ParameterSet/Parameter"),
    ("container", "ContainerSet/SequenceContainer"),
    ("argument type", "ArgumentTypeSet/*"),
    ("command", "MetaCommandSet/MetaCommand"),
    ("container", "CommandContainerSet/*"),
    ("container", "MetaCommandSet/MetaCommand/CommandContainer"),
)


class _Bounded(TreeBuilder):
    """A tree without namespaces; refuses what no database needs."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = self.level = 0

    def start(self, tag: Any, attrs: dict[Any, Any]) -> Any:
        namespace, _, name = tag.rpartition("}")
        if "XInclude" in namespace:
            raise Refused("XInclude: give all files of the database")
        self.elements += 1
        self.level += 1
        if self.elements > MOST_ELEMENTS or self.level > MOST_LEVELS:
            raise Refused(f"more than {MOST_ELEMENTS} elements, or more than {MOST_LEVELS} in one another")
        return super().start(name, attrs)

    def end(self, tag: Any) -> Any:
        self.level -= 1
        return super().end(tag.rpartition("}")[2])

    def doctype(self, *_: str | None) -> None:
        raise Refused("a DOCTYPE, and so entities: write them out")


def tree(path: Path) -> Element:
    """Return the root element. Raises BadInput for what is no XML, or more than any database."""
    parser = XMLParser(target=_Bounded())  # noqa: S314 _Bounded refuses entities, and what is too deep or too much
    try:
        parser.feed(bounded_files.octets(path))
        root: Element = parser.close()
    except Refused as why:
        raise BadInput(f"dictionary {str(path)!r}: {why}") from why
    except (ParseError, ValueError, LookupError) as error:
        raise BadInput(f"dictionary {str(path)!r}: no XML: {error}") from error
    if root.tag != "SpaceSystem":
        raise BadInput(f"dictionary {str(path)!r}: its root is {root.tag!r:.40}, not SpaceSystem: no XTCE")
    return root


@dataclass
class Space:
    """A space system: what it holds by kind and name, and the systems in it."""

    name: str
    up: Space | None = None
    below: dict[str, Space] = field(default_factory=dict)
    held: dict[str, dict[str, Element]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return "" if self.up is None else f"{self.up.path}/{self.name}"

    def find(self, kind: str, reference: str | None) -> tuple[Space, Element]:
        """Return what a reference means, and the space it lies in. Raises Refused where there is none.

        A reference is absolute, relative, or a name that is looked for in this space and those above.
        """
        parts = [part for part in (reference or "").split("/") if part]
        at: Space | None = self
        if (reference or "").startswith("/"):
            while at is not None and at.up is not None:
                at = at.up
            # Some leave the root's own name out, others write it.
            found = at and (at._down(kind, parts) or at._down(kind, parts[1:]))
            at = None
        else:
            while parts and parts[0] in ("..", "."):
                at = (at.up or at) if at and parts[0] == ".." else at
                parts = parts[1:]
            found = None
        while found is None and at is not None:
            found, at = at._down(kind, parts), at.up
        if not found:
            raise Refused(f"there is no {kind} {reference!r:.80}")
        return found

    def _down(self, kind: str, parts: Sequence[str]) -> tuple[Space, Element] | None:
        at: Space = self
        for part in parts[:-1]:
            below = at.up if part == ".." else at.below.get(part)
            if below is None:
                return None
            at = below
        element = at.held.get(kind, {}).get(parts[-1]) if parts else None
        return None if element is None else (at, element)

    def all(self, kind: str) -> Iterator[tuple[Space, Element]]:
        yield from ((self, element) for element in self.held.get(kind, {}).values())
        for space in self.below.values():
            yield from space.all(kind)


def space(roots: Sequence[Element]) -> Space:
    """Return a nameless space above those of all files: a database is often several."""
    top = Space("")
    for root in roots:
        _add(root, top)
    return top


def _add(element: Element, up: Space) -> None:
    name = element.get("name", "?")
    here = up.below.setdefault(name, Space(name, up))
    for data in (*element.findall("TelemetryMetaData"), *element.findall("CommandMetaData")):
        for kind, path in _HELD:
            for held in data.iterfind(path):
                if named := held.get("name"):
                    here.held.setdefault(kind, {}).setdefault(named, held)
    for below in element.findall("SpaceSystem"):
        _add(below, here)
