# SPDX-License-Identifier: MIT
"""QEMU with the instruction clock: guest time is counted in executed instructions, so host noise cannot reach it.

A candidate is booted once, paused by its own init, and its state saved; every job starts from that state. What a job
gives is what the uninterrupted run of `command` gives.
"""

import asyncio
import hashlib
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from qemu.qmp import ConnectError, QMPClient, QMPError

from rtqual.base.apt import cache_dir, locked, sha256_file
from rtqual.base.architecture import Architecture
from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.board import Board, Job, Machine, Outcome, Rebuilt, Recorded, jobscript
from rtqual.board.machine import Emulator, emulator_for
from rtqual.board.parts import part
from rtqual.board.process import Patience, emulator
from rtqual.board.system import Kernel
from rtqual.initramfs.guest import guest_file
from rtqual.record.schema import digest

_BOOT_TIMEOUT_S = 300.0
_DISK_BYTES = 2 * 2**30
_DISK_UUID = "00000000-0000-4000-8000-000000000001"  # the same disk everywhere


@cache
def _sha256(path: Path) -> str:
    return sha256_file(path)


def _option(path: Path | str) -> str:
    """A file name inside a QEMU option, where commas part."""
    return str(path).replace(",", ",,")


class VirtualBoard(Board):
    """One candidate on one machine shape.

    `scratch` keeps the saved state and the jobs; an outcome's command runs in the folder above it. `used`: where the
    code that the kernel runs is noted, of the boot in USED.boot and of the jobs in USED.jobs (guest/used.c).
    `watch`: another plugin's options, for the jobs alone; it must leave the guest as it is (guest/watch.c).
    `emulator`: another than that of the kernel's architecture.
    """

    instruction_clock = True

    def __init__(
        self,
        kernel: Kernel,
        machine: Machine,
        scratch: Path,
        *,
        used: Path | None = None,
        watch: Sequence[str] = (),
        emulator: Emulator | None = None,
    ) -> None:
        self._used = used
        self._watch = watch
        self._emulator = emulator or emulator_for(kernel.architecture)
        self.kernel = kernel
        self.machine = machine
        self._initramfs = kernel.disk_initramfs if machine.disks else kernel.initramfs
        self._scratch = scratch
        self._booting = threading.Lock()
        self._boot_failure = ""

    @property
    def where(self) -> str:
        return f"{self.kernel.candidate} on the virtual board"

    def config(self) -> str:
        return self.kernel.config

    def artefacts(self) -> dict[str, str]:
        return {
            "kernel": _sha256(self.kernel.image),
            "initramfs": _sha256(self._initramfs),
            "qemu": self._emulator.version(),
            "machine": shlex.join(self._emulator.options(self.machine)),
            "clock": _sha256(guest_file("rtqual-clock.so")),
            "kernel parameters": self._append(),
        }

    def run(self, job: Job, *, seed: int, timeout_s: float) -> Outcome:
        self._boot_once()
        script = self._script(job, seed)
        started = time.monotonic()
        with scratch() as folder:
            self._emulate(folder, script, ["-incoming", "defer"], timeout_s, saving=False)
            console = self._console(folder)
            frame = (folder / "result").read_bytes()
        try:
            files = jobscript.unpack(frame, self.where)
        except RunFailed as error:
            raise RunFailed(f"{error}; its last lines: {last_lines(console)}") from None
        jobscript.check(job, files, self.where)
        return jobscript.outcome(
            files,
            {**jobscript.facts(files), "hypervisor": f"QEMU {self._emulator.version()}, TCG"},
            console=console,
            wall_s=time.monotonic() - started,
            command=self._command(Path(), script.relative_to(self._scratch.parent)),
        )

    def by_hand(self, job: Job, seed: int) -> tuple[str, ...]:
        """The command of the uninterrupted run, for the folder above `scratch`."""
        return self._command(Path(), self._script(job, seed).relative_to(self._scratch.parent))

    def _script(self, job: Job, seed: int) -> Path:
        return self._job_file(jobscript.render(job, seed, self._emulator.results))

    @cached_property
    def _state(self) -> Path:
        """Where the booted guest is saved: another kernel, image or QEMU is another guest."""
        return self._scratch / f"{self.kernel.candidate}-{digest(self.artefacts())[:16]}.state"

    def forget(self) -> None:
        """Delete the saved guest; the next job boots again."""
        self._state.unlink(missing_ok=True)

    def _boot_once(self) -> None:
        """The first failure is kept and told again: a guest that does not boot takes its whole deadline."""
        with self._booting:
            if self._boot_failure:
                raise RunFailed(self._boot_failure)
            if not self._state.exists():
                try:
                    self._boot()
                except RunFailed as error:
                    self._boot_failure = str(error)
                    raise

    def _boot(self) -> None:
        """Boot to the point where init pauses, and save the state there."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        nothing = self._job_file("")
        with scratch() as folder:
            self._emulate(folder, nothing, [], _BOOT_TIMEOUT_S, saving=True)

    def _job_file(self, script: str) -> Path:
        path = self._scratch / "jobs" / f"{hashlib.sha256(script.encode()).hexdigest()[:16]}.sh"
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{threading.get_ident()}")
        fresh.write_text(script)
        return fresh.rename(path)

    def _append(self) -> str:
        return " ".join((*self._emulator.parameters, *self.kernel.boot))

    def _disk_options(self) -> list[str]:
        options: list[str] = []
        for name, device in (("root", "virtio-blk-pci"), ("usb", "usb-storage,bus=xhci.0")):
            options += [
                "-drive",
                f"file={_option(_blank_disk(name))},if=none,id={name},format=raw,snapshot=on",
            ]
            options += ["-device", "qemu-xhci,id=xhci"] if name == "usb" else []
            options += ["-device", f"{device},drive={name}"]
        return options

    def _command(self, folder: Path, job: Path, *, saving: bool = False) -> tuple[str, ...]:
        """The uninterrupted run of a job: results in `folder`/result, console in `folder`/console.

        `saving` holds the guest where init asks to be paused.
        """
        plugin = f"file={_option(guest_file('rtqual-clock.so'))}{',pause=on' if saving else ''}"
        return (
            self._emulator.qemu,
            *self._emulator.options(self.machine),
            *("-plugin", plugin),
            *self._noting(saving=saving),
            *self._emulator.ports(_option(folder / "console"), _option(folder / "result")),
            *("-kernel", str(self.kernel.image), "-initrd", str(self._initramfs), "-append", self._append()),
            *("-fw_cfg", f"name=opt/rtqual/job,file={_option(job)}"),
            *(self._disk_options() if self.machine.disks else []),
            *("-action", "panic=none"),
        )

    def _noting(self, *, saving: bool) -> tuple[str, ...]:
        """A second plugin, which changes nothing of the guest's time."""
        if self._watch and not saving:
            return ("-plugin", ",".join(map(_option, self._watch)))
        if self._used is None:
            return ()
        log = self._used.with_suffix(".boot" if saving else ".jobs")
        return ("-plugin", f"file={_option(guest_file('rtqual-used.so'))},log={_option(log)}")

    def _console(self, folder: Path) -> str:
        return (folder / "console").read_text(errors="replace") if (folder / "console").exists() else ""

    def _emulate(self, folder: Path, job: Path, extra: Sequence[str], timeout_s: float, *, saving: bool) -> None:
        """Run QEMU to its end under a deadline."""
        command = [
            *self._command(folder, job, saving=saving),
            *extra,
            *("-qmp", f"unix:{folder / 'qmp'},server=on,wait=off"),
        ]
        with (folder / "stderr").open("w+") as stderr, emulator(command, stdout=stderr, stderr=stderr) as process:
            try:
                asyncio.run(_within(self._drive(process, folder, saving=saving), Patience(process.pid, timeout_s)))
            except TimeoutError:
                raise RunFailed(
                    f"{self.where} hung and was ended at its deadline of {timeout_s:.0f} s; "
                    f"its last lines: {last_lines(self._console(folder))}"
                ) from None
            except (QMPError, OSError, EOFError) as error:
                said = (folder / "stderr").read_text(errors="replace").strip().splitlines()[-1:]
                raise RunFailed(
                    f"{self.where}: QEMU failed: {_killed(process) or ' '.join((said or [str(error)])[0].split())}; "
                    f"its last lines: {last_lines(self._console(folder))}"
                ) from None

    async def _drive(self, process: subprocess.Popen[bytes], folder: Path, *, saving: bool) -> None:
        monitor = QMPClient("rtqual")
        await _connect(monitor, process, folder / "qmp")
        try:
            if saving:
                await self._save(monitor, process)
            else:
                await self._restore(monitor)
                while process.poll() is None:
                    await asyncio.sleep(0.02)
                if process.returncode < 0:
                    raise OSError(_killed(process))
        finally:
            with suppress(QMPError, OSError, EOFError):  # QEMU ended first
                await monitor.disconnect()

    async def _save(self, monitor: QMPClient, process: subprocess.Popen[bytes]) -> None:
        with monitor.listener(("GUEST_PANICKED", "SHUTDOWN")) as events:
            while events.empty() and process.poll() is None:
                await asyncio.sleep(0.02)
            if events.empty() or (await events.get())["event"] != "GUEST_PANICKED":
                raise OSError("the guest ended before it had booted")
        await monitor.execute("stop")
        partial = self._state.with_suffix(".part")
        await monitor.execute("migrate", {"uri": f"exec:cat > {shlex.quote(str(partial))}"})
        await _migrated(monitor, f"the guest's state cannot be saved in {partial.parent}: is the disk full?")
        partial.rename(self._state)

    async def _restore(self, monitor: QMPClient) -> None:
        # The rounds are timers of the host's clock, which would cut the CPUs' turns at random places.
        await monitor.execute("migrate-set-parameters", {"announce-rounds": 0})
        await monitor.execute("migrate-incoming", {"uri": f"exec:cat {shlex.quote(str(self._state))}"})
        await _migrated(monitor, f"the guest's state in {self._state} cannot be restored: delete it and try again")
        await monitor.execute("cont")


