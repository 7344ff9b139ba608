# SPDX-License-Identifier: MIT
"""What code each object file of a built kernel holds: the functions by name, as binutils' nm and size tell them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.program import run
from rtqual.parts.tailor.configure.tree import Tree

# vmlinux is linked from these: kbuild's archive of all that is built in, and the libraries.
_ARCHIVES = ("vmlinux.a", "lib/lib.a", "arch/{folder}/lib/lib.a")
_FUNCTION = "FUNC"
_INIT = ".init.text"
_BATCH = 200  # files a call: a command line has an end


@dataclass(frozen=True)
class Code:
    """One object file of the kernel's image."""

    size_b: int  # code and data in the image, as `size` sums text and data up
    sections: Mapping[str, str] = field(default_factory=dict)  # function -> the section it lies in

    @property
    def functions(self) -> frozenset[str]:
        """Those that stay in memory."""
        return frozenset(name for name, section in self.sections.items() if not section.startswith(_INIT))

    @property
    def init(self) -> frozenset[str]:
        """Those that run once at boot and are given back."""
        return frozenset(name for name, section in self.sections.items() if section.startswith(_INIT))


def objects_of(tree: Tree, folder: Path) -> dict[str, Code]:
    """The objects in the image that was built in `folder`, by their path there, in the order they are linked."""
    names = list(dict.fromkeys(name for archive in _ARCHIVES for name in _members(tree, folder, archive)))
    functions, sizes = _functions(tree, folder, names), _sizes(tree, folder, names)
    return {name: Code(sizes.get(name, 0), functions.get(name, {})) for name in names}


def _members(tree: Tree, folder: Path, archive: str) -> list[str]:
    path = folder / archive.format(folder=tree.folder)
    if not path.exists():
        return []
    listed = [Path(name) for name in run([f"{tree.cross_compile}ar", "t", str(path)]).stdout.split()]
    # Members are named from the archive's folder, or wholly where they lie outside of it.
    return [str((path.parent / name).relative_to(folder)) for name in listed if (path.parent / name).exists()]


def _functions(tree: Tree, folder: Path, names: Iterable[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    text = "".join(_each(tree, folder, ["nm", "-A", "-f", "sysv", "--defined-only"], names))
    for line in text.splitlines():
        name, where, rest = _nm_line(line)
        if name and rest[2] == _FUNCTION:
            found.setdefault(where, {})[name] = rest[-1]
    return found


def _nm_line(line: str) -> tuple[str, str, list[str]]:
    """`object:name  |value| class | type|size|line|section`."""
    head, *rest = (part.strip() for part in line.split("|"))
    where, _, name = head.rpartition(":")
    return (name, where, rest) if len(rest) == 6 and where else ("", "", rest)


def _sizes(tree: Tree, folder: Path, names: Iterable[str]) -> dict[str, int]:
    found = {}
    for line in "".join(_each(tree, folder, ["size", "-B", "-d"], names)).splitlines():
        fields = line.split()
        if len(fields) == 6 and fields[0].isdigit():
            found[fields[5]] = int(fields[0]) + int(fields[1])
    return found


def _each(tree: Tree, folder: Path, command: list[str], names: Iterable[str]) -> Iterable[str]:
    waiting = list(names)
    for start in range(0, len(waiting), _BATCH):
        files = [str(folder / name) for name in waiting[start : start + _BATCH]]
        yield run([f"{tree.cross_compile}{command[0]}", *command[1:], *files]).stdout.replace(f"{folder}/", "")
