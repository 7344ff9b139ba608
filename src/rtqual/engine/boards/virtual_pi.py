# SPDX-License-Identifier: MIT
"""What a kernel boots with on the Raspberry Pi 3 that QEMU emulates: its own device tree describes that board."""

import hashlib
from dataclasses import replace
from pathlib import Path

from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput
from rtqual.engine.boards.device_tree import with_seed
from rtqual.engine.boards.machine import PI_3
from rtqual.engine.initramfs.appended import overlaid
from rtqual.engine.initramfs.contents import guest_file
from rtqual.protocols.board.system import Kernel

_AGENT = "usr/bin/rtqual-agent"


def guest(kernel: Kernel) -> Kernel:
    """The kernel with the agent that reaches the board by the mark alone."""
    agent = {_AGENT: guest_file("rtqual-agent-pi-arm64")}
    images = (overlaid(kernel.initramfs, agent), overlaid(kernel.disk_initramfs, agent))
    return replace(kernel, initramfs=images[0], disk_initramfs=images[1])


def device_tree(kernel: Kernel) -> Path:
    """The kernel's, with entropy as the board's firmware adds it; from the cache if it was made before. Raises BadInput
    where the kernel brings none."""
    found = sorted(kernel.image.parent.parent.rglob(f"broadcom/{PI_3.device_tree}"))
    if not found:
        raise BadInput(
            f"candidate {kernel.candidate}: the kernel {kernel.release} brings no {PI_3.device_tree}, by which it "
            "knows a Raspberry Pi 3: leave the key board out, or take a kernel that does"
        )
    try:
        content = with_seed(found[0].read_bytes())
    except BadInput as error:
        raise BadInput(f"candidate {kernel.candidate}: {found[0]}: {error}") from None

    def make(fresh: Path) -> None:
        fresh.write_bytes(content)

    return kept(cache_dir() / "device-trees" / f"{hashlib.sha256(content).hexdigest()[:32]}.dtb", make)
