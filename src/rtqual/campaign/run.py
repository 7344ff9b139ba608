# SPDX-License-Identifier: MIT
"""A campaign: the cells a mission asks for at a scale, in an interleaved order, run once each and kept.

Cells of this machine run first and alone; then guests, two at a time. Every group of deterministic cells runs one
cell a second time, to test that it is.
"""

import platform
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from rtqual import __version__
from rtqual.analysis.figure.model import Group
from rtqual.base.apt import Package, fetch_closure
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput, RunFailed
from rtqual.board import Board, Job, Machine, Outcome
from rtqual.board.local import LocalBoard, kernel_config, processors
from rtqual.board.rtos import RtosBoard
from rtqual.board.system import Kernel, Rtos
from rtqual.board.virtual import VirtualBoard
from rtqual.candidate import built, rtos
from rtqual.candidate.debian import prepare
from rtqual.image.measured import MEMORY_MIB, under_root
from rtqual.initramfs.guest import TOOL_PACKAGES
from rtqual.instrument import Instrument, Parameters
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.instrument.version import parse_version
from rtqual.kernel.account import Account
from rtqual.load.registry import LOADS
from rtqual.mission import Candidate, Mission
from rtqual.published.records import records
from rtqual.record.schema import Inputs, Manifest, Provenance, Record, Timing
from rtqual.record.store import Store, make, read, settle_timing

# Wall seconds per board second on the virtual board, seen on two cores at 3 GHz: a guess until cells have run.
_IDLE_PACE, _LOADED_PACE, _CELL_S, _BOOT_S = 0.5, 4.0, 1.0, 12.0
_TIMEOUT_FACTOR, _LEAST_TIMEOUT_S = 30.0, 60.0
_STATE_BYTES, _RECORD_BYTES = 180 * 2**20, 64 * 2**10


@dataclass(frozen=True)
class Cell:
    """One run to do."""

    candidate: Candidate
    instrument: Instrument
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


def plan(mission: Mission, scale: str) -> list[Cell]:
    """Every cell of a scale, interleaved: the first run of every group, then the second of every group..."""
    rounds: dict[int, dict[tuple[Group, int], Cell]] = {}
    local_cpus = len(processors())
    for part in mission.scale(scale).plan:
        for candidate, name, load in product(mission.candidates_of(part), part.instruments, part.loads):
            instrument = INSTRUMENTS[name]
            parameters = instrument.parameters.model_validate(mission.parameters_for(scale, name, part))
            for cpus in (local_cpus,) if candidate.this_machine else part.cpus:
                for run in range(part.runs):
                    cell = Cell(candidate, instrument, parameters, load, cpus, seed=run + 1)
                    rounds.setdefault(2 * run, {})[cell.group, 0] = cell
                    if run == 0 and cell.emulated:
                        rounds.setdefault(1, {})[cell.group, 1] = replace(cell, repeat=1)
    ordered = [cell for number in sorted(rounds) for cell in rounds[number].values()]
    return sorted(ordered, key=lambda cell: cell.emulated)


@dataclass(frozen=True)
class Forecast:
    cells: int
    wall_s: float
    disk_b: int


def forecast(cells: Sequence[Cell], workers: int, *, booting: bool = True) -> Forecast:
    """Time and disk for cells that are still to run; `booting`: their boards have still to boot."""
    virtual = [cell for cell in cells if cell.emulated]
    boards = {(cell.candidate.name, cell.machine) for cell in virtual if cell.candidate.architecture}
    wall_s = sum(cell.estimate_s for cell in cells if not cell.emulated)
    virtual_s = sum(cell.estimate_s for cell in virtual) + _BOOT_S * len(boards) * booting
    wall_s += virtual_s / max(1, min(workers, len(virtual)))
    return Forecast(len(cells), wall_s, _STATE_BYTES * len(boards) + _RECORD_BYTES * len(cells))


class Watcher:
    """What a campaign tells while it runs; the default is silence."""

    def preparing(self, what: str) -> None: ...
    def kept(self, cells: Sequence[Cell]) -> None: ...
    def started(self, cell: Cell) -> None: ...
    def finished(self, cell: Cell, failure: str | None) -> None: ...
    def warning(self, text: str) -> None: ...


@dataclass(frozen=True)
class Result:
    records: tuple[Record, ...]
    failures: Mapping[Group, str]
    configs: Mapping[str, str | None]  # candidate -> kernel configuration
    accounts: tuple[Account, ...] = ()  # of the kernels tailored to the mission


class Campaign:
    """A mission at a scale, kept in a folder: records/, configs/, and scratch/ for saved guests."""

    def __init__(self, mission: Mission, scale: str, folder: Path, *, workers: int = 2) -> None:
        self.mission, self.scale, self.workers = mission, scale, workers
        self.folder = folder.absolute()  # recorded commands name files in it
        self.cells = plan(mission, scale)
        self.store = Store(self.folder / "records")
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
        if not self._kernels:
            return
        (self.folder / "configs").mkdir(parents=True, exist_ok=True)
        for name, kernel in self._kernels.items():
            (self.folder / "configs" / f"{name}.config").write_text(kernel.config)

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
        return VirtualBoard(self._kernels[cell.candidate.name], cell.machine, self.folder / "scratch")

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
            except BadInput as error:
                if "newer than this rtqual" in str(error):
                    raise
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
        provenance = _provenance(cell, outcome, started, self.mission.sha256)
        self.store.write(make(inputs, measurement, provenance, timing=timing, repeat=cell.repeat))

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


def _provenance(cell: Cell, outcome: Outcome, started: datetime, mission_sha256: str) -> Provenance:
    known = dict(outcome.facts)
    resolution = known.pop("clock_resolution_ns", None)
    tools = {cell.instrument.program: parse_version(outcome.version)} if cell.job().version else {}
    return Provenance(
        rtqual=__version__,
        mission_sha256=mission_sha256,
        started=started.isoformat(timespec="seconds"),
        wall_s=round(outcome.wall_s, 3),
        command=list(outcome.command),
        tools=tools,
        kernel=known.pop("kernel", None),
        kernel_cmdline=known.pop("cmdline", None),
        clocksource=known.pop("clocksource", None),
        clock_resolution_ns=int(resolution) if resolution else None,
        threads=list(outcome.threads),
        page_faults=sum(faults) if (faults := _page_faults(outcome)) else None,
        facts={**known, "host": platform.machine()},
    )


def _page_faults(outcome: Outcome) -> list[int]:
    """The counts there are; none of a system without pages."""
    return [outcome.status[kind] for kind in ("minor_faults", "major_faults") if kind in outcome.status]


def kernel_complaints(console: str) -> list[str]:
    """What the kernel itself says went wrong while it ran."""
    signs = ("BUG:", "Oops", "WARNING: CPU", "RT throttling activated", "Call Trace", "rcu: INFO")
    return [f"the kernel said: {line.strip()[:160]}" for line in console.splitlines() if any(s in line for s in signs)][
        :3
    ]
