# SPDX-License-Identifier: MIT
"""The instruments by the name a mission calls them, in the order of a report."""

from collections.abc import Iterator, Mapping
from functools import cache

from rtqual.protocols import part
from rtqual.protocols.instrument import Instrument


class Instruments(Mapping[str, Instrument]):
    """Those that parts bring. Listed are those that have names; one of a family is made when its name is met."""

    def __getitem__(self, name: str) -> Instrument:
        named = part.by_name("instruments")
        return named[name] if name in named else _of_family(name)

    def __contains__(self, name: object) -> bool:
        return name in part.by_name("instruments") or (isinstance(name, str) and _family(name) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(part.by_name("instruments"))

    def __len__(self) -> int:
        return len(part.by_name("instruments"))


def all_instruments() -> Instruments:
    """Return those that parts bring."""
    return Instruments()


@cache
def _of_family(name: str) -> Instrument:
    if (family := _family(name)) is None:
        raise KeyError(name)
    made: Instrument = part.load(family.where)(name)
    return made


def _family(name: str) -> part.Family | None:
    rows = (row for _, row in part.rows("families") if isinstance(row, part.Family))
    return next((row for row in rows if name.startswith(row.prefix)), None)
