# SPDX-License-Identifier: MIT
"""What the flight engineer wrote, as a typed model."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import product
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Self

from pydantic import Field, PrivateAttr, Strict, create_model, model_validator

from rtqual.base.errors import BadInput
from rtqual.base.units import DURATIONS_NS, DurationNs
from rtqual.engine.mission.board_table import BoardTable
from rtqual.engine.mission.candidate import Candidate
from rtqual.engine.mission.explain import At, shown, suggest
from rtqual.engine.mission.program import Program
from rtqual.engine.mission.table import NamedFigure, Table, one_limit, one_of
from rtqual.engine.mission.values import (
    AUTO,
    MOST_RUNS,
    CpuCount,
    Distinct,
    InstrumentName,
    Limit,
    LoadName,
    Margin,
    ModelName,
    NonEmpty,
    ParameterTables,
    Quantity,
    Runs,
    Slug,
    Text,
)
from rtqual.engine.mission.verify_table import Verify
from rtqual.protocols import part
from rtqual.protocols.board.registry import BoardRow, modelled
from rtqual.protocols.instrument import Instrument
from rtqual.protocols.instrument.all_instruments import all_instruments

DEFAULT_SCALE = "demo"
# Board, candidate, instrument, load, CPUs (0 where the machine decides on them).
PlannedCell = tuple[str, str, str, str, int]
_KEY = re.compile(r"[a-z][a-z0-9-]*")  # of a table
FIRST_LOOK, USUAL_MOST = 10, 80  # runs, with runs = "auto"; fewer than the first give no interval (docs/statistics.md)


class Need(StrEnum):
    """What the mission asks of a kernel; read from the kernel's configuration, not measured."""

    REALTIME = "realtime"
    USB = "usb"
    USB_STORAGE = "usb-storage"
    WIFI = "wifi"
    DEPTH_CAMERA = "depth-camera"
    ETHERNET = "ethernet"
    SERIAL = "serial"
    I2C = "i2c"
    SPI = "spi"
    GPIO = "gpio"
    TRACING = "tracing"


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


class Header(Table):
    """What the mission is."""

    name: Slug
    """Short name of the mission; records and reports carry it."""
    title: Text
    """One line for the top of a report."""
    purpose: Text
    """One paragraph: what the computer does, and why it matters when it is late."""
    duration: Annotated[DurationNs, Field(gt=0)]
    """How long the critical phase lasts, as "6 h"."""
    needs: Annotated[tuple[Need, ...], Distinct] = ()
    """What every candidate's kernel must have; read from its configuration, not measured. A candidate that lacks one is
    out."""
    accept_virtual: Annotated[bool, Strict()] = Field(False, alias="accept-virtual")
    """For continuous integration: the virtual board's counted (never modelled) instructions are taken for time, so that
    it may say "fly". The report says so."""


class Paper(Table):
    """What a review board wants on the first page of the report; lines to sign are printed for what is left out."""

    number: Text = ""
    """The document's number."""
    issue: Text = ""
    """Its issue, as "2" or "B"."""
    date: Text = ""
    """Its date. rtqual adds none, since equal records give an equal report."""
    place: Text = ""
    """Where the tests ran. rtqual notes machine, user and times of its own calls anyway."""
    tested: Text = ""
    """Who ran them."""
    prepared: Text = ""
    """Who prepared it."""
    reviewed: Text = ""
    """Who reviewed it."""
    approved: Text = ""
    """Who approved it."""


class _Measured(NamedFigure):
    """A measured figure: an instrument under a load, and what is read from its samples."""

    instrument: InstrumentName
    """The program that measures it."""
    load: LoadName = "none"
    """The disturbance it is measured under."""
    series: Text = ""
    """Which series of the instrument, where it samples several: a name, or a pattern, as "loop by *: end to end"; all
    when left out (docs/series.md)."""
    margin: Margin | None = None
    """A difference between candidates that does not matter, as "2 us", or "5 %" of the smaller figure."""

    @model_validator(mode="after")
    def _fitting_margin(self) -> Self:
        if self.series and not self.statistic:
            raise At("series", "stands beside scalar; a scalar is of no series, leave it out")
        if self.statistic and self.margin and self.margin.unit not in ("ns", "%"):
            raise At("margin", f"{self.margin.text!r} is no margin for a statistic of durations: write '2 us' or '5 %'")
        return self


