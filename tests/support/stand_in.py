# SPDX-License-Identifier: MIT
"""A stand-in for a board: a machine in QEMU without the instruction clock, which tests reach by ssh and its console.

A PC unless another is asked for. UEFI, systemd-boot with its one-shot entry, one FAT partition, a watchdog; Debian's
stock kernel is its known-good system. The network leads nowhere but from a port of this host to its sshd
(`restrict=on`). Power is the QEMU process, here through two commands, as a switched socket would be: `power.sh off`,
`power.sh on`.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rtqual.base.apt import fetch
from rtqual.base.program import find
from rtqual.engine.boards.remote.settings import Settings
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.mission import BoardTable
from rtqual.protocols.board.system import Kernel
from support.known_good import HARDWARE, good_initrd, own
from support.machines import PARAMETERS, PC, Machine

KERNELS = {"stock": "linux-image-amd64", "rt": "linux-image-rt-amd64"}
NAME, SERIAL = "stand-in", "S1"
_UUID, _ESP_MIB = "5254-0012", 96
SECOND, _SECOND_MIB = "/dev/vdb", 64  # a disk that jobs may write to
OPTIONS = f"console=ttyS0 quiet panic=5 {PARAMETERS[0]} rtqual.store={_UUID}"  # of the known-good system
RUNS_TO_RANK = 10
HONEST = """This board is an emulator in real time: it may not tell the two kernels apart, or rank them by chance, and \
no figure of it is a board's."""
_CRITERION = """\
[[criterion]]
name = "wake-up, on average"
instrument = "cyclictest"
statistic = "avg"
margin = "1 ms"
weight = 1.0
"""
_LOADED = f"""
[[scale.demo.plan]]
boards = ["{NAME}"]
instruments = ["cyclictest"]
loads = ["hackbench"]
runs = {{runs}}
"""
_POWER = """\
#!/bin/sh
# off: like pulling the plug; on: QEMU again
case $1 in
off)
	read -r pid < {folder}/pid && kill -KILL "$pid"
	rm -f {folder}/pid
	;;
on)
	[ -e {folder}/pid ] || setsid {command} < /dev/null > {folder}/qemu.log 2>&1 &
	while [ ! -s {folder}/pid ] && kill -0 $! 2> /dev/null; do sleep 0.1; done
	;;
esac
exit 0
"""


