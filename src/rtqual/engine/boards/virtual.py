# SPDX-License-Identifier: MIT
"""QEMU with the instruction clock: guest time is counted in executed instructions, so host noise cannot reach it.

A candidate is booted once, paused by its own init, and its state saved; every job starts from that state. What a job
gives is what the uninterrupted run of `command` gives.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from qemu.qmp import QMPClient, QMPError

from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.cache import cache_dir, sha256_file
from rtqual.base.disk import blank_disk
from rtqual.base.errors import RunFailed, SystemDied, naming
from rtqual.base.scratch import scratch
from rtqual.base.sparse import copy_sparse
from rtqual.engine.boards import disk_models, jobs, modelled
from rtqual.engine.boards.job_programs import Starved, emulator, too_busy
from rtqual.engine.boards.machine import PI_3, Emulator, emulator_for
from rtqual.engine.boards.modelled import Model
from rtqual.engine.boards.monitor import (
    Steps,
    drive,
    killed,
    memory_options,
    monitor_options,
    option,
    restore,
    save,
    standing,
)
from rtqual.engine.boards.parts import part
from rtqual.engine.boards.saved import Saved, saved
from rtqual.engine.boards.unpacked import unpacked
from rtqual.protocols.board import Board, Job, JobOutcome, Machine, Rebuilt, Recorded, jobscript
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import DISKS, MODEL, digest

UNPACKED = "unpacked kernel"  # the artefact, where QEMU starts what was in the kernel's file
SCENE = "scene"  # the artefact, where the board makes the camera's live frames (docking/camera/observer/scene.c)
DEVICE_TREE = "device tree"  # the artefact, where the machine has a board's own
CHANNEL = "channel"  # the artefact, where job and end go by a plugin
_CLOCK_PLUGIN, _MEMORY_PLUGIN, _SCENE_PLUGIN = "rtqual-clock", "rtqual-memory", "rtqual-scene"
_CHANNEL_PLUGIN = "rtqual-channel"
_BOOT_TIMEOUT_S = 300.0
_POLLING = 10  # deadlines are so many times longer with idle=poll: what the emulator skips of other guests is executed
_NO_ROOM_B = 2**16  # QEMU drops what it cannot write, and says nothing
# Every second run begins so much later: if its figures are others, the guest was not at rest, whatever its wait told
# (engine/analysis/figure/early.py). What idles costs next to nothing.
_LATER_S = 10
_LAYOUT = 1  # of saved guests
# Name -> device. A request is submitted in the guest's own store (target/observers/disk.c).
_DISKS = {"root": "virtio-blk-pci,ioeventfd=off", "usb": "usb-storage,bus=xhci.0"}
_DISK_BYTES = 2 * 2**30


@cache
def _sha256(path: Path) -> str:
    return sha256_file(path)


class VirtualBoard(Board):
    """One candidate on one machine shape.

    `scratch` keeps the jobs; an outcome's command runs in the folder above it. `used`: where the code that the kernel
    runs is noted, of the boot in USED.boot and of the jobs in USED.jobs (used.c). `watch`: another plugin's
    options, for the jobs alone; it must leave the guest as it is (watch.c). `emulator`: another than that of the
    kernel's architecture. `guests`: where the booted guest is kept, in place of rtqual's cache. `model`: whose CPUs and
    memory the jobs' time is that of, from the agent's mark on. `device_tree`: what describes the machine, where QEMU
    makes none.
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
        guests: Path | None = None,
        model: Model | None = None,
        device_tree: Path | None = None,
    ) -> None:
        self._model = model
        self._device_tree = device_tree
        self._used = used
        self._watch = watch
        self._emulator = emulator or emulator_for(kernel.architecture)
        self.kernel = kernel
        self.machine = machine
        self._initramfs = kernel.disk_initramfs if machine.disks else kernel.initramfs
        self._scratch = scratch
        self._guests = guests or (scratch / "guests" if used else cache_dir() / "guests")
        self._booting = threading.Lock()
        self._boot_failure: RunFailed | None = None
        self._saved: Saved | None = None

    @property
    def where(self) -> str:
        return f"{self.kernel.candidate} on the virtual board"

    def config(self) -> str:
        return self.kernel.config

    def artefacts(self) -> dict[str, str]:
        if not self._model:
            return self._of_boot
        plugin = _sha256(self._emulator.plugin(_MEMORY_PLUGIN))
        return {**self._of_boot, MODEL: self._model.sha256, modelled.PLUGIN: plugin}

    @property
    def _of_boot(self) -> dict[str, str]:
        """What decides how the guest comes out; no model takes part before the mark."""
        return {
            "kernel": _sha256(self.kernel.image),
            "initramfs": _sha256(self._initramfs),
            "qemu": self._emulator.version(),
            "machine": shlex.join(self._options),
            "clock": _sha256(self._emulator.plugin(_CLOCK_PLUGIN)),
            "kernel parameters": self._append(),
            **({DEVICE_TREE: _sha256(self._device_tree)} if self._device_tree else {}),
            **({CHANNEL: _sha256(self._emulator.plugin(_CHANNEL_PLUGIN))} if self._emulator.channel else {}),
            **self._of_disks,
            **({UNPACKED: _sha256(self._image)} if self._image != self.kernel.image else {}),
            **({SCENE: _sha256(self._emulator.plugin(_SCENE_PLUGIN))} if self.machine.scene else {}),
        }

    @cached_property
    def _of_disks(self) -> dict[str, str]:
        """Of modelled disks. The host decides where QEMU is unknown to the plugin, and where a reset drops requests."""
        known = self._emulator.version().startswith(disk_models.KNOWN) and platform.machine() == "x86_64"
        if not (self.machine.disks and known) or self.machine.resets:
            return {}
        return {DISKS: disk_models.sha256(), "disk": _sha256(self._emulator.plugin(disk_models.PLUGIN))}

    @property
    def _options(self) -> list[str]:
        ns = {"ns_an_instruction": modelled.NS_AN_INSTRUCTION} if self._model else {}
        return self._emulator.options(self.machine, **ns)

    @cached_property
    def _image(self) -> Path:
        """What QEMU starts."""
        at_once = self.kernel.architecture == AMD64 and not self.machine.whole_boot and self.kernel.image.is_file()
        return (unpacked(self.kernel.image) if at_once else None) or self.kernel.image

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        guest = self._boot_once()
        script = self._script(job, seed)
        spec, facts = self._jobs_spec if job.watched else (None, {})
        started = time.monotonic()
        with scratch() as folder:
            memory = memory_options(guest.memory, self._emulator.memory_of(self.machine), share=False)
            extra = ["-incoming", "defer", *memory, *(self._noting_jobs(spec, folder / jobs.LOG) if spec else ())]
            self._emulate(folder, script, extra, restore(guest.devices), timeout_s)
            console = self._console(folder)
            frame = (folder / "result").read_bytes()
            seen = {jobs.LOG: (folder / jobs.LOG).read_text(errors="replace")} if spec else {}
            facts = {**facts, **self._modelled_facts(folder / modelled.LOG)}
            full = f"; {folder.parent} is full: make room" if shutil.disk_usage(folder).free < _NO_ROOM_B else ""
        try:
            files = jobscript.unpack(frame, self.where)
        except RunFailed as error:
            failed = SystemDied if isinstance(error, SystemDied) and not full else RunFailed
            raise failed(f"{error}{full}; its last lines: {last_lines(console)}") from None
        jobscript.check(job, files, self.where)
        outcome = jobscript.outcome(
            files,
            {**jobscript.facts(files), "hypervisor": f"QEMU {self._emulator.version()}, TCG", **facts},
            console=console,
            wall_s=time.monotonic() - started,
            command=self.by_hand(job, seed),
        )
        return replace(outcome, files={**outcome.files, **seen})

    def _modelled_facts(self, log: Path) -> dict[str, str]:
        return self._model.facts(log.read_text()) if self._model and log.exists() else {}

    def left_standing(self, job: Job, seed: int, after_s: float, look: Callable[[QMPClient], Awaitable[None]]) -> str:
        """Let `look` ask the monitor of a run that hangs, once it has taken so much, end it, and return its console.

        Raises RunFailed where it ends by itself.
        """
        guest = self._boot_once()
        script = self._script(job, seed)
        with scratch() as folder:
            memory = memory_options(guest.memory, self._emulator.memory_of(self.machine), share=False)
            steps = standing(guest.devices, after_s, look)
            self._emulate(folder, script, ["-incoming", "defer", *memory], steps, after_s + _BOOT_TIMEOUT_S)
            return self._console(folder)

    def by_hand(self, job: Job, seed: int) -> tuple[str, ...]:
        """The command of the uninterrupted run, for the folder above `scratch`."""
        spec = self._jobs_spec[0] if job.watched else None
        noting = self._noting_jobs(spec.relative_to(self._scratch.parent), Path(jobs.LOG)) if spec else ()
        return (*self._command(Path(), self._script(job, seed).relative_to(self._scratch.parent)), *noting)

    def _noting_jobs(self, spec: Path, log: Path) -> tuple[str, ...]:
        """A plugin that changes nothing of the guest's time."""
        return ("-plugin", f"file={option(self._emulator.plugin(jobs.PLUGIN))},spec={option(spec)},log={option(log)}")

    @cached_property
    def _jobs_spec(self) -> tuple[Path | None, dict[str, str]]:
        """What the plugin that notes jobs is told, and facts for it; None, and the reason, where it cannot be."""
        architecture = self.kernel.architecture

        def ask(job: Job) -> str:
            return self.run(job, seed=1, timeout_s=_BOOT_TIMEOUT_S).stdout

        try:
            symbols = jobs.symbols(ask, self.artefacts(), architecture)
            text = jobs.spec(symbols, self._image.read_bytes(), architecture)
        except RunFailed as error:
            return None, {jobs.NOT_SEEN: str(error)}
        return self._job_file(text, ".spec"), {jobs.PROCESSOR: architecture.name, **jobs.ticks(self.kernel.config)}

    def _script(self, job: Job, seed: int) -> Path:
        later_s = 0 if seed % 2 else _LATER_S
        return self._job_file(jobscript.render(job, seed, self._emulator.results, later_s=later_s))

    def forget(self) -> None:
        """The saved guest may go now, if the cache needs room."""
        with self._booting:
            if self._saved:
                self._saved.release()
            self._saved = None
            if self._used:  # what it runs while it boots is noted each time
                shutil.rmtree(self._guests, ignore_errors=True)

    def _boot_once(self) -> Saved:
        """The first failure is kept and told again: a guest that does not boot takes its whole deadline."""
        with self._booting:
            if self._boot_failure:
                raise type(self._boot_failure)(str(self._boot_failure))
            try:
                self._saved = self._saved or saved(self._guests, self._name, self._boot)
            except RunFailed as error:
                self._boot_failure = error
                raise
            return self._saved

    @property
    def _name(self) -> str:
        """Of the saved guest: another kernel, image, QEMU or device is another guest, another checkout is not."""
        disks = {name: blank_disk(name, _DISK_BYTES) for name in _DISKS} if self.machine.disks else {}
        made = [[str(disk), disk.stat().st_ino, disk.stat().st_mtime_ns] for disk in disks.values()]  # anew: another
        devices = [*self._emulator.ports("", ""), *(_DISKS[name] for name in disks)]
        return digest([_LAYOUT, self._of_boot, devices, made])[:32]

    def _boot(self, folder: Path) -> None:
        """Boot to the point where init pauses, and save the guest there."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        nothing = self._job_file("")
        memory = os.memfd_create("rtqual-guest")
        try:
            os.truncate(memory, self._emulator.memory_of(self.machine) * 2**20)
            file = Path("/proc/self/fd") / str(memory)  # QEMU's own: it inherits the descriptor
            extra = memory_options(file, self._emulator.memory_of(self.machine), share=True)
            with scratch() as own:
                steps = save(folder / "devices")
                self._emulate(own, nothing, extra, steps, _BOOT_TIMEOUT_S, saving=True, files=(memory,))
            copy_sparse(memory, folder / "memory")
        finally:
            os.close(memory)

    def _job_file(self, script: str, suffix: str = ".sh") -> Path:
        path = self._scratch / "jobs" / f"{hashlib.sha256(script.encode()).hexdigest()[:16]}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.stem}-{threading.get_ident()}.{os.getpid()}")  # swept when we are killed
        try:
            with naming(path):
                fresh.write_text(script)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        return fresh.rename(path)

    def _append(self) -> str:
        kept = self._emulator.kept if self.machine.resets else ()
        return " ".join((*self._emulator.kernel_parameters(self.machine), *kept, *self.kernel.boot))

    def _disk_options(self) -> list[str]:
        options: list[str] = []
        for name, device in _DISKS.items():
            options += [
                "-drive",
                f"file={option(blank_disk(name, _DISK_BYTES))},if=none,id={name},format=raw,snapshot=on",
            ]
            options += ["-device", "qemu-xhci,id=xhci"] if name == "usb" else []
            options += ["-device", f"{device},drive={name}"]
        if self._of_disks:
            told = ",".join(disk_models.disk_models()[name].told(name) for name in _DISKS)
            options += ["-plugin", f"file={option(self._emulator.plugin(disk_models.PLUGIN))},{told}"]
        return options

    def _command(self, folder: Path, job: Path, *, saving: bool = False, restored: bool = False) -> tuple[str, ...]:
        """The uninterrupted run of a job: results in `folder`/result, console in `folder`/console.

        `saving` holds the guest where init asks to be paused; `restored` begins there.
        """
        return (
            self._emulator.qemu,
            *self._options,
            *("-plugin", self._clock(folder, saving=saving, restored=restored)),
            *(("-plugin", f"file={option(self._emulator.plugin(_SCENE_PLUGIN))}") if self.machine.scene else ()),
            *self._noting(saving=saving),
            *self._emulator.ports(str(folder / "console"), str(folder / "result")),
            *("-kernel", str(self._image), "-initrd", str(self._initramfs), "-append", self._append()),
            *(("-dtb", str(self._device_tree)) if self._device_tree else ()),
            *self._handed_in(job, saving=saving),
            *(self._disk_options() if self.machine.disks else []),
            *("-action", "panic=none"),
        )

    def _handed_in(self, job: Path, *, saving: bool) -> tuple[str, ...]:
        if not self._emulator.channel:
            return ("-fw_cfg", f"name=opt/rtqual/job,file={option(job)}")
        plugin = self._emulator.plugin(_CHANNEL_PLUGIN)
        return ("-plugin", f"file={option(plugin)},job={option(job)}{',pause=on' if saving else ''}")

    def _clock(self, folder: Path, *, saving: bool, restored: bool) -> str:
        """The plugin that keeps the clock; that of a model does so too, until the mark."""
        holds = saving and not self._emulator.channel  # which holds itself
        if saving or not self._model:
            return f"file={option(self._emulator.plugin(_CLOCK_PLUGIN))}{',pause=on' if holds else ''}"
        said = {
            **self._model.told,
            "ram_mib": self._emulator.memory_of(self.machine),
            "from": "start" if restored else "mark",
        }
        told = "".join(f",{key}={value}" for key, value in said.items())
        log = option(folder / modelled.LOG)
        return f"file={option(self._emulator.plugin(_MEMORY_PLUGIN))}{told},log={log}"

    def _noting(self, *, saving: bool) -> tuple[str, ...]:
        """A second plugin, which changes nothing of the guest's time."""
        if self._watch and not saving:
            return ("-plugin", ",".join(map(option, self._watch)))
        if self._used is None:
            return ()
        log = self._used.with_suffix(".boot" if saving else ".jobs")
        return ("-plugin", f"file={option(self._emulator.plugin('rtqual-used'))},log={option(log)}")

    def _console(self, folder: Path) -> str:
        return (folder / "console").read_text(errors="replace") if (folder / "console").exists() else ""

    def _emulate(
        self,
        folder: Path,
        job: Path,
        extra: Sequence[str],
        steps: Steps,
        timeout_s: float,
        *,
        saving: bool = False,
        files: Sequence[int] = (),
    ) -> None:
        """Run QEMU to its end under a deadline; `files`: descriptors that it takes over."""
        timeout_s *= _POLLING if "idle=poll" in self._append().split() else 1
        ours, theirs = socket.socketpair()
        with ours, theirs:
            command = [
                *self._command(folder, job, saving=saving, restored=not saving),
                *extra,
                *monitor_options(theirs.fileno()),
            ]
            how = {"pass_fds": (theirs.fileno(), *files)}
            with (folder / "stderr").open("w+") as told, emulator(command, stdout=told, stderr=told, **how) as process:
                theirs.close()
                try:
                    drive(process, ours, steps, timeout_s)
                except Starved:
                    raise RunFailed(too_busy(self.where, timeout_s)) from None
                except TimeoutError:
                    raise SystemDied(
                        f"{self.where} hung and was ended at its deadline of {timeout_s:.0f} s; "
                        f"its last lines: {last_lines(self._console(folder))}"
                    ) from None
                except (QMPError, OSError, EOFError) as error:
                    said = (folder / "stderr").read_text(errors="replace").strip().splitlines()[-1:]
                    raise RunFailed(
                        f"{self.where}: QEMU failed: {killed(process) or ' '.join((said or [str(error)])[0].split())}; "
                        f"its last lines: {last_lines(self._console(folder))}"
                    ) from None