class Requirement(
    _Measured, json_schema_extra={"allOf": [one_of("statistic", "scalar"), one_of("at_most", "at_least")]}
):
    """A gate: a candidate whose figure does not meet the limit is out."""

    at_most: Limit | None = None
    """Upper limit: a duration for a statistic; a duration, size or number for a scalar."""
    at_least: Limit | None = None
    """Lower limit. Exactly one of at_most and at_least."""
    id: Text = ""
    """Its number, as "RT-010"; it stands before the name everywhere."""
    parent: Text = ""
    """The requirement that it was derived from."""
    rationale: Text = ""
    """Why it is asked, and why with this limit."""
    deviation: Text = ""
    """A departure that was agreed beforehand, and by whom. Every outcome shows it; it changes none."""
    waiver: Text = ""
    """A departure that was accepted afterwards, and by whom. Every outcome shows it; it changes none."""

    @model_validator(mode="after")
    def _numbered(self) -> Self:
        if self.deviation and self.waiver:
            raise At("waiver", "stands beside deviation; keep one: what was agreed before, or what was accepted after")
        if self.id and not self.name.startswith(f"{self.id} "):
            self.__dict__["name"] = f"{self.id} {self.name}"  # frozen for all others
        return self

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.limit.unit != "ns" and self.statistic:
            raise At(
                "at_most" if self.at_most else "at_least",
                f"{self.limit.text!r} is no limit for a statistic of durations: write a number and one of "
                f"{', '.join(DURATIONS_NS)}, as '100 us'",
            )
        return self

    @property
    def limit(self) -> Quantity:
        return one_limit(self.at_most, self.at_least, "requirement", "100 us")

    @property
    def origin(self) -> dict[str, str]:
        """Where it comes from and what was agreed on it, those that are stated."""
        said = {name: getattr(self, name) for name in ("id", "parent", "rationale", "deviation", "waiver")}
        return {name: text for name, text in said.items() if text}


class Criterion(_Measured, json_schema_extra=one_of("statistic", "scalar")):
    """A weighted preference among the candidates that passed every gate. Only the part of a difference from the best
    that exceeds the margin counts."""

    weight: Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]
    """Its share in the total, relative to the other criteria's weights."""
    better: Better = Better.LOWER
    """Which way is better."""

    @model_validator(mode="after")
    def _one_series(self) -> Self:
        if set(self.series) & set("*?["):
            raise At("series", f"{self.series!r} may be several, and a criterion ranks by one: write its whole name")
        return self


