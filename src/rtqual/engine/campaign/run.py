# SPDX-License-Identifier: MIT
"""A campaign: the cells of its plan, run once each and kept."""

import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from rtqual.base.cache import cache_dir
from rtqual.base.errors import BadInput, NewerVersion, RunFailed, SystemDied, told
from rtqual.base.interrupt import threads
from rtqual.base.scratch import sweep
from rtqual.engine.analysis.figure.model import Group, LeftOut
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign import sessions, trusted
from rtqual.engine.campaign.annex import all_annexes
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.folder import Result
from rtqual.engine.campaign.looked import looked_in, with_this
from rtqual.engine.campaign.looks import Looks
from rtqual.engine.campaign.lost import Lost, all_in, begun, ended, lost_in
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.prepared import Prepared
from rtqual.engine.campaign.provenance import kernel_complaints, missing_cpus, provenance, replayed, spared_memory
from rtqual.engine.campaign.stated import Before, before, is_of, why_waits
from rtqual.engine.candidates.printed import systems
from rtqual.engine.mission import Mission
from rtqual.protocols.board import Board, Job, JobOutcome, Machine
from rtqual.protocols.board.registry import BoardRow, all_boards
from rtqual.protocols.instrument.about import about
from rtqual.protocols.load.own import load_of
from rtqual.protocols.part import keyed
from rtqual.protocols.record.schema import MODELS, Inputs, Manifest, Record, Timing, digest
from rtqual.protocols.record.store import Store, make, read, settle_timing


class Watcher:
    """What a campaign tells while it runs; the default is silence."""

    def preparing(self, what: str) -> None: ...
    def kept(self, cells: Sequence[Cell]) -> None: ...
    def started(self, cell: Cell) -> None: ...
    def finished(self, cell: Cell, failure: str | None) -> None: ...
    def waits(self, cells: Sequence[Cell], why: str) -> None: ...
    def refused(self, cells: Sequence[Cell], why: str) -> None: ...
    def goes_on(self, cells: Sequence[Cell], why: Sequence[str]) -> None: ...
    def warning(self, text: str) -> None: ...


