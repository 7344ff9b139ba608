# SPDX-License-Identifier: MIT
"""What the flight engineer wrote, as a typed model."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, Strict, model_validator
from pydantic.config import JsonDict

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture, of_kernel
from rtqual.base.errors import BadInput
from rtqual.base.units import DURATIONS_NS, DurationNs
from rtqual.mission.explain import At, suggest
from rtqual.mission.values import (
    BootParameter,
    CpuCount,
    Distinct,
    InstrumentName,
    Limit,
    LoadName,
    Margin,
    NonEmpty,
    PackageName,
    ParameterTables,
    PublishedSystem,
    Quantity,
    Release,
    Slug,
    Symbol,
    Text,
)

DEFAULT_SCALE = "demo"
PUBLISHED = "published"  # the board of systems whose figures a study printed


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


class Preempt(StrEnum):
    NONE = "none"
    VOLUNTARY = "voluntary"
    FULL = "full"


class Statistic(StrEnum):
    """A figure read from samples; the last two are how the AAReST study defines stability."""

    MIN = "min"
    AVG = "avg"
    MAX = "max"
    STD = "std"
    P50 = "p50"
    P90 = "p90"
    P95 = "p95"
    P99 = "p99"
    P99_9 = "p99.9"
    P99_99 = "p99.99"
    P99_999 = "p99.999"
    RANGE = "max-min"
    P95_AVG = "p95-avg"


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        use_attribute_docstrings=True,
    )


class Header(_Table):
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
    """What every candidate's kernel must have in its configuration; a candidate that lacks one is out."""
    accept_virtual: Annotated[bool, Strict()] = Field(False, alias="accept-virtual")
    """true: take the virtual board's counted instructions for time, so that it may say "fly". For continuous
    integration; the report says so."""


def _one_of(*keys: str) -> JsonDict:
    return {"oneOf": [{"required": [key]} for key in keys]}


class Rtos(StrEnum):
    """An operating system that comes as one image with the probe."""

    FREERTOS = "freertos"


class TailorStart(StrEnum):
    """Where tailoring a kernel begins; a path to a configuration is a third way."""

    MINIMAL = "minimal"
    DEBIAN = "debian"


class RootSystem(StrEnum):
    """A root file system that flies, in place of the one that the battery of benchmarks brings (docs/image.md)."""

    MINIMAL = "minimal"
    DEBIAN = "debian"


class Tailor(_Table):
    """A kernel cut down to the mission's needs and built from source (docs/tailor.md)."""

    source: Text = "linux-source-6.12"
    """Debian package of the kernel's source, or the path of a tree (with a "/" in it)."""
    patches: Annotated[tuple[Text, ...], Distinct] = ()
    """Paths of patches applied to the tree first, in this order, as the RT patch of an older kernel."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    """The processor it is built for."""
    start: Text = TailorStart.MINIMAL
    """Where it begins: "minimal" (the smallest kernel), "debian", or the path of a configuration."""
    baseline: Slug | None = None
    """The candidate whose figures stand before; without one, the first that has a package."""
    needs: Annotated[tuple[Text, ...], Distinct] = ("filesystems", "virtual-board", "test-modules")
    """What it is built for beyond the mission's needs: names of rules (docs/tailor.md)."""
    keep: Annotated[tuple[Text, ...], Distinct] = ()
    """Entries of the removal list that are not asked to go, by their ids: "input"."""
    restore: Annotated[tuple[Text, ...], Distinct] = ()
    """Entries that are put in first, as Debian's kernel has them, and kept: what the stepwise mode removes."""
    require: dict[Symbol, Annotated[str, NonEmpty] | Annotated[int, Strict()]] = {}
    """Further symbols and the values they must have: "y", "m", "n", a number or a text."""
    forbid: Annotated[tuple[Symbol, ...], Distinct] = ()
    """Further symbols that must be off."""
    goals: dict[Text, Margin] = {}
    """What tailoring is to reach in figures of the footprint: at most a size, or a part of the baseline's, "50 %"."""

    def __hash__(self) -> int:  # its tables are dictionaries, and candidates stand in sets
        return hash(repr(self))


