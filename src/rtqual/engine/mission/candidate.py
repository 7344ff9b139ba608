# SPDX-License-Identifier: MIT
"""A candidate of a mission file: an operating system under evaluation, and the board that runs it."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, create_model, field_validator, model_validator

from rtqual.base.architecture import AMD64, ARM64, Architecture, of_kernel
from rtqual.base.words import listed
from rtqual.engine.mission.explain import At
from rtqual.engine.mission.table import Table, one_of
from rtqual.engine.mission.values import (
    BootParameter,
    Distinct,
    Margin,
    NonEmpty,
    PackageName,
    PublishedSystem,
    Release,
    Slug,
    Symbol,
    Text,
    matching,
)
from rtqual.protocols.board.registry import BoardRow, CandidateKind, kinds, rows_for

PUBLISHED = "published"  # the board of systems whose figures a study printed
FREERTOS = "freertos"  # whose image rtqual builds


class Preempt(StrEnum):
    NONE = "none"
    VOLUNTARY = "voluntary"
    FULL = "full"


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
    """Debian package of the source, or the path of a tree (with a "/" in it), whose makefiles run as you."""
    patches: Annotated[tuple[Text, ...], Distinct] = ()
    """Paths of patches that are applied to a copy of the tree first, in this order."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    """The processor it is built for."""
    start: Text = TailorStart.MINIMAL
    """Where it begins: "minimal" (the smallest kernel), "debian", or the path of a configuration (with a "/" in it)."""
    baseline: Slug | None = None
    """The candidate whose figures stand before; the first kernel of the board when left out."""
    needs: Annotated[tuple[Text, ...], Distinct] = ("filesystems", "virtual-board", "test-modules", "resets")
    """What it is built for beyond the mission's needs (docs/tailor.md)."""
    keep: Annotated[tuple[Text, ...], Distinct] = ()
    """Entries of the removal list that are not asked to go, by their ids: "input"."""
    restore: Annotated[tuple[Text, ...], Distinct] = ()
    """Entries that are put in first, as in Debian's kernel, and kept."""
    require: dict[Symbol, Annotated[str, NonEmpty] | Annotated[int, Strict()]] = Field({})
    """Further symbols, and the values they must have, as USB_ACM = "y"."""
    forbid: Annotated[tuple[Symbol, ...], Distinct] = ()
    """Further symbols that must be off."""
    goals: dict[Text, Margin] = Field({})
    """What the footprint is to reach: at most a size, or a part of the baseline's, as ram_used = "50 %"."""

    @field_validator("require", mode="before")
    @classmethod
    def _named_once(cls, given: object) -> object:
        names = [str(name).removeprefix("CONFIG_") for name in given] if isinstance(given, dict) else []
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"{twice[0]} is asked for twice, with and without CONFIG_; leave one out")
        return given

    def __str__(self) -> str:
        return self.source

    def __hash__(self) -> int:  # its tables are dictionaries, and candidates stand in sets
        return hash(repr(self))


class Core(StrEnum):
    """A real-time core that shares the machine with Linux."""

    COBALT = "cobalt"
    EVL = "evl"


class Built(Table):
    """A kernel that was built elsewhere; it runs on the virtual board of its processor. rtqual's cache keeps what it
    uses, so a campaign can be reproduced after the folder is gone."""

    kernel: Text
    """Where it lies, from the folder that rtqual runs in: the folder it was built in, Buildroot's output folder, a
    folder with its bzImage (arm64: Image.gz or Image) as Yocto deploys, that file itself, or a .deb."""
    config: Text | None = None
    """Its configuration (.config), where it lies elsewhere and the kernel does not carry it."""
    architecture: Literal["amd64", "arm64"] = "amd64"
    """The processor it is built for."""
    core: Core | None = None
    """The real-time core in it: "cobalt" (Xenomai 3) or "evl" (Xenomai 4). A core's instruments run on such candidates
    only (docs/xenomai.md)."""
    programs: Text | None = None
    """The folder with the core's own programs, linked statically: latency, latmus, rtqual-probe-xenomai,
    rtqual-probe-evl."""

    def __str__(self) -> str:
        return self.kernel


_PUBLISHED = CandidateKind(
    PUBLISHED, 'published = "STUDY/SYSTEM"', "study {}", "published, whose figures are printed"
)  # no board runs it
_KINDS = (_PUBLISHED, *kinds())  # a candidate is of one
_OF_KERNELS = ("package", "preempt", "boot", "root")  # keys of what boots a kernel; a built one is no package


def _attribute(kind: CandidateKind) -> str:
    return kind.key.replace("-", "_")


def _with_keys_of_boards(model: type[Table]) -> type[Table]:
    """The model with the keys of those kinds of candidates that only their board's row knows."""
    texts: dict[str, Any] = {
        _attribute(kind): (
            Annotated[str, *matching(kind.pattern, kind.text)] | None,
            Field(None, alias=kind.key, description=kind.about),
        )
        for kind in _KINDS
        if kind.pattern
    }
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **texts)