class Campaign:
    """A mission at a scale and its plan, made once; what it gives is kept in `folder` (folder.py), and with it what is
    known of runs that left no record, in this call or an earlier one (lost.py). `cells`: where they are not those of a
    scale of the mission's; `run_programs`: the user lets programs of the mission's own run (trusted.py)."""

    def __init__(
        self,
        mission: Mission,
        scale: str,
        folder: Path,
        *,
        workers: int = 2,
        cluster: str = "",
        cells: Sequence[Cell] | None = None,
        run_programs: bool = False,
    ) -> None:
        self.mission, self.scale, self.workers = mission, scale, workers
        self._cluster, self._run_programs = cluster, run_programs
        self.folder = folder
        self._looks = Looks(mission, scale) if cells is None else None
        self.cells = plan(mission, scale) if cells is None else list(cells)  # as many as there may be
        self.least = plan(mission, scale, self._looks.runs) if self._looks else self.cells  # until the first look
        self.later = {
            candidate.name: why for candidate in mission.candidates if (why := why_waits(candidate))
        }  # a reboot brings them
        self._absolute = folder.absolute()  # recorded commands name files in it
        self.store = Store(self._absolute / kept.RECORDS)
        self._prepared = Prepared(mission)
        self._boards: dict[tuple[BoardRow, str, int, Machine], Board] = {}
        self._before = self._measured_before()
        self._ran = False
        self._tell: Callable[[str], None] = lambda _: None

    def run(self, watcher: Watcher) -> Result:
        """Run what is not yet done. A cell that fails is told and does not stop the others."""
        sweep({Path(tempfile.gettempdir()), Path("/dev/shm"), Path.cwd()})  # noqa: S108 where boards keep theirs
        with suppress(OSError):  # who needs the cache is told why there is none
            sweep({cache_dir(), *cache_dir().iterdir()})
        for instrument in {cell.instrument.name: cell.instrument for cell in self.cells}.values():
            instrument.sweep()
        self.require_trust()
        self._tell = watcher.preparing
        self._prepared.prepare(self.cells, watcher.preparing)
        keys: dict[Cell, Inputs] = {}
        failures: dict[Group, str] = {}
        cells = self.least
        try:
            while cells:
                keys |= {cell: self.inputs(cell) for cell in cells}
                failures |= self._run_missing(cells, keys, watcher)
                cells = self._after_a_look(keys, failures, watcher)
        finally:
            self._close(watcher)
        if self._ran:
            sessions.end(self.folder)
        records = self._measured(keys)
        looked = with_this(looked_in(self.folder), self.mission, self.scale, records) if self._looks else {}
        return Result(
            (*records, *self._published()),
            failures,
            self._configs,
            self._annexes(),
            again=kept.second_runs(self.store, records),
            lost=self._lost(keys),
            left_out=self._left_out(keys),
            looked=looked,
        )

    def _annexes(self) -> dict[str, BaseModel]:
        """What candidates brought of how they came to be."""
        brought = {annex.file: annex.gather for annex in all_annexes()}
        entries = self._prepared.entries.items()
        known = sessions.sessions_in(self.folder)
        of_runs = {sessions.SESSIONS.file: known} if known.sessions else {}
        return {**of_runs, **{file: gather(some) for file, some in entries if (gather := brought[file])}}

    def require_trust(self) -> None:
        """Raises BadInput where programs or loads of the mission's own would run that the user did not let run."""
        own = [inputs for cell in self.cells if trusted.own_code(inputs := self.inputs(cell, artefacts={}))]
        where = str(self.mission.path or self.mission.mission.name)
        if own and self._cluster:
            raise BadInput(f"{where}: its own programs are not sent to other machines: run it without --cluster")
        trusted.require(own, where, self.mission.folder, lets=self._run_programs)

    def _after_a_look(self, keys: Mapping[Cell, Inputs], failures: Mapping[Group, str], watcher: Watcher) -> list[Cell]:
        """The further cells of a campaign that is not decided."""
        if self._looks is None or not self._looks.may_go_on:
            return []
        lost = [run for lost in self._lost(keys).values() if (run := lost.run)]
        why = self._looks.look(self._measured(keys), self._configs, failures, lost, looked_in(self.folder))
        cells = [cell for cell in plan(self.mission, self.scale, self._looks.runs) if cell not in keys]
        if cells:
            watcher.goes_on(cells, why)
        return cells

    def _lost(self, keys: Mapping[Cell, Inputs]) -> dict[str, Lost]:
        """Of the plan's runs, and of others that are like them: fewer runs than before make no hang undone. What was
        interrupted and made again is as good as undisturbed."""
        planned = {self.name(*pair) for pair in keys.items()}
        if self._looks is None:
            return lost_in(self.folder, planned)
        like = {_settings(inputs) for inputs in keys.values()}
        every = [(name, lost) for name, lost in all_in(self.folder).items() if lost.alone]
        return {
            name: lost for name, lost in every if name in planned or (lost.inputs and _settings(lost.inputs) in like)
        }

    def _left_out(self, keys: Mapping[Cell, Inputs]) -> tuple[LeftOut, ...]:
        """What is in the folder of the plan's groups, and not in the plan."""
        if self._looks is None:
            return ()
        planned = {(inputs.key(), cell.repeat) for cell, inputs in keys.items()}
        like, groups = {_settings(inputs) for inputs in keys.values()}, {cell.group for cell in keys}
        found: dict[tuple[Group, bool], list[Record]] = {}
        for manifest in self._manifests():
            inputs = manifest.inputs
            group = Group(inputs.instrument, inputs.load, inputs.board, inputs.cpus, inputs.candidate)
            if not manifest.repeat and group in groups and (inputs.key(), 0) not in planned:
                record = read(self.store.path(inputs.key(), 0))
                found.setdefault((group, _settings(inputs) in like), []).append(record)
        return tuple(_beside(group, records, alike=alike) for (group, alike), records in sorted(found.items()))

    def _measured(self, keys: Mapping[Cell, Inputs]) -> list[Record]:
        fixed = {row.name for row in all_boards() if not row.repeats}
        return settle_timing(self.store, [read(p) for p in self._paths(keys)], fixed=fixed)

    @cached_property
    def _configs(self) -> dict[str, str | None]:
        return self._prepared.configs({name: earlier.config for name, earlier in self._before.items()})

    def _run_missing(self, cells: Sequence[Cell], keys: Mapping[Cell, Inputs], watcher: Watcher) -> dict[Group, str]:
        """Run those that have no record."""
        done = self._finished({(keys[cell].key(), cell.repeat) for cell in cells}, watcher)
        waiting = [cell for cell in cells if (keys[cell].key(), cell.repeat) not in done]
        watcher.kept([cell for cell in cells if cell not in set(waiting)])
        failures: dict[Group, str] = {}
        for name, why in self.later.items():
            if cells := [cell for cell in waiting if cell.candidate.name == name]:
                failures |= dict.fromkeys((cell.group for cell in cells), why)
                watcher.waits(cells, why)
        ready = [cell for cell in waiting if cell.candidate.name not in self.later]
        hanging = {cell: why for cell in ready if (why := self._prepared.never_ends(cell))}
        for group in dict.fromkeys(cell.group for cell in hanging):
            of = [cell for cell in hanging if cell.group == group]
            failures[group] = hanging[of[0]]
            watcher.refused(of, failures[group])
        ready = self._failed_last([cell for cell in ready if cell not in hanging], keys)
        if ready and not self._ran:
            sessions.begin(self.folder)
            self._ran = True
        here, switched = ([c for c in ready if c.place.here], [c for c in ready if c.place.switched])
        together = [cell for cell in ready if not cell.place.here and not cell.place.switched]
        away = [cell for cell in together if cell.place.repeats] if self._cluster else []
        if away:
            numbered = {cell: (self.cells.index(cell), keys[cell]) for cell in away}
            content = kept.content_of(self.mission)
            runner = keyed("runners", "cluster", f"--cluster {self._cluster}")
            failures |= runner.run(self._cluster, content, self.scale, numbered, self.folder, self.store, watcher)
        together = [cell for cell in together if cell not in set(away)]
        boards = len({cell.place for cell in switched}) or 1
        for some, workers in ((here, 1), (together, self.workers), (switched, boards)):
            failures |= self._run_all(some, workers, keys, watcher)
        return failures

    def _failed_last(self, cells: Sequence[Cell], keys: Mapping[Cell, Inputs]) -> list[Cell]:
        """What left no record before may hang until its deadline once more: the others need not wait for that."""
        names = {cell: self.name(cell, keys[cell]) for cell in cells}
        failed = {name for name, lost in lost_in(self.folder, names.values()).items() if lost.alone}
        return sorted(cells, key=lambda cell: names[cell] in failed)

    def ready(self, cell: Cell) -> None:
        """Prepare what one cell needs."""
        self._prepared.prepare(
            [other_cell for other_cell in self.cells if other_cell.candidate == cell.candidate], self._tell
        )

    def _close(self, watcher: Watcher) -> None:
        for board in self._boards.values():
            try:
                board.close()
            except RunFailed as error:
                watcher.warning(str(error))

    def _published(self) -> list[Record]:
        """What studies printed of candidates, kept like what is measured, so that it is shown and compared alike."""
        named = [(candidate.published, candidate.name) for candidate in self.mission.candidates if candidate.published]
        of = systems() if named else {}
        taken = [record for system, name in named for record in of[system].records(system, name, self.mission.sha256)]
        for record in taken:
            self.store.write(record)
        return taken

    def waiting(self) -> list[Cell]:
        """Cells without a record, as far as can be told without preparing the candidates."""
        candidates = {candidate.name: candidate for candidate in self.mission.candidates}
        every = [r for r in self._manifests() if r.inputs.candidate in candidates]
        every = [r for r in every if is_of(candidates[r.inputs.candidate], r.inputs)]
        held = {(r.inputs.model_copy(update={"artefacts": {}}).key(), r.repeat) for r in every}
        return [c for c in self.cells if (self.inputs(c, artefacts={}).key(), c.repeat) not in held]

    def _measured_before(self) -> dict[str, Before]:
        """Of candidates that wait."""
        waiting = [candidate for candidate in self.mission.candidates if candidate.name in self.later]
        records = [manifest.inputs for manifest in self._manifests()] if waiting else []
        return {
            candidate.name: before(candidate, records, kept.config_before(self.folder, candidate.name))
            for candidate in waiting
        }

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

    def board(self, cell: Cell) -> Board:
        """Where a cell runs, once its candidate is prepared; opened once."""
        key = _system(cell)
        if key not in self._boards:
            start = self._prepared.start(cell.candidate, cell.boot)
            start = replace(start, machine=cell.machine, scratch=self._absolute / kept.SCRATCH, tell=self._tell)
            self._boards[key] = cell.place.open(start)
        return self._boards[key]

    def inputs(self, cell: Cell, artefacts: dict[str, str] | None = None) -> Inputs:
        return Inputs(
            candidate=cell.candidate.name,
            instrument=cell.instrument.name,
            load=cell.load,
            board=cell.board,
            cpus=cell.cpus,
            seed=cell.seed,
            parameters=cell.parameters.model_dump(mode="json") | (cell.shape.told if cell.shape else {}),
            job=cell.job().as_inputs(),
            artefacts=self._artefacts(cell) if artefacts is None else artefacts,
        )

    def name(self, cell: Cell, inputs: Inputs) -> str:
        return self.store.path(inputs.key(), cell.repeat).name

    def _artefacts(self, cell: Cell) -> dict[str, str]:
        measured = self._before.get(cell.candidate.name) if cell.place.here else None
        return measured.artefacts if measured else self.board(cell).artefacts()

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
        booted: set[tuple[BoardRow, str, int, Machine]] = set()
        with threads(workers) as pool:
            while waiting or running:
                while waiting and len(running) < workers:
                    cell = _next(waiting, running.values(), booted)
                    if cell is None:
                        break
                    waiting.remove(cell)
                    begun(self.folder, self.name(cell, inputs[cell]), inputs[cell], cell.repeat)
                    watcher.started(cell)
                    running[pool.submit(self.measure, cell, inputs[cell])] = cell
                future = pool.ended()
                cell = running.pop(future)
                booted.add(_system(cell))
                failure = _failure(future)
                died = isinstance(future.exception(), SystemDied)
                ended(self.folder, self.name(cell, inputs[cell]), failure, died=died)
                watcher.finished(cell, failure)
                if failure:
                    failures[cell.group] = failure
        return failures

    def measure(self, cell: Cell, inputs: Inputs) -> None:
        """Run a cell and keep its record."""
        started = datetime.now(UTC)
        board, job = self.board(cell), cell.job()
        if path := board.recorded(job, seed=cell.seed, filed=(cell.instrument.name, cell.load)):
            self.store.write(replayed(inputs, path, self.mission.sha256))
            return
        outcome = board.run(job, seed=cell.seed, timeout_s=cell.timeout_s)
        outcome = replace(outcome, facts={**outcome.facts, **self._prepared.sizes(cell.candidate)})
        measurement = cell.instrument.measured(cell.parameters, outcome, cpus=cell.cpus)
        complaints = kernel_complaints(outcome.console, resets=cell.instrument.resets)
        problems = (*measurement.problems, *outcome.problems, *complaints, *missing_cpus(outcome.facts, cell.cpus))
        problems = (*problems, *spared_memory(outcome.facts, load_of(cell.load, cell.shape)))
        if cell.repeat and job.watched:
            problems = (*problems, *_disturbed(board, job, cell, outcome))
        measurement = replace(measurement, problems=problems)
        untested = Timing.MODELLED_UNTESTED if MODELS & inputs.artefacts.keys() else Timing.UNTESTED
        timing = untested if cell.place.repeats else Timing.REAL
        made = provenance(cell, outcome, started, self.mission.sha256)
        told = about(cell.instrument, load_of(cell.load, cell.shape))
        self.store.write(make(inputs, measurement, made, timing=timing, repeat=cell.repeat, about=told))


