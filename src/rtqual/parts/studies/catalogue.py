# SPDX-License-Identifier: MIT
"""A published study as data: its tables as printed, what is computed from what, and what its text claims.

The data files are TOML, read with decimals, so that 10.000 keeps its zeros. A row is named by its first
cell (and its key columns) in lower case with underscores, or by its alias; tables likewise. Several rows of
one name (one for each CPU), or a group of names, stand for several figures.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from rtqual.base.errors import BadInput
from rtqual.parts.studies.rounded import Rounded

KEYS = ("aarest", "spacechain", "xenomai", "uav", "freertos")
EVERY_ROW = "*"
_CPU = "cpu"
_BOUND = "bound"  # a column that marks a row's figures as limits: "more than", "less than"

Name = Annotated[str, AfterValidator(lambda text: " ".join(text.split()))]
Cell = Decimal | str


def slug(text: str) -> str:
    """'Linux+RT' -> 'linux_rt': what a formula calls it."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class StudySource(_Model):
    key: str
    title: str
    author: str = ""
    hardware: str
    systems: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    method: str = ""


class PrintedTable(_Model):
    """Figures as printed. The first cell of a row is its name and has no entry in `columns`."""

    id: str
    place: str
    caption: str
    unit: str = ""
    units: Mapping[str, str] = {}  # of columns with a unit of their own
    instrument: str = ""  # as rtqual calls it, where it has it
    load: str = "none"
    command: str = ""  # how the study ran it
    parameters: Mapping[str, int] = {}  # what it states of them, as rtqual's instrument names them; durations in ns
    cpus: int | None = None  # as stated
    sizes: Mapping[str, str] = {}  # column -> what rtqual's footprint calls that of a kernel
    differences: Mapping[str, str] = {}  # statistic -> where it is printed that follows from these, as 'table.column'
    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()  # columns that belong to a row's name
    exact: tuple[str, ...] = ()  # columns of counts, which were not rounded
    cut: tuple[str, ...] = ()  # columns of what the tool cut: its 4 us may be 4.99
    rows: tuple[tuple[Cell, ...], ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for row in self.rows:
            if len(row) != len(self.columns) + 1:
                raise ValueError(f"{self.id}: row {row[0]!r} has {len(row) - 1} cells for {len(self.columns)} columns")
        return self

    def unit_of(self, column: str) -> str:
        """Empty for a column of words."""
        return self.units.get(column, self.unit) if column in self.figure_columns else ""

    def row_title(self, row: tuple[Cell, ...]) -> str:
        """'Linux', or 'SpaceChain OS, single-core idle' where a key column belongs to the name."""
        return ", ".join(str(part) for part in (row[0], *(row[1 + self.columns.index(key)] for key in self.keys)))

    def row_label(self, row: tuple[Cell, ...]) -> str:
        """The title, with the CPU where a table has a row for each."""
        return f"{self.row_title(row)}, CPU {self.number(row, _CPU)}" if _CPU in self.columns else self.row_title(row)

    @property
    def figure_columns(self) -> tuple[str, ...]:
        """Those of measured or computed figures: no words, no numbers of CPUs."""
        words = {
            column for n, column in enumerate(self.columns, 1) if any(isinstance(row[n], str) for row in self.rows)
        }
        return tuple(column for column in self.columns if column not in {*words, _CPU})

    def number(self, row: tuple[Cell, ...], column: str) -> Decimal:
        number = row[1 + self.columns.index(column)]
        if not isinstance(number, Decimal):
            raise ValueError(f"{self.id}: {number!r} in column {column} is no figure")
        return number

    def figure(self, row: tuple[Cell, ...], column: str) -> Rounded:
        number = self.number(row, column)
        limit = row[1 + self.columns.index(_BOUND)] if _BOUND in self.columns else ""
        if limit:
            return Rounded.above(number) if limit == "more than" else Rounded.below(number)
        if column in self.exact:
            return Rounded.exact(number)
        return Rounded.cut(number) if column in self.cut else Rounded.printed(number)


class StudyRule(_Model):
    """What figures of a study are computed from, once for every combination of `each`.

    `at` names a row; `columns` gives for its columns a formula each, in which short names are completed from
    `source` (`at` unless given). '<= max' states a bound, anything else what the figure is equal to.
    """

    each: Mapping[str, str | tuple[str, ...]] = {}  # the last one walks down the rows of a table
    at: str
    source: Annotated[str, Field(alias="from")] = ""
    columns: Mapping[str, str]
    says: str = ""  # the formula in words, where it does not speak for itself
    instead: Mapping[str, str] = {}  # formulas of what may have been printed in its place
    instead_says: str = ""
    note: str = ""  # further notes for the reader of a finding


class ClaimCheck(_Model):
    """`value` is computed, `must` is what the text claims of it: '< 0.5', '== 360'."""

    each: Mapping[str, str | tuple[str, ...]] = {}
    value: str
    must: str
    says: str  # what the value is, in words
    printed: str = ""  # the claim as a figure or order, where `must` does not say it
    order: bool = False
    note: str = ""


class Claim(_Model):
    """A sentence of the study with the checks it allows, or why it allows none."""

    place: str
    text: Name
    check: tuple[ClaimCheck, ...] = ()
    not_judged: Name = ""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.check) == bool(self.not_judged):
            raise ValueError(f"{self.text!r} needs either checks or the reason why there are none")
        return self


