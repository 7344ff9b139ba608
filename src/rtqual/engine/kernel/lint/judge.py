# SPDX-License-Identifier: MIT
"""The real-time lint: settings of a kernel and its system that decide latency, against rules. The rules: lint.toml.

A rule looks at several places in turn, the most reliable first: the running system, then the boot parameter, then the
configuration's default. The first place that is known decides; if none is, the answer is "not known".
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from rtqual.engine.kernel.lint.system import System, parse_version


class Severity(StrEnum):
    """error: no deadline can rest on it. warning: costs latency. note: depends on the mission."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class State(StrEnum):
    FOUND = "found"
    HOLDS = "holds"
    UNKNOWN = "not known"
    NOT_APPLICABLE = "does not apply"


def _boolean(value: str) -> list[str]:
    """As kstrtobool() of lib/kstrtox.c has it; what that refuses stays as it is."""
    if re.match("[yYtT1]|[oO][nN]", value):
        return ["on"]
    return ["off" if re.match("[nNfF0]|[oO][fF]", value) else value]


_READ: Mapping[str, Callable[[str], list[str]]] = {
    "word": lambda value: [value],
    "boolean": _boolean,
    "list": lambda value: value.split(","),
}


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_several)]


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, defer_build=True
    )


@dataclass(frozen=True)
class Answer:
    """`holds` is None where nothing is known; `seen` says what is known, or why nothing is."""

    holds: bool | None
    seen: str


class Check(_Table):
    """A place to look at, and what it has to say. If it has several values, each has to be good."""

    symbol: Names = ()
    parameter: str = ""
    reading: str = ""
    """A file (a pattern stands for all that match), or what rtqual.lint works out of several."""
    pick: str = ""
    """What to take from a reading: a regular expression's group, every time it matches."""
    allowed: Names | None = Field(None, alias="is")
    forbidden: Names | None = Field(None, alias="is-not")
    kind: Literal["word", "boolean", "list"] = Field("word", alias="as")
    """How the kernel reads a parameter: "boolean" (kstrtobool) is compared as "on" or "off", of a "list" each word."""
    at_least: int | None = Field(None, alias="at-least")
    at_most: int | None = Field(None, alias="at-most")
    present: bool | None = None
    absent: Literal["holds", "found", "unknown"] = "unknown"
    """What it means that a parameter is not given, or that a reading is not there."""
    enough: bool = False
    """Decides only when it holds; else the next place is asked."""
    hardware: bool = False
    """Says something of the processor, so nothing on an emulated one."""
    says: str = ""
    """What to tell when it does not hold, where the value alone does not."""

    @model_validator(mode="after")
    def _one_subject(self) -> Self:
        if sum(map(bool, (self.symbol, self.parameter, self.reading))) != 1:
            raise ValueError("one of symbol, parameter, reading")
        demands = (self.allowed, self.forbidden, self.at_least, self.at_most, self.present)
        if all(demand is None for demand in demands):
            raise ValueError("one of is, is-not, at-least, at-most, present")
        return self

    def answer(self, system: System) -> Answer:
        if self.symbol:
            return self._symbols(system)
        if self.parameter:
            if system.parameters is None:
                return Answer(None, "its boot parameters are not known")
            value = system.parameters.get(self.parameter)
            if value is None:
                return self._missing(f"no boot parameter {self.parameter}")
            return self._judge(_READ[self.kind](value), f"boot parameter {self.parameter}{'=' if value else ''}{value}")
        return self._reading(system)

    def _symbols(self, system: System) -> Answer:
        if system.config is None:
            return Answer(None, "its configuration is not known")
        values = {symbol: system.config.get(symbol, "n") for symbol in self.symbol}
        try:
            bad = [symbol for symbol, value in values.items() if not self._good(value)]
        except ValueError:
            return Answer(None, f"CONFIG_{self.symbol[0]} is no number: {values[self.symbol[0]]}")
        shown = [f"CONFIG_{symbol} is {_value(values[symbol])}" for symbol in bad or values]
        return Answer(not bad, "; ".join(shown))

    def _reading(self, system: System) -> Answer:
        if not system.running:
            return Answer(None, "only the running system says it")
        if self.hardware and system.emulated:
            return Answer(None, "an emulated processor does not say it")
        if self.reading not in system.readings:
            return Answer(None, f"{self.reading} cannot be read")
        text = system.readings[self.reading]
        if text is None:
            return self._missing(f"no {self.reading}")
        values = re.findall(self.pick, text, re.MULTILINE) if self.pick else [text.strip()]
        if not values:
            return self._missing(f"{self.reading} has none")
        kinds = list(dict.fromkeys(values))
        shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
        return self._judge(values, f"{self.reading}: {shown[:60]}")

    def _missing(self, seen: str) -> Answer:
        if self.present is not None:
            return Answer(not self.present, seen)
        return Answer({"holds": True, "found": False, "unknown": None}[self.absent], self.says or seen)

    def _judge(self, values: Iterable[str], seen: str) -> Answer:
        if self.present is not None:
            return Answer(self.present, seen)
        try:
            some = any if self.kind == "list" and self.allowed is not None else all
            good = some(self._good(value) for value in values)
        except ValueError:
            return Answer(None, f"{seen} is no number")
        return Answer(good, seen)

    def _good(self, value: str) -> bool:
        if self.allowed is not None and value not in self.allowed:
            return False
        if self.forbidden is not None and value in self.forbidden:
            return False
        if self.at_least is None and self.at_most is None:
            return True
        number = 0 if value == "n" else int(value)
        return (self.at_least is None or number >= self.at_least) and (self.at_most is None or number <= self.at_most)


