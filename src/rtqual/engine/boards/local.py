# SPDX-License-Identifier: MIT
"""This machine as it runs. Programs are started by the same agent as in the guest."""

import gzip
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rtqual.base import interrupt
from rtqual.base.architecture import HERE
from rtqual.base.errors import RunFailed, SystemDied
from rtqual.base.program import run
from rtqual.base.scratch import scratch
from rtqual.engine.boards import here, job_programs, start_awaited
from rtqual.engine.boards.guest import guest_of, signs_here
from rtqual.engine.initramfs.contents import guest_file
from rtqual.protocols.board import Board, Command, Job, JobOutcome, jobscript
from rtqual.protocols.board.job_steps import SETTLE_S, Do, Step, steps

_LOOK_S = 1.0  # between two looks at a program that is late; before, nobody looks, for that would disturb it
_WHERE = "this machine"
# Outlives rtqual if that is killed, and then ends the group: a load would run on until somebody looks.
_GUARD = ("sh", "-c", 'read -r group; read -r _; kill -s KILL -- "-$group"')
_GUARDED = ("sh", "-c", 'read -r _ && exec "$@" < /dev/null', "sh")  # begins once its guard knows of it


@dataclass(frozen=True)
class RunningKernel:
    """The kernel that this machine runs, or ran. `told` is how records name it: its release and version."""

    told: str
    preempt_rt: bool

    @property
    def release(self) -> str:
        return self.told.partition(" ")[0]


def running() -> RunningKernel:
    return ran(f"{platform.release()} {platform.version()}", realtime=_read("/sys/kernel/realtime") == "1")


def ran(told: str, *, realtime: bool = False) -> RunningKernel:
    """What a record tells. A PREEMPT_RT kernel says so in its version, older ones with a blank."""
    return RunningKernel(told, realtime or re.search(r"\bPREEMPT[_ ]RT\b", told) is not None)


