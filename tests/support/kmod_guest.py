# SPDX-License-Identifier: MIT
"""Guests with the camera's kernel modules in them, and how the tests read their output."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.base.apt import fetch, fetch_closure
from rtqual.base.architecture import AMD64, Architecture
from rtqual.engine.boards.machine import emulator_for
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.candidates.ready import image_of, make_ready
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual_docking.camera_files import MODULES, camera_sources

ROOT = Path(__file__).parents[2]
KMOD = ROOT / "docking/camera/driver"
RING = 4  # frames the emulator repeats
# `plug` returns at once: a reader of the node waits for the camera by itself.
COMMON = f"""\
ds325-emulator --write ring --frames {RING} --step 6
load() {{ insmod /lib/rtqual/ds325-ring.ko && insmod /lib/rtqual/ds325-usb.ko "$@" || exit 1; }}
unload() {{ rmmod ds325_usb && rmmod ds325_ring || exit 1; }}
plug() {{ ds325-emulator --attach --daemon --priority 60 --report report --log log --replay ring "$@" || exit 1; }}
gone() {{ while pidof ds325-emulator > /dev/null; do usleep 10000; done; }}
unplug() {{ pid=$(pidof ds325-emulator) && kill "$pid"; gone; sed 's/^/report /' report; }}
checked() {{ ds325-stream --method=ring --check=ring --timeout-ms=5000 --output=out "$@"; grep -v '_ns=.* .* ' out; }}
"""
HEALTH = "\ndmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for|UBSAN|refcount' | sed 's/^/kernel /'\n"

Guest = Callable[..., JobOutcome]


def strict() -> dict[str, bytes]:
    """The modules' sources, of which no compiler may warn."""
    sources = dict(camera_sources())
    sources["kmod/Kbuild"] += b"ccflags-y += -Werror\n"
    return sources


def with_exact() -> dict[str, bytes]:
    """And those of a fourth that only a test here has."""
    sources = strict()
    sources |= {f"kmod/test/{path.name}": path.read_bytes() for path in (KMOD / "test").glob("*exact*")}
    sources["kmod/Kbuild"] += b"obj-m += ds325-exact.o\nds325-exact-y := test/ds325_exact.o\n"
    return sources


def boot(
    package: str,
    folder: Path,
    programs: Mapping[str, Path],
    architecture: Architecture = AMD64,
    cpu: str = "",
    files: Mapping[str, Path] | None = None,
    cpus: int = 1,
) -> Guest:
    """Runs a shell script under one of Debian's kernels; modules, and `programs` by their names in the guest, are
    there, and `files` by their paths. `cpu`: QEMU's name of a processor other than the board's."""
    kernel = fetch(package, kernel=True, architecture=architecture)
    names = (*MODULES, "ds325-exact.ko")
    modules = build_modules(image_of("kmod", kernel)[1], with_exact(), "kmod", names, architecture)
    extra = {f"usr/bin/{name}": file for name, file in programs.items()} | {f"lib/rtqual/{m.name}": m for m in modules}
    extra |= files or {}
    tools = fetch_closure(TOOL_PACKAGES, architecture=architecture)
    ready = make_ready("kmod", kernel, boot=(), tools=tools, architecture=architecture, extra=extra)
    emulator = emulator_for(architecture)
    emulator = replace(emulator, cpu=cpu or emulator.cpu)
    board = VirtualBoard(ready, Machine(cpus), folder / f"{package}{cpu.partition(',')[0]}{cpus}", emulator=emulator)

    def run(script: str, *, modules: tuple[str, ...] = ("vhci-hcd",), fifo: int = 0) -> JobOutcome:
        job = Job(measure=Command(("sh", "-c", COMMON + script + HEALTH), fifo=fifo), modules=modules)
        outcome = board.run(job, seed=1, timeout_s=600)
        assert outcome.exit_code == 0, outcome.stderr
        assert "kernel " not in outcome.stdout, outcome.stdout
        return outcome

    return run


def frames(text: str) -> list[list[str]]:
    """Of each frame that ds325_ring printed: number, sequence, lost before, connection, end, published, CRC-32."""
    return [line.split()[1:] for line in text.splitlines() if line.startswith("frame ")]


def exact(way: str, frames: int, *, first: int = 0) -> str:
    calibration = "depth=1 confidence=50 offset_um=12000 k1_ppm=-150000"
    return (
        f"insmod /lib/rtqual/ds325-ring.ko decode={way} {calibration} || exit 1\n"
        f"insmod /lib/rtqual/ds325-exact.ko first={first} count={frames} || exit 1\n"
        "dmesg | grep ds325_exact: | tail -1\n"
        "rmmod ds325_exact && rmmod ds325_ring || exit 1\n"
    )


def hashed(frames: int, folder: Path, *, first: int = 0) -> str:
    """What the kernel has to say of these frames, by the scalar reference on this machine."""
    subprocess.run(["make", "-s", "-C", KMOD / "test", f"BUILD={folder}", folder / "exact"], check=True)
    command = [folder / "exact", "scalar", str(first), str(frames), "1", "50", "12000", "-150000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"ds325_exact: {frames} frames {done.stdout.strip()} "


# Fault at frame 5: header.lost, header.refused, connections; the frame after five good ones has one lost before it.
FAULTS = {
    "drop@5": (1, 0, 1),
    "short@5": (0, 1, 1),
    "error@5": (0, 1, 1),
    "header@5": (0, 1, 1),
    "late@5:20": (1, 0, 1),
    "stall@5": (1, 0, 1),
    "unplug@5:300": (0, 1, 2),
}


def cycles(count: int) -> str:
    """Camera and modules come and go, while readers wait and while none does; the node outlives the camera."""
    return (
        f"load\ni=0; while [ $i -lt {count} ]; do plug; ds325_ring /dev/ds325-0 3 poll | tail -1; unplug > /dev/null;"
        " i=$((i + 1)); done\nunload\n"
        f"i=0; while [ $i -lt {count} ]; do load; plug; [ $((i % 2)) = 0 ] && usleep 400000; unload;"
        " unplug > /dev/null; i=$((i + 1)); done\necho survived\n"
    )
