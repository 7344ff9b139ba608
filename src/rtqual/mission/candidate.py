# SPDX-License-Identifier: MIT
"""A candidate of a mission file: an operating system under evaluation, and the board that runs it."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from rtqual.base.architecture import AMD64, ARM64, Architecture, of_kernel
from rtqual.board.registry import Row, row_for
from rtqual.mission.explain import At
from rtqual.mission.table import Table, one_of
from rtqual.mission.values import (
    BootParameter,
    Distinct,
    Margin,
    NonEmpty,
    PackageName,
    PublishedSystem,
    Release,
    Replayed,
    Slug,
    Symbol,
    Text,
)

PUBLISHED = "published"  # the board of systems whose figures a study printed


class Preempt(StrEnum):
    NONE = "none"
    VOLUNTARY = "voluntary"
    FULL = "full"


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


class Tailor(Table):
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
    require: dict[Symbol, Annotated[str, NonEmpty] | Annotated[int, Strict()]] = Field({})
    """Further symbols and the values they must have: "y", "m", "n", a number or a text."""
    forbid: Annotated[tuple[Symbol, ...], Distinct] = ()
    """Further symbols that must be off."""
    goals: dict[Text, Margin] = Field({})
    """What tailoring is to reach in figures of the footprint: at most a size, or a part of the baseline's, "50 %"."""

    def __hash__(self) -> int:  # its tables are dictionaries, and candidates stand in sets
        return hash(repr(self))


# The keys of which a candidate has one, in the order they are looked for -> what it is, where another stands beside it.
_KINDS = {
    "this_machine": "this-machine = true, which runs as it is",
    "published": "published, whose figures are printed",
    "replay": "replay, whose runs are recorded",
    "rtos": "rtos, which is one image with its kernel",
    "tailor": "[candidate.tailor], whose kernel rtqual builds",
    "package": "",
}
_OF_KERNELS = ("package", "preempt", "boot", "root")  # keys of what boots a kernel; a built one is no package


class Candidate(Table, json_schema_extra=one_of("package", "rtos", "this-machine", "published", "replay", "tailor")):
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
    replay: Replayed | None = None
    """A candidate of a campaign that ended, as "out/docking-demo/debian-rt": its records are taken, nothing runs."""
    tailor: Tailor | None = None
    """A kernel that rtqual cuts down to the mission's needs and builds, [candidate.tailor]."""
    preempt: Preempt | None = None
    """Boots a kernel of selectable preemption with preempt=none, voluntary or full."""
    boot: Annotated[tuple[BootParameter, ...], Distinct] = ()
    """Further kernel parameters, each a string of its own."""
    root: RootSystem | None = None
    """Boots the kernel with the root of a system image, "minimal" or "debian", and measures in it."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [key for key in _KINDS if key != "package" and getattr(self, key)]
        if len(kinds) > 1:
            raise At(kinds[1], f"cannot stand beside {_KINDS[kinds[0]]}; keep one of the two")
        for key in _OF_KERNELS[:2] if self.tailor else _OF_KERNELS if kinds else ():
            if getattr(self, key):
                raise At(key, f"cannot stand beside {_KINDS[kinds[0]]}; leave it out")
        for key, given in (("release", self.release), ("preempt-rt", self.preempt_rt)):
            if given is not None and not self.this_machine:
                raise At(key, "says what this machine must run; write it beside this-machine = true, or leave it out")
        if not kinds and self.package is None:
            raise ValueError(
                'names no system; write package = "linux-image-...", rtos = "freertos", this-machine = true, '
                'published = "STUDY/SYSTEM", replay = "FOLDER/CANDIDATE" or a table [candidate.tailor]'
            )
        return self

    def may_be(self, other: "Candidate") -> bool:
        """Whether one running kernel could be both, as far as they state what this machine must run."""
        stated = ((self.release, other.release), (self.preempt_rt, other.preempt_rt))
        return not any(a is not None and b is not None and a != b for a, b in stated)

    @property
    def kind(self) -> str:
        """The key that says what it is."""
        return next(key for key in _KINDS if getattr(self, key))

    @property
    def named(self) -> str:
        """What that key says."""
        return str(getattr(self, self.kind))

    @property
    def place(self) -> Row | None:
        """The board that runs it; none runs what a study measured."""
        return None if self.published else row_for(self.kind, self.architecture)

    @property
    def board(self) -> str:
        """Where it is measured: figures of two boards are not ranked together."""
        return self.place.name if self.place else PUBLISHED

    @property
    def architecture(self) -> Architecture | None:
        """Of a kernel that boots on a virtual board."""
        if self.tailor:
            return ARM64 if self.tailor.architecture == ARM64.name else AMD64
        return of_kernel(self.package) if self.package else None

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        return {
            "this_machine": "this machine as it runs",
            "published": f"study {self.published}",
            "replay": f"records of {self.replay}",
            "rtos": "image with rtqual's probe",
            "tailor": f"tailored from {self.tailor.source if self.tailor else ''}",
            "package": f"Debian package {self.package}",
        }[self.kind]