def _settings(inputs: Inputs) -> str:
    """All that decides a run but its draw."""
    return digest([inputs.model_dump(mode="json", exclude={"seed", "job"})])


def _beside(group: Group, records: Sequence[Record], *, alike: bool) -> LeftOut:
    headlines = [record.series[0] for record in records if record.series and record.series[0].total]
    known = [max([*series.values[-1:].tolist(), series.info.reported.get("max", -math.inf)]) for series in headlines]
    unit = headlines[0].info.unit if headlines else ""
    seeds = tuple(sorted(record.inputs.seed for record in records))
    return LeftOut(group, seeds, alike, float(max(known)) if known else None, unit)


def _disturbed(board: Board, job: Job, cell: Cell, watched: JobOutcome) -> Iterator[str]:
    """Whether watching changed what a program did: it is run once more, and nobody looks."""
    alone = board.run(replace(job, watched=False), seed=cell.seed, timeout_s=cell.timeout_s)
    differing = [name for name, text in alone.files.items() if watched.files.get(name) != text]
    if (alone.exit_code, alone.stdout, alone.status) != (
        watched.exit_code,
        watched.stdout,
        watched.status,
    ) or differing:
        what = f"its {differing[0]} differs" if differing else "it ended otherwise"
        yield f"watching changed what the program did: {what} when it runs unwatched"


def _system(cell: Cell) -> tuple[BoardRow, str, int, Machine]:
    """What is booted once for all its cells."""
    return cell.place, cell.candidate.name, cell.boot, cell.machine


def _next(
    waiting: Sequence[Cell], running: Collection[Cell], booted: Collection[tuple[BoardRow, str, int, Machine]]
) -> Cell | None:
    """The first cell that need not wait for a guest that another cell boots just now; where all do, the first. None
    where all wait for a board that runs one cell at a time."""
    busy = {cell.place for cell in running if cell.place.switched}
    free = [cell for cell in waiting if cell.place not in busy]
    booting = {_system(cell) for cell in running} - set(booted)
    return next((cell for cell in free if _system(cell) not in booting), next(iter(free), None))


def _failure(future: Future[None]) -> str | None:
    error = future.exception()
    if error is None:
        return None
    if isinstance(error, OSError):  # the disk is full, a program is missing
        return told(error)
    if isinstance(error, RunFailed):
        return str(error)
    raise error
