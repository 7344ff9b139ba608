# SPDX-License-Identifier: MIT
"""QEMU's monitor, where QEMU is ended meanwhile."""

import asyncio
import gc
import logging
import socket
import subprocess

import pytest
from qemu.qmp import QMPClient

from rtqual.engine.boards.monitor import drive, monitor_options

EMULATOR = ("qemu-system-x86_64", "-M", "none", "-display", "none", "-nodefaults")


@pytest.mark.guest
@pytest.mark.parametrize(("left", "told"), [(EOFError(), False), (ConnectionResetError(), False), (ValueError(), True)])
def test_what_an_ended_connection_leaves_unasked_is_not_told_twice(
    left: Exception, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It would come after rtqual's last line; a fault of another kind is still seen."""

    async def steps(monitor: QMPClient, process: subprocess.Popen[bytes]) -> None:
        asyncio.get_running_loop().create_future().set_exception(left)
        gc.collect()
        process.kill()
        raise OSError("ended")

    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen([*EMULATOR, *monitor_options(theirs.fileno())], pass_fds=(theirs.fileno(),))
        theirs.close()
        try:
            with caplog.at_level(logging.ERROR, "asyncio"), pytest.raises(OSError, match="ended"):
                drive(process, ours, steps, 60)
        finally:
            process.kill()
            process.wait()
    assert ("never retrieved" in caplog.text) is told