class Candidate(_Table, json_schema_extra=_one_of("package", "rtos", "this-machine", "published", "tailor")):
    """An operating system under evaluation: a kernel, an RTOS, this machine, or one that a study measured."""

    name: Slug
    """Short name, used by the plans; no other candidate may have it."""
    title: Text
    """What a report calls it."""
    package: PackageName | None = None
    """Debian package of the kernel, as "linux-image-rt-amd64". Or rtos, this-machine, published, tailor."""
    rtos: Rtos | None = None
    """A real-time operating system that carries only rtqual's probe: "freertos". It runs on the virtual ARM board."""
    this_machine: Annotated[bool, Strict()] = Field(False, alias="this-machine")
    """true: the machine rtqual runs on. It is a flight candidate only where release or preempt-rt says what it runs."""
    release: Release | None = None
    """The kernel that this machine must run to be measured as this candidate, as `uname -r` prints it."""
    preempt_rt: Annotated[bool, Strict()] | None = Field(None, alias="preempt-rt")
    """Whether the kernel that this machine must run is a PREEMPT_RT one."""
    published: PublishedSystem | None = None
    """A system whose figures a study printed, as "aarest/emlid". It is not run."""
    tailor: Tailor | None = None
    """A kernel that rtqual cuts down to the mission's needs and builds, [candidate.tailor]."""
    preempt: Preempt | None = None
    """Boots a kernel of selectable preemption with preempt=none, voluntary or full."""
    boot: Annotated[tuple[BootParameter, ...], Distinct] = ()
    """Further kernel parameters, each a string of its own."""
    root: RootSystem | None = None
    """Boots the kernel with the root of a system image, "minimal" or "debian", and measures in it."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        other = "this-machine = true, which runs as it is" if self.this_machine else ""
        if self.published:
            if self.this_machine:
                raise At("published", "cannot stand beside this-machine = true; keep one of the two")
            other = "published, whose figures are printed"
        if self.rtos:
            if other:
                raise At("rtos", f"cannot stand beside {other}; keep one of the two")
            other = "rtos, which is one image with its kernel"
        if self.tailor:
            if other:
                raise At("tailor", f"cannot stand beside {other}; keep one of the two")
            for key in ("package", "preempt"):
                if getattr(self, key):
                    raise At(key, "cannot stand beside [candidate.tailor], whose kernel rtqual builds; leave it out")
        elif other:
            for key, given in (
                *(("package", self.package), ("preempt", self.preempt), ("boot", self.boot), ("root", self.root)),
            ):
                if given:
                    raise At(key, f"cannot stand beside {other}; leave it out")
        elif self.package is None:
            raise ValueError(
                'names no system; write package = "linux-image-...", rtos = "freertos", this-machine = true, '
                'published = "STUDY/SYSTEM" or a table [candidate.tailor]'
            )
        return self

    @property
    def board(self) -> str:
        """Where it is measured: figures of two boards are not ranked together."""
        if self.published:
            return PUBLISHED
        if self.this_machine:
            return "local"
        return (self.architecture or ARMHF).board

    @property
    def architecture(self) -> Architecture | None:
        """Of a kernel that boots on a virtual board."""
        if self.tailor:
            return ARM64 if self.tailor.architecture == ARM64.name else AMD64
        return of_kernel(self.package) if self.package else None


class _Figure(_Table):
    """A measured figure: an instrument under a load, and what is read from its samples."""

    name: Text
    """What a report calls it; no other of its kind may have it."""
    instrument: InstrumentName
    """The program that measures it."""
    load: LoadName = "none"
    """The disturbance it is measured under."""
    statistic: Statistic | None = None
    """The figure read from the samples. Exactly one of statistic and scalar."""
    scalar: Text | None = None
    """The name of a figure that the instrument itself prints, as "requests_per_s"."""
    margin: Margin | None = None
    """A difference between candidates that does not matter, as "2 us", or "5 %" of the smaller figure."""

    @model_validator(mode="after")
    def _one_figure(self) -> Self:
        if self.statistic and self.scalar:
            raise At("scalar", "stands beside statistic; keep one of the two")
        if not self.statistic and not self.scalar:
            raise ValueError(f"says no figure; write statistic ({', '.join(Statistic)}) or scalar")
        if self.statistic and self.margin and self.margin.unit not in ("ns", "%"):
            raise At("margin", f"{self.margin.text!r} is no margin for a statistic of durations: write '2 us' or '5 %'")
        return self


class Requirement(
    _Figure, json_schema_extra={"allOf": [_one_of("statistic", "scalar"), _one_of("at_most", "at_least")]}
):
    """A gate: a candidate whose figure does not keep the limit is out."""

    at_most: Limit | None = None
    """Upper limit: a duration for a statistic; a duration, size or number for a scalar."""
    at_least: Limit | None = None
    """Lower limit. Exactly one of at_most and at_least."""

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.at_most and self.at_least:
            raise At("at_least", "stands beside at_most; keep one, and write a second requirement for the other")
        if not self.at_most and not self.at_least:
            raise ValueError('has no limit; write at_most or at_least, as at_most = "100 us"')
        if self.statistic and self.limit.unit != "ns":
            raise At(
                "at_most" if self.at_most else "at_least",
                f"{self.limit.text!r} is no limit for a statistic of durations: write a number and one of "
                f"{', '.join(DURATIONS_NS)}, as '100 us'",
            )
        return self

    @property
    def limit(self) -> Quantity:
        limit = self.at_most or self.at_least
        assert limit is not None, "one of the two is given"  # noqa: S101
        return limit


class Criterion(_Figure, json_schema_extra=_one_of("statistic", "scalar")):
    """A preference among the candidates that passed every gate."""

    weight: Annotated[float, Strict(), Field(gt=0, allow_inf_nan=False)]
    """Its share in the total, relative to the other criteria's weights."""
    better: Better = Better.LOWER
    """Which way is better."""


