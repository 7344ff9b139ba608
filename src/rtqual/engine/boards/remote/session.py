# SPDX-License-Identifier: MIT
"""Known-good system -> candidate -> known-good system, whatever happens in between.

A board counts as up when a new boot answers with the right host key, release and nonce; an open port says nothing.
"""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.errors import RunFailed
from rtqual.base.interrupt import registered
from rtqual.base.scratch import scratch
from rtqual.base.words import clean
from rtqual.engine.boards.remote import job as jobs
from rtqual.engine.boards.remote import lease as leases
from rtqual.engine.boards.remote import staged, tune
from rtqual.engine.boards.remote.farm import FarmPlace
from rtqual.engine.boards.remote.lease import Lease
from rtqual.engine.boards.remote.link import Ssh
from rtqual.engine.boards.remote.power import Console, power_of
from rtqual.engine.boards.remote.settings import BoardRefused, Fell, Out, Settings, Unreachable
from rtqual.engine.boards.remote.staged import NONCE, StagedFiles
from rtqual.engine.boards.remote.switch import VOLUME, Boot, find_boot, found_boot, store_in, switcher_of
from rtqual.protocols.board import rest

_PANIC_S = 5  # a candidate that panics restarts after so long
_PROBE_S, _PAUSE_S = 15.0, 1.0
_QUIET_S = 16.0  # more than three windows of a candidate's rest (target/agent/init-board)
_LOOKS_S = 180.0  # what looks at a silent board take beside the waiting, and the pauses between them
_GOOD_PATIENCE = 4.0  # times the boot's time-out: a board that is given up needs somebody to go there
_LOOK = """\
cat /proc/sys/kernel/random/boot_id; uname -r; cat /proc/cmdline
{ tr -d '\\000' < /proc/device-tree/serial-number || cat /sys/class/dmi/id/product_serial || echo; } 2> /dev/null
"""


@dataclass(frozen=True)
class SeenOnBoard:
    """What runs on the board."""

    boot_id: str
    release: str
    cmdline: str
    serial: str

    @property
    def nonce(self) -> str:
        return next((word.partition("=")[2] for word in self.cmdline.split() if word.startswith(f"{NONCE}=")), "")


