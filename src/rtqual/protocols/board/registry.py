# SPDX-License-Identifier: MIT
"""The boards, a row each: what the rest of rtqual asks of a board stands here, and nothing else names one.

To add a board: a file with its class, and a row. A candidate says by a key of the mission file of which kind it is, and
that kind and its processor choose the row. A board with candidates of a kind of their own brings the kind, and with it
the key.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.engine.boards import rtos
from rtqual.engine.boards.local import LocalBoard, processors
from rtqual.engine.boards.machine import why_no_guest
from rtqual.engine.boards.rtos import RtosBoard
from rtqual.protocols.board import Board, Held, Left, Machine, Outcome, Rebuilt, Recorded, jobscript
from rtqual.protocols.board.system import Kernel, Rtos


@dataclass(frozen=True)
class Kind:
    """What a candidate is, said by a key of its table in the mission file."""

    key: str
    example: str  # of the key, as it is written
    source: str  # where the system comes from, as reports say it; {} is what the key says
    apart: str = ""  # the key and what it means, told where another kind's key stands beside it
    pattern: str = ""  # of the key's text, where the mission's model has no field of its own for the key
    text: str = ""  # what that text is, with an example
    about: str = ""  # the key, as the mission's schema describes it


class Clock(StrEnum):
    """What a board's figures are counted in."""

    INSTRUCTIONS = "instructions"  # a second run gives the same samples, and that is tested
    RECORDED = "recorded"  # instructions, by records of runs that were tested
    REAL = "real"


@dataclass(frozen=True)
class Program:
    """A program that rtqual runs, as `rtqual doctor` looks for it."""

    name: str
    package: str  # Debian's, that brings it
    matters: str  # for what
    demo: bool = False  # the demo cannot do without


class Starts(StrEnum):
    """What is prepared for a board to start; records name its hash among their artefacts."""

    KERNEL = "kernel"
    IMAGE = "image"
    NOTHING = ""


@dataclass(frozen=True)
class Start:
    """What a board is opened with."""

    candidate: str
    named: str = ""  # what the mission names, where nothing is prepared
    system: Kernel | Rtos | None = None
    machine: Machine = field(default_factory=Machine)
    scratch: Path = Path()
    held: Callable[[Path], Held] | None = None  # reads a campaign's folder
    used: Path | None = None  # where a board that can notes the code that ran (virtual.py)
    programs: tuple[str, ...] = ()  # that its jobs run, where they are brought along
    tell: Callable[[str], None] = lambda _: None  # what takes long


@dataclass(frozen=True)
class Row:
    """A board as others see it."""

    name: str  # in records and reports
    runs: tuple[Kind, ...]
    open: Callable[[Start], Board]
    wall_s: Callable[[float, float, int], float]  # of a run: from its seconds there, how many it works, its CPUs
    starts: Starts = Starts.NOTHING
    architecture: Architecture | None = None  # of the kernels it starts
    clock: Clock = Clock.REAL
    here: bool = False  # this machine: nothing may run beside
    disks: tuple[str, ...] = ()  # that its table names: "root", "usb"
    switched: bool = False  # one machine that each candidate is put on, which takes minutes
    leads: bool = False  # reports begin with it; others follow by name
    linux: bool = True  # runs Linux programs, not the probe alone
    lacks: tuple[str, ...] = ()  # needs of a mission for which the emulated machine has no controller
    cpus: Callable[[], int] | None = None  # how many it has, where no plan may say so, and why:
    why_cpus: str = ""
    why_not: Callable[[str], str] = lambda _: ""  # why it cannot run what the candidate's key says; empty where it can
    programs: tuple[Program, ...] = ()  # that it starts here
    rebuilt: Callable[[Recorded], Rebuilt] | None = None  # a recorded run, to be made again; why it cannot be:
    why_not_again: str = "a run on the {board} board cannot give the same samples twice"
    outcome: Callable[[Left], Outcome] = jobscript.again  # of it

    @property
    def repeats(self) -> bool:
        """Whether a second run gives the same samples, which is tested."""
        return self.clock is Clock.INSTRUCTIONS


def _virtual(start: Start) -> Board:
    from rtqual.engine.boards.virtual import VirtualBoard  # noqa: PLC0415 - qemu.qmp is slow to load

    assert isinstance(start.system, Kernel), "it was prepared"  # noqa: S101
    return VirtualBoard(start.system, start.machine, start.scratch, used=start.used)


def _rtos(start: Start) -> Board:
    assert isinstance(start.system, Rtos), "it was prepared"  # noqa: S101
    return RtosBoard(start.system)


def _replay(start: Start) -> Board:
    from rtqual.engine.boards.replay import ReplayBoard  # noqa: PLC0415 - so is duckdb

    assert start.held is not None, "a campaign opens it"  # noqa: S101
    return ReplayBoard(start.named, start.machine.cpus, of=LEADING[0], held=start.held)


