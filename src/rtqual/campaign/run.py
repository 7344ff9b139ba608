# SPDX-License-Identifier: MIT
"""A campaign: the cells of its plan, run once each and kept."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rtqual.analysis.figure.model import Group
from rtqual.base.apt import Package, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput, NewerVersion, RunFailed
from rtqual.board import Board, Machine
from rtqual.board.local import LocalBoard, kernel_config
from rtqual.board.rtos import RtosBoard
from rtqual.board.system import Kernel, Rtos
from rtqual.board.virtual import VirtualBoard
from rtqual.campaign import folder as kept
from rtqual.campaign.cell import Cell
from rtqual.campaign.folder import Result
from rtqual.campaign.plan import plan
from rtqual.campaign.provenance import kernel_complaints, provenance
from rtqual.candidate import built, rtos
from rtqual.candidate.debian import prepare
from rtqual.image.measured import under_root
from rtqual.initramfs.guest import TOOL_PACKAGES
from rtqual.kernel.account import Account
from rtqual.mission import Candidate, Mission
from rtqual.published.records import records
from rtqual.record.schema import Inputs, Manifest, Record, Timing
from rtqual.record.store import Store, make, read, settle_timing

_TIMEOUT_FACTOR, _LEAST_TIMEOUT_S = 30.0, 60.0


class Watcher:
    """What a campaign tells while it runs; the default is silence."""

    def preparing(self, what: str) -> None: ...
    def kept(self, cells: Sequence[Cell]) -> None: ...
    def started(self, cell: Cell) -> None: ...
    def finished(self, cell: Cell, failure: str | None) -> None: ...
    def warning(self, text: str) -> None: ...


class Campaign:
    """A mission at a scale and its plan, made once; what it gives is kept in `folder` (folder.py)."""

    def __init__(self, mission: Mission, scale: str, folder: Path, *, workers: int = 2) -> None:
        self.mission, self.scale, self.workers = mission, scale, workers
        self.folder = folder
        self.cells = plan(mission, scale)
        self._absolute = folder.absolute()  # recorded commands name files in it
        self.store = Store(self._absolute / kept.RECORDS)
        self._kernels: dict[str, Kernel] = {}
        self._accounts: list[Account] = []
        self._images: dict[str, Rtos] = {}
        self._boards: dict[tuple[str, Machine], Board] = {}

    def run(self, watcher: Watcher) -> Result:
        """Run what is not yet done. A cell that fails is told and does not stop the others."""
        self._prepare(watcher)
        keys = {cell: self._inputs(cell) for cell in self.cells}
        done = self._finished({(inputs.key(), cell.repeat) for cell, inputs in keys.items()}, watcher)
        waiting = [cell for cell in self.cells if (keys[cell].key(), cell.repeat) not in done]
        watcher.kept([cell for cell in self.cells if cell not in set(waiting)])
        failures: dict[Group, str] = {}
        for emulated, workers in ((False, 1), (True, self.workers)):
            cells = [cell for cell in waiting if cell.emulated == emulated]
            failures |= self._run_all(cells, workers, keys, watcher)
        if not failures:
            self._forget_guests()
        measured = settle_timing(self.store, [read(p) for p in self._paths(keys)])
        return Result((*measured, *self._published()), failures, self._configs(), tuple(self._accounts))

    def _published(self) -> list[Record]:
        """What studies printed of candidates, kept like what is measured, so that it is shown and compared alike."""
        named = [(one.published, one.name) for one in self.mission.candidates if one.published]
        taken = [record for system, name in named for record in records(system, name, self.mission.sha256)]
        for record in taken:
            self.store.write(record)
        return taken

    def _forget_guests(self) -> None:
        for board in self._boards.values():
            if isinstance(board, VirtualBoard):
                board.forget()

    def waiting(self) -> list[Cell]:
        """Cells without a record, as far as can be told without preparing the candidates."""
        held = {(r.inputs.model_copy(update={"artefacts": {}}).key(), r.repeat) for r in self._manifests()}
        return [c for c in self.cells if (self._inputs(c, artefacts={}).key(), c.repeat) not in held]

    def _manifests(self) -> list[Manifest]:
        manifests = []
        for path in self.store.paths():
            try:
                manifests.append(read(path).manifest)
            except BadInput:
                continue  # told when the campaign runs
        return manifests

    def _paths(self, keys: Mapping[Cell, Inputs]) -> list[Path]:
        paths = [self.store.path(inputs.key(), cell.repeat) for cell, inputs in keys.items()]
        return [path for path in paths if path.exists()]

    def _prepare(self, watcher: Watcher) -> None:
        wanted = {cell.candidate.name: cell.candidate for cell in self.cells if cell.emulated}
        tools: dict[Architecture, list[Package]] = {}
        for candidate in wanted.values():
            architecture = candidate.architecture
            if architecture is None:
                watcher.preparing(f"{candidate.name} ({candidate.rtos})")
                self._images[candidate.name] = rtos.prepare(candidate.name)
                continue
            if architecture not in tools:
                watcher.preparing(f"the guest's tools ({architecture.name})")
                tools[architecture] = fetch_closure(TOOL_PACKAGES, architecture=architecture)
            programs = {c.instrument.program for c in self.cells if c.candidate == candidate}
            kernel = self._kernel(candidate, tools[architecture], watcher, programs)
            if candidate.root:
                watcher.preparing(f"{candidate.name} (its {candidate.root} root)")
                kernel = under_root(kernel, candidate.root, self.mission.mission.needs, tools[architecture])
            self._kernels[candidate.name] = kernel
        kept.keep_configs(self.folder, {name: kernel.config for name, kernel in self._kernels.items()})

    def _kernel(
        self, candidate: Candidate, tools: Sequence[Package], watcher: Watcher, programs: Collection[str]
    ) -> Kernel:
        if candidate.tailor:
            kernel, account = built.prepare(
                candidate,
                self.mission.mission.needs,
                tools=tools,
                tell=watcher.preparing,
                baseline=self.mission.baseline(candidate),
                programs=programs,
            )
            self._accounts.append(account)
            return kernel
        assert candidate.package is not None, "of a kernel"  # noqa: S101
        watcher.preparing(f"{candidate.name} ({candidate.package})")
        return prepare(
            candidate.name,
            candidate.package,
            preempt=candidate.preempt,
            boot=candidate.boot,
            tools=tools,
            programs=programs,
        )

    def _board(self, cell: Cell) -> Board:
        key = (cell.candidate.name, cell.machine)
        if key not in self._boards:
            self._boards[key] = self._new_board(cell)
        return self._boards[key]

    def _new_board(self, cell: Cell) -> Board:
        if not cell.emulated:
            return LocalBoard()
        if cell.candidate.rtos:
            return RtosBoard(self._images[cell.candidate.name])
        return VirtualBoard(self._kernels[cell.candidate.name], cell.machine, self._absolute / kept.SCRATCH)

    def _inputs(self, cell: Cell, artefacts: dict[str, str] | None = None) -> Inputs:
        return Inputs(
            candidate=cell.candidate.name,
            instrument=cell.instrument.name,
            load=cell.load,
            board=cell.board,
            cpus=cell.cpus,
            seed=cell.seed,
            parameters=cell.parameters.model_dump(mode="json"),
            job=cell.job().as_inputs(),
            artefacts=self._board(cell).artefacts() if artefacts is None else artefacts,
        )

    def _finished(self, wanted: set[tuple[str, int]], watcher: Watcher) -> set[tuple[str, int]]:
        """Runs that are kept already. A corrupt one is named, set aside and run again."""
        done = set()
        for key, repeat in wanted:
            path = self.store.path(key, repeat)
            if not path.exists():
                continue
            try:
                record = read(path)
                if (record.inputs.key(), record.manifest.repeat) != (key, repeat):
                    raise BadInput(f"{path}: the record there is of another run")
                done.add((key, repeat))
            except NewerVersion:
                raise
            except BadInput as error:
                aside = self.store.set_aside(path)
                watcher.warning(f"{error}; set aside as {aside.name}, the cell runs again")
        return done

    def _run_all(
        self, cells: Sequence[Cell], workers: int, inputs: Mapping[Cell, Inputs], watcher: Watcher
    ) -> dict[Group, str]:
        failures: dict[Group, str] = {}
        waiting, running = list(cells), dict[Future[None], Cell]()
        with ThreadPoolExecutor(workers) as pool:
            while waiting or running:
                while waiting and len(running) < workers:
                    cell = waiting.pop(0)
                    watcher.started(cell)
                    running[pool.submit(self._run, cell, inputs[cell])] = cell
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    cell = running.pop(future)
                    failure = _failure(future)
                    watcher.finished(cell, failure)
                    if failure:
                        failures[cell.group] = failure
        return failures

    def _run(self, cell: Cell, inputs: Inputs) -> None:
        started = datetime.now(UTC)
        timeout_s = max(_LEAST_TIMEOUT_S, _TIMEOUT_FACTOR * cell.estimate_s)
        outcome = self._board(cell).run(cell.job(), seed=cell.seed, timeout_s=timeout_s)
        outcome = replace(outcome, facts={**outcome.facts, **self._sizes(cell)})
        measurement = cell.instrument.read(cell.parameters, outcome, cpus=cell.cpus)
        measurement = replace(measurement, problems=(*measurement.problems, *kernel_complaints(outcome.console)))
        timing = Timing.UNTESTED if cell.emulated else Timing.REAL
        made = provenance(cell, outcome, started, self.mission.sha256)
        self.store.write(make(inputs, measurement, made, timing=timing, repeat=cell.repeat))

    def _sizes(self, cell: Cell) -> dict[str, str]:
        if cell.candidate.rtos:
            return dict(self._images[cell.candidate.name].sizes)
        kernel = self._kernels.get(cell.candidate.name)
        if kernel is None:
            return {}
        return {
            "image_size_b": str(kernel.image_size_b),
            "installed_size_b": str(kernel.installed_size_b),
            "package": f"{kernel.package} {kernel.version}",
            **kernel.facts,
        }

    def _configs(self) -> dict[str, str | None]:
        configs: dict[str, str | None] = {name: kernel.config for name, kernel in self._kernels.items()}
        return configs | {c.name: kernel_config() for c in self.mission.candidates if c.this_machine}


def _failure(future: Future[None]) -> str | None:
    error = future.exception()
    if error is None:
        return None
    if isinstance(error, RunFailed | OSError):  # the disk is full, a program is missing
        return str(error)
    raise error
