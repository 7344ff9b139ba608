# SPDX-License-Identifier: MIT
"""The machines that the virtual board emulates: a PC, QEMU's ARM board `virt`, a Raspberry Pi 3."""

import platform
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.base.errors import RunFailed
from rtqual.base.program import missing, run
from rtqual.engine.initramfs.contents import guest_file
from rtqual.protocols.board import Machine

# An instruction takes 2 ns, and idle time is skipped; nothing of the host's clock takes part.
_NS_AN_INSTRUCTION = 2
_OF_GUESTS = ("rtqual-agent", "rtqual-probe")
_BARE = ("-nodefaults", "-display", "none")
# QEMU resets the machine when the watchdog ends. While it does so no CPU runs, and the instruction clock would go to
# the next timer, the real-time clock's at midnight: so there is one every 10 ms, of a network card that is none.
_RESETS = (
    *("-device", "i6300esb"),
    *("-netdev", "hubport,id=none,hubid=0", "-object", "filter-buffer,id=ticks,netdev=none,interval=10000"),
)


# A reset leaves memory as it was; what the kernel is told not to use outlives it, as a disk /dev/pmem0 that waits for
# no host. QEMU loads the kernel below, and the initramfs at the end (of 512 MiB at least).
_KEPT = "memmap=32M!256M"


@dataclass(frozen=True)
class Emulator:
    """How QEMU is started for one processor. The devices lie where rtqual-agent looks for them (machine_*.c)."""

    qemu: str
    package: str  # Debian's, that brings it
    model: tuple[str, ...]  # mainboard
    cpu: str
    devices: tuple[str, ...]
    parameters: tuple[str, ...]  # of the kernel
    results: str  # the guest's port that results leave by
    pci_serial: bool = False  # that port is a card, for the mainboard has one port only
    kept: tuple[str, ...] = ()  # parameters of the kernel on a machine that is reset: memory that outlives it
    memory_mib: int = 0  # of a mainboard that has so much
    chip: str = ""  # of a board with a fixed number of CPUs, of which others stay off
    channel: bool = False  # no device of QEMU's own: job, pause and end go by a plugin (target/observers/channel.c)
    device_tree: str = ""  # the kernel's file that describes the board; QEMU makes one for its own
    elf: tuple[str, int] = ("", 0)  # of programs that it starts without a kernel: their machine and bits, as ELF says

    def options(self, machine: Machine, ns_an_instruction: int = _NS_AN_INSTRUCTION) -> list[str]:
        """What decides the guest's time; no file names. An instruction takes a power of two of ns."""
        shift = ns_an_instruction.bit_length() - 1
        cpu, cpus = ("-cpu", self.cpu), ("-smp", str(machine.cpus))
        if self.chip:
            cpu, cpus = ("-global", self.cpu), ("-global", f"{self.chip}.enabled-cpus={machine.cpus}")
        return [
            *self.model, *("-accel", "tcg", "-icount", f"shift={shift},sleep=off", "-seed", "1"),
            *("-rtc", "base=2026-01-01,clock=vm", *cpu),
            *("-m", f"{self.memory_of(machine)}M", *cpus), *_BARE,
            *(_RESETS if machine.resets else ("-no-reboot",)), *self.devices,
        ]  # fmt: skip

    def memory_of(self, machine: Machine) -> int:
        """In MiB."""
        return self.memory_mib or machine.memory_mib

    def kernel_parameters(self, machine: Machine) -> tuple[str, ...]:
        """What every kernel on it is told."""
        return (*self.parameters, *((f"maxcpus={machine.cpus}",) if self.chip else ()))

    def ports(self, console: str, result: str) -> Sequence[str]:
        """The serial ports: the console, and the one that results leave by."""
        # After file: a path stands as it is, in an option its commas are doubled.
        path = result.replace(",", ",,")
        second = ("-chardev", f"file,id=result,path={path}", "-device", "pci-serial,chardev=result,addr=3")
        return ("-serial", f"file:{console}", *(second if self.pci_serial else ("-serial", f"file:{result}")))

    def version(self) -> str:
        return _version(self.qemu, self.package)

    def plugin(self, name: str) -> Path:
        return plugin(name, self.version())


