# SPDX-License-Identifier: MIT
"""What a mission needs of a kernel, read from its configuration. The rules are data: needs.toml."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rtqual.base.errors import BadInput

_SET = re.compile(r"^CONFIG_(\w+)=([ym])$", re.MULTILINE | re.ASCII)
_SHOWN = 4  # symbols of a long list worth printing


class NeedRule(BaseModel):
    """One of the symbols must be on."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    any: tuple[str, ...] = Field(min_length=1)
    reason: str
    builtin: bool = False  # a module is not enough

    def found(self, enabled: Mapping[str, str]) -> str | None:
        """The first symbol that is on, as it stands in the configuration."""
        allowed = "y" if self.builtin else "ym"
        return next((f"CONFIG_{name}={enabled[name]}" for name in self.any if enabled.get(name, "-") in allowed), None)

    def __str__(self) -> str:
        shown = " or ".join(f"CONFIG_{name}" for name in self.any[:_SHOWN])
        more = f" or {len(self.any) - _SHOWN} more" if len(self.any) > _SHOWN else ""
        return shown + more


@dataclass(frozen=True)
class NeedCheck:
    need: str
    ok: bool
    limit: str  # the symbols asked for
    reason: str  # those found, or the first one missing and why it is needed


Known = str | Mapping[str, NeedCheck] | None  # of a kernel: its configuration, or what a study states, need by need


@cache
def rules() -> Mapping[str, tuple[NeedRule, ...]]:
    """The rules of every need rtqual knows."""
    text = Path(__file__).with_name("needs.toml").read_text()
    return TypeAdapter(dict[str, tuple[NeedRule, ...]]).validate_python(tomllib.loads(text))


def check_needs(needs: Iterable[str], config: str) -> list[NeedCheck]:
    """Each need against the text of a kernel's .config. Raises BadInput on a need without rules."""
    enabled = dict(_SET.findall(config))
    return [_check(str(need), enabled) for need in needs]


def is_config(text: str | None) -> bool:
    """Whether a text is a kernel configuration at all: an empty one is not one with everything off."""
    return text is not None and _SET.search(text) is not None


def _check(need: str, enabled: Mapping[str, str]) -> NeedCheck:
    if need not in rules():
        raise BadInput(f"unknown need {need!r}; allowed: {', '.join(rules())}")
    wanted = rules()[need]
    limit = "; ".join(str(rule) for rule in wanted)
    found = [rule.found(enabled) for rule in wanted]
    for rule, symbol in zip(wanted, found, strict=True):
        if symbol is None:
            how = "built in" if rule.builtin else "on"
            lacking = f"{rule} is not {how}" if len(rule.any) == 1 else f"none of {rule} is {how}"
            return NeedCheck(need, False, limit, f"{lacking}: {rule.reason}")
    return NeedCheck(need, True, limit, ", ".join(symbol for symbol in found if symbol))
