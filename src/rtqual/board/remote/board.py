# SPDX-License-Identifier: MIT
"""A board on the network as a board like any other: a candidate on it runs jobs."""

import time
from contextlib import suppress
from dataclasses import replace

from rtqual.base.errors import RunFailed
from rtqual.board import PATIENCE, Board, Job, Outcome, jobscript
from rtqual.board.remote import clock, truth
from rtqual.board.remote.job import Detached
from rtqual.board.remote.session import Session
from rtqual.board.remote.settings import Lost
from rtqual.board.remote.staged import NONCE, Candidate
from rtqual.board.remote.tune import NAMES
from rtqual.board.system import Kernel
from rtqual.initramfs import remote
from rtqual.record.schema import digest

_LEAST_WAIT_S, _MOST_WAIT_S, _TRIES = 2.0, 60.0, 3


class RemoteBoard(Board):
    """A candidate on a board. Candidates of one campaign share the session, and run one after the other."""

    instruction_clock = False

    def __init__(self, session: Session, kernel: Kernel, owner: str, programs: tuple[str, ...] = ()) -> None:
        self._session, self._kernel, self._owner = session, kernel, owner
        settings = session.settings
        tree = kernel.image.parents[1]
        initramfs = remote.build(tree, kernel.release, settings.architecture, programs=programs)
        files = {"kernel": kernel.image, "initramfs": initramfs}
        self._candidate = Candidate(kernel, files, (*settings.parameters, *kernel.boot))
        self._taken: Detached | None = None

    @property
    def where(self) -> str:
        return f"{self._kernel.candidate} on {self._session.where}"

    def config(self) -> str:
        return self._kernel.config

    def artefacts(self) -> dict[str, str]:
        own = {**self._candidate.sums, "kernel parameters": " ".join(self._candidate.parameters)}
        return own | ({"tuned": NAMES} if self._session.settings.tune else {})

    def run(self, job: Job, *, seed: int, timeout_s: float) -> Outcome:
        """A result that an rtqual which was killed left on the board is taken, and the job is not run again."""
        self._session.open()
        try:
            return self._run(job, seed, timeout_s)
        except Lost:
            self._session.died()
            raise

    def _run(self, job: Job, seed: int, timeout_s: float) -> Outcome:
        started, session = time.monotonic(), self._session
        key = digest({"job": job.as_inputs(), "seed": seed, "candidate": self._candidate.identity, "of": self._owner})
        detached = Detached(session.lease, session.store, key[:32])
        console, polls = "", 0
        first: clock.Reading | None = None
        last: clock.Reading | None = None
        if not detached.look().done:
            session.put_on(self._candidate)
            detached = Detached(session.lease, session.store, key[:32])
            self._clear()
            mark = session.console.mark()
            looked = detached.look()
            if not looked.lives:
                detached.clear()
                session.expect_silence(timeout_s)
                first = clock.reading(session.lease)
                detached.start(job, seed)
            polls = self._wait(detached, looked.boot_id, timeout_s)
            last = clock.reading(session.lease)
            console = session.console.since(mark)
        files = self._files(detached)
        console += files.get("kernel", "")  # where no console is read, or a killed rtqual read it
        self._taken = detached
        jobscript.check(job, files, self.where)
        facts, problems = self._facts(files)
        rate, away = clock.compared(first, last)
        found = jobscript.outcome(
            files,
            facts | rate | {"polls": str(polls)},
            console=console,
            wall_s=time.monotonic() - started,
            command=job.measure.argv,
        )
        return replace(found, problems=(*problems, *away))

    def _wait(self, detached: Detached, boot_id: str, timeout_s: float) -> int:
        """How often it looked: first when the job should be done, for looking disturbs."""
        deadline_s = time.monotonic() + timeout_s + self._session.settings.boot_timeout_s
        pause_s, polls = max(_LEAST_WAIT_S, timeout_s / PATIENCE), 0
        while time.monotonic() < deadline_s:
            self._session.pause(pause_s)
            pause_s = min(_MOST_WAIT_S, max(_LEAST_WAIT_S, pause_s / 4))
            polls += 1
            try:
                looked = detached.look()
            except Lost:
                continue  # the job goes on without us
            if looked.done:
                return polls
            if looked.boot_id != boot_id:
                self._session.died()
                raise RunFailed(f"{self.where}: the board restarted while it measured; the same command runs it again")
            if not looked.lives:
                with suppress(RunFailed):
                    detached.clear()
                raise RunFailed(f"{self.where}: the job ended without a result")
        self._session.died()
        raise RunFailed(f"{self.where}: no result after {timeout_s:.0f} s; the board was brought back")

    def _files(self, detached: Detached) -> dict[str, str]:
        for _ in range(_TRIES - 1):
            with suppress(Lost):
                return detached.take(self.where)
            self._session.pause(_LEAST_WAIT_S)
        return detached.take(self.where)

    def _facts(self, files: dict[str, str]) -> tuple[dict[str, str], list[str]]:
        """What the record tells of the board, and why its figures decide nothing."""
        settings = self._session.settings
        facts = jobscript.facts(files)
        before, after = truth.read(files.get("before", "")), truth.read(files.get("after", ""))
        cmdline, release = facts.get("cmdline", "").split(), facts.get("kernel", "").partition(" ")[0]
        if f"{NONCE}={self._candidate.identity}" not in cmdline or release != self._kernel.release:
            raise RunFailed(f"{self.where}: another system measured: {facts.get('kernel', 'unknown')}")
        problems = [*truth.problems(before, after), *truth.isolation(cmdline, after)]
        facts |= truth.interrupts(files.get("interrupts_before", ""), files.get("interrupts", ""), after)
        if facts.get("boot_id") != before.get("boot_id"):
            problems.append("the board restarted in the run")
        if facts.get("cpus") != str(settings.cpus):
            problems.append(f"the board has {facts.get('cpus')} CPUs, the mission says {settings.cpus}")
        told = {f"{name}_before": value for name, value in before.items() if after.get(name) != value}
        told |= {name: value for name, value in after.items() if name not in ("boot_id", "clocksource")}
        if after.get("virtual_machine", "0") not in ("0", truth.UNKNOWN):
            told["hypervisor"] = f"an unknown hypervisor ({after.get('machine', truth.UNKNOWN)})"
        own = {"board": settings.name, "model": settings.model, "candidate_nonce": self._candidate.identity}
        return {**told, **facts, **own, "connection": "ssh"}, problems

    def _clear(self) -> None:
        """What was taken stays there until the next job, when its record is kept."""
        if self._taken:
            replace(self._taken, link=self._session.lease, store=self._session.store).clear()
            self._taken = None

    def close(self) -> None:
        with suppress(RunFailed, AssertionError):
            self._clear()
        self._session.close()
