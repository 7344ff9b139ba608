# SPDX-License-Identifier: MIT
"""A guest under Debian's RT kernel with the software camera in it, for tests of what reads from it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.base.apt import fetch, fetch_closure
from rtqual.base.architecture import AMD64
from rtqual.engine.boards.machine import PC
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import image_of, make_ready
from rtqual.engine.initramfs.contents import TOOL_PACKAGES, guest_file
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual_docking.camera_files import camera_modules

UVC = ("uvcvideo", "vhci-hcd")
# `plug` returns when the video node is there, `unplug` when all is gone and reported.
_PLUG = """\
plug() {{
    ds325-emulator --attach --daemon --report report --log log {options} "$@" || exit 1
    tries=0
    until [ -e /dev/video0 ] || [ $tries -gt 100 ]; do usleep 10000; tries=$((tries + 1)); done
}}
unplug() {{
    pid=$(pidof ds325-emulator) && kill "$pid"
    while pidof ds325-emulator > /dev/null || [ -e /dev/video0 ]; do usleep 10000; done
    sed 's/^/report /' report
}}
"""
_HEALTH = "\ndmesg | grep -E 'BUG|WARNING|Oops|Call Trace|blocked for|UBSAN' | sed 's/^/kernel /'\n"


def camera_guest(
    folder: Path,
    extra: Mapping[str, Path],
    *,
    common: str = "",
    options: str = "--priority 60",
    machine: Machine = Machine(),  # noqa: B008 - frozen
    cpu: str = PC.cpu,
) -> Callable[..., JobOutcome]:
    """Runs shell scripts there, after `common`; fails where the kernel complained.

    `extra`: path in the guest -> file. The camera's own driver lies in /lib/rtqual; `modules` are loaded by the board.
    """
    package = fetch("linux-image-rt-amd64", kernel=True)
    own = {f"lib/rtqual/{file.name}": file for file in camera_modules(image_of("debian-rt", package)[1])}
    programs = {"usr/bin/ds325-emulator": guest_file("ds325-emulator"), **own, **extra}
    tools = fetch_closure(TOOL_PACKAGES)
    kernel = make_ready("debian-rt", package, boot=(), tools=tools, architecture=AMD64, extra=programs)
    board = VirtualBoard(kernel, machine, folder, emulator=replace(PC, cpu=cpu))

    def run(script: str, *, modules: tuple[str, ...] = UVC, collect: tuple[str, ...] = ()) -> JobOutcome:
        shell = _PLUG.format(options=options) + common + script + _HEALTH
        job = Job(measure=Command(("sh", "-c", shell)), modules=modules, collect=collect)
        outcome = board.run(job, seed=1, timeout_s=600)
        assert outcome.exit_code == 0, outcome.stderr
        assert not re.search("^kernel ", outcome.stdout, re.MULTILINE), outcome.stdout
        return outcome

    return run