class StudyChoice(_Model):
    """How a study chose, in words, and what."""

    place: str
    rule: Name
    chosen: str  # row


class Stated(_Model):
    """What the text states of some systems' kernels, by the needs of a mission."""

    needs: tuple[str, ...]
    rows: tuple[str, ...]
    met: bool
    place: str
    text: Name


class Study(_Model):
    source: StudySource
    tables: tuple[PrintedTable, ...] = Field(alias="table")
    alias: Mapping[str, str] = {}  # a row's name -> what formulas call it
    groups: Mapping[str, tuple[str, ...]] = {}
    rules: tuple[StudyRule, ...] = Field((), alias="rule")
    claims: tuple[Claim, ...] = Field((), alias="claim")
    choice: StudyChoice | None = None
    beside: str = ""  # what was found here that its figures do not tell; Markdown
    stated: tuple[Stated, ...] = ()
    removed_drivers: Mapping[str, tuple[str, ...]] = {}

    @property
    def key(self) -> str:
        return self.source.key

    @cached_property
    def _by_name(self) -> dict[str, PrintedTable]:
        return {slug(table.id): table for table in self.tables}

    def table(self, name: str) -> PrintedTable:
        """By its id, or what formulas make of it."""
        found = self._by_name.get(slug(name))
        if found is None:
            raise BadInput(f"study {self.key} has no table {name!r}; it has {', '.join(t.id for t in self.tables)}")
        return found

    @cached_property
    def measured(self) -> Mapping[tuple[str, str, int | None], PrintedTable]:
        """(instrument, load, CPUs) -> the fullest of the tables that print what the instrument measures."""
        found: dict[tuple[str, str, int | None], PrintedTable] = {}
        for table in self.tables:
            key = (table.instrument, table.load, table.cpus)
            if table.instrument and (key not in found or len(table.rows) > len(found[key].rows)):
                found[key] = table
        return found

    def row_name(self, table: PrintedTable, row: tuple[Cell, ...]) -> str:
        title = table.row_title(row)
        return self.alias.get(title, slug(title))

    def rows_of(self, table: PrintedTable) -> tuple[str, ...]:
        """The names of a table's rows, each once, from top to bottom."""
        return tuple(dict.fromkeys(self.row_name(table, row) for row in table.rows))

    def named(self, table: PrintedTable, name: str) -> Iterator[tuple[Cell, ...]]:
        """The rows a name or a group stands for."""
        names = self.groups.get(name, (name,))
        found = [row for row in table.rows if self.row_name(table, row) in names]
        if not found:
            raise ValueError(f"{self.key}, {table.id}: no row {name!r}; there are {', '.join(self.rows_of(table))}")
        return iter(found)

    def figures(self, path: tuple[str, ...]) -> tuple[Rounded, ...]:
        """Those of (table, row, column). Raises ValueError for a name the study does not have."""
        if len(path) != 3 or path[0] not in self._by_name:
            raise ValueError(f"{self.key}: {'.'.join(path)!r} names no figure; write table.row.column")
        table = self._by_name[path[0]]
        if path[2] not in table.columns:
            raise ValueError(f"{self.key}, {table.id}: no column {path[2]!r}; there are {', '.join(table.columns)}")
        return tuple(table.figure(row, path[2]) for row in self.named(table, path[1]))


def parse(text: str) -> Study:
    return Study.model_validate(tomllib.loads(text, parse_float=Decimal))


@cache
def study(key: str) -> Study:
    """One of the published studies. Raises BadInput for an unknown key."""
    if key not in KEYS:
        raise BadInput(f"no published study {key!r}; there are {', '.join(KEYS)}")
    return parse((files("rtqual.parts.studies") / "data" / f"{key}.toml").read_text())


def studies() -> tuple[Study, ...]:
    return tuple(study(key) for key in KEYS)


@cache
def systems() -> Mapping[str, tuple[str, str]]:
    """Every system of which a study prints measurements: 'aarest/minibian-xenomai' -> its study and row."""
    return {
        f"{publication.key}/{row.replace('_', '-')}": (publication.key, row)
        for publication in studies()
        for table in publication.measured.values()
        for row in publication.rows_of(table)
    }
