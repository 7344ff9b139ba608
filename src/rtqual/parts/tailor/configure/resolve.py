# SPDX-License-Identifier: MIT
"""From needs and removals to a final .config that the kernel's own program agrees with, or the reason why not.

In every round that program completes the configuration, and the result is checked: what is needed has to be on, what
must go has to be off. Where this does not hold, the Kconfig files say what stands in the way (chain.py) and what would
change it (steer.py); the next round asks for that too. Needs come first: a symbol to be removed that a need rests on is
kept, and reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.kernel.config import Config
from rtqual.engine.mission.explain import suggest
from rtqual.parts.tailor.configure.chain import few, why_off, why_on
from rtqual.parts.tailor.configure.kconfig import LEVELS, Kconfig
from rtqual.parts.tailor.configure.restore import restored, symbols_of
from rtqual.parts.tailor.configure.rules import ASKED, Removal, Wish, merged, wishes
from rtqual.parts.tailor.configure.start import StartConfig, settled, start_from
from rtqual.parts.tailor.configure.steer import Steering, SteerPlan
from rtqual.parts.tailor.configure.tree import Tree

_ROUNDS = 40  # far more rounds than any configuration took


@dataclass(frozen=True)
class ChangedSymbol:
    """A symbol whose value in the final configuration differs from the start."""

    symbol: str
    before: str  # y, m, n, a number or a text
    after: str
    menu: str  # where it stands, "Device Drivers -> USB support"
    reason: str  # empty where it follows from others


@dataclass(frozen=True)
class RemovalOutcome:
    """What became of one entry of the removal list."""

    removal: Removal
    state: str  # "gone", "no longer exists" or "kept"
    text: str  # one sentence: what is off, what replaced it, or what holds it on
    held: Mapping[str, str]  # symbol still on -> the chain that holds it on; empty unless kept


@dataclass(frozen=True)
class Resolution:
    """A configuration with everything that is needed and nothing that must go."""

    config_path: Path  # the final .config, in the folder given to resolve()
    config: Config
    start: Config  # the start point as the kernel's own program completes it in this tree
    removed: tuple[ChangedSymbol, ...]  # on at the start, off now
    kept: tuple[RemovalOutcome, ...]  # entries of the removal list that a need holds on
    forced: tuple[ChangedSymbol, ...]  # different at the start: needs, and what came on with them
    outcomes: tuple[RemovalOutcome, ...]  # every entry asked to be removed, in order
    explanations: tuple[str, ...]  # one sentence a step of the way there


def resolve(
    tree: Tree,
    needs: Iterable[str],
    *,
    start: str | Path,  # "debian", "minimal", or a defconfig or .config by its path
    removals: Iterable[Removal],  # rules.removals(), or some of them (stepwise)
    extra_require: Mapping[str, str] | None = None,  # symbol -> y, m, a number or a text
    extra_forbid: Iterable[str] = (),
    restore: Iterable[Removal] = (),  # entries to begin with, as Debian has them
    folder: Path,  # for the final .config and the program's own files; kept
) -> Resolution:
    """Raises BadInput on contradictory needs and unknown symbols, RunFailed where no configuration is found."""
    asked = merged(wishes(needs, tree.architecture, tree.number), extra_require or {}, extra_forbid)
    return resolve_wishes(tree, asked.values(), start=start, removals=removals, restore=restore, folder=folder)


def resolve_wishes(
    tree: Tree,
    asked: Iterable[Wish],
    *,
    start: str | Path,
    removals: Iterable[Removal],
    restore: Iterable[Removal] = (),
    folder: Path,
) -> Resolution:
    """As `resolve`, with the wishes of needs and caller looked up: one for each symbol."""
    wanted = {wish.symbol: wish for wish in asked}
    entries = tuple(removals)
    beginning = start_from(start, tree)
    kconfig = Kconfig(tree)
    beginning = restored(beginning, kconfig, restore)
    _check_known(kconfig, wanted, tree)
    search = _Search(tree, kconfig, beginning, wanted, entries, folder)
    before = beginning.complete(tree, {}, folder)
    final = search.run()
    kconfig.read(folder / ".config")
    outcomes = tuple(_outcome(kconfig, entry, search) for entry in entries)
    changes = _changes(kconfig, before, final, search)
    return Resolution(
        config_path=folder / ".config",
        config=final,
        start=before,
        removed=tuple(change for change in changes if change.after == "n"),
        kept=tuple(outcome for outcome in outcomes if outcome.state == "kept"),
        forced=tuple(change for change in changes if change.after != "n"),
        outcomes=outcomes,
        explanations=tuple(search.explanations),
    )


def _check_known(kconfig: Kconfig, wanted: Mapping[str, Wish], tree: Tree) -> None:
    for wish in wanted.values():
        unknown = wish.symbol not in kconfig
        if unknown and (wish.value != "n" or wish.need == ASKED):
            raise BadInput(
                f"{wish.need}: Linux {tree.version} for {tree.architecture.name} has no symbol {wish.symbol!r}; "
                f"{suggest(wish.symbol, tuple(kconfig))}"
            )
        if not unknown and (wish.value in LEVELS) != kconfig.is_switch(wish.symbol):
            kind = (
                "is on or off (y, m, n)" if kconfig.is_switch(wish.symbol) else "takes a number or a text, not y or n"
            )
            raise BadInput(f"{wish.need}: {wish.symbol}={wish.value}: this symbol {kind}")


@dataclass
class _Search:
    tree: Tree
    kconfig: Kconfig
    beginning: StartConfig
    wanted: Mapping[str, Wish]
    entries: tuple[Removal, ...]
    folder: Path
    explanations: list[str] = field(default_factory=list)
    held: dict[str, str] = field(default_factory=dict)  # symbol of the removal list that a need keeps -> chain
    reasons: dict[str, str] = field(default_factory=dict)  # changed symbol -> why
    _asked: dict[str, str] = field(default_factory=dict)  # symbol -> value, beyond wishes and removals
    _forbidden: dict[str, str] = field(default_factory=dict)  # symbol -> entry's id

    def run(self) -> Config:
        self._forbid()
        for _ in range(_ROUNDS):
            final = self.beginning.complete(self.tree, self._values(), self.folder)
            self.kconfig.read(self.folder / ".config")
            self._check_reading(final)
            lacking = [wish for wish in self.wanted.values() if wish.value != "n" and not _met(final, wish)]
            standing = [wish.symbol for wish in self.wanted.values() if wish.value == "n" and final.on(wish.symbol)]
            standing += [name for name in self._forbidden if final.on(name)]
            if not lacking and not standing:
                return self._settled(final)
            before = self._state()
            if lacking:
                for wish in lacking:
                    self._supply(wish)
            else:
                for name in standing:
                    self._release(name)
            if self._state() == before:
                self._give_up(lacking, standing)
        raise RunFailed(f"no configuration found in {_ROUNDS} rounds; the last step: {self.explanations[-1]}")

    def _settled(self, final: Config) -> Config:
        again = settled(self.tree, self.folder)
        changed = [name for name in {**final, **again} if final.get(name) != again.get(name)]
        if changed:
            raise RunFailed(f"the configuration is not stable: olddefconfig changes {few(changed)}")
        return again

    def _state(self) -> tuple[dict[str, str], dict[str, str]]:
        return dict(self._asked), dict(self._forbidden)

    def _forbid(self) -> None:
        for entry in self.entries:
            for name in symbols_of(self.kconfig, entry):
                wish = self.wanted.get(name)
                if wish and wish.value != "n":
                    self.held[name] = f"{name} is needed by {wish.need}: {wish.reason}"
                elif not wish:
                    self._forbidden[name] = entry.id
                    self.reasons[name] = f"removal list: {entry.id}"
        self.reasons |= {wish.symbol: f"{wish.need}: {wish.reason}" for wish in self.wanted.values()}

    def _values(self) -> dict[str, str]:
        """Everything asked for, as .config writes it."""
        values = {**self._asked, **dict.fromkeys(self._forbidden, "n")}
        values |= {wish.symbol: wish.value for wish in self.wanted.values() if wish.symbol in self.kconfig}
        return {name: f'"{value}"' if self.kconfig.is_text(name) else value for name, value in values.items()}

    def _steering(self) -> Steering:
        """No plan may change the wishes, or what was asked for on the way to them."""
        on = {wish.symbol: LEVELS[wish.value] for wish in self.wanted.values() if wish.value in ("m", "y")}
        on |= {name: LEVELS[value] for name, value in self._asked.items() if value != "n"}
        off = {wish.symbol for wish in self.wanted.values() if wish.value == "n"}
        return Steering(self.kconfig, on, {*off, *self._forbidden})

    def _supply(self, wish: Wish) -> None:
        """Ask for what a need lacks, at the cost of removals where there is no other way."""
        if wish.value not in LEVELS:
            return
        level = LEVELS[wish.value]
        chain = why_off(self.kconfig, wish.symbol, level)
        steering = self._steering()
        plan = steering.raise_symbol(wish.symbol, level)
        if plan is None:
            hard = {wish.symbol for wish in self.wanted.values() if wish.value == "n"}
            softer = Steering(self.kconfig, steering.on, hard)
            plan = softer.raise_symbol(wish.symbol, level)
            if plan is None:
                raise BadInput(
                    f"{wish.need} needs {wish.symbol}={wish.value} ({wish.reason}), which this tree cannot have "
                    f"here: {chain}{self._blame({**steering.blocked, **softer.blocked})}"
                )
        self._take(plan, wish.symbol, f"{wish.symbol} was off: {chain}", f"{wish.need}: {wish.symbol} needs it")

    def _blame(self, blocked: Mapping[str, str]) -> str:
        """Those symbols that no plan could change because the user asked for them."""
        said = [self.wanted[name] for name in blocked if name in self.wanted]
        texts = [f"{wish.symbol}={wish.value} is the wish of {wish.need} ({wish.reason})" for wish in said]
        return f"; {'; '.join(texts)}; leave one out" if texts else ""

    def _release(self, name: str) -> None:
        """Ask for what frees a symbol that must go, or keep it where a need holds it."""
        chain = why_on(self.kconfig, name)
        steering = self._steering()
        plan = steering.lower_symbol(name)
        if plan is not None:
            why = self.reasons.get(name, "")
            self._take(plan, name, f"{name} stayed on: {chain}", f"{why} ({name} cannot go without)")
            return
        path = steering.obstacle(name)
        needed = self._needed_by(path[-1])
        if len(path) > 1:
            chain = f"{path[0]} is selected by {', which is selected by '.join(path[1:])}"
        if name in self._forbidden:
            del self._forbidden[name]
            self.held[name] = f"{chain}; {needed}"
            self.explanations.append(f"{name} is kept: {chain}; {needed}")
            return
        wish = self.wanted[name]
        raise BadInput(f"{wish.need} forbids {name} ({wish.reason}), but {chain}; {needed}; leave one out")

    def _needed_by(self, holder: str) -> str:
        wish = self.wanted.get(holder)
        if wish:
            return f"{holder} is needed by {wish.need} ({wish.reason})"
        return f"{holder} cannot be off here: {self.reasons.get(holder) or 'other needs rest on it'}"

    def _take(self, plan: SteerPlan, symbol: str, problem: str, reason: str) -> None:
        news: list[str] = []
        for name, value in plan.changes.items():
            if name in self.wanted and name != symbol:
                continue
            if value != "n" and name in self._forbidden:
                entry = self._forbidden.pop(name)
                self.held[name] = f"{name} is needed: {reason}"
                self.explanations.append(f"{name} is kept, though {entry} is to be removed: {reason}")
            if name not in self.wanted and name not in self._forbidden and self._asked.get(name) != value:
                self._asked[name] = value
                self.reasons[name] = reason
                news.append(f"{name}={value}")
        asked = f"asked for {', '.join(news)}" if news else "what was asked for already frees it"
        self.explanations.append(f"{problem}; {asked}")

    def _give_up(self, lacking: Iterable[Wish], standing: Iterable[str]) -> None:
        for wish in lacking:
            raise RunFailed(
                f"{wish.need} needs {wish.symbol}={wish.value} ({wish.reason}), and no way to it is found: "
                f"{why_off(self.kconfig, wish.symbol, LEVELS.get(wish.value, 2))}"
            )
        for name in standing:
            raise RunFailed(f"{name} is to be off, and no way to it is found: {why_on(self.kconfig, name)}")

    def _check_reading(self, final: Config) -> None:
        unlike = self.kconfig.unlike(final)
        text = f"{len(unlike)} symbols are understood otherwise than the kernel's own program does: {unlike[:4]}"
        if unlike and text not in self.explanations:
            self.explanations.append(text)


def _met(final: Config, wish: Wish) -> bool:
    value = final.get(wish.symbol, "n")
    if wish.value in LEVELS:
        return LEVELS.get(value, 0) >= LEVELS[wish.value]
    return value == wish.value


def _outcome(kconfig: Kconfig, entry: Removal, search: _Search) -> RemovalOutcome:
    names = list(symbols_of(kconfig, entry))
    if not names:
        version = f"{search.tree.version} for {search.tree.architecture.name}"
        return RemovalOutcome(entry, "no longer exists", entry.gone or f"Linux {version} has no {entry.symbols[0]}", {})
    held = {name: search.held.get(name, why_on(kconfig, name)) for name in names if kconfig.on(name)}
    if held:
        return RemovalOutcome(entry, "kept", "; ".join(held.values()), held)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return RemovalOutcome(entry, "gone", f"off: {shown}", {})


def _changes(kconfig: Kconfig, before: Config, after: Config, search: _Search) -> list[ChangedSymbol]:
    found = []
    for name in kconfig:
        text, other = before.get(name, "n"), after.get(name, "n")
        if text != other and (kconfig.is_switch(name) or name in search.wanted):
            found.append(ChangedSymbol(name, text, other, kconfig.menu(name), search.reasons.get(name, "")))
    return found
