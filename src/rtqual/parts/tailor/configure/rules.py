# SPDX-License-Identifier: MIT
"""Mission needs to symbols that must be on, and the study's removal list to symbols that must be off. The rules are
data: rules/needs.toml, rules/removals.toml, and the gates of `rtqual select`, engine/kernel/needs.toml."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.kernel import needs as gates
from rtqual.engine.mission.explain import suggest

ALWAYS = "userland"
_FOLDER = Path(__file__).with_name("rules")
_Symbol = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
ASKED = "asked for"  # stands for the need in wishes that the caller adds


def _number(text: str) -> str:
    if not all(part.isdigit() for part in text.split(".")) or text.count(".") != 1:
        raise ValueError("a kernel version is written as 6.12")
    return text


Release = Annotated[str, AfterValidator(_number)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Rule(_Table):
    """One rule of needs.toml, where its keys are explained."""

    on: tuple[_Symbol, ...] = ()
    module: tuple[_Symbol, ...] = ()
    off: tuple[_Symbol, ...] = ()
    set: dict[_Symbol, str] = {}
    architecture: Literal["amd64", "arm64"] | None = None
    since: Release | None = None
    until: Release | None = None
    reason: str = Field(min_length=10)

    def holds(self, architecture: Architecture, number: tuple[int, int]) -> bool:
        return (
            self.architecture in (None, architecture.name)
            and (self.since is None or number >= _pair(self.since))
            and (self.until is None or number < _pair(self.until))
        )

    def values(self) -> dict[str, str]:
        return {
            **dict.fromkeys(self.on, "y"),
            **dict.fromkeys(self.module, "m"),
            **dict.fromkeys(self.off, "n"),
            **self.set,
        }


class _Entry(_Table):
    id: str
    menu: str
    group: str
    symbols: tuple[_Symbol, ...] = Field(min_length=1)
    below: str = ""
    along: tuple[_Symbol, ...] = ()
    gone: str = ""
    reason: str = Field(min_length=5)


@dataclass(frozen=True)
class Removal:
    """One entry of the list of removed drivers (AAReST study, appendix 1)."""

    id: str  # "bluetooth"
    menu: str  # as the study prints it, "Networking support -> Bluetooth subsystem support"
    group: str  # removed together in the stepwise mode: "networking", "media", ...
    symbols: tuple[str, ...]  # to be off; symbols that a tree does not have count as off
    reason: str  # why a flight computer does without
    below: str = ""  # every symbol that Kconfig files in this folder show is to be off too
    gone: str = ""  # what became of the symbols, where a tree has none of them
    along: tuple[str, ...] = ()  # where the entry is put in (restore.py): what most of its drivers need besides


@dataclass(frozen=True)
class Wish:
    """A value a symbol must have in the final configuration."""

    symbol: str
    value: str  # y, m, n, a number or a text
    need: str  # the origin of the wish: a need's name, or "asked for" by a caller
    reason: str


@cache
def removals() -> tuple[Removal, ...]:
    """The 32 entries, in the study's order."""
    entries = TypeAdapter(tuple[_Entry, ...]).validate_python(_load("removals.toml")["removal"])
    return tuple(Removal(**entry.model_dump()) for entry in entries)


def groups() -> tuple[str, ...]:
    """Names of the groups of the removal list, in its order."""
    return tuple(dict.fromkeys(entry.group for entry in removals()))


@cache
def needs() -> Mapping[str, tuple[Rule, ...]]:
    """The tailor's own rules, need by need; those of the gates come on top (`wishes`)."""
    return TypeAdapter(dict[str, tuple[Rule, ...]]).validate_python(_load("needs.toml"))


def wishes(asked: Iterable[str], architecture: Architecture, number: tuple[int, int]) -> tuple[Wish, ...]:
    """The wishes of the needs for a kernel of version `number`, as (6, 12); "userland" is always among them.

    Raises BadInput on an unknown need, and on two that contradict each other.
    """
    found: dict[str, Wish] = {}
    for need in dict.fromkeys((ALWAYS, *map(str, asked))):
        if need not in needs():
            raise BadInput(f"no rules for the need {need!r}; {suggest(need, needs())}")
        own = [rule for rule in needs()[need] if rule.holds(architecture, number)]
        for rule in own:
            for symbol, value in rule.values().items():
                _add(found, Wish(symbol, value, need, rule.reason))
        for gate in gates.rules().get(need, ()):
            if len(gate.any) == 1:
                _add(found, Wish(gate.any[0], "y", need, gate.reason))
    return tuple(found.values())


def merged(own: Iterable[Wish], require: Mapping[str, str], forbid: Iterable[str]) -> dict[str, Wish]:
    """The wishes of needs and caller. Raises BadInput where they contradict each other."""
    found = {wish.symbol: wish for wish in own}
    asked = [Wish(symbol, value, ASKED, "asked for by name") for symbol, value in require.items()]
    asked += [Wish(symbol, "n", ASKED, "forbidden by name") for symbol in forbid]
    for wish in asked:
        before = found.get(wish.symbol)
        if before and before.value != wish.value and (before.value, wish.value) != ("m", "y"):
            raise BadInput(
                f"{wish.symbol} is {'to be left out' if wish.value == 'n' else f'to be {wish.value}'} ({wish.reason}), "
                f"but {before.need} wants {before.value} ({before.reason}); leave one out"
            )
        found[wish.symbol] = wish
    return found


def _add(found: dict[str, Wish], wish: Wish) -> None:
    """Built in wins over a module: both needs are met."""
    before = found.get(wish.symbol)
    if before is None or (before.value, wish.value) == ("m", "y"):
        found[wish.symbol] = wish
    elif before.value != wish.value and (before.value, wish.value) != ("y", "m"):
        raise BadInput(
            f"the needs {before.need} and {wish.need} contradict each other: {wish.symbol}={before.value} for the one "
            f"({before.reason}), {wish.symbol}={wish.value} for the other ({wish.reason}); leave one out"
        )


def _pair(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)


def _load(name: str) -> dict[str, object]:
    return tomllib.loads((_FOLDER / name).read_text())
