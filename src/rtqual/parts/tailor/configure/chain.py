# SPDX-License-Identifier: MIT
"""Why a symbol is on or off: the chain of selects, defaults and dependencies, in words."""

from collections.abc import Iterator, Sequence
from typing import Any

from kconfiglib import AND, NOT, OR, Choice, Symbol, expr_str, expr_value, split_expr

from rtqual.base.words import listed
from rtqual.parts.tailor.configure.kconfig import TEXTS, Kconfig

Expression = Any  # Kconfiglib's: a symbol, a choice, or a tuple of an operator and its operands
_LONGEST = 6  # links of a chain
_WIDEST = 160  # characters of a condition


def selectors(symbol: Symbol) -> Iterator[tuple[Symbol, Expression]]:
    """Symbols that hold `symbol` on by selecting it now, with the whole condition (the selecting symbol in it)."""
    for term in split_expr(symbol.rev_dep, OR):
        if expr_value(term):
            yield split_expr(term, AND)[0], term


def shown(symbol: Symbol) -> bool:
    """Whether the configuration's own line decides: menuconfig would show it now."""
    return any(node.prompt and expr_value(node.prompt[1]) for node in symbol.nodes)


def default(symbol: Symbol) -> tuple[Expression, Expression] | None:
    """The default that holds now: value and condition."""
    return next(((value, condition) for value, condition in symbol.defaults if expr_value(condition)), None)


def why_on(kconfig: Kconfig, name: str) -> str:
    """The chain that holds a symbol on, as "INPUT is selected by VT, which is set in the configuration"."""
    seen = [name]
    parts: list[str] = []
    while True:
        holders = list(dict.fromkeys(selector.name for selector, _ in selectors(kconfig[seen[-1]])))
        if not holders:
            parts.append(_why_default(kconfig[seen[-1]]))
            break
        parts.append(f"is selected by {few(holders)}")
        if len(holders) > 1 or holders[0] in seen or len(seen) == _LONGEST:
            break
        seen.append(holders[0])
    return f"{name} " + ", which ".join(parts)


def _why_default(symbol: Symbol) -> str:
    if shown(symbol):
        return "is set in the configuration"
    held = default(symbol)
    hidden = next((node.prompt[1] for node in symbol.nodes if node.prompt), None)
    if held is None:
        return "is on, and nothing in the Kconfig files says why"
    text = "is on by default"
    if held[1] is not symbol.kconfig.y:
        text += f" while {words(held[1])}"
    if hidden is not None:
        text += f", and can be changed only while {words(hidden)}"
    return text


def why_off(kconfig: Kconfig, name: str, level: int = 1) -> str:
    """What keeps a symbol below `level`, as "USB_STORAGE needs SCSI, which is off"."""
    seen: list[str] = []
    parts: list[str] = []
    while len(seen) < _LONGEST:
        seen.append(name)
        symbol = kconfig[name]
        lacking = [item for item in unmet(symbol.direct_dep, level) if item is not symbol.kconfig.n]
        if not lacking:
            break
        parts.append(f"{name} needs {' and '.join(words(item) for item in lacking)}")
        deeper = [item.name for item in lacking if isinstance(item, Symbol) and item.name in kconfig]
        if not deeper or deeper[0] in seen:
            break
        name = deeper[0]
    if parts:
        return "; ".join(parts)
    symbol = kconfig[name]
    if not any(node.prompt for node in symbol.nodes):
        able = sorted({split_expr(term, AND)[0].name for term in split_expr(symbol.rev_dep, OR)} - {"n"})
        return f"{name} cannot be set by itself; " + (
            f"it is selected by {few(able)}" if able else "nothing selects it"
        )
    if not shown(symbol):
        hidden = next(node.prompt[1] for node in symbol.nodes if node.prompt)
        return f"{name} can be changed only while {words(hidden)}"
    if symbol.choice is not None and symbol.choice.selection is not None:
        return f"{name} is one of a choice, of which {symbol.choice.selection.name} is taken"
    return f"{name} is left {TEXTS[symbol.tri_value]} by the kernel's configuration program"


def unmet(expression: Expression, level: int) -> list[Expression]:
    """The parts of a condition that are below `level`; not taken apart below an OR."""
    return [term for term in split_expr(expression, AND) if expr_value(term) < level]


def few(names: Sequence[str], most: int = 4) -> str:
    """Names as a reader wants to read them: the first, and how many there are beyond."""
    return listed(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} others"


def words(expression: Expression) -> str:
    """A condition as Kconfig files write it, cut where it is very long."""
    text = str(expr_str(expression))
    if isinstance(expression, Choice):
        text = f"the choice {expression.nodes[0].prompt[0]!r}" if expression.nodes[0].prompt else "its choice"
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


__all__ = [
    "AND",
    "NOT",
    "OR",
    "Expression",
    "default",
    "few",
    "selectors",
    "shown",
    "unmet",
    "why_off",
    "why_on",
    "words",
]
