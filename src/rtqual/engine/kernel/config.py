# SPDX-License-Identifier: MIT
"""A kernel's .config as a mapping: symbol without CONFIG_ -> "y", "m", a number or a text; what is off is absent."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rtqual.base.errors import BadInput

_SET = re.compile(r"CONFIG_(\w+)=(.*)", re.ASCII)
_UNSET = re.compile(r"# CONFIG_(\w+) is not set", re.ASCII)


@dataclass(frozen=True)
class Config(Mapping[str, str]):
    symbols: Mapping[str, str]
    off: tuple[str, ...] = ()  # what it says to be off, by name

    def __getitem__(self, symbol: str) -> str:
        return self.symbols[symbol]

    def __iter__(self) -> Iterator[str]:
        return iter(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)

    def on(self, symbol: str) -> bool:
        """Built in or a module."""
        return self.symbols.get(symbol) in ("y", "m")


def lines_of(text: str) -> list[str]:
    """As Kconfig has them: nothing but a line feed ends one, a carriage return before it belongs to it."""
    return [line.rstrip(" \t\r") for line in text.removesuffix("\n").split("\n")]


def parse(text: str, what: str) -> Config:
    """`what` names the text in errors. Raises BadInput with the line that does not belong in a .config."""
    values: dict[str, str] = {}
    for number, line in enumerate(lines_of(text), 1):
        if found := _SET.fullmatch(line):
            values[found[1]] = _value(found[2])
        elif unset := _UNSET.fullmatch(line):
            values[unset[1]] = "n"
        elif line.strip() and not line.lstrip().startswith("#"):
            raise BadInput(f"{what}, line {number}: not a line of a kernel configuration: {line.strip()[:60]!r}")
    if set(values.values()) <= {"n"}:
        raise BadInput(f"{what}: no kernel configuration: not one CONFIG_ symbol is set in it")
    off = tuple(symbol for symbol, value in values.items() if value == "n")
    return Config({symbol: value for symbol, value in values.items() if value != "n"}, off)


def _value(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