def _rebuilt(run: Recorded, architecture: Architecture) -> Rebuilt:
    from rtqual.engine.boards.virtual import rebuilt  # noqa: PLC0415

    return rebuilt(run, architecture)


def _emulated_s(_: float, busy_s: float, cpus: int) -> float:
    """Seen on two cores at 3 GHz: a guess until cells have run. CPUs share the clock, and take turns."""
    return 1.0 + 4.0 * busy_s * math.sqrt(cpus)


PACKAGE = Kind("package", 'package = "linux-image-..."', "Debian package {}")
TAILOR = Kind(
    "tailor", "a table [candidate.tailor]", "tailored from {}", "[candidate.tailor], whose kernel rtqual builds"
)
BUILT = Kind("built", "a table [candidate.built]", "built in {}", "[candidate.built], whose kernel was built elsewhere")


def _of_kernels(
    name: str,
    architecture: Architecture,
    *programs: Program,
    lacks: tuple[str, ...],
    leads: bool = False,
) -> Row:
    """QEMU's machine for kernels of a processor (machine.py)."""
    return Row(
        name, (PACKAGE, TAILOR, BUILT), _virtual, _emulated_s, Starts.KERNEL, architecture,
        Clock.INSTRUCTIONS, leads=leads, lacks=lacks,
        why_not=lambda _: why_no_guest(architecture), programs=programs,
        rebuilt=partial(_rebuilt, architecture=architecture),
    )  # fmt: skip


BOARDS = (
    _of_kernels(
        "virtual", AMD64,
        Program("setpriv", "util-linux", "virtual board", demo=True),
        Program("cpio", "cpio", "virtual board: guest image", demo=True),
        Program("depmod", "kmod", "virtual board: guest image", demo=True),
        Program("mke2fs", "e2fsprogs", "virtual board: disks", demo=True),
        lacks=("spi", "gpio"), leads=True,
    ),
    _of_kernels("virtual-arm64", ARM64, lacks=("i2c", "spi")),
    _of_kernels(
        "virtual-arm", ARMHF,
        Program("qemu-system-arm", "qemu-system-arm", "virtual ARM board"),
        Program("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf", "virtual ARM board: our programs in its guests"),
        lacks=("i2c", "spi"),
    ),
    Row(
        "virtual-arm",
        (Kind("rtos", 'rtos = "freertos"', "image with rtqual's probe", "rtos, which is one image with its kernel"),),
        _rtos, _emulated_s, Starts.IMAGE, clock=Clock.INSTRUCTIONS, linux=False,
        cpus=lambda: 1, why_cpus="{} runs on one CPU here", rebuilt=rtos.rebuilt, outcome=rtos.again,
    ),
    Row(
        "replay",
        (Kind(
            "replay", 'replay = "FOLDER/CANDIDATE"', "records of {}", "replay, whose runs are recorded",
            r".+/[a-z0-9][a-z0-9-]*", "a campaign's folder and a candidate, as 'out/docking-demo/debian-rt'",
            'A candidate of a campaign that ended, as "out/docking-demo/debian-rt": its records are taken, '
            "nothing runs.",
        ),),
        _replay, lambda *_: 0.1, clock=Clock.RECORDED,
        why_not=lambda named: "" if (folder := Path(named).parent).is_dir() else f"there is no campaign at {folder}",
        why_not_again="its run was replayed: reproduce the record that its command shows",
    ),
    Row(
        "local",
        (Kind(
            "this-machine", "this-machine = true", "this machine as it runs", "this-machine = true, which runs as it is"
        ),),
        lambda _: LocalBoard(), lambda board_s, *_: board_s + 0.3, here=True, leads=True,
        cpus=lambda: len(processors()), why_cpus="this machine runs with the CPUs it has",
    ),
)  # fmt: skip
HERE = next(row for row in BOARDS if row.here)
LEADING = tuple(row.name for row in BOARDS if row.leads)


def kinds() -> tuple[Kind, ...]:
    """What candidates there can be, each kind once."""
    return tuple(dict.fromkeys(kind for row in BOARDS for kind in row.runs))


def row_for(kind: Kind, architecture: Architecture | None) -> Row:
    """The board of a candidate of a kind."""
    return next(row for row in BOARDS if kind in row.runs and row.architecture in (architecture, None))


def row_of(board: str, artefacts: Mapping[str, str] | None = None) -> Row | None:
    """The board that records name; None of one that rtqual does not run itself. `artefacts`: where two share a name."""
    named = [row for row in BOARDS if row.name == board]
    return next((row for row in named if row.starts in (artefacts or {})), named[0] if named else None)


def order(board: str) -> tuple[int, str]:
    """To sort boards by, as reports do."""
    return (LEADING.index(board) if board in LEADING else len(LEADING), board)
