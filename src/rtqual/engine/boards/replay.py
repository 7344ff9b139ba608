# SPDX-License-Identifier: MIT
"""Runs that were recorded before, given out again: the records of a campaign judged under another mission.

A run is the same where its commands, its seed and its number of CPUs are. Only records of one board are taken: figures
of two boards are not ranked together. They keep the label of their clock, for a replay tests nothing.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.protocols.board import Board, Held, Job, JobOutcome
from rtqual.protocols.record.schema import Manifest, digest
from rtqual.protocols.record.store import read_manifest


class ReplayBoard(Board):
    """`named`: FOLDER/CANDIDATE, a campaign's folder and one of its candidates; `of`: the board it was measured on."""

    instruction_clock = False

    def __init__(self, named: str, cpus: int, of: str, held: Callable[[Path], Held]) -> None:
        folder, _, self._candidate = named.rpartition("/")
        self._folder, self._cpus, self._of = Path(folder), cpus, of
        self._held = held(self._folder)

    @cached_property
    def _runs(self) -> list[tuple[Path, Manifest]]:
        """Of the candidate, without the repeats that only test a clock."""
        every = [(path, read_manifest(path)) for path in self._held.records]
        held = [(path, run) for path, run in every if run.inputs.candidate == self._candidate and not run.repeat]
        if not held:
            names = ", ".join(sorted({taken.inputs.candidate for _, taken in every})) or "none"
            raise BadInput(f"{self._folder}: no records of candidate {self._candidate!r} there; it has {names}")
        for path, manifest in held:
            if manifest.inputs.board != self._of:
                raise BadInput(
                    f"{path}: measured on the {manifest.inputs.board} board; only the {self._of} board's replay"
                )
        return held

    def artefacts(self) -> dict[str, str]:
        return {"replayed": digest(sorted(manifest.hash for _, manifest in self._runs))}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:  # noqa: ARG002
        raise RunFailed(f"{self._folder}, {self._candidate}: its runs are recorded, and no other runs there")

    def recorded(self, job: Job, *, seed: int, filed: tuple[str, str] = ("", "")) -> Path:  # noqa: ARG002
        wanted = digest([job.as_inputs(), seed, self._cpus])
        runs = ((path, manifest.inputs) for path, manifest in self._runs)
        found = [path for path, its in runs if digest([its.job, its.seed, its.cpus]) == wanted]
        if len(found) != 1:
            several = f"{len(found)} records of this run, of several kernels: keep those of one in a folder of its own"
            none = f"no record of this run, seed {seed}: give the plan the instruments, loads and runs recorded there"
            raise RunFailed(f"{self._folder}, {self._candidate}: {several if found else none}")
        return found[0]

    def config(self) -> str | None:
        """As its campaign kept it."""
        return self._held.config(self._candidate)