def again(run: Recorded, architecture: Architecture, *, watch: Sequence[str] = ()) -> VirtualBoard:
    """The board of a recorded job. Raises BadInput where a part is not here."""
    image, initramfs = (part(kind, run.artefacts, run.named) for kind in ("kernel", "initramfs"))
    own = " ".join(emulator_for(architecture).parameters)
    boot = tuple(run.artefacts.get("kernel parameters", "").removeprefix(own).split())
    kernel = Kernel("", image, initramfs, initramfs, boot, "", "", "", "", 0, 0, architecture)
    return VirtualBoard(kernel, run.machine, run.folder / "scratch", watch=watch)


def rebuilt(run: Recorded, architecture: Architecture) -> Rebuilt:
    """The uninterrupted run of a recorded job. Raises BadInput where a part is not here."""
    board = again(run, architecture)
    return Rebuilt(board.artefacts(), board.by_hand(run.job, run.seed))


async def _within(work: Coroutine[Any, Any, None], patience: Patience) -> None:
    """Raises TimeoutError."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=0.2))[0]:
            if patience.over():
                raise TimeoutError
        task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _killed(process: subprocess.Popen[bytes]) -> str:
    """By which signal it was ended, if it was: its connection is gone a moment before it is."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    code = process.returncode or 0
    return f"it was ended by signal {-code}" if code < 0 else ""


