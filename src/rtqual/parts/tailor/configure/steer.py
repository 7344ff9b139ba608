# SPDX-License-Identifier: MIT
"""What to change in a configuration so that a symbol goes on, or off, in spite of the others.

Kconfig files say what holds a symbol; read backwards they say what would free it. Of several ways the one with the
fewest changes is taken. The result is a proposal: the kernel's own configuration program decides what comes of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kconfiglib import AND, BOOL, EQUAL, NOT, OR, TRISTATE, UNEQUAL, Choice, Symbol, expr_value, split_expr

from rtqual.parts.tailor.configure.chain import Expression, default, selectors, shown
from rtqual.parts.tailor.configure.kconfig import LEVELS, TEXTS, Kconfig

# Conditions that are never switched on for a dependency's sake: they do not describe the machine at hand.
NEVER = frozenset({"COMPILE_TEST", "BROKEN", "STAGING"})
_DEEPEST = 24  # symbols between a wish and what it rests on
_SELECTING = 2  # switching on a selecting symbol instead of the symbol itself costs as much as this many changes


@dataclass(frozen=True)
class SteerPlan:
    """Changes, and how many they are."""

    changes: Mapping[str, str]  # symbol -> y, m or n
    cost: int


_NOTHING = SteerPlan({}, 0)


@dataclass
class Steering:
    """Plans against the values of `kconfig`. No plan changes the symbols in `on` and `off`."""

    kconfig: Kconfig
    on: Mapping[str, int]  # symbol -> the level it must have at least
    off: Iterable[str]
    blocked: dict[str, str] = field(default_factory=dict)  # what the last plan could not change -> "on" or "off"
    _under: list[tuple[bool, str]] = field(default_factory=list)
    _pillars: set[str] | None = None

    def raise_symbol(self, name: str, level: int) -> SteerPlan | None:
        """Changes after which `name` can be at `level`; None where there are none."""
        self.blocked.clear()
        return self._raise(self.kconfig[name], level)

    def lower_symbol(self, name: str) -> SteerPlan | None:
        """Changes after which `name` can be off; None where there are none."""
        self.blocked.clear()
        return self._lower(self.kconfig[name], 0)

    def obstacle(self, name: str) -> tuple[str, ...]:
        """The chain from a symbol that cannot be lowered to the fixed one that holds it, link by link."""
        path = [name]
        while path[-1] not in self.blocked or len(path) == 1:
            terms = [(item.name, term) for item, term in selectors(self.kconfig[path[-1]]) if item.name not in path]
            stuck = next((holder for holder, term in terms if self._lower(term, 0) is None), None)
            if stuck is None:
                break
            path.append(stuck)
        return tuple(path)

    def _raise(self, expression: Expression, level: int) -> SteerPlan | None:
        """To at least `level`."""
        return _NOTHING if expr_value(expression) >= level else self._move(expression, level, up=True)

    def _lower(self, expression: Expression, level: int) -> SteerPlan | None:
        """To at most `level`."""
        return _NOTHING if expr_value(expression) <= level else self._move(expression, level, up=False)

    def _move(self, expression: Expression, level: int, *, up: bool) -> SteerPlan | None:
        move, back = (self._raise, self._lower) if up else (self._lower, self._raise)
        if isinstance(expression, Choice):
            return move(expression.direct_dep, level)
        if isinstance(expression, Symbol):
            plan = self._raise_symbol if up else self._lower_symbol
            return self._guarded((up, expression.name), lambda: plan(expression, level))
        operator, *parts = expression
        if operator in (AND, OR):
            together = _all if (operator == AND) == up else _cheapest
            return together(move(part, level) for part in parts)
        return back(parts[0], 2 - level) if operator == NOT else self._relation(expression, true=up)

    def _raise_symbol(self, symbol: Symbol, level: int) -> SteerPlan | None:
        if symbol.is_constant or not symbol.nodes or symbol.orig_type not in (BOOL, TRISTATE):
            return None
        if symbol.name in NEVER:
            return None
        if symbol.name in self.off:
            self.blocked.setdefault(symbol.name, "off")
            return None
        value = TEXTS[2 if symbol.orig_type == BOOL else level]
        own = SteerPlan({symbol.name: value, **self._siblings(symbol)}, 1)
        prompts = [node.prompt[1] for node in symbol.nodes if node.prompt]
        plan = _cheapest(_all([own, self._raise(condition, level)]) for condition in prompts)
        if plan is None:
            ways = [(value, condition) for value, condition in symbol.defaults]
            plan = _cheapest(_all([self._raise(a, level), self._raise(b, level)]) for a, b in ways)
        if plan is None and not prompts:
            terms = split_expr(symbol.rev_dep, OR)
            plan = _cheapest(self._raise(term, level) for term in terms)
            plan = plan and SteerPlan(plan.changes, plan.cost + _SELECTING)
        return plan

    @staticmethod
    def _siblings(symbol: Symbol) -> dict[str, str]:
        if symbol.choice is None:
            return {}
        return {sym.name: "n" for sym in symbol.choice.syms if sym is not symbol}

    def _lower_symbol(self, symbol: Symbol, level: int) -> SteerPlan | None:
        if symbol.is_constant or not symbol.nodes or symbol.orig_type not in (BOOL, TRISTATE):
            return None
        if symbol.orig_type == BOOL:
            level = 0
        if self.on.get(symbol.name, 0) > level or symbol.name in self.pillars():
            self.blocked.setdefault(symbol.name, "on")
            return None
        free = _all(self._lower(term, level) for _, term in selectors(symbol))
        if free is None:
            return self._lower_dependency(symbol, level)
        if symbol.choice is not None and symbol.choice.selection is symbol:
            others = [sym for sym in symbol.choice.syms if sym is not symbol]
            return _all([free, _cheapest(self._raise(other, 2) for other in others)])
        held = default(symbol)
        if held is None and not shown(symbol):
            return free  # only selecting symbols hold it on
        own = _all([free, SteerPlan({symbol.name: TEXTS[level]}, 1)])
        return own if shown(symbol) else self._lower_hidden(symbol, level, free, own)

    def _lower_hidden(self, symbol: Symbol, level: int, free: SteerPlan, own: SteerPlan | None) -> SteerPlan | None:
        """Make menuconfig show it, or take away its default, or what it depends on."""
        prompts = [node.prompt[1] for node in symbol.nodes if node.prompt]
        ways = [_all([own, self._raise(condition, 1)]) for condition in prompts]
        if held := default(symbol):
            ways.append(_all([free, _cheapest([self._lower(held[0], level), self._lower(held[1], level)])]))
        return _cheapest([*ways, self._lower_dependency(symbol, level)])

    def _lower_dependency(self, symbol: Symbol, level: int) -> SteerPlan | None:
        """Only a symbol that nothing selects goes off with what it depends on."""
        return None if any(selectors(symbol)) else self._lower(symbol.direct_dep, level)

    def _relation(self, expression: Expression, *, true: bool) -> SteerPlan | None:
        """`A = y` and its like. Comparisons of versions and numbers cannot be changed."""
        operator, item, other = expression
        if operator not in (EQUAL, UNEQUAL):
            return None
        if getattr(item, "is_constant", False):
            item, other = other, item
        if not getattr(other, "is_constant", False) or other.name not in LEVELS or not isinstance(item, Symbol):
            return None
        wanted = LEVELS[other.name]
        if (operator == EQUAL) == true:
            return self._raise(item, wanted) if expr_value(item) < wanted else self._lower(item, wanted)
        ways = [self._raise(item, wanted + 1)] if wanted < 2 else []
        return _cheapest([*ways, self._lower(item, wanted - 1) if wanted else None])

    def _guarded(self, key: tuple[bool, str], plan: Callable[[], SteerPlan | None]) -> SteerPlan | None:
        """A way that comes back to its start leads nowhere."""
        if key in self._under or len(self._under) >= _DEEPEST:
            return None
        self._under.append(key)
        try:
            return plan()
        finally:
            self._under.pop()

    def pillars(self) -> set[str]:
        """What the symbols that must be on rest on now, where nothing else would carry them."""
        if self._pillars is None:
            self._pillars = set()
            waiting: list[Expression] = [self.kconfig[name].direct_dep for name in self.on if name in self.kconfig]
            while waiting:
                for symbol in _carrying(waiting.pop()):
                    if symbol.name not in self._pillars:
                        self._pillars.add(symbol.name)
                        waiting.append(symbol.direct_dep)
        return self._pillars


def _carrying(expression: Expression) -> list[Symbol]:
    """Symbols without which the condition would not hold."""
    if isinstance(expression, Symbol):
        return [] if expression.is_constant or not expression.nodes else [expression]
    if isinstance(expression, tuple) and expression[0] == AND:
        return [symbol for item in expression[1:] for symbol in _carrying(item)]
    if isinstance(expression, tuple) and expression[0] == OR:
        holding = [item for item in expression[1:] if expr_value(item)]
        return _carrying(holding[0]) if len(holding) == 1 else []
    return []


def _all(plans: Iterable[SteerPlan | None]) -> SteerPlan | None:
    """All plans at once; None where a plan is missing or two disagree."""
    changes: dict[str, str] = {}
    cost = 0
    for plan in plans:
        if plan is None:
            return None
        for symbol, value in plan.changes.items():
            before = changes.get(symbol, value)
            if "n" in (before, value) and before != value:
                return None
            changes[symbol] = max(before, value, key=LEVELS.__getitem__)
        cost += plan.cost
    return SteerPlan(changes, cost)


def _cheapest(plans: Iterable[SteerPlan | None]) -> SteerPlan | None:
    return min((plan for plan in plans if plan is not None), key=lambda plan: plan.cost, default=None)
