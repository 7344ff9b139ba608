# SPDX-License-Identifier: MIT
"""Boards: where a candidate runs. A board runs jobs; it knows nothing of instruments.

registry.py   the boards, a row each
system.py     what a board starts: a kernel with its root, or the image of an RTOS
job_steps.py  what a job does, in its order
jobscript.py  a job as the shell script that a guest runs, and its results
rest.py       whether what was measured had come to rest after its boot
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

PATIENCE = 30.0  # a run's time-out is so many times what it is expected to take, or more


@dataclass(frozen=True)
class Command:
    """A program to run. `fifo` > 0 starts it under SCHED_FIFO at that priority; it runs in the job's folder."""

    argv: tuple[str, ...]
    fifo: int = 0


@dataclass(frozen=True)
class Job:
    """Programs for one run, in order: setup (each must succeed), loads (in the background), then measure.

    A load must still be running when the measurement ends, or the run has failed: it did not disturb.
    """

    measure: Command
    setup: tuple[Command, ...] = ()
    loads: tuple[Command, ...] = ()
    teardown: tuple[Command, ...] = ()  # by hand, beside a job of another: a board removes the job's whole folder
    collect: tuple[str, ...] = ()  # files in the job's folder to bring back
    folder: Literal["memory", "root", "usb"] = "memory"  # where the job's folder lies: memory | root | usb
    modules: tuple[str, ...] = ()  # kernel modules to load first
    version: tuple[str, ...] = ()  # prints the program's version
    watched: bool = False  # whether the jobs of what rtqual-program starts are noted, where the board can

    def as_inputs(self) -> dict[str, Any]:
        """For records: those of jobs without it tell nothing of watching."""
        said = asdict(self)
        if not self.watched:
            del said["watched"]
        return said


@dataclass(frozen=True)
class Machine:
    """The shape of a board. Disks are apart: without a model (disk.c) their completions wait for the host."""

    cpus: int = 1
    memory_mib: int = 512
    disks: bool = False
    whole_boot: bool = False  # as it flies, where that shows: a kernel's file unpacks itself
    resets: bool = False  # a reset boots it again, and it has a watchdog
    scene: bool = False  # it makes the software camera's live frames


LEFT = "left_on_board_s"  # a fact: for how long the result lay there before it was taken; empty: unknown


@dataclass(frozen=True)
class JobOutcome:
    """What came back from a job."""

    exit_code: int
    stdout: str
    stderr: str
    files: Mapping[str, str]
    facts: Mapping[str, str]  # kernel, cmdline, clocksource, clock_resolution_ns, ...
    status: Mapping[str, int]  # exit, minor_faults, major_faults, voluntary_switches, involuntary_switches
    version: str  # what the program printed when asked
    threads: tuple[dict[str, Any], ...]  # the instrument's threads while it ran
    console: str  # the board's last lines
    wall_s: float
    command: tuple[str, ...]  # runs the same by hand
    problems: tuple[str, ...] = ()  # why its figures decide nothing, as far as the board tells


@dataclass(frozen=True)
class Left:
    """What a rebuilt command left in its file `result`, and what is known of the run."""

    content: bytes
    collect: tuple[str, ...]  # the job's files
    facts: Mapping[str, str]
    command: tuple[str, ...]
    where: str


@dataclass(frozen=True)
class Recorded:
    """A run to be made again: what its hashed inputs say, and nothing of the command that its record tells."""

    job: Job
    seed: int
    machine: Machine
    artefacts: Mapping[str, str]
    named: tuple[str, ...]  # files that its parts may have, hints only (parts.py)
    folder: Path  # the command runs here


@dataclass(frozen=True)
class Rebuilt:
    """How it is made again: `artefacts` are those of here."""

    artefacts: Mapping[str, str]
    command: tuple[str, ...]


@dataclass(frozen=True)
class Held:
    """What a campaign left, for a board that gives it out again."""

    records: tuple[Path, ...]
    config: Callable[[str], str | None]  # of a candidate's kernel, as it was kept. Raises BadInput where it is another


class Board(Protocol):
    """A place that runs jobs for one candidate."""

    instruction_clock: bool

    def artefacts(self) -> dict[str, str]:
        """Hashes and versions that decide a run's result, known before it runs."""
        ...

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        """Run one job. Raises RunFailed, with the board's last lines, when the board did not answer."""
        ...

    def recorded(self, job: Job, *, seed: int, filed: tuple[str, str] = ("", "")) -> Path | None:  # noqa: ARG002
        """The record of this run, where it was made before and nothing is to run. Raises RunFailed where it is lost.

        `filed`: the names of instrument and load that records of the run bear.
        """
        return None

    def config(self) -> str | None:
        """The configuration of the kernel that runs there, where it is known."""
        return None

    def forget(self) -> None:
        """Delete what was kept to make the next run faster."""
        return

    def close(self) -> None:
        """Leave the place as it was found, whatever happened."""
        return