@_with_keys_of_boards
class Candidate(Table, json_schema_extra=one_of(*(kind.key for kind in _KINDS))):
    """An operating system under evaluation: a kernel, an RTOS, this machine, or one that a study measured."""

    name: Slug
    """Short name, used by the plans; no other candidate may have it."""
    title: Text
    """What a report calls it."""
    package: PackageName | None = None
    """A Debian package of a kernel for the virtual boards, as "linux-image-rt-amd64", "linux-image-rt-armmp"."""
    rtos: Slug | None = None
    """"freertos", whose image rtqual builds (docs/freertos.md). Beside image: how the system's name must begin."""
    image: Text | None = None
    """An RTOS: an ELF file linked with rtqual's probe, for the virtual ARM board. It says itself what it is
    (docs/port.md)."""
    this_machine: Annotated[bool, Strict()] = Field(False, alias="this-machine")
    """The machine rtqual runs on. It is a flight candidate only if release or preempt-rt says what it must run, and
    never as a virtual machine."""
    release: Release | None = None
    """With this-machine: the kernel that must run, as `uname -r` prints it."""
    preempt_rt: Annotated[bool, Strict()] | None = Field(None, alias="preempt-rt")
    """With this-machine: whether the running kernel must be a PREEMPT_RT one."""
    published: PublishedSystem | None = None
    """A system whose figures a study printed, as "aarest/emlid". It is not run."""
    built: Built | None = None
    """A kernel that you built, or one with Xenomai's cores: [candidate.built]."""
    repeats: PublishedSystem | None = None
    """The system that it stands for in a repeated study (docs/repeated.md), as "spacechain/linux-rt"."""
    tailor: Tailor | None = None
    """A kernel that rtqual cuts down to the mission's needs and builds: [candidate.tailor]."""
    preempt: Preempt | None = None
    """Boots with preempt=none, voluntary or full; only for kernels with PREEMPT_DYNAMIC, as Debian's stock kernel."""
    boot: Annotated[tuple[BootParameter, ...], Distinct] = ()
    """Further kernel parameters, each a string of its own, as ["tsc=reliable"]."""
    on: Slug | None = Field(None, alias="board")
    """The board that measures it, where several can; virtual-pi3 is the Raspberry Pi 3 that QEMU emulates
    (docs/raspberry-pi.md). The first of its processor when left out."""
    root: RootSystem | None = None
    """The kernel is measured in the root of a system image (docs/image.md), on 1.5 GiB of memory; in the board's own
    root when left out."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        apart = [kind for kind in self._kinds if kind.apart]
        if len(apart) > 1:
            raise At(apart[0].key, f"cannot stand beside {apart[-1].apart}; keep one of the two")
        for key in _OF_KERNELS[:2] if self.tailor or self.built else _OF_KERNELS if apart else ():
            if getattr(self, key):
                raise At(key, f"cannot stand beside {apart[0].apart}; leave it out")
        if self.rtos not in (None, FREERTOS) and not self.image:
            raise At(
                "rtos", f'"{self.rtos}" is not built here: write image = "PATH", what it was linked into (docs/port.md)'
            )
        for key, given in (("release", self.release), ("preempt-rt", self.preempt_rt)):
            if given is not None and not self.this_machine:
                raise At(key, "says what this machine must run; write it beside this-machine = true, or leave it out")
        if not apart and self.package is None:
            examples = [kind.example for kind in (*_KINDS[1:], _PUBLISHED)]
            raise ValueError(f"names no system; write {listed(examples, 'or')}")
        if self.on and self.on not in (names := [row.name for row in self._places]):
            raise At("board", f'"{self.on}" does not run {self.name}; write {listed(names, "or") or "none"}')
        return self

    def may_be(self, other: "Candidate") -> bool:
        """Whether one running kernel could be both, as far as they state what this machine must run."""
        stated = ((self.release, other.release), (self.preempt_rt, other.preempt_rt))
        return not any(a is not None and b is not None and a != b for a, b in stated)

    @property
    def _kinds(self) -> list[CandidateKind]:
        """What its keys say that it is: one kind, where it is right. Beside an image, rtos is no kind of its own."""
        given = [kind for kind in _KINDS if getattr(self, _attribute(kind))]
        return [kind for kind in given if not (kind.key == "rtos" and self.image)]

    @property
    def kind(self) -> CandidateKind:
        return self._kinds[0]

    @property
    def named(self) -> str:
        """What the key of its kind says."""
        return str(getattr(self, _attribute(self.kind)))

    @property
    def _places(self) -> tuple[BoardRow, ...]:
        """The boards that can run it; none runs what a study measured."""
        return () if self.published else rows_for(self.kind, self.architecture)

    @property
    def place(self) -> BoardRow | None:
        """The board that runs it."""
        return next((row for row in self._places if self.on in (None, row.name)), None)

    @property
    def is_here(self) -> bool:
        """Whether it is the machine rtqual runs on."""
        return self.place is not None and self.place.here

    @property
    def board(self) -> str:
        """Where it is measured: figures of two boards are not ranked together."""
        return self.place.name if self.place else PUBLISHED

    @property
    def architecture(self) -> Architecture | None:
        """Of a kernel that boots on a virtual board."""
        if made := self.tailor or self.built:
            return ARM64 if made.architecture == ARM64.name else AMD64
        return of_kernel(self.package) if self.package else None

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        return self.kind.source.format(self.named)
