# SPDX-License-Identifier: MIT
"""A cell of a campaign's matrix: one run to do."""

from dataclasses import dataclass, replace

from rtqual.analysis.figure.model import Group
from rtqual.board import Job, Machine
from rtqual.image.measured import MEMORY_MIB
from rtqual.instrument import Instrument, Parameters
from rtqual.load.registry import LOADS
from rtqual.mission import Candidate

# Wall seconds per board second on the virtual board, seen on two cores at 3 GHz: a guess until cells have run.
_IDLE_PACE, _LOADED_PACE, _CELL_S = 0.5, 4.0, 1.0


@dataclass(frozen=True)
class Cell:
    """One run to do."""

    candidate: Candidate
    instrument: type[Instrument]
    parameters: Parameters
    load: str
    cpus: int
    seed: int
    repeat: int = 0

    @property
    def board(self) -> str:
        return self.candidate.board

    @property
    def emulated(self) -> bool:
        return self.board != "local"

    @property
    def group(self) -> Group:
        return Group(self.instrument.name, self.load, self.board, self.cpus, self.candidate.name)

    @property
    def machine(self) -> Machine:
        if self.candidate.root:
            return Machine(cpus=self.cpus, memory_mib=MEMORY_MIB, disks=self.instrument.disks)
        return Machine(cpus=self.cpus, disks=self.instrument.disks)

    @property
    def estimate_s(self) -> float:
        """Wall seconds, roughly."""
        board_s = self.instrument.seconds(self.parameters, self.load)
        if self.board == "local":
            return board_s + 0.3
        pace = _IDLE_PACE if self.load == "none" else _LOADED_PACE
        return _CELL_S + board_s * pace * self.cpus

    def job(self) -> Job:
        """The instrument's job with the load beside it."""
        load = LOADS[self.load]
        job = self.instrument.job(self.parameters, cpus=self.cpus, seed=self.seed)
        return replace(
            job,
            setup=(*job.setup, *load.setup),
            loads=(*job.loads, *load.background),
            modules=tuple(dict.fromkeys((*job.modules, *load.modules))),
        )

    def __str__(self) -> str:
        return f"{self.group}, seed {self.seed}{', again' if self.repeat else ''}"
