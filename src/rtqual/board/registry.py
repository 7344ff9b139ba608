# SPDX-License-Identifier: MIT
"""The boards, a row each: what the rest of rtqual asks of a board stands here, and nothing else names one.

To add a board: a file with its class, and a row. A candidate says by a key of the mission file what it is, and that
key and its processor choose the row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.board import Board, Left, Machine, Outcome, Rebuilt, Recorded, jobscript, rtos
from rtqual.board.local import LocalBoard, processors
from rtqual.board.rtos import RtosBoard
from rtqual.board.system import Kernel, Rtos


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
    programs: tuple[str, ...] = ()  # that its jobs run, where they are brought along
    tell: Callable[[str], None] = lambda _: None  # what takes long


@dataclass(frozen=True)
class Row:
    """A board as others see it."""

    name: str  # in records and reports
    keys: tuple[str, ...]  # of a [[candidate]]
    open: Callable[[Start], Board]
    wall_s: Callable[[float, bool, int], float]  # of a run: from its seconds there, whether it is loaded, its CPUs
    starts: Starts = Starts.NOTHING
    architecture: Architecture | None = None  # of the kernels it starts
    repeats: bool = False  # it counts instructions: a second run gives the same samples, and that is tested
    here: bool = False  # this machine: nothing may run beside
    switched: bool = False  # one machine that each candidate is put on, which takes minutes
    leads: bool = False  # reports begin with it; others follow by name
    linux: bool = True  # runs Linux programs, not the probe alone
    cpus: Callable[[], int] | None = None  # how many it has, where no plan may say so, and why:
    why_cpus: str = ""
    rebuilt: Callable[[Recorded], Rebuilt] | None = None  # a recorded run, to be made again; why it cannot be:
    why_not_again: str = "a run on the {board} board cannot give the same samples twice"
    outcome: Callable[[Left], Outcome] = jobscript.again  # of it


def _virtual(start: Start) -> Board:
    from rtqual.board.virtual import VirtualBoard  # noqa: PLC0415 - qemu.qmp is slow to load

    assert isinstance(start.system, Kernel), "it was prepared"  # noqa: S101
    return VirtualBoard(start.system, start.machine, start.scratch)


def _rtos(start: Start) -> Board:
    assert isinstance(start.system, Rtos), "it was prepared"  # noqa: S101
    return RtosBoard(start.system)


def _replay(start: Start) -> Board:
    from rtqual.board.replay import ReplayBoard  # noqa: PLC0415 - so is duckdb

    return ReplayBoard(start.named, start.machine.cpus, of=LEADING[0])


def _rebuilt(run: Recorded, architecture: Architecture) -> Rebuilt:
    from rtqual.board.virtual import rebuilt  # noqa: PLC0415

    return rebuilt(run, architecture)


def _emulated_s(board_s: float, loaded: bool, cpus: int) -> float:
    """Seen on two cores at 3 GHz: a guess until cells have run."""
    return 1.0 + board_s * (4.0 if loaded else 0.5) * cpus


def _of_kernels(name: str, architecture: Architecture, *, leads: bool = False) -> Row:
    """QEMU's machine for kernels of a processor (machine.py)."""
    return Row(
        name, ("package", "tailor"), _virtual, _emulated_s, Starts.KERNEL, architecture, repeats=True, leads=leads,
        rebuilt=partial(_rebuilt, architecture=architecture),
    )  # fmt: skip


BOARDS = (
    _of_kernels("virtual", AMD64, leads=True),
    _of_kernels("virtual-arm64", ARM64),
    _of_kernels("virtual-arm", ARMHF),
    Row(
        "virtual-arm", ("rtos",), _rtos, _emulated_s, Starts.IMAGE, repeats=True, linux=False,
        cpus=lambda: 1, why_cpus="{} runs on one CPU here", rebuilt=rtos.rebuilt, outcome=rtos.again,
    ),
    Row(
        "local", ("this_machine",), lambda _: LocalBoard(), lambda board_s, *_: board_s + 0.3, here=True, leads=True,
        cpus=lambda: len(processors()), why_cpus="this machine runs with the CPUs it has",
    ),
    Row(
        "replay", ("replay",), _replay, lambda *_: 0.1,
        why_not_again="its run was replayed: reproduce the record that its command shows",
    ),
)  # fmt: skip
HERE = next(row.name for row in BOARDS if row.here)
LEADING = tuple(row.name for row in BOARDS if row.leads)


def row_for(key: str, architecture: Architecture | None) -> Row:
    """The board of what a candidate's key names."""
    return next(row for row in BOARDS if key in row.keys and row.architecture in (architecture, None))


def row_of(board: str, artefacts: Mapping[str, str] | None = None) -> Row | None:
    """The board that records name; None of one that rtqual does not run itself. `artefacts`: where two share a name."""
    named = [row for row in BOARDS if row.name == board]
    return next((row for row in named if row.starts in (artefacts or {})), named[0] if named else None)


def order(board: str) -> tuple[int, str]:
    """To sort boards by, as reports do."""
    return (LEADING.index(board) if board in LEADING else len(LEADING), board)
