# SPDX-License-Identifier: MIT
"""The boards, a row each: what the rest of rtqual asks of a board stands here, and nothing else names one.

To add a board: a part that brings its class, and a row. A candidate says by a key of the mission file of which kind it
is, and that kind and its processor choose the row. A board with candidates of a kind of their own brings the kind, and
with it the key.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rtqual.base.architecture import Architecture
from rtqual.protocols import part
from rtqual.protocols.board import Board, Held, JobOutcome, Left, Machine, Rebuilt, Recorded, jobscript
from rtqual.protocols.board.system import Kernel, Rtos


@dataclass(frozen=True)
class CandidateKind:
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
class BoardProgram:
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
    files: Mapping[str, Path] = field(default_factory=dict)  # of the user's, by their places, where nothing is prepared
    tell: Callable[[str], None] = lambda _: None  # what takes long


@dataclass(frozen=True)
class BoardRow:
    """A board as others see it."""

    name: str  # in records and reports
    runs: tuple[CandidateKind, ...]
    open: Callable[[Start], Board]
    wall_s: Callable[[float, float, int], float]  # of a run: from its seconds there, how many it works, its CPUs
    starts: Starts = Starts.NOTHING
    architecture: Architecture | None = None  # of the kernels it starts
    clock: Clock = Clock.REAL
    here: bool = False  # this machine: nothing may run beside
    disks: tuple[str, ...] = ()  # that its table names: "root", "usb"
    switched: bool = False  # one machine that each candidate is put on, which takes minutes
    leads: bool = False  # reports begin with it; others follow by name
    modelled: str = ""  # the model whose memory its time is that of, in place of counted instructions
    linux: bool = True  # runs Linux programs, not the probe alone
    lacks: tuple[str, ...] = ()  # needs of a mission for which the emulated machine has no controller
    by_name: bool = False  # it runs only candidates whose key `board` names it
    bare: bool = False  # it has no disks, no watchdog and no live frames for what is measured
    cpus: Callable[[], int] | None = None  # how many it has, where no plan may say so, and why:
    why_cpus: str = ""
    why_not: Callable[[str], str] = lambda _: ""  # why it cannot run what the candidate's key says; empty where it can
    programs: tuple[BoardProgram, ...] = ()  # that it starts here
    rebuilt: Callable[[Recorded], Rebuilt] | None = None  # a recorded run, to be made again; why it cannot be:
    why_not_again: str = "a run on the {board} board cannot give the same samples twice"
    outcome: Callable[[Left], JobOutcome] = jobscript.again  # of it

    @property
    def repeats(self) -> bool:
        """Whether a second run gives the same samples, which is tested."""
        return self.clock is Clock.INSTRUCTIONS


PACKAGE = CandidateKind("package", 'package = "linux-image-..."', "Debian package {}")
TAILOR = CandidateKind(
    "tailor", "a table [candidate.tailor]", "tailored from {}", "[candidate.tailor], whose kernel rtqual builds"
)
BUILT = CandidateKind(
    "built", "a table [candidate.built]", "built in {}", "[candidate.built], whose kernel was built elsewhere"
)


def all_boards() -> tuple[BoardRow, ...]:
    """Return the rows that parts bring; two may share a name, where they start different things."""
    return part.brought("boards")


def this_machine() -> BoardRow:
    """Return the board that is this machine as it runs."""
    return next(row for row in all_boards() if row.here)


def leading() -> tuple[str, ...]:
    """Return the names of the boards that reports begin with."""
    return tuple(dict.fromkeys(row.name for row in all_boards() if row.leads))


def kinds() -> tuple[CandidateKind, ...]:
    """What candidates there can be, each kind once."""
    return tuple(dict.fromkeys(kind for row in all_boards() for kind in row.runs))


def rows_for(kind: CandidateKind, architecture: Architecture | None) -> tuple[BoardRow, ...]:
    """Return the boards that run candidates of a kind; the first where none is named."""
    rows = [row for row in all_boards() if kind in row.runs and row.architecture in (architecture, None)]
    return tuple(sorted(rows, key=lambda row: row.by_name))


def row_for(kind: CandidateKind, architecture: Architecture | None) -> BoardRow:
    """The board of a candidate of a kind that names none."""
    return rows_for(kind, architecture)[0]


def row_of(board: str, artefacts: Mapping[str, str] | None = None) -> BoardRow | None:
    """The board that records name; None of one that rtqual does not run itself. `artefacts`: where two share a name."""
    named = [row for row in all_boards() if row.name == board]
    return next((row for row in named if row.starts in (artefacts or {})), named[0] if named else None)


def modelled(row: BoardRow, models: Iterable[str]) -> tuple[BoardRow, ...]:
    """Return a board with the memory of models, each a board of its own; none where it has no such."""
    wanted = {name_with(row.name, model) for model in models}
    return tuple(other for other in all_boards() if other.name in wanted and row.linux)


def is_modelled(board: str) -> bool:
    """Whether a board has the memory of a model."""
    return any(row.modelled for row in all_boards() if row.name == board)


def name_with(board: str, model: str) -> str:
    """Return the name of a board with the memory of a model."""
    return f"{board}+{model}"


def order(board: str) -> tuple[int, str]:
    """To sort boards by, as reports do."""
    first = leading()
    return (first.index(board) if board in first else len(first), board)
