# SPDX-License-Identifier: MIT
"""What booting once saves: a cell restored from the booted guest beside the same cell booted each time.

Both give the same samples (checked). Wall times of a shared machine are noisy, so both kinds run by turns and the
result is the ratio of their medians.
"""

import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from rtqual.board import Machine
from rtqual.board.jobscript import unpack
from rtqual.board.virtual import VirtualBoard
from rtqual.candidate.debian import prepare
from rtqual.initramfs.contents import guest_tools
from rtqual.instrument.cyclictest.measure import CYCLICTEST, CyclictestParameters

ROUNDS = 5


def main() -> None:
    kernel = prepare("debian-rt", "linux-image-rt-amd64", preempt=None, boot=(), tools=guest_tools())
    job = CYCLICTEST.job(CyclictestParameters(cycles=1000), cpus=1, seed=1)
    restored_s, booted_s = [], []
    with tempfile.TemporaryDirectory() as folder:
        board = VirtualBoard(kernel, Machine(), Path(folder) / "scratch")
        board.run(job, seed=1, timeout_s=120)  # the one boot
        for _ in range(ROUNDS):
            outcome = board.run(job, seed=1, timeout_s=120)
            restored_s.append(outcome.wall_s)
            started = time.monotonic()
            subprocess.run(outcome.command, cwd=folder, check=False, stdin=subprocess.DEVNULL, timeout=300)
            booted_s.append(time.monotonic() - started)
            files = unpack((Path(folder) / "result").read_bytes(), "booted")
            assert files["file.cyclictest.json"] == outcome.files["cyclictest.json"], "the two gave other samples"
    print(f"cyclictest, 1,000 cycles of 1 ms, no load, Debian's RT kernel, {ROUNDS} interleaved pairs, same samples:")
    print(f"  restored {median(restored_s):6.2f} s  ({min(restored_s):.2f} to {max(restored_s):.2f})")
    print(f"  booted   {median(booted_s):6.2f} s  ({min(booted_s):.2f} to {max(booted_s):.2f})")
    print(f"  booting each time takes {median(booted_s) / median(restored_s):.1f} times as long")


if __name__ == "__main__":
    main()
