# SPDX-License-Identifier: MIT
"""Symbols that a scenario shows no use of: what to switch off next, each with what it would take away.

A symbol that menuconfig has a question for is proposed where it brings object files to the kernel's image, no function
of any of these was entered once the system was up, no need and no rule asks for it, nothing that stays selects it, and
all that goes with it was not entered either. Code that ran while the system came up does not count as use: every driver
registers itself. The Kconfig files are asked through Kconfiglib; the kernel's own program decides when the proposal is
built.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rtqual.parts.tailor.configure.chain import few
from rtqual.parts.tailor.configure.kconfig import LEVELS, Kconfig
from rtqual.parts.tailor.configure.rules import Wish
from rtqual.parts.tailor.configure.steer import Steering
from rtqual.parts.tailor.trim.objects import Code
from rtqual.parts.tailor.trim.used import Entered

# How far the objects of a proposal were used, from the least to the most.
NEVER, REGISTERED, BOOT = "never entered", "only initialised", "entered at boot only"
_RULES = Path(__file__).with_name("protected.toml")


class Protected(BaseModel):
    """One rule of protected.toml, where its keys are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    symbols: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    reason: str = Field(min_length=10)


@cache
def protected_rules() -> tuple[Protected, ...]:
    value = tomllib.loads(_RULES.read_text())
    return TypeAdapter(tuple[Protected, ...]).validate_python(value["protected"])


@dataclass(frozen=True)
class Proposal:
    """A symbol to switch off."""

    symbol: str
    menu: str  # where it stands, "Device Drivers -> USB support"
    prompt: str  # what menuconfig calls it
    takes: tuple[str, ...]  # other symbols that go off with it
    brings: tuple[str, ...]  # symbols that come on instead
    objects: tuple[str, ...]  # files that leave the image
    size_b: int  # their code and data
    seen: str  # NEVER, REGISTERED or BOOT: the most that was seen of them


@dataclass(frozen=True)
class KeptSymbol:
    """A symbol without use that is not proposed."""

    symbol: str
    size_b: int  # of the objects that rest on it
    kind: str  # "asked for", "protected" or "held"
    reason: str


@dataclass(frozen=True)
class Trim:
    """What a scenario's use says of a configuration."""

    proposals: tuple[Proposal, ...]  # largest first; no symbol goes off with two of them
    kept: tuple[KeptSymbol, ...]
    objects: int  # in the image
    entered: int  # of them, those with a function that was entered after boot
    functions: int  # in the image, those that run at boot only left out
    functions_entered: int
    functions_at_boot: int  # those that were entered until then, and not later


@dataclass(frozen=True)
class KernelEvidence:
    """A built kernel and what was seen of it."""

    gates: Mapping[str, frozenset[str]]  # object -> symbols it rests on (kbuild.py)
    code: Mapping[str, Code]  # object -> what is in it (objects.py)
    booting: Entered  # functions that were entered until the system was up (used.py)
    used: Entered  # those that were entered from then on

    def entered(self, name: str) -> bool:
        return name in self.used

    def seen(self, objects: Iterable[str]) -> str:
        """The most that was seen of objects that were not entered later."""
        ran = [name for name in objects if name in self.booting]
        if any(self.booting[name] - self.code[name].init for name in ran):
            return BOOT
        return REGISTERED if ran else NEVER

    def resting_on(self, symbols: Iterable[str]) -> list[str]:
        wanted = set(symbols)
        return [name for name in self.code if wanted & self.gates.get(name, frozenset())]

    def size_b(self, objects: Iterable[str]) -> int:
        return sum(self.code[name].size_b for name in objects)


def propose(
    kconfig: Kconfig,
    evidence: KernelEvidence,
    wishes: Iterable[Wish],
    rules: Sequence[Protected] | None = None,
) -> Trim:
    """`kconfig` holds the values of the kernel that was watched."""
    search = _Search(kconfig, evidence, {wish.symbol: wish for wish in wishes}, rules or protected_rules())
    found: list[Proposal] = []
    kept: list[KeptSymbol] = []
    gating = {name for gate in evidence.gates.values() for name in gate if name in kconfig}
    for symbol in sorted(name for name in gating if any(node.prompt for node in kconfig[name].nodes)):
        judged = search.judge(symbol)
        if isinstance(judged, Proposal):
            found.append(judged)
        elif judged is not None:
            kept.append(judged)
    return Trim(
        proposals=tuple(_without_repeated(found)),
        kept=tuple(sorted(kept, key=lambda kept: (-kept.size_b, kept.symbol))),
        objects=len(evidence.code),
        entered=sum(map(evidence.entered, evidence.code)),
        functions=sum(len(code.functions) for code in evidence.code.values()),
        functions_entered=sum(map(len, evidence.used.values())),
        functions_at_boot=sum(len(group - evidence.used.get(name, frozenset())) for name, group in _booting(evidence)),
    )


def _booting(evidence: KernelEvidence) -> Iterator[tuple[str, frozenset[str]]]:
    """Functions that stay in memory and were entered at boot, by object."""
    for name, functions in evidence.booting.items():
        yield name, functions - evidence.code[name].init


