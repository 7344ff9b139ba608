# SPDX-License-Identifier: MIT
"""Which configuration symbols an object file of a kernel rests on, read from the tree's makefiles.

`obj-$(CONFIG_X) += a.o b.o folder/`, `name-$(CONFIG_Y) += part.o` for what becomes name.o, and conditions on symbols
(`ifdef CONFIG_Z`) are what is understood (Documentation/kbuild/makefiles.rst). An object that is listed in another way
counts as resting on nothing, so it is never taken for part of what a symbol brings.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_NAMES = ("Kbuild", "Makefile")  # kbuild takes the first that is there
_LISTS = ("obj", "lib")
_ASSIGNMENT = re.compile(r"^([\w./-]+)-(y|objs|\$\([^=]*?CONFIG_\w+\)+|\$\(CONFIG_\w+\))\s*[:+]?=\s*(.*)$", re.ASCII)
_SYMBOL = re.compile(r"CONFIG_(\w+)", re.ASCII)
_DEFINED = re.compile(r"^(ifdef|ifndef)\s+CONFIG_(\w+)$", re.ASCII)
_EQUAL = re.compile(r"^(ifeq|ifneq)\s*\(\s*\$\(CONFIG_(\w+)\)\s*,\s*(y?)\s*\)$", re.ASCII)
_DEEPEST = 40  # folders below each other


@dataclass(frozen=True)
class _Line:
    """`name-$(CONFIG_symbol) += words`, in a makefile that is in force where all of `under` are on."""

    name: str
    symbol: str | None
    under: frozenset[str]
    words: tuple[str, ...]


@dataclass
class _Walk:
    tree: Path
    built_in: Mapping[str, str]  # symbol -> value
    found: dict[str, frozenset[str]] = field(default_factory=dict)

    def folder(self, place: str, gates: frozenset[str], depth: int = 0) -> None:
        path = next((file for name in _NAMES if (file := self.tree / place / name).is_file()), None)
        if path is None or depth > _DEEPEST:
            return
        lines = list(_lines(path.read_text(errors="replace"), self.built_in))
        for line in (line for line in lines if line.name in _LISTS):
            for word in line.words:
                self._word(place, word, self._with(gates, line), lines, depth)

    def _word(self, place: str, word: str, gates: frozenset[str], lines: list[_Line], depth: int) -> None:
        if "$" in word or word.startswith("-") or ".." in Path(word).parts:
            return
        if word.endswith("/"):
            self.folder(f"{place}{word}", gates, depth + 1)
        elif word.endswith(".o"):
            self._object(place, word, gates, lines, frozenset())

    def _object(self, place: str, word: str, gates: frozenset[str], lines: list[_Line], within: frozenset[str]) -> None:
        """An object that is listed twice rests only on what both lines have in common."""
        name = f"{place}{word}"
        self.found[name] = self.found.get(name, gates) & gates
        stem = word.removesuffix(".o")
        for line in (line for line in lines if line.name == stem and stem not in within):
            for part in line.words:
                if part.endswith(".o") and "$" not in part and ".." not in Path(part).parts:
                    self._object(place, part, self._with(gates, line), lines, within | {stem})

    @staticmethod
    def _with(gates: frozenset[str], line: _Line) -> frozenset[str]:
        return gates | line.under | ({line.symbol} if line.symbol else frozenset())


def gates(tree: Path, folder: str, built_in: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Object -> the symbols that all have to be on for it to be built; `built_in`: the configuration's values.

    Objects lie where the build has them, as "drivers/usb/core/hub.o". `folder`: the architecture's, "x86".
    """
    walk = _Walk(tree, built_in)
    for start in ("", f"arch/{folder}/", f"arch/{folder}/lib/", "lib/"):
        walk.folder(start, frozenset())
    return walk.found


def _lines(text: str, values: Mapping[str, str]) -> Iterator[_Line]:
    """The assignments that are in force with these values."""
    stack: list[tuple[bool, str | None]] = []  # of the conditions around: in force, the symbol that it rests on
    for raw in re.sub(r"\\\n", " ", text).splitlines():
        line = raw.split("#", 1)[0].strip()
        word = line.split(None, 1)[0] if line else ""
        if word.startswith(("ifeq", "ifneq", "ifdef", "ifndef")):
            stack.append(_condition(line, values))
        elif word == "else" and stack:
            stack[-1] = _otherwise(stack[-1], line.removeprefix("else").strip(), values)
        elif word == "endif" and stack:
            stack.pop()
        elif all(holds for holds, _ in stack) and (found := _ASSIGNMENT.match(line)):
            symbol = _SYMBOL.search(found[2])
            if symbol is None or values.get(symbol[1]) == "y":
                under = frozenset(name for _, name in stack if name)
                yield _Line(found[1], symbol[1] if symbol else None, under, tuple(found[3].split()))


def _condition(line: str, values: Mapping[str, str]) -> tuple[bool, str | None]:
    """Whether it holds, and the symbol without which it would not. Unknown ones hold."""
    if found := _DEFINED.match(line):
        on = values.get(found[2]) in ("y", "m")
        return (on, found[2]) if found[1] == "ifdef" else (not on, None)
    if found := _EQUAL.match(line):
        equal = values.get(found[2], "") == found[3]
        needs_on = (found[1] == "ifeq") == (found[3] == "y")
        return equal == (found[1] == "ifeq"), found[2] if needs_on else None
    return True, None


def _otherwise(before: tuple[bool, str | None], further: str, values: Mapping[str, str]) -> tuple[bool, str | None]:
    """What `else` makes of a condition; an unknown one may hold either way."""
    understood = not (before[0] and before[1] is None)
    if further:
        holds, symbol = _condition(further, values)
        return holds and not (understood and before[0]), symbol
    return not (understood and before[0]), None
