# SPDX-License-Identifier: MIT
"""Parts: who brings instruments, loads, boards, chapters and commands.

A part is an entry point of the group `rtqual.part`: a Part, in a module that imports nothing slow. Its rows name what
it brings as "module:name", which is imported when it is asked for, and carry a number: the order in reports, help and
lists. rtqual's own parts use this door, and any package that is installed beside it may.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args, get_type_hints

from rtqual.base.errors import BadInput

GROUP = "rtqual.part"


@dataclass(frozen=True)
class Row:
    """One thing that a part brings, or several in a tuple."""

    order: int
    where: str  # "module:name"


@dataclass(frozen=True)
class CommandOfPart(Row):
    """A command: `where` is its function, or an application with commands of its own."""

    name: str
    summary: str  # as its own file says it
    examples: tuple[str, ...] = ()  # what stands behind `rtqual`


@dataclass(frozen=True)
class Family(Row):
    """Instruments whose names a mission or a record says: `where` makes one of its name, which begins with `prefix`."""

    prefix: str


@dataclass(frozen=True)
class Keyed(Row):
    """What a mission or a command asks for by a key."""

    key: str


@dataclass(frozen=True)
class MissionTables(Keyed):
    """Tables of a mission, [[key]] each: `where` is their model (engine/mission/table.py), each with a `name`."""

    summary: str


@dataclass(frozen=True)
class Chapter(Row):
    """A chapter of the report: `where` is a function of the report's material, which yields blocks."""

    number: str  # a number, or a letter in the annex: told always; "" or a small letter: where it has something to say
    title: str


@dataclass(frozen=True)
class Section(Row):
    """A section of the report's analysis, where it has something to say; `where` as a chapter's."""

    title: str


@dataclass(frozen=True)
class Part:
    """What a part brings, each kind in its own field; the module that `where` names says what type that is."""

    name: str
    commands: tuple[CommandOfPart, ...] = ()
    instruments: tuple[Row, ...] = ()  # protocols/instrument: Instrument
    families: tuple[Family, ...] = ()  # of instruments: a function of the name
    loads: tuple[Row, ...] = ()  # protocols/load: Load
    boards: tuple[Row, ...] = ()  # protocols/board/registry.py: Row
    # By a kind of candidates: what prepares a kernel (engine/candidates/kernel.py), what of it can be had in no tree,
    # its package for an image.
    kernels: tuple[Keyed, ...] = ()
    contradictions: tuple[Keyed, ...] = ()
    packages: tuple[Keyed, ...] = ()
    carried: tuple[Row, ...] = ()  # what guests hold for instruments: engine/candidates/carried.py
    needed: tuple[Row, ...] = ()  # path of such a file in the guest -> the kernel's modules that it needs there
    steps: tuple[Keyed, ...] = ()  # what makes candidates between two: parts/bisect/axis.py: Steps
    printed: tuple[Row, ...] = ()  # candidates that nothing runs: engine/candidates/printed.py
    roots: tuple[Keyed, ...] = ()  # by a candidate's root: what puts its kernel under one
    ways: tuple[Keyed, ...] = ()  # by how a board is reached without a network: what opens it
    tables: tuple[MissionTables, ...] = ()
    judgements: tuple[Row, ...] = ()  # beside verdicts: functions of mission and summaries, which return Goals
    verified: tuple[Keyed, ...] = ()  # by what [verify] plays procedures to: engine/procedure/kinds.py: ProgramKind
    dictionaries: tuple[Keyed, ...] = ()  # by a format: files, names and a root to protocols/dictionary.py: Dictionary
    imports: tuple[Row, ...] = ()  # formats of files with results: parts/importers/format.py: Format
    forms: tuple[Keyed, ...] = ()  # by what `rtqual import` reads beside files of tools: a function of its arguments
    runners: tuple[Keyed, ...] = ()  # by an option of select: engine/campaign/runner.py
    templates: tuple[Row, ...] = ()  # of missions, for `rtqual init`: stages/init.py: Kind
    drafts: tuple[Keyed, ...] = ()  # by an option of `rtqual init`: what writes a mission in place of a template
    annexes: tuple[Row, ...] = ()  # engine/campaign/annex.py: Annex
    chapters: tuple[Chapter, ...] = ()
    sections: tuple[Section, ...] = ()
    boxes: tuple[Row, ...] = ()  # on the report's first page: functions of its material, which return VerdictBoxes


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts that are installed, by name; one whose module was removed brings nothing.

    Raises BadInput that names the part where it cannot be loaded, is no Part, or two have a name.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to load

    found: dict[str, tuple[str, Part]] = {}
    for point in sorted(entry_points(group=GROUP)):
        if found.get(point.name, ("",))[0] == point.value or not _is_there(point.module):
            continue
        if point.name in found:
            raise BadInput(f"two parts are named '{point.name}', {found[point.name][0]} and {point.value}: remove one")
        try:
            part = point.load()
        except Exception as error:
            raise BadInput(f"the part '{point.name}' cannot be loaded: {point.value}: {error}; remove it") from error
        if not isinstance(part, Part):
            raise BadInput(f"the part '{point.name}' is no part: {point.value} is to be a rtqual.protocols.part.Part")
        for kind, row in _ROWS.items():
            rows_given = getattr(part, kind)
            if not isinstance(rows_given, tuple) or not all(_is_row(each, row) for each in rows_given):
                told = f"its {kind} are to be a tuple of {row.__name__}, each with a number and 'module:name'"
                raise BadInput(f"the part '{point.name}' cannot be used: {told}; remove it")
        found[point.name] = (point.value, part)
    return tuple(part for _, part in found.values())


