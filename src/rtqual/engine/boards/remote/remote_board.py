# SPDX-License-Identifier: MIT
"""A board on the network as a board like any other: a candidate on it runs jobs."""

import time
from contextlib import suppress
from dataclasses import replace

from rtqual.base.errors import RunFailed, SystemDied
from rtqual.engine.boards.remote import clock_rate
from rtqual.engine.boards.remote.job import Detached
from rtqual.engine.boards.remote.measured import MeasuredBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import Unreachable
from rtqual.protocols.board import LEFT, PATIENCE, Job, JobOutcome
from rtqual.protocols.board.system import Kernel

_LEAST_WAIT_S, _MOST_WAIT_S, _TRIES = 2.0, 60.0, 3


class RemoteBoard(MeasuredBoard):
    """A candidate on a board. Candidates of one campaign share the session, and run one after the other."""

    connection = "ssh"

    def __init__(self, session: Session, kernel: Kernel, owner: str, programs: tuple[str, ...] = ()) -> None:
        super().__init__(session.settings, kernel, owner, programs)
        self._session = session
        self._taken: Detached | None = None

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        """A result that an rtqual which was killed left on the board is taken, and the job is not run again."""
        self._session.open()
        try:
            return self._run(job, seed, timeout_s)
        except Unreachable:
            self._session.died()
            raise

    def _run(self, job: Job, seed: int, timeout_s: float) -> JobOutcome:
        started, session = time.monotonic(), self._session
        key = self.key(job, seed)
        detached = Detached(session.lease, session.store, key)
        console, polls = "", 0
        first: clock_rate.ClockReading | None = None
        left: dict[str, str] = {}
        if detached.look().done:  # by an rtqual that was killed since
            age_s = detached.age_s()
            left = {LEFT: "" if age_s is None else str(age_s)}
        else:
            session.put_on(self.candidate)
            detached = Detached(session.lease, session.store, key)
            self._clear()
            mark = session.console.mark()
            looked = detached.look()
            if not looked.lives:
                detached.clear()
                session.expect_silence(timeout_s)
                first = clock_rate.reading(session.lease)
                detached.start(job, seed, dict(session.settings.disks))
            polls = self._wait(detached, looked.boot_id, timeout_s, runs=1 + job.watched)
            console = session.console.since(mark)
        files = self._files(detached)
        console += files.get("kernel", "")  # where no console is read, or a killed rtqual read it
        self._taken = detached
        if first is None:  # of a job that another rtqual began
            first = clock_rate.reading(session.lease)
            session.pause(clock_rate.ENOUGH_S)
        last = clock_rate.reading(session.lease)
        rate, away = clock_rate.compared(first, last)
        if not (first and last):
            away = [f"the board's clock was {clock_rate.NOT_COMPARED}: it did not answer; run it again"]
        wall_s = time.monotonic() - started
        return self.outcome(job, files, rate | left | {"polls": str(polls)}, console=console, wall_s=wall_s, away=away)

    def _wait(self, detached: Detached, boot_id: str, timeout_s: float, *, runs: int) -> int:
        """How often it looked: first when so many runs of the job should be done, for looking disturbs."""
        deadline_s = time.monotonic() + timeout_s + self._session.settings.boot_timeout_s
        pause_s, polls = max(_LEAST_WAIT_S, runs * timeout_s / PATIENCE), 0
        while time.monotonic() < deadline_s:
            self._session.pause(pause_s)
            pause_s = min(_MOST_WAIT_S, max(_LEAST_WAIT_S, pause_s / 4))
            polls += 1
            try:
                looked = detached.look()
            except Unreachable:
                continue  # the job goes on without us
            if looked.done:
                return polls
            if looked.boot_id != boot_id:
                self._session.died()
                raise SystemDied(f"{self.where}: the board restarted while it measured; the same command runs it again")
            if not looked.lives:
                with suppress(RunFailed):
                    detached.clear()
                raise RunFailed(f"{self.where}: the job ended without a result")
        self._session.died()
        raise SystemDied(f"{self.where}: no result after {timeout_s:.0f} s; the board was brought back")

    def _files(self, detached: Detached) -> dict[str, str]:
        for _ in range(_TRIES - 1):
            with suppress(Unreachable):
                return detached.take(self.where)
            self._session.pause(_LEAST_WAIT_S)
        return detached.take(self.where)

    def _clear(self) -> None:
        """What was taken stays there until the next job, when its record is kept."""
        if self._taken:
            replace(self._taken, link=self._session.lease, store=self._session.store).clear()
            self._taken = None

    def close(self) -> None:
        with suppress(RunFailed, AssertionError):
            self._clear()
        self._session.close()
