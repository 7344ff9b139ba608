# SPDX-License-Identifier: MIT
"""A finished image booted in QEMU: does it come up, and how much memory does it take?

On the virtual board's machine, or a Raspberry Pi's on the one that QEMU emulates (pi.py). The kernel is the one inside
the image, started by QEMU instead of a firmware: neither the Raspberry Pi's firmware nor a PC's runs here.
"""

import re
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rtqual.base.child import with_us
from rtqual.base.errors import RunFailed
from rtqual.base.scratch import scratch
from rtqual.engine.boards.machine import emulator_for
from rtqual.engine.boards.virtual import last_lines
from rtqual.engine.instruments.footprint import memory
from rtqual.engine.mission import Need
from rtqual.parts.images import pi
from rtqual.parts.images.assembly import Image
from rtqual.parts.images.flash import read_fat
from rtqual.protocols.board import Machine

_BEGIN, _END = "rtqual-image: begin", "rtqual-image: end"
_FIELD = re.compile(r"^(release|uptime|processes|root|modules|probe|device): (.+)$", re.MULTILINE)
_PANIC = "Kernel panic"
_MEMORY_MIB = 512
_TIMEOUT_S, _PI_TIMEOUT_S = 300.0, 1200.0  # the latter's card gives 8 MB/s, word by word
_OFF_S = 60.0  # from the report's end to the machine's


@dataclass(frozen=True)
class Booted:
    """What an image said once it was up. Memory as the instrument footprint defines it. `uptime_s` counts instructions
    of two nanoseconds for an initramfs; with a disk it is partly the host's time, and means nothing."""

    release: str
    ram_used_b: int
    ram_total_b: int
    uptime_s: float
    processes: int
    root: str  # type and mode, "ext4 ro"
    module_trees: tuple[str, ...]
    probe_ok: int  # benchmarks of the probe that ran
    wall_s: float
    tried: pi.Tried | None  # of a Raspberry Pi's


def boot(image: Image, *, timeout_s: float | None = None) -> Booted:
    """Boot to the end of start-up. Raises RunFailed with the console's last lines where it does not come up."""
    timeout_s = timeout_s or (_PI_TIMEOUT_S if image.for_pi else _TIMEOUT_S)
    emulator = emulator_for(image.architecture)
    emulator.version()  # says how to install it where it is missing
    started = time.monotonic()
    with scratch() as folder:
        console, result = folder / "console", folder / "result"
        if image.for_pi:
            usb = ("rtqual.usb",) if Need.USB_STORAGE in image.needs else ()
            command = pi.command(image.path, folder, console, ("rtqual.report", "rtqual.off", *usb))
        else:
            command = [
                emulator.qemu,
                *_clocked(emulator.options(Machine(memory_mib=_MEMORY_MIB)), image),
                *emulator.ports(str(console), str(result)),
                *_medium(image, folder),
                *("-append", f"{' '.join(emulator.parameters)} {image.parameters} rtqual.report"),
            ]
        ran = watch(command, folder, console, lambda text: _END in text, timeout_s=timeout_s, off=image.for_pi)
    if not ran.done:
        raise RunFailed(f"the image {image.path} {ran.why(timeout_s)}")
    return _read(image, ran.text, time.monotonic() - started, off=ran.ended)


@dataclass(frozen=True)
class Ran:
    """A machine that was watched: whether it said what was waited for, whether it ended by itself, its console."""

    done: bool
    ended: bool
    text: str
    said: str  # by QEMU

    def why(self, timeout_s: float) -> str:
        """Why it did not say it, behind the machine's name."""
        why = "ended before it was up" if self.ended else f"was not up after {timeout_s:.0f} s"
        why = "panicked" if _PANIC in self.text else why
        told = f"QEMU said: {self.said}; " if self.said else ""
        return f"{why}: {told}its last lines: {last_lines(self.text)}"


def watch(
    command: Sequence[str],
    folder: Path,
    console: Path,
    done: Callable[[str], bool],
    *,
    timeout_s: float,
    off: bool = False,
) -> Ran:
    """Run QEMU until its console says what is waited for; `off`: and then until it switches itself off, or does not."""
    deadline = time.monotonic() + timeout_s
    with (folder / "stderr").open("w+") as stderr:
        process = subprocess.Popen(with_us(command), stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr)
        try:
            said = _wait(process, console, deadline, done)
            if said and off:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_OFF_S)
            ended = process.poll() is not None
        finally:
            process.kill()
            process.wait()
        stderr.seek(0)
        told = stderr.read().strip().splitlines()[-1:]
    return Ran(said, ended, _text(console), "".join(told))


def _clocked(options: list[str], image: Image) -> list[str]:
    """With a disk, idle time is not skipped: a guest that waits for one is idle, its clock would run ahead to the next
    timer, and the disk's few milliseconds of the host become minutes in the guest."""
    if image.form == "initramfs":
        return options
    return [option.replace("sleep=off", "sleep=on") for option in options]


def _medium(image: Image, folder: Path) -> list[str]:
    if image.form == "initramfs":
        return ["-kernel", str(image.kernel), "-initrd", str(image.path)]
    files = read_fat(image.path, folder, ("vmlinuz", "initrd.img"))
    if "vmlinuz" not in files:
        raise RunFailed(f"the image {image.path} has no kernel on its boot partition: build it again")
    drive = f"file={str(image.path.absolute()).replace(',', ',,')},if=none,id=disk,format=raw,snapshot=on"
    first = ["-initrd", str(files["initrd.img"])] if "initrd.img" in files else []
    return ["-kernel", str(files["vmlinuz"]), *first, "-drive", drive, "-device", "virtio-blk-pci,drive=disk"]


def _wait(process: subprocess.Popen[bytes], console: Path, deadline: float, done: Callable[[str], bool]) -> bool:
    while time.monotonic() < deadline:
        over = process.poll() is not None
        text = _text(console)
        if done(text):
            return True
        if over or _PANIC in text:
            return False
        time.sleep(0.1)
    return False


def _text(console: Path) -> str:
    return console.read_text(errors="replace").replace("\r", "") if console.exists() else ""


def _read(image: Image, text: str, wall_s: float, *, off: bool) -> Booted:
    report = text[text.index(_BEGIN) : text.index(_END)] if _BEGIN in text else ""
    fields: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(report):
        fields.setdefault(name, []).append(value.strip())
    figures, absent = memory(report)
    if absent:
        raise RunFailed(f"{image.path}: {'; '.join(absent.values())}")
    devices = [(kind, path) for kind, _, path in (line.partition(" ") for line in fields.get("device", ()))]
    try:
        return Booted(
            release=fields["release"][0],
            ram_used_b=figures["ram_used"],
            ram_total_b=figures["ram_total"],
            uptime_s=float(fields["uptime"][0]),
            processes=int(fields["processes"][0]),
            root=fields["root"][0],
            module_trees=tuple(fields.get("modules", ())),
            probe_ok=int(fields["probe"][0].split()[0]) if "probe" in fields else 0,
            wall_s=wall_s,
            tried=pi.tried(devices, image.needs, off=off, architecture=image.architecture) if image.for_pi else None,
        )
    except (KeyError, ValueError, IndexError):
        raise RunFailed(
            f"the image {image.path} came up but its report is damaged; its last lines: {last_lines(text)}"
        ) from None
