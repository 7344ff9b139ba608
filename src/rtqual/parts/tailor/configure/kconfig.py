# SPDX-License-Identifier: MIT
"""What a tree's Kconfig files say: symbols, menus, dependencies, and who selects whom.

Read with Kconfiglib, which does not decide anything here: values are those of a .config that the kernel's own
configuration program wrote. Kconfiglib 14.1.0 knows `modules` only in its old form, `option modules`; so it is shown
the tree through links, with that one file changed.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import kconfiglib
from kconfiglib import BOOL, COMMENT, MENU, STRING, TRISTATE, KconfigError, MenuNode, Symbol, expr_value

from rtqual.base.errors import BadInput, first_line
from rtqual.base.scratch import scratch
from rtqual.parts.tailor.configure.tree import Tree

_MODULES = Path("kernel/module/Kconfig")  # init/Kconfig before 5.19
_KEYWORD = re.compile(r"^(\s+)modules$", re.MULTILINE)
LEVELS = {"n": 0, "m": 1, "y": 2}
TEXTS = ("n", "m", "y")
_environment = Lock()  # Kconfiglib and its shell macros read this process's


class Kconfig:
    """The Kconfig files of one tree, with the values of the .config read last."""

    def __init__(self, tree: Tree) -> None:
        """Parse. Raises BadInput with the file and line that cannot be read."""
        self.tree = tree
        with scratch() as folder, _as_make_sets(tree, folder / "tree"):
            _mirror(tree.path, folder / "tree")
            try:
                self._kconf = kconfiglib.Kconfig("Kconfig", warn_to_stderr=False)
            except (KconfigError, OSError, RecursionError) as error:
                told = first_line(error).replace(f"{folder}/tree/", "")
                raise BadInput(f"{tree.path}: its Kconfig files cannot be read: {told}") from None
        self._defined: dict[str, Symbol] = {symbol.name: symbol for symbol in self._kconf.unique_defined_syms}

    def read(self, config: Path) -> None:
        """Take over the values of a .config."""
        self._kconf.load_config(str(config.absolute()))

    def __contains__(self, name: str) -> bool:
        return name in self._defined

    def __iter__(self) -> Iterator[str]:
        return iter(self._defined)

    def __getitem__(self, name: str) -> Symbol:
        return self._defined[name]

    def value(self, name: str) -> str:
        """y, m, n, a number or a text; n for what the tree does not have."""
        return str(self._defined[name].str_value) if name in self._defined else "n"

    def on(self, name: str) -> bool:
        return self.value(name) in ("y", "m")

    def is_switch(self, name: str) -> bool:
        """Whether its values are y, m and n."""
        return name in self._defined and self._defined[name].orig_type in (BOOL, TRISTATE)

    def is_text(self, name: str) -> bool:
        return name in self._defined and self._defined[name].orig_type == STRING

    def menu(self, name: str) -> str:
        """Where menuconfig shows it, "Device Drivers -> USB support"; empty for what the tree does not have."""
        if name not in self._defined:
            return ""
        nodes = self._defined[name].nodes
        node = next((node for node in nodes if node.prompt), nodes[0])
        return " -> ".join(_parents(node)) or "General"

    def prompt(self, name: str) -> str:
        """What menuconfig calls it; its own name where it is not shown."""
        texts = [node.prompt[0] for node in self._defined[name].nodes if node.prompt] if name in self else []
        return str(texts[0]).strip() if texts else name

    def below(self, folder: str) -> tuple[str, ...]:
        """Symbols that menuconfig shows and that are defined by Kconfig files in `folder` or below."""
        start = folder.rstrip("/") + "/"
        return tuple(
            name
            for name, symbol in self._defined.items()
            if any(node.prompt and node.filename.startswith(start) for node in symbol.nodes)
        )

    def unlike(self, symbols: Mapping[str, str]) -> tuple[str, ...]:
        """Switches that Kconfiglib gives another value than the .config has: explanations of these may be wrong.

        Left out is what others imply, in which Kconfiglib follows kernels before 5.7.
        """
        return tuple(
            name
            for name, symbol in self._defined.items()
            if symbol.orig_type in (BOOL, TRISTATE)
            and symbol.str_value != symbols.get(name, "n")
            and not expr_value(symbol.weak_rev_dep)
        )


def _parents(node: MenuNode) -> list[str]:
    """Titles of the menus above a node, outermost first, without the kernel's own at the top."""
    titles: list[str] = []
    while (node := node.parent) is not None and node.parent is not None:
        if node.prompt and node.item != COMMENT and (node.item == MENU or node.is_menuconfig):
            titles.insert(0, str(node.prompt[0]).strip())
    return titles


def _mirror(source: Path, target: Path) -> None:
    """`source` through links, with the keyword that Kconfiglib does not know replaced in a copy of its file."""
    target.mkdir()
    parts = _MODULES.parts if (source / _MODULES).exists() else ()
    for depth in range(max(len(parts), 1)):
        here = Path(*parts[:depth])
        (target / here).mkdir(exist_ok=True)
        own = parts[depth] if parts else ""
        for entry in (source / here).iterdir():
            if entry.name != own:
                (target / here / entry.name).symlink_to(entry.absolute())
    if parts:
        text = (source / _MODULES).read_text(errors="replace")
        (target / _MODULES).write_text(_KEYWORD.sub(r"\1option modules", text))


@contextmanager
def _as_make_sets(tree: Tree, srctree: Path) -> Iterator[None]:
    """The environment in which the kernel's makefiles run its configuration program."""
    cross = tree.cross_compile
    tools = {name: cross + name.lower() for name in ("AR", "LD", "NM", "OBJCOPY")}
    variables = {
        **tree.environment(),
        **tools,
        **{"srctree": str(srctree), "ARCH": tree.arch, "SRCARCH": tree.folder, "KERNELVERSION": tree.version},
        **{"CC": f"{cross}gcc", "HOSTCC": "gcc", "HOSTCXX": "g++", "RUSTC": "rustc", "BINDGEN": "bindgen"},
        **{"PAHOLE": "pahole", "CLANG_FLAGS": "", "CC_VERSION_TEXT": tree.compiler()},
    }
    with _environment:
        before = dict(os.environ)
        try:
            os.environ.clear()
            os.environ.update(variables)
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)
