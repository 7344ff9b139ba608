# SPDX-License-Identifier: MIT
"""What the real programs need of this machine; a test that lacks it is skipped."""

import shutil
import subprocess

import pytest


def may_use_fifo() -> bool:
    return subprocess.run(["chrt", "-f", "80", "true"], check=False, capture_output=True).returncode == 0


def need(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here: apt-get install rt-tests sysbench stress-ng iw iperf3")


needs_fifo = pytest.mark.skipif(
    not may_use_fifo(), reason="SCHED_FIFO is not allowed here: run as root or raise the rtprio limit"
)