_ROWS: dict[str, type[Row]] = {kind: get_args(hint)[0] for kind, hint in get_type_hints(Part).items() if kind != "name"}


def _is_row(given: object, kind: type[Row]) -> bool:
    return isinstance(given, kind) and isinstance(given.order, int) and ":" in str(given.where)


@cache
def packages() -> tuple[Path, ...]:
    """Return the folders of the packages that parts lie in, rtqual's own first."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as above

    names = ["rtqual", *sorted(point.module.partition(".")[0] for point in entry_points(group=GROUP))]
    specs = [find_spec(name) for name in dict.fromkeys(names)]
    return tuple(Path(spec.origin).parent for spec in specs if spec and spec.origin)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it
        return False


def rows(kind: str) -> list[tuple[Part, Row]]:
    """Return the rows of a kind, which is a field of Part, in their order; in equal places by the parts' names."""
    each = [(part, row) for part in parts() for row in getattr(part, kind)]
    return sorted(each, key=lambda pair: (pair[1].order, pair[0].name))


def tables() -> list[MissionTables]:
    """Return the rows of tables that missions may have."""
    return [row for _, row in rows("tables") if isinstance(row, MissionTables)]


def load(where: str) -> Any:
    """Return what "module:name" names. Raises ImportError where a library lacks, and BadInput for all else."""
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)
    except ImportError:
        raise
    except Exception as error:
        raise BadInput(f"{where}, which a part brings, cannot be loaded: {error}; remove that part") from error


@cache
def brought(kind: str) -> tuple[Any, ...]:
    """Return all things of a kind, in their order. Raises BadInput where a row names nothing."""
    things: list[Any] = []
    for part, row in rows(kind):
        try:
            thing = load(row.where)
        except (ImportError, BadInput) as error:
            why = error.__cause__ if isinstance(error, BadInput) else error  # which names it, too
            raise BadInput(f"the part '{part.name}' names {row.where} among its {kind}: {why}; remove it") from error
        things += thing if isinstance(thing, tuple) else (thing,)
    return tuple(things)


def keyed(kind: str, key: str, what: str) -> Any:
    """Return what parts bring by a key. Raises BadInput that names `what` is asked where none does."""
    for _, row in rows(kind):
        if isinstance(row, Keyed) and row.key == key:
            return load(row.where)
    raise BadInput(f"{what}: no part that is installed brings it (docs/architecture.md)")


@cache
def by_name(kind: str) -> Mapping[str, Any]:
    """Return things of a kind by their `name`. Raises BadInput where two have the same."""
    named: dict[str, list[Any]] = defaultdict(list)
    for thing in brought(kind):
        if not isinstance(name := getattr(thing, "name", None), str):
            raise BadInput(f"a part brings {thing!r:.80} among its {kind}, which has no name: remove that part")
        named[name].append(thing)
    if twice := next((name for name, things in named.items() if len(things) > 1), ""):
        raise BadInput(f"two parts bring '{twice}' among their {kind}: remove one of them")
    return {name: things[0] for name, things in named.items()}


def forget() -> None:
    """Look for parts anew: what is installed has changed."""
    for remembered in (parts, packages, brought, by_name):
        remembered.cache_clear()