def again(
    run: Recorded, architecture: Architecture, *, watch: Sequence[str] = (), model: Model | None = None
) -> VirtualBoard:
    """The board of a recorded job. Raises BadInput where a part is not here."""
    image, initramfs = (part(kind, run.artefacts, run.named) for kind in ("kernel", "initramfs"))
    tree = part(DEVICE_TREE, run.artefacts, run.named) if DEVICE_TREE in run.artefacts else None
    emulator = PI_3 if tree else emulator_for(architecture)
    own = " ".join(emulator.kernel_parameters(run.machine))
    boot = tuple(run.artefacts.get("kernel parameters", "").removeprefix(own).split())
    kernel = Kernel("", image, initramfs, initramfs, boot, "", "", "", "", 0, 0, architecture)
    machine = replace(run.machine, whole_boot=UNPACKED not in run.artefacts, scene=SCENE in run.artefacts)
    scratch = run.folder / "scratch"
    return VirtualBoard(kernel, machine, scratch, watch=watch, emulator=emulator, model=model, device_tree=tree)


def rebuilt(run: Recorded, architecture: Architecture, model: Model | None = None) -> Rebuilt:
    """The uninterrupted run of a recorded job. Raises BadInput where a part is not here."""
    board = again(run, architecture, model=model)
    return Rebuilt(board.artefacts(), board.by_hand(run.job, run.seed))


def last_lines(console: str, count: int = 4) -> str:
    """A console's end on one line."""
    return " | ".join(console_end(console, count)) or "(the console is empty)"


def console_end(console: str, count: int = 4) -> list[str]:
    """Its last lines, without control characters. A panic's end begins where the kernel says why."""
    lines = [re.sub(r"[^\x20-\x7e]", "", line).strip() for line in console.splitlines()]
    lines = [line for line in lines if line]
    why = next((number for number, line in enumerate(lines) if "Kernel panic" in line), None)
    return lines[-count:] if why is None else lines[why : why + count]