class LocalBoard(Board):
    """Its first job waits until the machine has started (start_awaited.py). `files`: of the user's, by places where his
    programs find them."""

    instruction_clock = False

    def __init__(self, files: Mapping[str, Path] | None = None) -> None:
        self._files = files or {}

    @cached_property
    def _rest(self) -> dict[str, str]:
        return start_awaited.of_this_machine(Path(_agent()))

    def config(self) -> str | None:
        return kernel_config()

    def artefacts(self) -> dict[str, str]:
        return {"kernel": running().told, "processor": processor()}

    def run(self, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        if job.modules or job.folder == "usb":
            needed = f"the modules {', '.join(job.modules)}" if job.modules else "a USB disk of its own"
            raise RunFailed(f"{_WHERE}: this job needs {needed}, which only the virtual board gives: leave it out")
        at_rest = self._rest
        started, stolen_ticks = time.monotonic(), _stolen_ticks()
        parent = Path("/dev/shm") if job.folder == "memory" else Path.cwd()  # noqa: S108 memory, not for secrets
        with scratch(parent) as work, scratch() as place, self._laid() as root:
            kept = place / "kept"
            kept.mkdir()
            among = here.among(job, root) if root else job
            files = _Steps(work, kept, started + timeout_s).run(among, seed)
            files |= {f"file.{n}": (work / n).read_text() for n in among.collect if (work / n).exists()}
        stolen = _stolen_since(stolen_ticks)
        jobscript.check(job, files, _WHERE)
        wall_s = time.monotonic() - started
        told = facts() | at_rest | stolen
        found = jobscript.outcome(files, told, console="", wall_s=wall_s, command=among.measure.argv)
        return replace(found, facts={**told, **here.unseen(job, found)})

    @contextmanager
    def _laid(self) -> Iterator[Path | None]:
        """The user's files, where his programs are to find them."""
        if not self._files:
            yield None
            return
        if os.geteuid():
            raise RunFailed(f"{_WHERE}: a program of the mission runs in a mount namespace: run as root")
        with scratch(Path("/dev/shm")) as root:  # noqa: S108 memory, not for secrets
            here.lay(self._files, root)
            yield root


class _Steps:
    """A job's programs, one after the other, loads in process groups of their own."""

    def __init__(self, work: Path, kept: Path, deadline_s: float) -> None:
        self._work, self._kept, self._deadline_s = work, kept, deadline_s

    def run(self, job: Job, seed: int) -> dict[str, str]:
        """The files that the agent left: NAME.out, NAME.err, NAME.status, NAME.threads; `failed` names a step."""
        loads: dict[str, _Program] = {}
        try:
            failed = next((step.name for step in steps(job) if not self._done(step, seed, loads)), "")
        finally:
            for load in loads.values():
                load.end()
        files = {path.name: path.read_text(errors="replace") for path in self._kept.iterdir()}
        return {**files, "failed": failed} if failed else files

    def _done(self, step: Step, seed: int, loads: dict[str, "_Program"]) -> bool:
        """Do a step; the loads that it starts are among `loads`. False where the job ends with it."""
        match step.do:
            case Do.RUN:
                self._run(step.command, step.name)
            case Do.PREPARE:
                return self._run(step.command, step.name) == 0
            case Do.DISTURB:
                loads[step.name] = self._start(step.command, step.name)
            case Do.SETTLE:
                time.sleep(SETTLE_S)
            case Do.PHASE:
                run([_agent(), "phase", str(seed)]).require(f"{_WHERE}: rtqual-agent phase failed")
            case Do.DISTURBED:
                return loads[step.name].process.poll() is None
            case Do.REST:
                pass  # it came to rest before the first job (start_awaited.py)
        return True

    def _command(self, command: Command, name: str) -> list[str]:
        return [_agent(), "run", str(self._kept), name, str(command.fifo), *command.argv]

    def _start(self, command: Command, name: str) -> "_Program":
        nowhere = subprocess.DEVNULL
        guard = subprocess.Popen(
            _GUARD, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, text=True, start_new_session=True
        )
        with (self._kept / f"{name}.agent").open("wb") as complaints:
            agent = subprocess.Popen(
                [*_GUARDED, *self._command(command, name)],
                cwd=self._work,
                env={**os.environ, "PATH": _path()},
                stdin=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        assert guard.stdin and agent.stdin  # noqa: S101 pipes
        guard.stdin.write(f"{agent.pid}\n")
        guard.stdin.flush()
        program = _Program(agent, guard)
        interrupt.register(program, program.kill)
        with suppress(BrokenPipeError), agent.stdin:  # it was ended already
            agent.stdin.write(b"\n")
        return program

    def _run(self, command: Command, name: str) -> int:
        program = self._start(command, name)
        left_s = max(0.1, self._deadline_s - time.monotonic())
        patience = job_programs.GroupPatience(program.process.pid, left_s)
        try:
            code = _code(program.process, left_s)
            while code is None:
                if patience.over():
                    raise SystemDied(
                        f"{_WHERE}: `{shlex.join(command.argv)}` did not end by its deadline and was ended"
                    )
                code = _code(program.process, _LOOK_S)
        finally:
            program.end()
        complaint = (self._kept / f"{name}.agent").read_text(errors="replace").strip()
        if complaint:
            advice = "; run as root or raise RLIMIT_RTPRIO" if "SCHED_FIFO" in complaint else ""
            raise RunFailed(f"{_WHERE}: {complaint.removeprefix('rtqual-agent: ')}{advice}")
        said = (self._kept / f"{name}.err").read_text(errors="replace")
        if "rtqual-agent: cannot set SCHED_FIFO" in said:
            raise RunFailed(
                f"{_WHERE}: real-time priority is not allowed here: run as root, or raise RLIMIT_RTPRIO (ulimit -r)"
            )
        return code


def _code(program: subprocess.Popen[bytes], patience_s: float) -> int | None:
    try:
        return program.wait(patience_s)
    except subprocess.TimeoutExpired:
        return None


def _agent() -> str:
    return str(guest_file(f"rtqual-agent{HERE.suffix}"))


def _path() -> str:
    """Where programs are looked for: as ever, then among rtqual's own, which guests have in their image."""
    return f"{os.environ.get('PATH', os.defpath)}:{Path(_agent()).parent}"


def program(name: str) -> str | None:
    """The program that a job here would run by that name."""
    return shutil.which(name, path=_path())


@dataclass(frozen=True, eq=False)
class _Program:
    """A program in a process group of its own, and the guard of that group."""

    process: subprocess.Popen[bytes]
    guard: subprocess.Popen[str]

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the program and all it started."""
        interrupt.forget(self)
        self.kill()
        self.process.wait()
        job_programs.await_killed(self.process.pid)
        self.guard.kill()
        self.guard.communicate()


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip() or None
    except OSError:
        return None


def processor() -> str:
    """Its name as the kernel has it."""
    lines = (_read("/proc/cpuinfo") or "").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "Model"))]
    return names[0] if names else platform.machine()


def hypervisor() -> str | None:
    """The hypervisor's name where there is one (systemd-detect-virt, else as guest.py has it); no container's."""
    if tool := shutil.which("systemd-detect-virt"):
        said = run([tool, "--vm"]).stdout.strip()
        if said not in ("", "none"):
            return said
    return guest_of(signs_here())


def _stolen_ticks() -> int | None:
    """CPU time the hypervisor gave to others since boot (proc(5), /proc/stat, field steal), in ticks."""
    total = (_read("/proc/stat") or "").partition("\n")[0].split()
    return int(total[8]) if len(total) > 8 else None


def _stolen_since(before_ticks: int | None) -> dict[str, str]:
    """The fact `steal_ticks`: what was stolen since, so while a run was made."""
    after_ticks = _stolen_ticks()
    if before_ticks is None or after_ticks is None:
        return {}
    return {"steal_ticks": str(max(0, after_ticks - before_ticks))}


def facts() -> dict[str, str]:
    """What decides how this machine keeps time; what cannot be read is absent."""
    done = run([_agent(), "resolution"]).require(f"{_WHERE}: rtqual-agent resolution failed")
    found = {
        "kernel": running().told,
        "cmdline": _read("/proc/cmdline"),
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "clock_resolution_ns": done.stdout.strip(),
        "realtime": _read("/sys/kernel/realtime") or "0",
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "processor": processor(),
        "hypervisor": hypervisor(),
    }
    return {key: value for key, value in found.items() if value}


def kernel_config(release: str = "") -> str | None:
    """A kernel's configuration, the running one's unless named, where the system keeps one."""
    now = running().release
    plain = _read(f"/boot/config-{release or now}")
    if plain or release not in ("", now):
        return plain
    try:
        return gzip.decompress(Path("/proc/config.gz").read_bytes()).decode()
    except OSError:
        return None


def processors() -> Sequence[int]:
    return sorted(os.sched_getaffinity(0))
