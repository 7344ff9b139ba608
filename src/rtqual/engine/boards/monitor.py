# SPDX-License-Identifier: MIT
"""QEMU through its monitor: a booted guest is saved, a saved one restored.

The guest's memory lies in a file (memory_options), so QEMU need not copy it: what is saved and restored is the
devices alone. Who saves shares the file with QEMU; who restores maps it privately and leaves it as it is.
"""

import asyncio
import os
import shlex
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from qemu.qmp import QMPClient, QMPError

from rtqual.engine.boards.job_programs import Patience

Steps = Callable[[QMPClient, subprocess.Popen[bytes]], Awaitable[None]]


def option(path: Path | str) -> str:
    """A file name inside a QEMU option, where commas part."""
    return str(path).replace(",", ",,")


def monitor_options(socket: int) -> Sequence[str]:
    return ("-chardev", f"socket,id=monitor,fd={socket}", "-mon", "chardev=monitor,mode=control")


def memory_options(file: Path, size_mib: int, *, share: bool) -> Sequence[str]:
    shared = "on" if share else "off"
    backend = f"memory-backend-file,id=memory,mem-path={option(file)},size={size_mib}M,share={shared}"
    return ("-object", backend, "-machine", "memory-backend=memory")


def drive(process: subprocess.Popen[bytes], socket: Any, steps: Steps, timeout_s: float) -> None:
    """Take a QEMU through its steps. Raises TimeoutError at its deadline, Starved where the
    host kept it from its work, QMPError or OSError where it fails."""
    asyncio.run(_within(_drive(process, socket, steps), Patience(process.pid, timeout_s)))


def _quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What the library's own tasks leave unasked when QEMU is ended is no news: the steps have raised it."""
    if not isinstance(context.get("exception"), QMPError | OSError | EOFError):
        loop.default_exception_handler(context)


async def _drive(process: subprocess.Popen[bytes], socket: Any, steps: Steps) -> None:
    monitor = QMPClient("rtqual")
    await monitor.connect(socket)
    try:
        await steps(monitor, process)
    finally:
        with suppress(QMPError, OSError, EOFError):  # QEMU ended first
            await monitor.disconnect()


def save(devices: Path) -> Steps:
    """Wait for the guest to pause itself, then save all but its memory."""

    async def steps(monitor: QMPClient, process: subprocess.Popen[bytes]) -> None:
        with monitor.listener(("GUEST_PANICKED", "SHUTDOWN")) as events:
            async with _end(process) as ended:
                first = asyncio.ensure_future(events.get())
                waiting: set[asyncio.Future[Any]] = {first, ended}
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not first.done() or first.result()["event"] != "GUEST_PANICKED":
                first.cancel()
                raise OSError("the guest ended before it had booted")
        await monitor.execute("stop")
        await _without_memory(monitor)
        await monitor.execute("migrate", {"uri": f"exec:cat > {shlex.quote(str(devices))}"})
        await _migrated(monitor, f"the guest's state cannot be saved in {devices.parent}: is the disk full?")

    return steps


def restore(devices: Path) -> Steps:
    """Restore what was saved, and wait for the guest's end."""

    async def steps(monitor: QMPClient, process: subprocess.Popen[bytes]) -> None:
        await _restored(monitor, devices)
        async with _end(process) as ended:
            await ended
        if process.wait() < 0:
            raise OSError(killed(process))

    return steps


def standing(devices: Path, after_s: float, look: Callable[[QMPClient], Awaitable[None]]) -> Steps:
    """Restore what was saved, let `look` ask the monitor once that has taken so much processor time, and end it."""

    async def steps(monitor: QMPClient, process: subprocess.Popen[bytes]) -> None:
        patience = Patience(process.pid, after_s)
        await _restored(monitor, devices)
        async with _end(process) as ended:
            while not patience.over():
                if (await asyncio.wait({ended}, timeout=0.2))[0]:
                    raise OSError("the guest ended by itself this time")
            await look(monitor)
            await monitor.execute("quit")
            await ended

    return steps


async def _restored(monitor: QMPClient, devices: Path) -> None:
    await _without_memory(monitor)
    # The rounds are timers of the host's clock, which would cut the CPUs' turns at random places.
    await monitor.execute("migrate-set-parameters", {"announce-rounds": 0})
    await monitor.execute("migrate-incoming", {"uri": f"exec:cat {shlex.quote(str(devices))}"})
    await _migrated(monitor, f"the guest's state in {devices} cannot be restored: delete it and try again")
    await monitor.execute("cont")


async def _without_memory(monitor: QMPClient) -> None:
    """Leave out memory that is a shared file. A private mapping of one is not, but then its pages are not sent."""
    capability = {"capability": "x-ignore-shared", "state": True}
    await monitor.execute("migrate-set-capabilities", {"capabilities": [capability]})


async def _migrated(monitor: QMPClient, failure: str) -> None:
    while True:
        answer = await monitor.execute("query-migrate")
        status = answer.get("status") if isinstance(answer, dict) else None
        if status == "completed":
            return
        if status == "failed":
            raise OSError(failure)
        await asyncio.sleep(0.002)


@asynccontextmanager
async def _end(process: subprocess.Popen[bytes]) -> AsyncIterator["asyncio.Future[None]"]:
    """Done when the process has ended."""
    loop, descriptor = asyncio.get_running_loop(), os.pidfd_open(process.pid)
    ended: asyncio.Future[None] = loop.create_future()

    def over() -> None:
        if not ended.done():
            ended.set_result(None)

    try:
        loop.add_reader(descriptor, over)
        yield ended
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _within(work: Coroutine[Any, Any, None], patience: Patience) -> None:
    """Raises TimeoutError."""
    asyncio.get_running_loop().set_exception_handler(_quiet)
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=0.2))[0]:
            if patience.over():
                raise patience.expired()
        task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def killed(process: subprocess.Popen[bytes]) -> str:
    """By which signal it was ended, if it was: its connection is gone a moment before it is."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(0.5)
    code = process.returncode or 0
    return f"it was ended by signal {-code}" if code < 0 else ""
