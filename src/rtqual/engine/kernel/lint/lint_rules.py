# SPDX-License-Identifier: MIT
"""The real-time lint: settings of a kernel and its system that decide latency, against rules. The rules: lint.toml.

A rule looks at several places in turn, the most reliable first: the running system, then the boot parameter, then the
configuration's default. The first place that is known decides; if none is, the answer is "not known".
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from rtqual.base.words import count
from rtqual.engine.kernel.lint import cpus as lists
from rtqual.engine.kernel.lint import known
from rtqual.engine.kernel.lint.judged_system import System, parse_version
from rtqual.engine.kernel.lint.known import Names


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
    "cpus": lambda value: [value],
}
_CPU_LISTS = ("isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity")


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True, defer_build=True
    )


@dataclass(frozen=True)
class LintAnswer:
    """`holds` is None where nothing is known; `seen` says what is known, or why nothing is."""

    holds: bool | None
    seen: str


class LintCheck(_Table):
    """A place to look at, and what it has to say. If it has several values, each has to be good."""

    symbol: Names = ()
    parameter: str = ""
    reading: str = ""
    """A file (a pattern stands for all that match), or what rtqual.lint works out of several."""
    pick: str = ""
    """What to take from a reading: a regular expression's group, every time it matches."""
    allowed: Names | None = Field(None, alias="is")
    forbidden: Names | None = Field(None, alias="is-not")
    kind: Literal["word", "boolean", "list", "cpus"] = Field("word", alias="as")
    """How the kernel reads a parameter: "boolean" (kstrtobool) is compared as "on" or "off", of a "list" each word;
    "cpus" is a list of CPUs, which relation says more of."""
    relation: Literal["", "isolates", "apart", "covers", "meets"] = ""
    """Of a list of CPUs to those that isolcpus= isolates: it is that list and isolates; has none of them; has them all
    (those of nohz_full count too); has one of them."""
    sound: Literal["", "lists", "parameters", "c-states"] = ""
    """Looks at the whole command line: that its lists of CPUs can be followed; that the kernel knows its parameters;
    that a PC's idle states are capped at the first."""
    since: str = ""
    before: str = ""
    architectures: Names = ()
    kernel: Names = ()
    """The place speaks of such kernels only; else the next is asked."""
    at_least: int | None = Field(None, alias="at-least")
    at_most: int | None = Field(None, alias="at-most")
    present: bool | None = None
    absent: Literal["holds", "found", "unknown"] = "unknown"
    """What it means that a parameter is not given, or that a reading is not there."""
    enough: bool = False
    """Decides only when it holds; else the next place is asked."""
    default: str = ""
    """What a reading is from the kernel's start on, where only its configuration is known."""
    hardware: bool = False
    """Says something of the processor, so nothing on an emulated one."""
    says: str = ""
    """What to tell when it does not hold, where the value alone does not."""

    @model_validator(mode="after")
    def _one_subject(self) -> Self:
        if sum(map(bool, (self.symbol, self.parameter, self.reading, self.sound))) != 1:
            raise ValueError("one of symbol, parameter, reading, sound")
        demands = (self.allowed, self.forbidden, self.at_least, self.at_most, self.present)
        if all(demand is None for demand in demands) and not self.relation and not self.sound:
            raise ValueError("one of is, is-not, at-least, at-most, present")
        return self

    def concerns(self, system: System) -> bool:
        """Whether the kernel has what is asked for, by its version, processor and kind."""
        if self.kernel and system.kind is not None and system.kind not in self.kernel:
            return False
        if known.Age(since=self.since, before=self.before, architectures=self.architectures).lacking(system):
            return False
        if self.symbol:
            return any(known.named("symbol", name, system) for name in self.symbol)
        return not self.parameter or bool(known.named("parameter", self.parameter, system))

    def answer(self, system: System) -> LintAnswer:  # noqa: PLR0911 - a way out a place
        if self.symbol:
            return self._symbols(system)
        if self.sound:
            return self._whole(system)
        if self.parameter:
            if system.parameters is None:
                return LintAnswer(None, "its boot parameters are not known")
            name = known.named("parameter", self.parameter, system) or self.parameter
            value = system.parameters.get(name)
            if value is not None and self.relation:
                return self._related(system, value)
            if value is None:
                return self._missing(f"no boot parameter {self.parameter}")
            return self._judge(_READ[self.kind](value), f"boot parameter {self.parameter}{'=' if value else ''}{value}")
        return self._reading(system)

    def _symbols(self, system: System) -> LintAnswer:
        if system.config is None:
            return LintAnswer(None, "its configuration is not known")
        config = system.config
        names = {name: known.named("symbol", name, system) for name in self.symbol}
        values = {name: config.get(name, config.get(text, "n")) for text, name in names.items() if name}
        try:
            bad = [symbol for symbol, value in values.items() if not self._good(value)]
        except ValueError:
            return LintAnswer(None, f"CONFIG_{self.symbol[0]} is no number: {values[self.symbol[0]]}")
        shown = [f"CONFIG_{symbol} is {_value(values[symbol])}" for symbol in bad or values]
        return LintAnswer(not bad, "; ".join(shown))

    def _reading(self, system: System) -> LintAnswer:  # noqa: PLR0911 - a way out a place
        if not system.running:
            if self.default:
                seen = f"{self.reading} is {self.default} unless the system's start changes it"
                return self._judge([self.default], seen)
            return LintAnswer(None, "only the running system says it")
        if self.hardware and system.emulated:
            return LintAnswer(None, "an emulated processor does not say it")
        if self.reading not in system.readings:
            return LintAnswer(None, f"{self.reading} cannot be read")
        text = system.readings[self.reading]
        if text is None:
            return self._missing(f"no {self.reading}")
        values = re.findall(self.pick, text, re.MULTILINE) if self.pick else [text.strip()]
        if not values:
            return self._missing(f"{self.reading} has none")
        kinds = list(dict.fromkeys(values))
        shown = ", ".join(kinds[:4]) + (", ..." if len(kinds) > 4 else "")
        return self._judge(values, f"{self.reading}: {shown[:60]}")

    def _related(self, system: System, value: str) -> LintAnswer:
        """A list of CPUs beside those that isolcpus= isolates."""
        seen = f"boot parameter {self.parameter}={value}"
        last = None if system.cpus is None else system.cpus - 1
        if self.relation == "isolates":
            why = _isolates_nothing(system, value)
            return LintAnswer(not why, f"{seen}: {why}" if why else seen)
        isolated = _isolated(system, last)
        found = lists.parse(value, last)
        if isolated is None or found is None:
            return LintAnswer(None, f"{seen}: which CPUs these are is not known")
        if self.relation == "apart":
            both = found & isolated
            return LintAnswer(not both, f"{seen} has the isolated CPUs {lists.shown(both)}" if both else seen)
        if self.relation == "meets":
            return LintAnswer(
                bool(found & isolated) or not isolated, f"{seen} has none of the isolated CPUs {lists.shown(isolated)}"
            )
        ticks = lists.parse((system.parameters or {}).get("nohz_full", ""), last) or frozenset()
        left = isolated - found - ticks
        return LintAnswer(not left, f"{seen} has not the isolated CPUs {lists.shown(left)}" if left else seen)

    def _whole(self, system: System) -> LintAnswer:
        parameters = system.parameters
        if parameters is None:
            return LintAnswer(None, "its boot parameters are not known")
        if self.sound == "parameters":
            ignored = {name: why for name in parameters if (why := known.parameter(name).lacking(system))}
            told = "; ".join(
                f"boot parameter {name}={parameters[name]} is known {why}" for name, why in ignored.items()
            )
            return LintAnswer(not ignored, told or "the kernel knows its boot parameters")
        if self.sound == "c-states":
            return _c_states(system, parameters)
        given = {name: parameters[name] for name in _CPU_LISTS if name in parameters}
        wrong = [text for name, value in given.items() if (text := _unsound(system, name, value))]
        return LintAnswer(not wrong, "; ".join(wrong) or "its lists of CPUs can be followed")

    def _missing(self, seen: str) -> LintAnswer:
        if self.present is not None:
            return LintAnswer(not self.present, seen)
        return LintAnswer({"holds": True, "found": False, "unknown": None}[self.absent], self.says or seen)

    def _judge(self, values: Iterable[str], seen: str) -> LintAnswer:
        if self.present is not None:
            return LintAnswer(self.present, seen)
        try:
            some = any if self.kind == "list" and self.allowed is not None else all
            good = some(self._good(value) for value in values)
        except ValueError:
            return LintAnswer(None, f"{seen} is no number")
        return LintAnswer(good, seen)

    def _good(self, value: str) -> bool:
        if self.allowed is not None and value not in self.allowed:
            return False
        if self.forbidden is not None and value in self.forbidden:
            return False
        if self.at_least is None and self.at_most is None:
            return True
        number = 0 if value == "n" else int(value)
        return (self.at_least is None or number >= self.at_least) and (self.at_most is None or number <= self.at_most)


