# SPDX-License-Identifier: MIT
"""What a resolution changed, in words: removed, kept, forced, menu by menu."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rtqual.base.words import count
from rtqual.parts.tailor.configure.chain import few
from rtqual.parts.tailor.configure.resolve import ChangedSymbol, Resolution

_DEPTH = 2  # "Device Drivers -> USB support"; what lies deeper is counted there
_NAMED = 8  # symbols of a menu worth printing


@dataclass(frozen=True)
class MenuDifference:
    """What changed in one menu and those below it."""

    menu: str  # "Device Drivers -> USB support"
    removed: tuple[ChangedSymbol, ...]
    forced: tuple[ChangedSymbol, ...]
    size_b: int | None  # what its removal saved, where a caller has measured it

    def __str__(self) -> str:
        parts = [
            f"{verb} {count(len(changes), 'symbol')} ({few(_telling(changes), _NAMED)})"
            for verb, changes in (("removed", self.removed), ("forced", self.forced))
            if changes
        ]
        if self.size_b is not None:
            parts.append(f"{self.size_b / 1000:.0f} kB less")
        return f"{self.menu}: {'; '.join(parts)}"


def by_menu(resolution: Resolution, sizes: Mapping[str, int] | None = None) -> tuple[MenuDifference, ...]:
    """The changes, menu by menu; with `sizes` (menu -> bytes that its removal saved) the largest first, else those
    with the most removals."""
    removed, forced = _grouped(resolution.removed), _grouped(resolution.forced)
    found = [
        MenuDifference(menu, tuple(removed.get(menu, ())), tuple(forced.get(menu, ())), (sizes or {}).get(menu))
        for menu in {**removed, **forced}
    ]
    return tuple(
        sorted(
            found,
            key=lambda menu_difference: (
                -(menu_difference.size_b or 0),
                -len(menu_difference.removed),
                menu_difference.menu,
            ),
        )
    )


def in_words(resolution: Resolution, sizes: Mapping[str, int] | None = None) -> Iterator[str]:
    """The difference, a line each: totals, menus, what was kept and why, and what no longer exists."""
    yield (
        f"{count(len(resolution.removed), 'symbol')} removed, {len(resolution.forced)} forced; "
        f"{len(resolution.config)} set now, {len(resolution.start)} at the start"
    )
    yield from (str(menu_difference) for menu_difference in by_menu(resolution, sizes))
    states = [(outcome.removal.id, outcome.state, outcome.text) for outcome in resolution.outcomes]
    gone = [name for name, state, _ in states if state == "gone"]
    if gone:
        yield f"gone, of the removal list: {', '.join(gone)}"
    yield from (f"{name}: kept because {text}" for name, state, text in states if state == "kept")
    yield from (f"{name}: {state}: {text}" for name, state, text in states if state == "no longer exists")


def _grouped(changes: Iterable[ChangedSymbol]) -> dict[str, list[ChangedSymbol]]:
    found: dict[str, list[ChangedSymbol]] = defaultdict(list)
    for change in changes:
        found[" -> ".join(change.menu.split(" -> ")[:_DEPTH])].append(change)
    return found


def _telling(changes: Iterable[ChangedSymbol]) -> list[str]:
    """Names, those with a reason of their own first, as "USB_ACM" or "FB=m"."""
    ordered = sorted(changes, key=lambda change: (not change.reason, change.symbol))
    return [change.symbol if change.after in ("n", "y") else f"{change.symbol}={change.after}" for change in ordered]
