# SPDX-License-Identifier: MIT
"""Runs that were recorded before, given out again: the records of a campaign judged under another mission.

A run is the same where its commands, its seed and its number of CPUs are. Only records of one board are taken: figures
of two boards are not ranked together. They keep the label of their clock, for a replay tests nothing.
"""

import hashlib
import json
from functools import cached_property
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput, RunFailed
from rtqual.board import Board, Job, Outcome
from rtqual.record.find import CAMPAIGN, CONFIGS, find
from rtqual.record.schema import Inputs, Manifest, digest
from rtqual.record.store import read_manifest


class ReplayBoard(Board):
    """`named`: FOLDER/CANDIDATE, a campaign's folder and one of its candidates; `of`: the board it was measured on."""

    instruction_clock = False

    def __init__(self, named: str, cpus: int, of: str) -> None:
        folder, _, self._candidate = named.rpartition("/")
        self._folder, self._cpus, self._of = Path(folder), cpus, of

    @cached_property
    def _held(self) -> list[tuple[Path, Manifest]]:
        """Of the candidate, without the repeats that only test a clock."""
        every = [(path, read_manifest(path)) for path in find(self._folder)]
        held = [(path, one) for path, one in every if one.inputs.candidate == self._candidate and not one.repeat]
        if not held:
            names = ", ".join(sorted({one.inputs.candidate for _, one in every}))
            raise BadInput(f"{self._folder}: no records of candidate {self._candidate!r} there; it has {names}")
        for path, one in held:
            if one.inputs.board != self._of:
                raise BadInput(f"{path}: measured on the {one.inputs.board} board; only the {self._of} board's replay")
        return held

    def artefacts(self) -> dict[str, str]:
        return {"replayed": digest(sorted(one.hash for _, one in self._held))}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> Outcome:  # noqa: ARG002
        raise RunFailed(f"{self._folder}, {self._candidate}: its runs are recorded, and no other runs there")

    def recorded(self, job: Job, *, seed: int) -> Path:
        wanted = digest([job.as_inputs(), seed, self._cpus])
        found = [path for path, one in self._held if _run_of(one.inputs) == wanted]
        if len(found) != 1:
            several = f"{len(found)} records of this run, of several kernels: keep those of one in a folder of its own"
            none = f"no record of this run, seed {seed}: give the plan the instruments, loads and runs recorded there"
            raise RunFailed(f"{self._folder}, {self._candidate}: {several if found else none}")
        return found[0]

    def config(self) -> str | None:
        """As its campaign kept it. Raises BadInput where it is another."""
        name = f"{CONFIGS}/{self._candidate}.config"
        try:
            content = unlinked.read(self._folder, name)
            kept = json.loads(unlinked.read(self._folder, CAMPAIGN)).get("files")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError, RecursionError) as error:
            raise BadInput(f"{self._folder}: its configurations cannot be trusted: {error}; measure again") from None
        if kept is not None and kept.get(name) != hashlib.sha256(content).hexdigest():
            raise BadInput(f"{self._folder / name}: not the one that was kept (its hash differs): measure again")
        return content.decode(errors="replace")


def _run_of(inputs: Inputs) -> str:
    return digest([inputs.job, inputs.seed, inputs.cpus])