async def _migrated(monitor: QMPClient, failure: str) -> None:
    while True:
        answer = await monitor.execute("query-migrate")
        status = answer.get("status") if isinstance(answer, dict) else None
        if status == "completed":
            return
        if status == "failed":
            raise OSError(failure)
        await asyncio.sleep(0.01)


async def _connect(monitor: QMPClient, process: subprocess.Popen[bytes], socket: Path) -> None:
    while True:
        try:
            await monitor.connect(str(socket))
            return
        except ConnectError:
            if process.poll() is not None:
                raise OSError(f"exit code {process.returncode}") from None
            await asyncio.sleep(0.02)


def _blank_disk(name: str) -> Path:
    """An empty ext4 disk; QEMU keeps what a job writes apart from it."""
    path = cache_dir() / "disks" / f"{name}.img"
    with locked(path):
        if not path.exists():
            mke2fs = shutil.which("mke2fs", path="/usr/sbin:/sbin:/usr/bin")
            if mke2fs is None:
                raise RunFailed("mke2fs is missing: `apt-get install e2fsprogs`")
            fresh = path.with_suffix(".new")
            with fresh.open("wb") as file:
                file.truncate(_DISK_BYTES)
            subprocess.run(
                [mke2fs, "-q", "-F", "-t", "ext4", "-U", _DISK_UUID, "-E", f"hash_seed={_DISK_UUID}", str(fresh)],
                check=True,
                capture_output=True,
            )
            fresh.rename(path)
    return path


def last_lines(console: str, count: int = 4) -> str:
    """A console's end on one line, without control characters. A panic's end begins where the kernel says why."""
    lines = [re.sub(r"[^\x20-\x7e]", "", line).strip() for line in console.splitlines()]
    lines = [line for line in lines if line]
    why = next((number for number, line in enumerate(lines) if "Kernel panic" in line), None)
    told = lines[-count:] if why is None else lines[why : why + count]
    return " | ".join(told) or "(the console is empty)"