def _without_repeated(found: Iterable[Proposal]) -> list[Proposal]:
    """Largest first; a proposal that goes off with a larger one is left out."""
    chosen: list[Proposal] = []
    taken: set[str] = set()
    for proposal in sorted(found, key=lambda step: (-step.size_b, len(step.takes), step.symbol)):
        if proposal.symbol not in taken:
            chosen.append(proposal)
            taken |= {proposal.symbol, *proposal.takes}
    return chosen


@dataclass
class _Search:
    kconfig: Kconfig
    evidence: KernelEvidence
    wished: Mapping[str, Wish]
    rules: Sequence[Protected]

    def __post_init__(self) -> None:
        self._switches = [name for name in self.kconfig if self.kconfig.is_switch(name)]

    def judge(self, symbol: str) -> Proposal | KeptSymbol | None:
        """None where it was used or brings nothing."""
        own = self.evidence.resting_on([symbol])
        if not own or any(map(self.evidence.entered, own)):
            return None
        size_b = self.evidence.size_b(own)
        wish = self.wished.get(symbol)
        if wish and wish.value != "n":
            return KeptSymbol(symbol, size_b, "asked for", f"{wish.need}: {wish.reason}")
        if reason := self._protection(symbol, own):
            return KeptSymbol(symbol, size_b, "protected", reason)
        steering = self._steering()
        plan = steering.lower_symbol(symbol)
        if plan is None:
            holder = steering.obstacle(symbol)[-1]
            told = f"{holder} holds it on" if holder != symbol else "what the needs ask for rests on it"
            return KeptSymbol(symbol, size_b, "held", told)
        had = self._met()
        with self._tried(symbol, plan.changes) as (gone, come):
            lost = sorted(had - self._met())
        if symbol not in gone:
            return KeptSymbol(symbol, size_b, "held", "the Kconfig files name no way to switch it off")
        return self._weighed(symbol, size_b, gone, come, lost)

    def _weighed(
        self, symbol: str, size_b: int, gone: Sequence[str], come: Sequence[str], lost: Sequence[str]
    ) -> Proposal | KeptSymbol:
        """Look at all that goes with a symbol."""
        if lost:
            return KeptSymbol(symbol, size_b, "held", f"without it {few(lost)} would go, which is asked for")
        leaving = self.evidence.resting_on(gone)
        used = sorted(name for name in leaving if self.evidence.entered(name))
        if used:
            return KeptSymbol(symbol, size_b, "held", f"{few(used)} would go with it, and was entered")
        for other in gone:
            if reason := self._protection(other, self.evidence.resting_on([other])):
                return KeptSymbol(symbol, size_b, "protected", f"{other} would go with it: {reason}")
        return Proposal(
            symbol=symbol,
            menu=self.kconfig.menu(symbol),
            prompt=self.kconfig.prompt(symbol),
            takes=tuple(name for name in gone if name != symbol),
            brings=tuple(come),
            objects=tuple(leaving),
            size_b=self.evidence.size_b(leaving),
            seen=self.evidence.seen(leaving),
        )

    def _protection(self, symbol: str, objects: Iterable[str]) -> str:
        """Why a symbol stays whatever was seen; empty where nothing protects it."""
        for rule in self.rules:
            if symbol in rule.symbols or any(name.startswith(rule.objects) for name in objects if rule.objects):
                return rule.reason
        return ""

    def _steering(self) -> Steering:
        on = {wish.symbol: LEVELS[wish.value] for wish in self.wished.values() if wish.value in ("m", "y")}
        return Steering(self.kconfig, on, {wish.symbol for wish in self.wished.values() if wish.value == "n"})

    def _met(self) -> set[str]:
        """Symbols that are wished for, and on."""
        on = (wish for wish in self.wished.values() if wish.value in ("m", "y"))
        return {w.symbol for w in on if LEVELS.get(self.kconfig.value(w.symbol), 0) >= LEVELS[w.value]}

    @contextmanager
    def _tried(self, symbol: str, changes: Mapping[str, str]) -> Iterator[tuple[list[str], list[str]]]:
        """With a symbol off and the changes that this takes: the switches that go off, and those that come on.

        A symbol that a change merely permits stays off, as it does when the kernel's own program starts from nothing.
        """
        before = self._on()
        were: dict[str, object] = {}
        try:
            self._set({symbol: "n", **changes}, were)
            come = self._on() - before - {*changes}
            self._set(dict.fromkeys(come, "n"), were)
            after = self._on()
            yield sorted(before - after), sorted(after - before)
        finally:
            for name, value in were.items():
                item = self.kconfig[name]
                item.unset_value() if value is None else item.set_value(value)

    def _on(self) -> set[str]:
        return {name for name in self._switches if self.kconfig.on(name)}

    def _set(self, values: Mapping[str, str], were: dict[str, object]) -> None:
        for name, value in values.items():
            were.setdefault(name, self.kconfig[name].user_value)
            self.kconfig[name].set_value(value)
