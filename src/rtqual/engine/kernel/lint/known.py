# SPDX-License-Identifier: MIT
"""Since when, until when and for which processors the kernel has a symbol or a parameter: known.toml. What is not in
there is as old as any kernel judged here, and for all."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from rtqual.engine.kernel.lint.judged_system import System, Version, parse_version

Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]


class Age(BaseModel):
    """`before`: the first version without it. `stable`: older releases that got it too. `was`: its older name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    since: str = ""
    before: str = ""
    architectures: Names = ()
    stable: Names = ()
    was: str = ""

    def lacking(self, system: System) -> str:
        """Why a system has none of it; empty where it has, or where that is not known."""
        if self.architectures and system.architecture is not None and system.architecture not in self.architectures:
            return f"{' and '.join(self.architectures)} only"
        if self.since and system.version and system.version < version(self.since) and not self._brought_to(system):
            return f"since {self.since} only"
        if self.before and system.version and system.version >= version(self.before):
            return f"before {self.before} only"
        return ""

    def _brought_to(self, system: System) -> bool:
        releases = [tuple(map(int, name.split("."))) for name in self.stable]
        return any(release[:2] == system.version and (system.sublevel or 0) >= release[2] for release in releases)


def version(text: str) -> Version:
    return parse_version(text) or (0, 0)


@cache
def _table() -> Mapping[str, Mapping[str, Age]]:
    text = Path(__file__).with_name("known.toml").read_text()
    return TypeAdapter(dict[str, dict[str, Age]]).validate_python(tomllib.loads(text))


def symbol(name: str) -> Age:
    return _table()["symbol"].get(name, Age())


def parameter(name: str) -> Age:
    return _table()["parameter"].get(name, Age())


def named(kind: str, name: str, system: System) -> str:
    """What a system calls a symbol or parameter: its older name where it is older; empty where it has neither."""
    age = _table()[kind].get(name, Age())
    if not age.lacking(system):
        return name
    older = age.was and system.version is not None and bool(age.since) and system.version < version(age.since)
    return age.was if older else ""
