# SPDX-License-Identifier: MIT
"""Entries of the removal list put into a configuration that never had them, as Debian's kernel has them.

A removal's gain is the difference between a kernel with it and one without. From the minimal start everything on the
list is absent, so the stepwise mode puts it in first: each entry's symbols and what falls when those go, at Debian's
values. These are no needs: the kernel's own configuration program leaves off what lacks something here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kconfiglib import AND, OR, Choice, Symbol

from rtqual.engine.kernel.config import lines_of
from rtqual.parts.tailor.configure.chain import Expression
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.rules import Removal
from rtqual.parts.tailor.configure.start import DEBIAN, StartConfig, start_from, symbol_of


def restored(start: StartConfig, kconfig: Kconfig, entries: Iterable[Removal]) -> StartConfig:
    """`start` with the entries in it as Debian has them; as it is where there are none."""
    wanted = tuple(entries)
    if not wanted:
        return start
    names = falling(kconfig, {name for entry in wanted for name in symbols_of(kconfig, entry)})
    names |= {name for entry in wanted for name in entry.along if name in kconfig}
    debian = lines_of(start_from(DEBIAN, kconfig.tree).text)
    lines = [line for line in debian if line.startswith("CONFIG_") and symbol_of(line) in names]
    told = f"{start.name} with {len(wanted)} entries of the removal list as Debian has them"
    return replace(start, name=told, text="\n".join([start.text.rstrip(), *lines]) + "\n")


def symbols_of(kconfig: Kconfig, entry: Removal) -> Iterator[str]:
    """What an entry switches off in this tree."""
    yield from (name for name in entry.symbols if name in kconfig)
    if entry.below:
        yield from kconfig.below(entry.below)


def falling(kconfig: Kconfig, symbols: Iterable[str]) -> set[str]:
    """`symbols`, and all whose dependencies cannot hold when those are off, whatever else is on."""
    off = set(symbols)
    while more := {name for name in kconfig if name not in off and not _can_hold(kconfig[name].direct_dep, off)}:
        off |= more
    return off


def _can_hold(condition: Expression, off: set[str]) -> bool:
    if isinstance(condition, Choice):
        return True
    if isinstance(condition, Symbol):
        return condition.name not in off and not (condition.is_constant and condition.name == "n")
    operator, *parts = condition
    if operator == AND:
        return all(_can_hold(part, off) for part in parts)
    if operator == OR:
        return any(_can_hold(part, off) for part in parts)
    return True  # a negation or a comparison: off is what it may want
