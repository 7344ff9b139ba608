# SPDX-License-Identifier: MIT
"""Where a configuration starts from: Debian's, a file, or nothing; and how the kernel's own program completes it."""

import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rtqual.base import named
from rtqual.base.apt import fetch
from rtqual.base.errors import BadInput
from rtqual.engine.kernel.config import Config, lines_of, parse
from rtqual.parts.tailor.configure.tree import Tree

DEBIAN, MINIMAL = "debian", "minimal"
_DEBIAN_CONFIG = "linux-config-{}.{}"  # Debian's package of this name exists for every version with a source package

# What tinyconfig adds to allnoconfig, where a tree has it.
_TINY = ("kernel/configs/tiny-base.config", "kernel/configs/tiny.config", "arch/{folder}/configs/tiny.config")

# Debian's configuration is for Debian's build machines. Values as .config writes them.
_DEBIANS_OWN = {
    "MODULE_SIG": "n",  # signed in a step of its own, with Debian's key
    "SYSTEM_TRUSTED_KEYS": '""',
    "DEBUG_INFO_BTF": "n",  # needs pahole
    "DEBUG_INFO": "n",  # 5 GB of object files that no image holds
    "DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT": "n",
    "DEBUG_INFO_NONE": "y",
}


@dataclass(frozen=True)
class StartConfig:
    """A configuration to begin with."""

    name: str
    text: str
    nothing_else: bool  # symbols not in the text stay off; else they take their default

    def complete(self, tree: Tree, values: Mapping[str, str], folder: Path) -> Config:
        """The final .config in `folder` for this start with `values` instead of its own, written by the kernel's
        own program. Values are as .config writes them: texts in quotes."""
        lines = [line for line in lines_of(self.text) if symbol_of(line) not in values]
        lines += [f"# CONFIG_{name} is not set" if v == "n" else f"CONFIG_{name}={v}" for name, v in values.items()]
        text = "\n".join(lines) + "\n"
        config = folder / ".config"
        folder.mkdir(parents=True, exist_ok=True)
        if self.nothing_else:
            fragment = folder / "wanted.config"
            fragment.write_text(text)
            tree.make(folder, "allnoconfig", environment={"KCONFIG_ALLCONFIG": str(fragment.absolute())})
        else:
            config.write_text(text)
            tree.make(folder, "olddefconfig")
        return parse(config.read_text(errors="replace"), str(config))


def settled(tree: Tree, folder: Path) -> Config:
    """The .config in `folder` once more through olddefconfig: what a build would make of it."""
    tree.make(folder, "olddefconfig")
    return parse((folder / ".config").read_text(errors="replace"), str(folder / ".config"))


def symbol_of(line: str) -> str:
    """The symbol a line of a .config is about, without CONFIG_."""
    return line.removeprefix("# ").removeprefix("CONFIG_").partition("=")[0].partition(" ")[0]


def start_from(which: str | Path, tree: Tree) -> StartConfig:
    """`which`: "debian", "minimal", or a defconfig or .config by its path. Raises BadInput if it is neither."""
    if which == MINIMAL:
        files = [tree.path / name.format(folder=tree.folder) for name in _TINY]
        return StartConfig(
            "tinyconfig", "".join(file.read_text() for file in files if file.exists()), nothing_else=True
        )
    if which == DEBIAN:
        return StartConfig("Debian's configuration", _debian(tree), nothing_else=False)
    path = Path(which)
    try:
        text = named.read(path).decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise BadInput(
            f"start {str(which)!r}: cannot be read: {why}; write {DEBIAN}, {MINIMAL}, or the path of a defconfig"
        ) from None
    parse(text, str(path))
    return StartConfig(str(path), text, nothing_else=False)


def _debian(tree: Tree) -> str:
    """The configuration of Debian's real-time kernel of the tree's version, changed so that it builds elsewhere."""
    package = fetch(_DEBIAN_CONFIG.format(*tree.number), architecture=tree.architecture)
    debian = tree.architecture.name
    found = sorted(package.tree.glob(f"usr/src/linux-config-*/config.{debian}_rt_{debian}.xz"))
    if not found:
        raise BadInput(f"package {package.name}: holds no configuration of a real-time kernel for {debian}")
    return buildable(lzma.decompress(found[0].read_bytes()).decode())


def buildable(text: str) -> str:
    """Debian's configuration as it builds elsewhere than on Debian's machines."""
    lines = [line for line in lines_of(text) if symbol_of(line) not in _DEBIANS_OWN]
    lines += [f"# CONFIG_{name} is not set" if v == "n" else f"CONFIG_{name}={v}" for name, v in _DEBIANS_OWN.items()]
    return "\n".join(lines) + "\n"