def _isolates_nothing(system: System, value: str) -> str:
    """Why isolcpus= keeps no threads away (kernel/sched/isolation.c); empty where it does."""
    flags, _ = lists.flags_and_list(value)
    if not flags:
        return ""
    if system.version and system.version < lists.SINCE_FLAGS:
        return "the kernel knows no flags before 4.15 and ignores the list"
    unknown = [flag for flag in flags if flag not in lists.FLAGS]
    managed = "managed_irq" in flags and system.version is not None and system.version < lists.SINCE_MANAGED
    if (unknown or managed) and system.version and system.version < lists.SINCE_MANAGED:
        return "the kernel ignores the whole list for a flag that it does not know (managed_irq is known since 5.6)"
    return "" if "domain" in flags else "with a flag and without domain, no thread is kept away"


def _c_states(system: System, parameters: Mapping[str, str]) -> LintAnswer:
    """intel_idle.max_cstate=0 leaves a PC's idle states to ACPI, whose depth processor.max_cstate caps."""
    capped = parameters.get("processor.max_cstate")
    if capped is None:
        return LintAnswer(None, "no boot parameter processor.max_cstate")
    seen = f"boot parameter processor.max_cstate={capped}"
    if capped not in ("0", "1"):
        return LintAnswer(False, f"{seen} allows deeper states than the first")
    by_acpi = parameters.get("intel_idle.max_cstate") == "0"
    if not by_acpi and (system.config is None or system.config.on("INTEL_IDLE")):
        return LintAnswer(
            None, f"{seen}: intel_idle, which rules Intel's processors, does not follow it; add intel_idle.max_cstate=0"
        )
    return LintAnswer(True, seen)


