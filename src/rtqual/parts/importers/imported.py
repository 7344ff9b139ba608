# SPDX-License-Identifier: MIT
"""What others measured and `rtqual import` read, as a candidate: its records are judged as a campaign's are.

They are of one machine and one kernel, which a mission's requirements then judge: several are refused, for figures of
two machines are not ranked together. Run N of a plan's cell is the Nth record of that instrument and load, in the
order of their files' names.
"""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.words import count
from rtqual.parts.importers.board_rows import place
from rtqual.protocols.board import Board, Held, Job, JobOutcome
from rtqual.protocols.record.schema import Manifest, digest
from rtqual.protocols.record.store import read_manifest


class ImportedBoard(Board):
    """`named`: FOLDER, or FOLDER/CANDIDATE where it holds several."""

    instruction_clock = False

    def __init__(self, named: str, cpus: int, held: Callable[[Path], Held]) -> None:
        self._folder, self._candidate = place(named)
        self._cpus, self._held = cpus, held(self._folder)

    @cached_property
    def _runs(self) -> list[tuple[Path, Manifest]]:
        every = [(path, read_manifest(path)) for path in self._held.records]
        names = sorted({manifest.inputs.candidate for _, manifest in every})
        runs = [(path, manifest) for path, manifest in every if self._candidate in ("", manifest.inputs.candidate)]
        if not runs:
            raise BadInput(
                f"{self._folder}: no records of candidate {self._candidate!r}; it has {', '.join(names) or 'none'}"
            )
        if not self._candidate and len(names) > 1:
            raise BadInput(f"{self._folder}: records of {', '.join(names)}: name one, as {self._folder}/{names[0]}")
        if strange := [path for path, manifest in runs if "imported" not in manifest.provenance.facts]:
            raise BadInput(f"{strange[0]}: was not imported: a campaign's candidate is named with replay")
        for what, values in (
            ("machines", {manifest.inputs.board for _, manifest in runs}),
            ("kernels", {manifest.provenance.kernel for _, manifest in runs if manifest.provenance.kernel}),
        ):
            if len(values) > 1:
                several = ", ".join(sorted(values)[:3])
                raise BadInput(
                    f"{self._folder}: records of {len(values)} {what} ({several}): import each into its own folder"
                )
        return runs

    def artefacts(self) -> dict[str, str]:
        return {"imported": digest(sorted(manifest.hash for _, manifest in self._runs))}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:  # noqa: ARG002
        raise RunFailed(f"{self._folder}: its runs are imported, and no other runs there")

    def recorded(self, job: Job, *, seed: int, filed: tuple[str, str] = ("", "")) -> Path:  # noqa: ARG002
        instrument, load = filed
        runs = [(path, taken) for path, taken in self._runs if (taken.inputs.instrument, taken.inputs.load) == filed]
        if len(runs) < seed:
            there = sorted({f"{taken.inputs.instrument} under {taken.inputs.load}" for _, taken in self._runs})
            what = f"{count(len(runs), 'record')} of {instrument} under {load}, run {seed} asked for"
            raise RunFailed(
                f"{self._folder}: {what}; it has {', '.join(there)}: plan what is there, or import with --load"
            )
        path, manifest = runs[seed - 1]
        if manifest.inputs.cpus != self._cpus:
            raise RunFailed(
                f"{path}: measured on {count(manifest.inputs.cpus, 'CPU')}: plan it with "
                f"cpus = [{manifest.inputs.cpus}]"
            )
        return path
