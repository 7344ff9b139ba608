# SPDX-License-Identifier: MIT
"""A cell of a campaign's matrix: one run to do."""

from dataclasses import dataclass, replace

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.candidates.roots import MEMORY_MIB
from rtqual.engine.mission import Candidate
from rtqual.protocols.board import PATIENCE, Job, Machine
from rtqual.protocols.board.registry import BoardRow
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.load import Shape
from rtqual.protocols.load.own import load_of

_LEAST_TIMEOUT_S = 60.0


def with_load(job: Job, name: str, shape: Shape | None) -> Job:
    """Return a job with a load beside it."""
    load = load_of(name, shape)
    return replace(
        job,
        setup=(*job.setup, *load.setup),
        loads=(*job.loads, *load.commands(shape)),
        modules=tuple(dict.fromkeys((*job.modules, *load.modules))),
    )


@dataclass(frozen=True)
class Cell:
    """One run to do."""

    candidate: Candidate
    instrument: Instrument
    parameters: Parameters
    load: str
    cpus: int
    seed: int
    place: BoardRow  # the board that runs it
    repeat: int = 0
    boot: int = 0  # which boot of its kernel it begins at, of those that differ by an inert parameter
    shape: Shape | None = None  # of the load, where it is not the usual one

    @property
    def board(self) -> str:
        return self.place.name

    @property
    def group(self) -> Group:
        return Group(self.instrument.name, self.load, self.board, self.cpus, self.candidate.name)

    @property
    def machine(self) -> Machine:
        of = self.instrument
        machine = Machine(self.cpus, disks=of.disks, whole_boot=of.whole_boot, resets=of.resets, scene=of.scene)
        return replace(machine, memory_mib=MEMORY_MIB) if self.candidate.root else machine

    @property
    def estimate_s(self) -> float:
        """Wall seconds, roughly."""
        measured_s = self.instrument.seconds(self.parameters, self.load)
        busy_s = measured_s if self.load != "none" else self.instrument.busy_s(self.parameters)
        return self.place.wall_s(measured_s, busy_s, self.cpus)

    @property
    def timeout_s(self) -> float:
        """Idle time may cost an emulated board more than the estimate knows, but no more than it lasts."""
        measured_s = self.instrument.seconds(self.parameters, self.load)
        return max(_LEAST_TIMEOUT_S, measured_s, PATIENCE * self.estimate_s)

    def job(self) -> Job:
        """The instrument's job with the load beside it."""
        return with_load(self.instrument.job(self.parameters, cpus=self.cpus, seed=self.seed), self.load, self.shape)

    def __str__(self) -> str:
        return f"{self.group}, seed {self.seed}{', again' if self.repeat else ''}"