class Session:
    """One board, commanded by one owner. Open it before anything else; close it in every way out."""

    def __init__(self, settings: Settings, owner: str, log: Path, tell: Callable[[str], None] = lambda _: None) -> None:
        self.settings, self._owner, self._tell = settings, owner, tell
        self._switcher, self._power = switcher_of(settings), power_of(settings)
        self.console = Console(settings, log)
        self._kept = ExitStack()
        self._link: Ssh | None = None
        self._lease: Lease | None = None
        self._opened = False
        self._fallen: dict[str, Fell] = {}  # candidates that do not come up, by their identity
        self._out: RunFailed | None = None
        self._place = FarmPlace(settings.name, *settings.labgrid) if settings.labgrid else None
        self._tuned = ""  # the boot whose settings were steadied

    @property
    def where(self) -> str:
        return f"board {self.settings.name}"

    @property
    def lease(self) -> Lease:
        assert self._lease is not None, "it is open"  # noqa: S101
        return self._lease

    @property
    def store(self) -> str:
        return self.lease.store

    def open(self, *, force: bool = False) -> None:
        """Take the board and bring it to its known-good system. The first failure is told again."""
        if self._out:
            raise self._out
        if self._opened:
            return
        try:
            if self._lease is None:
                self._take(force=force)
            self._let_end()
            self.restore()
            self._opened = True
        except (Out, BoardRefused) as error:
            self._out = error
            raise

    def look(self, deadline_s: float = _PROBE_S) -> SeenOnBoard:
        """Raises Refused where it is another machine."""
        said = self._ssh().run(_LOOK, deadline_s=deadline_s).decode(errors="replace").splitlines()
        seen = SeenOnBoard(*(clean(line.strip()) for line in (*said, "", "", "", "")[:4]))
        if self.settings.serial and seen.serial != self.settings.serial:
            raise BoardRefused(
                f"{self.where}: the machine there has serial number {seen.serial or 'unknown'}, not "
                f"{self.settings.serial}: it is another board"
            )
        return seen

    def is_good(self, seen: SeenOnBoard) -> bool:
        return seen.release == self.settings.good and not seen.nonce

    def pause(self, seconds: float) -> None:
        """Raises RunFailed where rtqual is interrupted meanwhile."""
        woken = threading.Event()
        with registered(woken, woken.set):
            if woken.wait(seconds):
                raise RunFailed(f"{self.where}: interrupted")

    def _ssh(self) -> Ssh:
        if self._link is None:
            self._link = Ssh(self.settings, self._kept.enter_context(scratch()))
            self.console.open()
        return self._link

    def _take(self, *, force: bool) -> None:
        """Another's lease cannot be read of a silent board, so only who takes it by force switches its power."""
        if self._place:
            self._place.take()
        self._reach(by_power=force)
        store, name = store_in(self._boot_place()), self.settings.name
        self._lease = leases.take(self._ssh(), store, self._owner, name, force=force, alone_s=self._alone_s)
        if self._lease.before_s:
            minutes = -(-self._lease.before_s // 60)
            self._tell(f"{self.where}: its previous owner may still switch its power for {minutes} min")

    @property
    def _alone_s(self) -> float:
        """The longest that it is waited for before its power is switched."""
        waits_s = (_GOOD_PATIENCE + 1) * self.settings.boot_timeout_s + self.settings.watchdog_s + _LOOKS_S
        return waits_s if self._power else 0.0

    def expect_silence(self, seconds: float) -> None:
        """Nobody looks at it for so long."""
        if self._power:
            self._lease = self.lease.alone(seconds + self._alone_s)

    def _boot_place(self) -> str:
        try:
            said = self._ssh().run(find_boot(self._switcher))
        except Unreachable:
            raise
        except RunFailed:
            said = b""
        return found_boot(said, self._switcher, self.settings.name)

    def _let_end(self) -> None:
        """A job that a killed rtqual left is let end: its result is as good as any."""
        end_s = time.monotonic() + self.settings.boot_timeout_s
        keys = jobs.unfinished(self.lease, self.store)
        for key in keys:
            while time.monotonic() < end_s and jobs.Detached(self.lease, self.store, key).look().lives:
                self._tell(f"{self.where}: a job from before is let end")
                self.pause(2.0)

    def restore(self) -> None:
        """The known-good system, with nothing armed and nothing half done. Raises Out where it does not come."""
        self.lease.run(self._switcher.disarm(self._boot))
        seen = self.look()
        if not self.is_good(seen):
            self._tell(f"{self.where}: back to {self.settings.good}")
            self._restart()
            seen = self._await(seen.boot_id, _GOOD_PATIENCE) or self._recover("it did not come back")
        if not self.is_good(seen):
            raise self._given_up(f"runs {seen.release} where {self.settings.good} was to start by itself")
        self._settle()
        # What only the known-good system can reach, and what only candidates need.
        self.lease.run(staged.disown(self.store) + self._switcher.disarm(self._boot), deadline_s=60)
        jobs.clear_unfinished(self.lease, self.store)

    @property
    def _boot(self) -> str:
        return self.store.rpartition("/")[0]

    def _settle(self) -> None:
        """The partition may be mounted elsewhere after another start."""
        self._lease = replace(self.lease, store=store_in(self._boot_place()))

    def put_on(self, candidate: StagedFiles) -> None:
        """Bring the board to a candidate. Raises Fell, with the reason, once the board is back where it was."""
        if self._out:
            raise self._out
        if (known := self._fallen.get(candidate.identity)) is not None:
            raise known
        seen = self.look()
        if seen.nonce == candidate.identity:  # a killed rtqual may have left it while it came to rest
            self._steady(seen)
            self._let_rest()
            return
        if not self.is_good(seen):
            self.restore()
        self._tell(f"{self.where}: {candidate.kernel.candidate} ({candidate.kernel.release})")
        staged.own(self.lease, self.store)
        folder = staged.stage(self.lease, self.settings, self.store, candidate)
        before = self.look()
        what = Boot(folder.removeprefix(self._boot), self._parameters(candidate, before))
        try:
            self.lease.run(self._switcher.arm(self._boot, what), deadline_s=60)
        except RunFailed:
            with suppress(RunFailed):
                self.lease.run(self._switcher.disarm(self._boot))
            raise
        mark = self.console.mark()
        self._restart()
        self._steady(self._up(candidate, before, mark))
        self._settle()
        self._let_rest()

    def _let_rest(self) -> None:
        """Until the candidate has told whether it is at rest. A look takes its time, so two lie three windows apart."""
        end_s = time.monotonic() + jobs.REST_S
        while not self.lease.run(f"cat {rest.FILE} 2> /dev/null; exit 0") and time.monotonic() < end_s:
            self.pause(_QUIET_S)

    def _steady(self, seen: SeenOnBoard) -> None:
        """Gone with the candidate: its next start has none of it."""
        if self.settings.tune and self._tuned != seen.boot_id:
            found = tune.tune(self.lease)
            self._tuned = seen.boot_id
            self._tell(f"{self.where}: set {'; '.join(map(str, found)) or 'nothing: all was so already'}")

    def _parameters(self, candidate: StagedFiles, good: SeenOnBoard) -> str:
        uuid = self._partition()
        consoles = [word for word in good.cmdline.split() if word.startswith(("console=", "earlycon"))]
        watchdog = [f"rtqual.watchdog={self.settings.watchdog_s:.0f}"] if self.settings.watchdog_s else []
        own = [f"{VOLUME}={uuid}", f"{NONCE}={candidate.identity}"]
        return " ".join([*consoles, f"panic={_PANIC_S}", *candidate.parameters, *watchdog, *own])

    def _partition(self) -> str:
        """The boot partition as candidates find it: by the serial number of its FAT (UEFI's and the Pi's are FAT)."""
        device = f"$(awk '$2 == \"{self._boot}\" {{ print $1 }}' /proc/mounts | tail -n 1)"
        sector = self.lease.run(f"head -c 512 {device}")
        at = 67 if sector[82:87] == b"FAT32" else 39
        number = sector[at : at + 4][::-1].hex().upper()
        if b"FAT" not in sector or len(number) != 8:
            raise RunFailed(f"{self.where}: {self._boot} is no FAT partition of its own, as boot loaders read")
        return f"{number[:4]}-{number[4:]}"

    def _up(self, candidate: StagedFiles, before: SeenOnBoard, mark: int) -> SeenOnBoard:
        seen = self._await(before.boot_id)
        silent = seen is None
        if seen is None:
            why = f"did not answer within {self.settings.boot_timeout_s:.0f} s"
            seen = self._recover(
                f"candidate {candidate.kernel.candidate} {why}{self._said(mark)}", known=before.boot_id
            )
        if seen.nonce == candidate.identity and seen.release == candidate.kernel.release:
            return seen
        if silent:
            reason = f"did not answer within {self.settings.boot_timeout_s:.0f} s and the board was powered off and on"
        elif self.is_good(seen):
            reason = "did not come up; the board fell back to its known-good system by itself"
        else:
            reason = (
                f"is not what started: {seen.release} answers, with {seen.nonce or 'no candidate'} in its command line"
            )
        where = f"{candidate.kernel.candidate} on {self.where}"
        self._fallen[candidate.identity] = fell = Fell(f"{where}: it {reason}{self._said(mark)}")
        self._settle()
        self.restore()
        raise fell

    def _said(self, mark: int) -> str:
        """What the console has of a start: the panic, else its last line."""
        if not self.settings.console:
            return "; no console tells why"
        lines = [clean(line.strip()) for line in self.console.since(mark).splitlines() if line.strip()]
        told = [line for line in lines if "Kernel panic" in line] or lines[-1:]
        return f"; its console: {told[0][:200]}" if told else "; its console is silent"

    def _restart(self) -> None:
        command = f"(sleep 1; {self._switcher.restart(self._boot)}) > /dev/null 2>&1 < /dev/null &"
        self.lease.run(command)
        self._ssh().drop()

    def _await(self, boot_id: str, factor: float = 1.0) -> SeenOnBoard | None:
        """Another boot than `boot_id`, by its time-out."""
        end_s = time.monotonic() + factor * self.settings.boot_timeout_s + self.settings.watchdog_s
        while time.monotonic() < end_s:
            with suppress(Unreachable, BoardRefused):  # who answers with another key is not up either
                seen = self.look()
                if seen.boot_id != boot_id:
                    return seen
            self.pause(_PAUSE_S)
        return None

    def _recover(self, why: str, known: str = "") -> SeenOnBoard:
        """By the power, the last that is left; never where somebody may have taken the board meanwhile."""
        if self._power is None:
            raise self._given_up(f"{why}, and no power = {{ off, on }} says how to switch it off and on")
        if self._place:
            self._place.take()
        if self._lease and not self._lease.holds:
            take = f"`rtqual board restore {self.settings.name} --take` switches its power and takes it"
            self._out = BoardRefused(f"{why}; it was silent for so long that somebody may have taken it: {take}")
            raise self._out
        self._tell(f"{self.where}: off and on")
        self._ssh().drop()
        self._power.cycle()
        seen = self._await(known, _GOOD_PATIENCE)
        if seen is None:
            raise self._given_up(f"{why}, not after its power was switched off and on either")
        return seen

    def _given_up(self, why: str) -> Out:
        self._out = Out(f"{self.where} is out: {why}; somebody must look at it, then `rtqual board restore`")
        return self._out

    def died(self) -> None:
        """A job's board started again by itself, or does not answer: find out, and bring it back."""
        self._reach(by_power=True)
        self._settle()
        self.restore()

    def _reach(self, *, by_power: bool) -> None:
        """Wait for as long as a start takes, then help by the power."""
        try:
            self.look()
        except Unreachable as error:
            self._tell(f"{error}; waiting for it")
            if self._await("") is not None:
                return
            if not by_power:
                raise BoardRefused(
                    f"{error}; who holds it is not known: `rtqual board restore {self.settings.name} --take` switches "
                    f"its power and takes it"
                ) from None
            self._recover(str(error))

    def close(self) -> None:
        """Restore and give back. Raises RunFailed where the board could not be restored."""
        try:
            if self._lease and not self._out:
                try:
                    self.restore()
                except Unreachable:
                    self.died()
                self.lease.release()
        finally:
            self._lease, self._out, self._opened = None, None, False
            if self._place:
                self._place.give()
            self._fallen.clear()
            if self._link:
                self._link.drop()
                self._link = None
            self.console.close()
            self._kept.close()
