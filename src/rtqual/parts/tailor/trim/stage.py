# SPDX-License-Identifier: MIT
"""`rtqual tailor --trim`: watch the mission's scenario on the tailored kernel, propose what to remove, try it.

The scenario is what the scale measures of the kernel, one run each. The kernel that is watched is the one that flies,
unchanged: QEMU notes the code that runs. A proposal is accepted only if the kernel without it builds, boots, and gets
through the same scenario.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rtqual.base.cache import locked
from rtqual.base.errors import RtqualError, RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.provenance import kernel_complaints
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.candidates.carried import carried
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.kernel.config import parse
from rtqual.engine.mission import Candidate
from rtqual.parts.tailor import tailored as built
from rtqual.parts.tailor.built_headers import of_built
from rtqual.parts.tailor.configure.kconfig import Kconfig
from rtqual.parts.tailor.configure.rules import ASKED, Wish, wishes
from rtqual.parts.tailor.make.build import as_steps, compile_objects
from rtqual.parts.tailor.make.kbuild import gates
from rtqual.parts.tailor.tailored import Tailored
from rtqual.parts.tailor.trim.objects import objects_of
from rtqual.parts.tailor.trim.search import KernelEvidence, Proposal, Trim, propose
from rtqual.parts.tailor.trim.trimmed import ACCEPTED, REFUSED, UNTRIED, JudgedSymbol, Size, Trimmed, Unused
from rtqual.parts.tailor.trim.used import entered
from rtqual.protocols.board import Board, Command, Job, Machine
from rtqual.protocols.board.registry import Start
from rtqual.protocols.record.schema import Measurement

BUILDS = 6  # kernels at most, of which each is some minutes
_LOADED = "loaded-modules"  # the file that says which modules a run had loaded
_NOTE_MODULES = Command(("sh", "-c", f"cut -d' ' -f1 /proc/modules > /run/result/file.{_LOADED}"))
_TIMEOUT_S = 900.0


@dataclass(frozen=True)
class Passed:
    """A scenario that a kernel got through."""

    measured: dict[str, Measurement]  # run -> what it gave
    modules: frozenset[str]


@dataclass
class Trial:
    """Which proposals hold. `passes` says of a set of symbols to forbid why it fails, or nothing."""

    passes: Callable[[Sequence[str]], str]
    builds: int
    judged: dict[str, tuple[str, str]] = field(default_factory=dict)  # symbol -> state and reason
    tried: int = 0

    def run(self, proposals: Sequence[Proposal]) -> list[str]:
        """All at once; what fails is halved until the one that fails is alone. Returns the accepted symbols."""
        accepted: list[str] = []
        waiting = [list(proposals)] if proposals else []
        while waiting:
            batch = waiting.pop(0)
            names = [proposal.symbol for proposal in batch]
            if self.tried == self.builds:
                why = f"all {self.builds} kernels that a trim may build were built"
                self.judged |= dict.fromkeys(names, (UNTRIED, why))
                continue
            self.tried += 1
            failure = self.passes([*accepted, *names])
            if not failure:
                accepted += names
                self.judged |= dict.fromkeys(names, (ACCEPTED, ""))
            elif len(batch) == 1:
                self.judged[names[0]] = (REFUSED, failure)
            else:
                half = (len(batch) + 1) // 2
                waiting[:0] = [batch[:half], batch[half:]]
        return accepted


def trim(campaign: Campaign, candidate: Candidate, watcher: Watcher, *, builds: int = BUILDS) -> Trimmed:
    """Raises RunFailed where the kernel as it is does not get through the scenario."""
    return _Trimming(campaign, candidate, watcher, builds).run()


def scenario(cells: Sequence[Cell], candidate: Candidate) -> tuple[Cell, ...]:
    """One run of everything that a campaign measures of a candidate."""
    return tuple(
        {
            cell.group: cell for cell in reversed(cells) if cell.candidate == candidate and not cell.place.switched
        }.values()
    )[::-1]


@dataclass
class _Trimming:
    campaign: Campaign
    candidate: Candidate
    watcher: Watcher
    builds: int
    last: tuple[Tailored, Passed] | None = None  # the last kernel that got through
    objects: Path | None = None  # the folder of object files, once it is there

    def run(self) -> Trimmed:
        name, architecture = self.candidate.name, self.candidate.architecture
        assert architecture is not None, "a tailored candidate"  # noqa: S101
        self.tools = guest_tools(architecture)
        made = self._made(())
        with scratch() as work:
            self.cells = scenario(self.campaign.cells, self.candidate)
            log = work / "used"
            self.watcher.preparing(f"{name}: the scenario of {len(self.cells)} runs, watched")
            before = self._through(made, work / "watched", log)
            self.watcher.preparing(f"{name}: which object files it used")
            found = self._proposed(made, log)
        trial = Trial(self._fails(before), self.builds)
        trial.run(found.proposals)
        return self._told(made, before, found, trial)

    def _made(self, without: Sequence[str]) -> Tailored:
        wanted, architecture = self.candidate.tailor, self.candidate.architecture
        assert wanted is not None and architecture is not None, "a tailored candidate"  # noqa: S101
        wanted = wanted.model_copy(update={"forbid": (*wanted.forbid, *without)})
        needs, tell = self.campaign.mission.mission.needs, self.watcher.preparing
        return built.KernelOrder(self.candidate.name, wanted, needs, architecture, tell).tailored(self.objects)

    def _through(self, made: Tailored, work: Path, log: Path | None = None) -> Passed:
        """Boot a kernel and run the scenario. Raises RunFailed with the run that failed."""
        architecture = self.candidate.architecture
        assert architecture is not None, "a tailored candidate"  # noqa: S101
        programs = {cell.instrument.program for cell in self.cells}
        extra = carried(programs, architecture, lambda: of_built(made.tree, made.built))
        kernel = built.as_candidate(
            self.candidate.name, made.built, architecture, boot=self.candidate.boot, tools=self.tools, extra=extra
        )
        boards: dict[Machine, Board] = {}
        measured: dict[str, Measurement] = {}
        modules: set[str] = set()
        for cell in self.cells:
            if cell.machine not in boards:
                start = Start(kernel.candidate, system=kernel, machine=cell.machine, scratch=work, used=log)
                boards[cell.machine] = cell.place.open(start)
            try:
                measured[str(cell.group)], loaded = _run(boards[cell.machine], cell)
            except RunFailed as error:
                raise RunFailed(f"{cell.group}: {error}") from None
            modules |= loaded
        for board in boards.values():
            board.forget()
        return Passed(measured, frozenset(modules))

    def _proposed(self, made: Tailored, log: Path) -> Trim:
        wanted, tree = self.candidate.tailor, made.tree
        assert wanted is not None, "a tailored candidate"  # noqa: S101
        self.objects = kept = built.kept_objects(tree, "-trim")
        watch = as_steps(self.watcher.preparing, f"{self.candidate.name}: its object files")
        with locked(kept):
            compile_objects(tree, made.built.config, kept, watch)
            code = objects_of(tree, kept)
        config = parse(made.built.config, f"the configuration of {self.candidate.name}")
        kconfig = Kconfig(tree)
        kconfig.read(made.resolution.config_path)
        symbols = made.built.system_map.read_text()
        logs = (log.with_suffix(part).read_bytes() for part in (".boot", ".jobs"))
        booting, used = (entered(content, symbols, code) for content in logs)
        evidence = KernelEvidence(gates(tree.path, tree.folder, config), code, booting, used)
        return propose(kconfig, evidence, self._wishes(made))

    def _wishes(self, made: Tailored) -> list[Wish]:
        wanted, tree = self.candidate.tailor, made.tree
        assert wanted is not None, "a tailored candidate"  # noqa: S101
        own = wishes((*self.campaign.mission.mission.needs, *wanted.needs), tree.architecture, tree.number)
        values = {**dict.fromkeys(wanted.forbid, "n"), **wanted.require}
        return [*own, *(Wish(symbol, str(value), ASKED, "asked for by name") for symbol, value in values.items())]

    def _fails(self, before: Passed) -> Callable[[Sequence[str]], str]:
        def failure(without: Sequence[str]) -> str:
            self.watcher.preparing(f"{self.candidate.name} without {', '.join(without)}")
            try:
                made = self._made(without)
                with scratch() as work:
                    after = self._through(made, work / "trimmed")
            except RtqualError as error:
                return str(error)
            worse = _worse(before, after)
            if not worse:
                self.last = made, after
            return worse

        return failure

    def _told(self, made: Tailored, before: Passed, found: Trim, trial: Trial) -> Trimmed:
        return Trimmed(
            candidate=self.candidate.name,
            kernel_sha256=made.built.sha256,
            scale=self.campaign.scale,
            scenario=tuple(before.measured),
            modules=tuple(sorted(before.modules)),
            objects=found.objects,
            objects_entered=found.entered,
            functions=found.functions,
            functions_entered=found.functions_entered,
            functions_at_boot=found.functions_at_boot,
            proposals=tuple(
                JudgedSymbol(
                    **asdict(proposal), state=trial.judged[proposal.symbol][0], why=trial.judged[proposal.symbol][1]
                )
                for proposal in found.proposals
            ),
            kept=tuple(Unused(**asdict(kept)) for kept in found.kept),
            builds=trial.tried,
            before=_size(made, before),
            after=_size(*self.last) if self.last else None,
        )


def _run(board: Board, cell: Cell) -> tuple[Measurement, frozenset[str]]:
    job: Job = cell.job()
    job = replace(job, setup=(*job.setup, _NOTE_MODULES))
    outcome = board.run(job, seed=cell.seed, timeout_s=_TIMEOUT_S)
    measurement = cell.instrument.measured(cell.parameters, outcome, cpus=cell.cpus)
    problems = (*measurement.problems, *kernel_complaints(outcome.console))
    return replace(measurement, problems=problems), frozenset(outcome.files.get(_LOADED, "").split())


def _worse(before: Passed, after: Passed) -> str:
    """What the kernel complains of, or its instruments, that they did not before."""
    for run, measurement in after.measured.items():
        if len(measurement.problems) > len(before.measured[run].problems):
            return f"{run}: {measurement.problems[-1]}"
    return ""


def _size(made: Tailored, passed: Passed) -> Size:
    scalars = {name: scalar.value for run in passed.measured.values() for name, scalar in run.scalars.items()}
    ram, kernel = (scalars.get(name) for name in ("ram_used", "kernel_memory"))
    config = made.resolution.config
    return Size(
        image_size_b=made.built.image.stat().st_size,
        installed_size_b=made.built.installed_size_b,
        symbols_on=sum(config.on(symbol) for symbol in config),
        ram_used_b=None if ram is None else round(ram),
        kernel_memory_b=None if kernel is None else round(kernel),
    )