class Fix(_Table):
    """What mends it: in the kernel's configuration, on its command line, or at once while it runs."""

    config: Names = ()
    boot: Names = ()
    remove: Names = ()
    """Boot parameters to leave out."""
    run: Names = ()


class Effect(_Table):
    """The effect as rtqual measured it: figures with and without, and the number of samples."""

    text: str
    n: str
    source: str


class Rule(_Table):
    id: str
    title: str
    severity: Severity
    reason: str
    source: str
    check: tuple[Check, ...] = Field(min_length=1)
    fix: Fix
    effect: Effect | None = None
    when: tuple[Check, ...] = ()
    kernel: Literal["rt", "stock"] | None = None
    """The rule speaks of such kernels only; as do the next four."""
    architectures: Names = ()
    cpus: int = 1
    since: str = ""
    before: str = ""

    def judge(self, system: System) -> "Finding":
        for answer in self._conditions(system):
            if not answer.holds:
                return Finding(self, State.UNKNOWN if answer.holds is None else State.NOT_APPLICABLE, answer.seen)
        unknown: dict[bool, str] = {}  # a place that would have decided gives the better reason
        for check in self.check:
            answer = check.answer(system)
            if answer.holds is None:
                unknown.setdefault(check.enough, answer.seen)
            elif answer.holds or not check.enough:
                return Finding(self, State.HOLDS if answer.holds else State.FOUND, answer.seen)
        return Finding(self, State.UNKNOWN, unknown.get(False) or unknown.get(True) or "nothing decides it")

    def _conditions(self, system: System) -> Iterator[Answer]:
        """Whether the rule applies to this system; an unknown number of CPUs counts as enough."""
        if system.cpus is not None:
            yield Answer(system.cpus >= self.cpus, f"with {self.cpus} CPUs or more")
        if self.architectures:
            known = None if system.architecture is None else system.architecture in self.architectures
            yield Answer(known, "its architecture is not known" if known is None else f"on {self.architectures[0]}")
        if self.kernel:
            known = None if system.realtime is None else system.realtime == (self.kernel == "rt")
            which = "with" if self.kernel == "rt" else "without"
            yield Answer(known, "whether it has PREEMPT_RT is not known" if known is None else f"{which} PREEMPT_RT")
        if self.since or self.before:
            first, end = parse_version(self.since) or (0, 0), parse_version(self.before) or (9999, 0)
            known = None if system.version is None else first <= system.version < end
            range_text = f"since {self.since}" if self.since else f"before {self.before}"
            yield Answer(known, "its version is not known" if known is None else range_text)
        yield from (condition.answer(system) for condition in self.when)


@dataclass(frozen=True)
class Finding:
    rule: Rule
    state: State
    seen: str


@cache
def rules() -> Sequence[Rule]:
    text = Path(__file__).with_name("lint.toml").read_text()
    return TypeAdapter(tuple[Rule, ...]).validate_python(tomllib.loads(text)["rule"])


def lint(system: System) -> list[Finding]:
    """Every rule against a system, in the order of lint.toml."""
    return [rule.judge(system) for rule in rules()]


def readings() -> list[str]:
    """The places that rules read on a running system."""
    checks = (check for rule in rules() for check in (*rule.check, *rule.when))
    return list(dict.fromkeys(check.reading for check in checks if check.reading))


def _value(value: str) -> str:
    return "off" if value == "n" else value
