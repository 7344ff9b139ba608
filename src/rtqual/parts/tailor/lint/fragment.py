# SPDX-License-Identifier: MIT
"""Configurations that leave most symbols out: fragments and defconfigs. What they leave out is decided by the Kconfig
files of a tree, so the rules may judge them only once the tree's own program has completed them."""

import re
from dataclasses import dataclass

from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.base.words import count
from rtqual.engine.kernel.config import Config, lines_of, parse
from rtqual.engine.kernel.lint.judged_system import version_of
from rtqual.parts.tailor.configure.chain import few
from rtqual.parts.tailor.configure.start import StartConfig
from rtqual.parts.tailor.configure.tree import Tree

# What the configuration program writes into every configuration and into no defconfig: its title, and what it found of
# the compiler (a symbol without a prompt, since 4.18).
_TITLE = re.compile(r"^# Linux/\S+ \d+\.\d+\S* Kernel Configuration$", re.MULTILINE | re.ASCII)
_COMPILERS = ("CC_IS_GCC", "CC_IS_CLANG")
# Since 5.4 it ends every menu so; the last one has the locks' checks, so a file that is cut off would lack the worst.
# Before, the last one was that of lib/Kconfig, where this is on for every processor that has memory-mapped devices.
_ENDS_MENUS, _LAST_MENU, _LAST_SYMBOL = (5, 4), "# end of Kernel hacking", "HAS_IOMEM"
# Symbols of that last menu that every kernel has: of a configuration from which all comments were taken (OSADL keeps
# them so), they say that it is there.
_IN_LAST_MENU = ("FRAME_WARN", "PANIC_TIMEOUT", "HAVE_FUNCTION_TRACER", "HAVE_ARCH_KGDB")


@dataclass(frozen=True)
class Completed:
    """The whole configuration, as the tree's own program writes it."""

    text: str
    lost: tuple[str, ...]  # symbols that the fragment sets and the tree's Kconfig files do not let it set


def check_complete(text: str, name: str) -> None:
    """Raises BadInput on what is no whole configuration, in one line."""
    config = parse(text, name)
    if not is_complete(text, config):
        raise BadInput(
            f"{name}: a fragment of {count(len(config), 'symbol')}, not judged: what it leaves out is decided by the "
            "kernel's Kconfig files; add --tree with the path of its source"
        )
    if not _ends(text, config):
        raise BadInput(
            f"{name}: is cut off, not judged: its last menu does not end; copy it again as the kernel's build wrote "
            "it, with its comments"
        )


def _ends(text: str, config: Config) -> bool:
    if not any(line.startswith("#") for line in lines_of(text)):
        return any(symbol in config for symbol in _IN_LAST_MENU)
    version = version_of(text)
    if version is not None and version < _ENDS_MENUS:
        return config.on(_LAST_SYMBOL)
    return _LAST_MENU in lines_of(text)


def is_complete(text: str, config: Config) -> bool:
    return bool(_TITLE.search(text[:1000])) or any(map(config.on, _COMPILERS))


def completed(text: str, name: str, tree: Tree) -> Completed:
    """What `make olddefconfig` in the tree makes of it."""
    asked = parse(text, name)
    with scratch() as folder:
        whole = StartConfig(name, text, nothing_else=False).complete(tree, {}, folder / "objects")
        final = (folder / "objects/.config").read_text(errors="replace")
    wanted = {**asked, **dict.fromkeys(asked.off, "n")}
    return Completed(final, tuple(symbol for symbol, value in wanted.items() if whole.get(symbol, "n") != value))


def told(completed: Completed, tree: Tree) -> str:
    """What became of it, in one line; empty where every symbol is what it says."""
    if not completed.lost:
        return ""
    return f"Linux {tree.version} does not take all of its symbols as they are: {few(completed.lost)}"
