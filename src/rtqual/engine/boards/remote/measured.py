# SPDX-License-Identifier: MIT
"""A candidate as a board measures it: what decides its runs, what its jobs are called, what came back of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import here, jobs
from rtqual.engine.boards.guest import guest_of
from rtqual.engine.boards.remote import truth
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.boards.remote.staged import NONCE, StagedFiles
from rtqual.engine.boards.remote.tune import NAMES
from rtqual.engine.initramfs import remote
from rtqual.protocols.board import Board, Job, JobOutcome, jobscript
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import digest

_KEY = 32  # characters of a job's name


class MeasuredBoard(Board):
    """`owner`: whose jobs these are; others' have other names."""

    instruction_clock = False
    connection = ""  # how its results come here

    def __init__(self, settings: Settings, kernel: Kernel, owner: str, programs: tuple[str, ...] = ()) -> None:
        self._settings, self._kernel, self._owner = settings, kernel, owner
        tree = kernel.image.parents[1]
        carried = kernel.carried
        initramfs = remote.build(tree, kernel.release, settings.architecture, programs=programs, carried=carried)
        files = {"kernel": kernel.image, "initramfs": initramfs}
        self.candidate = StagedFiles(kernel, files, (*settings.parameters, *kernel.boot))

    @property
    def where(self) -> str:
        return f"{self._kernel.candidate} on board {self._settings.name}"

    def config(self) -> str:
        return self._kernel.config

    def artefacts(self) -> dict[str, str]:
        own = {**self.candidate.sums, "kernel parameters": " ".join(self.candidate.parameters)}
        return own | ({"tuned": NAMES} if self._settings.tune else {})

    def key(self, job: Job, seed: int) -> str:
        """The name of a job's folder on the board."""
        of = {"job": job.as_inputs(), "seed": seed, "candidate": self.candidate.identity, "of": self._owner}
        return digest(of)[:_KEY]

    def outcome(
        self,
        job: Job,
        files: Mapping[str, str],
        told: Mapping[str, str],
        *,
        console: str,
        wall_s: float,
        away: Sequence[str] = (),
    ) -> JobOutcome:
        """Of what the board packed. `told`: what is known besides; `away`: what else is wrong."""
        jobscript.check(job, files, self.where)
        facts, problems = self._facts(files)
        found = jobscript.outcome(files, facts, console=console, wall_s=wall_s, command=job.measure.argv)
        if job.watched:
            told = {**told, **here.unseen(job, found), **jobs.ticks(self._kernel.config)}
            told |= {jobs.PROCESSOR: self._settings.architecture.name}
        return replace(found, facts={**facts, **told}, problems=(*found.problems, *problems, *away))

    def _facts(self, files: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        """What the record tells of the board, and why its figures decide nothing."""
        settings = self._settings
        facts = jobscript.facts(files)
        before, after = truth.read(files.get("before", "")), truth.read(files.get("after", ""))
        cmdline, release = facts.get("cmdline", "").split(), facts.get("kernel", "").partition(" ")[0]
        if f"{NONCE}={self.candidate.identity}" not in cmdline or release != self._kernel.release:
            raise RunFailed(f"{self.where}: another system measured: {facts.get('kernel', 'unknown')}")
        problems = [*truth.problems(before, after), *truth.isolation(cmdline, after)]
        facts |= truth.interrupts(files.get("interrupts_before", ""), files.get("interrupts", ""), after)
        if facts.get("boot_id") != before.get("boot_id"):
            problems.append("the board restarted in the run")
        if facts.get("cpus") != str(settings.cpus):
            problems.append(f"the board has {facts.get('cpus')} CPUs, the mission says {settings.cpus}")
        told = {f"{name}_before": value for name, value in before.items() if after.get(name) != value}
        told |= {name: value for name, value in after.items() if name not in ("boot_id", "clocksource")}
        if guest := guest_of(after):
            told["hypervisor"] = guest
        own = {"board": settings.name, "model": settings.model, "candidate_nonce": self.candidate.identity}
        # What is asked of the board is known by its name; what its facts say besides cannot take its place.
        besides = {name: value for name, value in facts.items() if not truth.asks(name)}
        return {**besides, **told, **own, "connection": self.connection}, problems