class Plan(Table):
    """Cells to run: the product of the lists, each cell so many times."""

    candidates: Annotated[tuple[Slug, ...], NonEmpty, Distinct] = ()
    """Names of candidates; all of the mission's that can run when left out."""
    boards: Annotated[tuple[Slug, ...], NonEmpty, Distinct] = ()
    """Boards to run on; those of a model share the runs. Each candidate's own board when left out."""
    models: Annotated[tuple[ModelName, ...], NonEmpty, Distinct] = ()
    """The candidates' virtual boards with the memory of a model, a board of its own each (docs/memory.md); with
    "parallel" their CPUs run side by side and memory costs nothing. Not beside boards."""
    instruments: Annotated[tuple[InstrumentName, ...], NonEmpty, Distinct]
    """What measures."""
    loads: Annotated[tuple[LoadName, ...], NonEmpty, Distinct] = ("none",)
    """What disturbs."""
    cpus: Annotated[tuple[CpuCount, ...], NonEmpty, Distinct] = (1,)
    """CPUs of the virtual board. This machine uses all of its own: leave cpus out."""
    runs: Runs
    """How often each cell runs, each time with another seed; "auto": until what the mission asks of it is decided. A
    scale's plans make at most 100,000 runs together."""
    most_runs: Annotated[int, Strict(), Field(ge=FIRST_LOOK, le=MOST_RUNS)] | None = None
    """With runs = "auto", how many at most; 80 when left out."""
    parameters: ParameterTables = Field({})
    """Parameters of instruments in this plan; they win over those of the scale."""

    @model_validator(mode="after")
    def _fitting_most(self) -> Self:
        if self.most_runs is not None and self.runs != AUTO:
            raise At("most_runs", f'needs runs = "{AUTO}" beside it')
        if self.models and self.boards:
            raise At("models", "stands beside boards; write a plan for each, models are of virtual boards")
        return self

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of runs after which a campaign looks whether it may stop; the only one where it is fixed."""
        if self.runs != AUTO:
            return (self.runs,)
        looks, most = [FIRST_LOOK], self.most_runs or USUAL_MOST
        while looks[-1] < most:
            looks.append(min(2 * looks[-1], most))
        return tuple(looks)


class Scale(Table):
    """How much to measure."""

    parameters: ParameterTables = Field({})
    """Parameters of instruments at this scale; they win over those that hold at every scale."""
    explain: Annotated[int, Strict(), Field(ge=0, le=20)] = 0
    """How many of the worst wake-ups of each candidate under each load the report explains (docs/explain.md): of
    cyclictest on one CPU of a virtual board, of probe-wakeup on FreeRTOS."""
    boots: Annotated[int, Strict(), Field(ge=1, le=100)] = 1
    """From how many boots of each kernel on a virtual board the runs begin, by turns, so that the evidence holds what
    boots differ by (docs/statistics.md). Each takes some 200 MB of the cache meanwhile."""
    plan: tuple[Plan, ...]
    """What to run, one [[scale.NAME.plan]] each; [] where all candidates are published."""


class Mission(Table):
    """What the mission needs, the candidates, and how to choose between them."""

    mission: Header
    """What the mission is."""
    candidates: Annotated[tuple[Candidate, ...], NonEmpty] = Field(alias="candidate")
    """The systems to choose from, one [[candidate]] each."""
    boards: tuple[BoardTable, ...] = Field((), alias="board")
    """The computers to measure on, one [[board]] each."""
    requirements: tuple[Requirement, ...] = Field((), alias="requirement")
    """Gates on measured figures, one [[requirement]] each."""
    criteria: tuple[Criterion, ...] = Field((), alias="criterion")
    """Weighted preferences, one [[criterion]] each."""
    document: Paper = Field(Paper())
    """The report's number, date and signatures, one [document]."""
    programs: tuple[Program, ...] = Field((), alias="program")
    """The user's own software, one [[program]] each; "program-NAME" is then an instrument (docs/programs.md)."""
    verify: Verify | None = None
    """What `rtqual verify` is to show of the whole system, one [verify]."""
    parameters: ParameterTables = Field({})
    """Parameters of instruments that hold at every scale, one [parameters.INSTRUMENT] each."""
    loads: dict[LoadName, dict[str, Any]] = Field({}, alias="load")
    """How a load runs where it is not as it is by default, one [load.NAME] each; and loads of the user's own, which may
    be written as [[load]] too, each with its name."""
    scales: Annotated[dict[Slug, Scale], NonEmpty] = Field(alias="scale")
    """How much to measure, one [scale.NAME] each; "demo" is the one used unless another is asked for."""

    _path: Path | None = PrivateAttr(None)
    _folder: Path | None = PrivateAttr(None)
    _sha256: str = PrivateAttr("")
    _is_derived: bool = PrivateAttr(False)

    @property
    def path(self) -> Path | None:
        """The file it was loaded from."""
        return self._path

    @property
    def sha256(self) -> str:
        """Hash of the file's bytes; empty for a mission that was not loaded from a file."""
        return self._sha256

    @property
    def is_derived(self) -> bool:
        """Whether rtqual made it from the file's mission; it is not what the file says then."""
        return self._is_derived

    def derived_from(self, mission: "Mission") -> "Mission":
        """This mission as one that was made from another, whose file it names."""
        derived = self.model_copy()
        derived._path, derived._sha256, derived._is_derived = mission.path, mission.sha256, True
        return derived

    def lying_in(self, folder: Path) -> "Mission":
        """This mission, a copy of one whose paths are relative to that folder."""
        moved = self.model_copy()
        moved._folder = folder
        return moved

    def instrument(self, name: str) -> Instrument:
        """Return what the mission calls so: one that parts bring, or a program of its own. Raises BadInput."""
        if (found := all_instruments().get(name)) is None:
            raise BadInput(
                f"{self.path or self.mission.name}: no part that is installed brings the instrument {name!r}"
            )
        return found

    def brought(self, key: str) -> Sequence[Any]:
        """Return the tables of a kind that a part brings, [[key]] each."""
        tables: Sequence[Any] = getattr(self, key, ())
        return tables

    @property
    def folder(self) -> Path:
        """What the paths in it are relative to."""
        return self._folder or (self.path.parent if self.path else Path())

    def scale(self, name: str = DEFAULT_SCALE) -> Scale:
        """The scale of that name. Raises BadInput with the names there are."""
        if name not in self.scales:
            raise BadInput(f"{self.path or self.mission.name}: no scale {name!r}; {suggest(name, self.scales)}")
        return self.scales[name]

    def candidates_of(self, plan: Plan) -> tuple[Candidate, ...]:
        """The candidates a plan runs, in the mission's order."""
        return tuple(
            c for c in self.candidates if not c.published and (not plan.candidates or c.name in plan.candidates)
        )

    def places_of(self, plan: Plan, candidate: Candidate) -> tuple[BoardRow, ...]:
        """The boards that a plan runs a candidate on."""
        if plan.boards:
            return tuple(board.place for board in self.boards if board.name in plan.boards)
        if plan.models:
            return modelled(candidate.place, plan.models) if candidate.place else ()
        return (candidate.place,) if candidate.place else ()

    def cells_of(self, plan: Plan) -> Iterator[PlannedCell]:
        """All that a plan runs."""
        for candidate, instrument, load in product(self.candidates_of(plan), plan.instruments, plan.loads):
            for place in self.places_of(plan, candidate):
                for cpus in (0,) if place.cpus else plan.cpus:
                    yield place.name, candidate.name, instrument, load, cpus

    def baseline(self, tailored: Candidate) -> str | None:
        """The candidate that a tailored kernel is compared with; none where no other kernel is its equal's board."""
        if tailored.tailor and tailored.tailor.baseline:
            return tailored.tailor.baseline
        return next((c.name for c in self.candidates if c.package and c.board == tailored.board), None)

    def parameters_for(self, scale: str, instrument: str, plan: Plan | None = None) -> dict[str, Any]:
        """An instrument's parameters as they are written: those of the plan over the scale's over the mission's."""
        own = {program.instrument: {"program": program} for program in self.programs}
        tables = (own, self.parameters, self.scale(scale).parameters, plan.parameters if plan else {})
        return {name: value for table in tables for name, value in table.get(instrument, {}).items()}


def mission_type() -> type[Mission]:
    """Return the mission with the tables that parts bring. Raises BadInput where one cannot be."""
    return _with(tuple(part.tables()))


@cache
def _with(tables: tuple[part.MissionTables, ...]) -> type[Mission]:
    taken = {*dir(Mission), *(field.alias or name for name, field in Mission.model_fields.items())}
    fields: dict[str, Any] = {}
    for row, model in zip(tables, part.brought("tables"), strict=True):
        if row.key in taken or row.key in fields or not _KEY.fullmatch(row.key):
            raise BadInput(f"{row.where}: {shown(row.key)} is no key that a part may bring; remove the part")
        if not (isinstance(model, type) and issubclass(model, Table) and "name" in model.model_fields):
            raise BadInput(f"{row.where}: is no model of a table with a name; remove the part that brings it")
        fields[row.key] = (GenericAlias(tuple, (model, ...)), Field((), description=row.summary))
    return create_model(Mission.__name__, __base__=Mission, __doc__=Mission.__doc__, **fields)