def plugin(name: str, version: str) -> Path:
    """Find our plugin for a version of QEMU, "7.2.22 (...)". Raises RunFailed where QEMU takes none of ours.

    QEMU 9.0 and 9.1 each changed the interface (target/observers/plugin.h); 9.0's was never Debian's.
    """
    number = tuple(map(int, re.findall(r"\d+", version)[:2])) or (7, 2)
    if (9, 0) <= number < (9, 1):
        raise RunFailed(f"QEMU {version} takes no plugin of rtqual's: install 9.1 or newer, or 8.2 or older")
    return guest_file(f"{name}{'' if number < (9, 0) else '-3'}.so")


_MODELLED_BY = "7.2."  # target/observers/memory.c reads what QEMU keeps for itself

_QUIET = ("quiet", "nokaslr", "norandmaps", "panic=-1")
PC = Emulator(
    qemu="qemu-system-x86_64",
    package="qemu-system-x86",
    model=("-machine", "pc-i440fx-7.2"),
    cpu="qemu64",
    devices=("-device", "pvpanic", "-device", "isa-debug-exit,iobase=0xf4"),
    # Debian's kernels trust the time-stamp counter only after a test against another clock: both are the same here.
    parameters=("console=ttyS0", *_QUIET, "tsc=reliable"),
    results="/dev/ttyS1",
    kept=(_KEPT,),
)
# The counter runs at 1 GHz (cntfrq), so that a guest reads nanoseconds. A Cortex-A15 is the nearest 32-bit processor
# that QEMU has a general board for; Debian's kernel for it knows no addresses above 4 GiB (highmem).
ARM = Emulator(
    qemu="qemu-system-arm",
    package="qemu-system-arm",
    model=("-machine", "virt-7.2,highmem=off"),
    cpu="cortex-a15,cntfrq=1000000000",
    devices=("-device", "pvpanic-pci,addr=4"),
    parameters=("console=ttyAMA0", *_QUIET),
    results="/dev/ttyS0",
    pci_serial=True,
    elf=("EM_ARM", 32),
)
# The Raspberry Pi 3's processor.
ARM_64 = replace(
    ARM,
    qemu="qemu-system-aarch64",
    model=("-machine", "virt-7.2"),
    cpu="cortex-a53,cntfrq=1000000000",
)
# The Raspberry Pi 3, as far as QEMU has it (parts/images/pi.py says what is absent). Its memory and CPUs are fixed.
PI_3 = replace(
    ARM_64,
    model=("-machine", "raspi3b"),
    cpu="cortex-a53-arm-cpu.cntfrq=1000000000",
    devices=(),
    results="/dev/ttyS1",
    pci_serial=False,
    memory_mib=1024,
    chip="bcm2837",
    channel=True,
    device_tree="bcm2837-rpi-3-b.dtb",
)
_EMULATORS = {AMD64.name: PC, ARM64.name: ARM_64, ARMHF.name: ARM}

MACHINES = {"virt-a15": ARM}  # by the names that images' marks have


def emulator_for(architecture: Architecture) -> Emulator:
    return _EMULATORS[architecture.name]


@cache
def why_no_guest(architecture: Architecture) -> str:
    """What this machine lacks of what a guest of a processor takes; empty where nothing."""
    emulator = emulator_for(architecture)
    if not shutil.which(emulator.qemu):
        return missing(emulator.qemu, emulator.package)
    try:
        for name in _OF_GUESTS:
            guest_file(name + architecture.suffix)
        emulator.plugin("rtqual-clock")
    except RunFailed as error:
        return str(error)
    return ""


@cache
def why_no_model(architecture: Architecture) -> str:
    """What this machine lacks of a guest whose memory is modelled; empty where nothing."""
    if why := why_no_guest(architecture):
        return why
    version = emulator_for(architecture).version()
    known = version.startswith(_MODELLED_BY) and platform.machine() == "x86_64"
    return "" if known else f"only QEMU {_MODELLED_BY} on x86-64 is known to the models of memory, this is {version}"


@cache
def _version(qemu: str, package: str) -> str:
    mend = f"run the same command again, or reinstall {package}"
    done = run([qemu, "--version"], package=package).require(f"{qemu} --version does not run here", then=mend)
    return done.stdout.splitlines()[0].removeprefix("QEMU emulator version ")