def _isolated(system: System, last: int | None) -> frozenset[int] | None:
    """The CPUs that isolcpus= names."""
    return lists.parse(lists.flags_and_list((system.parameters or {}).get("isolcpus", ""))[1], last)


def _unsound(system: System, name: str, value: str) -> str:
    """What is wrong with a list of CPUs; empty where nothing is."""
    given = f"boot parameter {name}={value}"
    text = lists.flags_and_list(value)[1] if name == "isolcpus" else value
    last = None if system.cpus is None else system.cpus - 1
    found = lists.parse(text, last)
    if found is None:
        open_end = last is None and (text == "all" or "N" in text)
        return "" if open_end else f"{given} is no list of CPUs"
    if last is None:
        return ""
    if beyond := {cpu for cpu in found if cpu > last}:
        return f"{given} names CPU {lists.shown(beyond)} of {count(system.cpus or 0, 'CPU')}, 0 to {last}"
    if len(found) > last and name not in ("irqaffinity", "rcu_nocbs"):
        return f"{given} leaves no CPU for everything else"
    return ""


class Fix(_Table):
    """What mends it: in the kernel's configuration, on its command line, or at once while it runs."""

    since: str = ""
    before: str = ""
    architectures: Names = ()
    kernel: Names = ()
    """It mends such kernels only."""

    config: Names = ()
    boot: Names = ()
    remove: Names = ()
    """Boot parameters to leave out."""
    run: Names = ()

    def within(self, system: System) -> "Fix":
        """Without what the kernel does not have, by its version, processor and kind."""
        if self.kernel and system.kind is not None and system.kind not in self.kernel:
            return Fix()
        if known.Age(since=self.since, before=self.before, architectures=self.architectures).lacking(system):
            return Fix()
        return Fix(
            config=tuple(name for text in self.config if (name := _renamed("symbol", text, system))),
            boot=tuple(name for text in self.boot if (name := _renamed("parameter", text, system))),
            remove=self.remove,
            run=self.run,
        )

    def __or__(self, other: "Fix") -> "Fix":
        return Fix(
            config=(*self.config, *other.config), boot=(*self.boot, *other.boot),
            remove=(*self.remove, *other.remove), run=(*self.run, *other.run),
        )  # fmt: skip