class Plan(_Table):
    """Cells to run: the product of the lists, each cell so many times."""

    candidates: Annotated[tuple[Slug, ...], NonEmpty, Distinct] = ()
    """Names of candidates; all of the mission's that can run when left out."""
    instruments: Annotated[tuple[InstrumentName, ...], NonEmpty, Distinct]
    """What measures."""
    loads: Annotated[tuple[LoadName, ...], NonEmpty, Distinct] = ("none",)
    """What disturbs."""
    cpus: Annotated[tuple[CpuCount, ...], NonEmpty, Distinct] = (1,)
    """Numbers of CPUs of the virtual board: 1, 2 or 4."""
    runs: Annotated[int, Strict(), Field(ge=1)]
    """How often each cell runs, each time with another seed."""
    parameters: ParameterTables = {}
    """Parameters of instruments in this plan; they win over those of the scale."""


class Scale(_Table):
    """How much to measure."""

    parameters: ParameterTables = {}
    """Parameters of instruments at this scale; they win over those that hold at every scale."""
    plan: tuple[Plan, ...]
    """What to run, one [[scale.NAME.plan]] each; [] where all candidates are published."""


class Mission(_Table):
    """What the mission needs, the candidates, and how to choose between them."""

    mission: Header
    """What the mission is."""
    candidates: Annotated[tuple[Candidate, ...], NonEmpty] = Field(alias="candidate")
    """The systems to choose from, one [[candidate]] each."""
    requirements: tuple[Requirement, ...] = Field((), alias="requirement")
    """Gates on measured figures, one [[requirement]] each."""
    criteria: tuple[Criterion, ...] = Field((), alias="criterion")
    """Weighted preferences, one [[criterion]] each."""
    parameters: ParameterTables = {}
    """Parameters of instruments that hold at every scale, one [parameters.INSTRUMENT] each."""
    scales: Annotated[dict[Slug, Scale], NonEmpty] = Field(alias="scale")
    """How much to measure, one [scale.NAME] each; "demo" is the one used unless another is asked for."""

    _path: Path | None = PrivateAttr(None)
    _sha256: str = PrivateAttr("")

    @property
    def path(self) -> Path | None:
        """The file it was loaded from."""
        return self._path

    @property
    def sha256(self) -> str:
        """Hash of the file's bytes; empty for a mission that was not loaded from a file."""
        return self._sha256

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

    def baseline(self, tailored: Candidate) -> str | None:
        """The candidate that a tailored kernel is compared with; none where no other kernel is its equal's board."""
        if tailored.tailor and tailored.tailor.baseline:
            return tailored.tailor.baseline
        return next((c.name for c in self.candidates if c.package and c.board == tailored.board), None)

    def parameters_for(self, scale: str, instrument: str, plan: Plan | None = None) -> dict[str, Any]:
        """An instrument's parameters as they are written: those of the plan over the scale's over the mission's."""
        tables = (self.parameters, self.scale(scale).parameters, plan.parameters if plan else {})
        return {name: value for table in tables for name, value in table.get(instrument, {}).items()}