@dataclass(frozen=True)
class StandIn:
    """`folder` holds its disk, its console's socket and log, and the keys of both ends."""

    folder: Path
    port: int
    release: str
    machine: Machine = PC

    @property
    def identity(self) -> Path:
        return self.folder / "identity"

    @property
    def console_log(self) -> str:
        log = self.folder / "console.log"  # as soon as QEMU runs
        return log.read_text(errors="replace") if log.exists() else ""

    @property
    def host_key(self) -> str:
        return " ".join((self.folder / "hostkey.pub").read_text().split()[:2])

    def table(self, **other: str) -> str:
        """Its table of a mission file; `other`: keys in TOML, in place of these or beside them."""
        keys = {
            "name": f'"{NAME}"',
            **self.machine.keys,
            "ssh": f'"root@127.0.0.1:{self.port}"',
            "identity": f'"{self.identity}"',
            "host_key": f'"{self.host_key}"',
            "serial": f'"{SERIAL}"',
            "good": f'"{self.release}"',
            "switch": '"systemd-boot"',
            "boot_timeout": '"600 s"',
            "watchdog": '"30 s"',
            "power": f'{{ off = ["{self.folder}/power.sh", "off"], on = ["{self.folder}/power.sh", "on"] }}',
            "console": f'"socket:{self.folder}/serial"',
        } | other
        return "[[board]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value)

    def ssh(self, command: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """By a way of its own, for tests to look at what rtqual did."""
        known = self.folder / "known"
        known.write_text(f"[127.0.0.1]:{self.port} {self.host_key}\n")
        options = ["-o", f"UserKnownHostsFile={known}", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5"]
        options += ["-o", "ServerAliveInterval=5", "-F", "none", "-i", str(self.identity), "-p", str(self.port)]
        words = ["ssh", *options, "root@127.0.0.1", command]
        return subprocess.run(words, capture_output=True, text=True, timeout=timeout_s, check=False)

    def wait_up(self, patience_s: float = 900) -> None:
        end_s = time.monotonic() + patience_s
        while time.monotonic() < end_s:
            with suppress(subprocess.TimeoutExpired):
                if self.ssh("true", 30).returncode == 0:
                    return
            time.sleep(1)
        raise AssertionError(f"the stand-in does not come up: {self.console_log[-2000:]}")

    def power(self, what: str) -> None:
        subprocess.run([self.folder / "power.sh", what], check=True)

    def cut_power(self) -> None:
        self.power("off")
        time.sleep(0.5)
        self.power("on")

    def qmp(self, command: str, **arguments: object) -> object:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(30)
            client.connect(str(self.folder / "qmp"))
            lines = client.makefile("rw")
            lines.readline()
            answer: dict[str, object] = {}
            for name, given in (("qmp_capabilities", {}), (command, arguments)):
                lines.write(json.dumps({"execute": name, "arguments": given}) + "\n")
                lines.flush()
                answer = json.loads(lines.readline())
                while "return" not in answer and "error" not in answer:
                    answer = json.loads(lines.readline())
            assert "error" not in answer, answer
            return answer["return"]

    def link(self, *, up: bool) -> None:
        self.qmp("set_link", name="net", up=up)


@contextmanager
def stand_in(folder: Path, disk: Callable[[Path], str] | None = None, machine: Machine = PC) -> Iterator[StandIn]:
    """Made in `folder` and powered on, for as long as the block. `disk`: writes another one, and says its release."""
    board = _make(folder, disk or _disk, machine)
    board.power("on")
    try:
        yield board
    finally:
        _end(folder)


def _end(folder: Path) -> None:
    """Only the process that its own pid file names."""
    with suppress(FileNotFoundError, ProcessLookupError, ValueError):
        os.kill(int((folder / "pid").read_text()), signal.SIGKILL)


def _make(folder: Path, disk: Callable[[Path], str], machine: Machine) -> StandIn:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("hostkey", "identity"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(folder / name)]
        subprocess.run(words, check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    release = disk(folder)
    words = [find("mke2fs", "e2fsprogs"), "-q", "-t", "ext4", str(folder / "second"), f"{_SECOND_MIB}M"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    firmware = fetch(machine.package).tree
    shutil.copy(firmware / machine.variables, folder / "vars.fd")
    command = [*machine.emulator, *_devices(folder, firmware / machine.firmware, port)]
    power = folder / "power.sh"
    power.write_text(_POWER.format(folder=folder, command=" ".join(command)))
    power.chmod(0o755)
    return StandIn(folder, port, release, machine)


def _devices(folder: Path, firmware: Path, port: int) -> list[str]:
    flash = "if=pflash,format=raw"
    return [
        *("-accel", "tcg", "-smp", "1", "-display", "none", "-nodefaults"),
        *("-smbios", f"type=1,serial={SERIAL},product=Stand-in"),
        *("-drive", f"{flash},unit=0,readonly=on,file={firmware}"),
        *("-drive", f"{flash},unit=1,file={folder}/vars.fd"),
        *("-drive", f"file={folder}/disk,format=raw,if=virtio"),
        *("-drive", f"file={folder}/second,format=raw,if=virtio"),
        *("-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"),
        *("-device", f"virtio-net-pci,netdev=net,mac={HARDWARE},romfile="),
        "-chardev",
        f"socket,id=console,path={folder}/serial,server=on,wait=off,logfile={folder}/console.log,logappend=on",
        *("-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng"),
        *("-device", "i6300esb", "-action", "watchdog=reset"),
        *("-serial", "chardev:console", "-qmp", f"unix:{folder}/qmp,server=on,wait=off", "-pidfile", f"{folder}/pid"),
    ]


def _disk(folder: Path) -> str:
    """A partition table with one FAT partition: systemd-boot, the known-good system and what the board is."""
    package = fetch(KERNELS["stock"], kernel=True)
    image = next((package.tree / "boot").glob("vmlinuz-*"))
    release = image.name.removeprefix("vmlinuz-")
    loader = fetch("systemd-boot-efi").tree / "usr/lib/systemd/boot/efi/systemd-bootx64.efi"
    texts = {
        "loader/loader.conf": "default good.conf\ntimeout 0\n",
        "loader/entries/good.conf": f"title good\nlinux /good/vmlinuz\ninitrd /good/initrd\noptions {OPTIONS}\n",
        **own(folder),
    }
    files = {
        "EFI/BOOT/BOOTX64.EFI": loader,
        "good/vmlinuz": image,
        "good/initrd": good_initrd(folder, package.tree, release),
    }
    write_disk(folder, texts, files)
    return release


def write_disk(folder: Path, texts: Mapping[str, str], files: Mapping[str, Path]) -> None:
    """`folder`/disk, with one FAT partition that holds these."""
    tree = folder / "esp"
    for place, text in texts.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        (tree / place).write_text(text)
    for place, source in files.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, tree / place)
    part, disk = folder / "part", folder / "disk"
    for path, size_mib in ((part, _ESP_MIB - 1), (disk, _ESP_MIB)):
        with path.open("wb") as file:
            file.truncate(size_mib * 2**20)
    mkfs = [find("mkfs.fat", "dosfstools"), "-F", "32", "-n", "BOOT", "-i", _UUID.replace("-", ""), str(part)]
    subprocess.run(mkfs, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["mcopy", "-s", "-i", part, *sorted(tree.iterdir()), "::"], check=True)
    layout = "label: dos\nstart=2048, type=ef, bootable\n"
    subprocess.run([find("sfdisk", "fdisk"), "--quiet", disk], input=layout, text=True, check=True)
    with part.open("rb") as given, disk.open("r+b") as target:
        target.seek(2**20)
        shutil.copyfileobj(given, target)
    part.unlink()
    shutil.rmtree(tree)


def candidate(name: str, title: str, package: str, *lines: str) -> str:
    """Its table of a mission file, with further lines."""
    keys = (f'name = "{name}"', f'title = "{title}"', f'package = "{package}"')
    return "\n".join(["[[candidate]]", *keys, *lines, "", ""])


RT = candidate("debian-rt", "Debian, PREEMPT_RT kernel", KERNELS["rt"])
BOTH = RT + candidate("debian", "Debian, stock kernel", KERNELS["stock"])


def mission_of(
    there: StandIn, candidates: str = BOTH, *, table: str = "", runs: int = 6, loaded: int = 0, cycles: int = 100
) -> str:
    """A mission that decides between the candidates on it. `loaded`: runs under hackbench besides."""
    return f"""\
[mission]
name = "board-demo"
title = "Which kernel flies on the board?"
purpose = "Tries the way over ssh to a board: kernels are put on it, measured, and judged. {HONEST}"
duration = "10 s"

{candidates}
{table or there.table()}
[[requirement]]
name = "wake-up"
instrument = "cyclictest"
statistic = "max"
at_most = "100 s"  # loose: an emulator is late by chance

{_CRITERION if runs >= RUNS_TO_RANK else ""}
[parameters.cyclictest]
interval = "10 ms"
cycles = {cycles}

[[scale.demo.plan]]
boards = ["{NAME}"]
instruments = ["cyclictest"]
runs = {runs}
{_LOADED.format(runs=loaded) if loaded else ""}"""


def settings_of(there: StandIn) -> Settings:
    return BoardTable.model_validate(tomllib.loads(there.table())["board"][0]).settings


def kernel_of(name: str, *boot: str) -> Kernel:
    """As the fixture `kernel`, for processes of their own."""
    return prepare(name, KERNELS[name.removeprefix("debian-")], preempt=None, boot=boot, tools=guest_tools())


def demo(out: Path) -> int:
    """Measure two kernels on a stand-in and judge them (docs/boards.md)."""
    with TemporaryDirectory(prefix="stand-in-") as folder, stand_in(Path(folder)) as there:
        sys.stdout.write(f"Starting the stand-in; its console: {folder}/console.log\n")
        sys.stdout.flush()
        there.wait_up()
        mission = Path(folder) / "board-demo.toml"
        mission.write_text(mission_of(there, runs=RUNS_TO_RANK, loaded=3))
        rtqual = [str(Path(sys.executable).with_name("rtqual"))]
        subprocess.run([*rtqual, "board", "check", NAME, "--mission", mission], check=False)
        code = subprocess.run([*rtqual, "select", mission, "--out", out], check=False).returncode
        sys.stdout.write(f"\nHow to read that verdict: {HONEST} The way to it was real.\n")
        return code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # which ends QEMU and removes the folder on the way out
    sys.exit(demo(Path("out/board-demo")))