def _renamed(kind: str, text: str, system: System) -> str:
    """A setting under the name that a system has for it; empty where it has none."""
    name, equals, value = text.partition("=")
    own = known.named(kind, name, system)
    return f"{own}{equals}{value}" if own else ""


class Effect(_Table):
    """The effect as rtqual measured it: figures with and without, and the number of samples."""

    text: str
    n: str
    source: str


class LintRule(_Table):
    id: str
    title: str
    severity: Severity
    reason: str
    source: str
    check: tuple[LintCheck, ...] = Field(min_length=1)
    fix: Fix
    fixes: tuple[Fix, ...] = ()
    """Of other kernels, processors or kinds."""
    effect: Effect | None = None
    when: tuple[LintCheck, ...] = ()
    kernel: Names = ()
    """"rt", "stock" or "dual" (a second kernel): the rule speaks of such only; as do the next four."""
    architectures: Names = ()
    cpus: int = 1
    since: str = ""
    before: str = ""

    def judge(self, system: System) -> "Finding":
        for answer in self._conditions(system):
            if not answer.holds:
                return Finding(self, State.UNKNOWN if answer.holds is None else State.NOT_APPLICABLE, answer.seen)
        checks = [check for check in self.check if check.concerns(system)]
        if not checks:
            return Finding(self, State.NOT_APPLICABLE, "the kernel has nothing of it")
        fix = self.fix_for(system)
        unknown: dict[bool, str] = {}  # a place that would have decided gives the better reason
        for check in checks:
            answer = check.answer(system)
            if answer.holds is None:
                unknown.setdefault(check.enough, answer.seen)
            elif answer.holds or not check.enough:
                return Finding(self, State.HOLDS if answer.holds else State.FOUND, answer.seen, fix)
        return Finding(self, State.UNKNOWN, unknown.get(False) or unknown.get(True) or "nothing decides it", fix)

    def fix_for(self, system: System) -> Fix:
        """What mends it on a system: only what that has."""
        made = self.fix.within(system)
        for other in self.fixes:
            made |= other.within(system)
        return made

    def _conditions(self, system: System) -> Iterator[LintAnswer]:
        """Whether the rule applies to this system; an unknown number of CPUs counts as enough."""
        if system.cpus is not None:
            yield LintAnswer(system.cpus >= self.cpus, f"with {self.cpus} CPUs or more")
        if self.architectures:
            here = None if system.architecture is None else system.architecture in self.architectures
            yield LintAnswer(here, "its architecture is not known" if here is None else f"on {self.architectures[0]}")
        if self.kernel:
            kind = system.kind
            fits = None if kind is None else kind in self.kernel
            which = (
                f"its deadlines rest on {system.core}"
                if system.core
                else f"of {' and '.join(self.kernel)} kernels only"
            )
            yield LintAnswer(fits, "whether it has PREEMPT_RT is not known" if fits is None else which)
        if self.since or self.before:
            first, end = parse_version(self.since) or (0, 0), parse_version(self.before) or (9999, 0)
            then = None if system.version is None else first <= system.version < end
            range_text = f"since {self.since}" if self.since else f"before {self.before}"
            yield LintAnswer(then, "its version is not known" if then is None else range_text)
        yield from (condition.answer(system) for condition in self.when)


@dataclass(frozen=True)
class Finding:
    rule: LintRule
    state: State
    seen: str
    fix: Fix = field(default_factory=Fix)  # of the rule, what this system has of it


@cache
def rules() -> Sequence[LintRule]:
    text = Path(__file__).with_name("lint.toml").read_text()
    return TypeAdapter(tuple[LintRule, ...]).validate_python(tomllib.loads(text)["rule"])


def lint(system: System) -> list[Finding]:
    """Every rule against a system, in the order of lint.toml."""
    return [rule.judge(system) for rule in rules()]


def readings() -> list[str]:
    """The places that rules read on a running system."""
    checks = (check for rule in rules() for check in (*rule.check, *rule.when))
    return list(dict.fromkeys(check.reading for check in checks if check.reading))


def _value(value: str) -> str:
    return "off" if value == "n" else value
