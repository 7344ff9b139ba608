# SPDX-License-Identifier: MIT
"""A job as the shell script that the guest runs, and its results as they come back: one checked frame."""

import io
import re
import shlex
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from rtqual.base.errors import RunFailed, SystemDied
from rtqual.protocols.board import Command, Job, JobOutcome, Left, rest
from rtqual.protocols.board.job_steps import SETTLE_S, Do, Step, steps
from rtqual.protocols.record.schema import LATER_S, RESET

_FOLDERS = {
    "memory": "",
    "root": "mount -t ext4 /dev/vda /run/root",
    "usb": "mount -t ext4 /dev/sda /run/usb",
}
_MOST_FILES = 10_000  # of a result; a job collects some ten
_MOST_FACTS, _LONGEST_FACT = 100, 5000
_REST_S = 1  # what the job's own beginning leaves to do: memory of ended processes, callbacks of RCU
# A line of NAME.threads. The agent is ended while it writes, so the last one may be half and is left out.
_THREAD = re.compile(r"^(\d{1,9}) (\d{1,9}) (\d{1,9}) ([\d,]+) (.+)\n", re.MULTILINE | re.ASCII)
_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}

_FACTS = """\
{ uname -r -v | sed 's/^/kernel=/'; sed 's/^/cmdline=/' /proc/cmdline
sed 's/^/clocksource=/' /sys/devices/system/clocksource/clocksource0/current_clocksource
echo "clock_resolution_ns=$(rtqual-agent resolution)"; echo "cpus=$(nproc)"; cat /run/rest 2> /dev/null
echo "realtime=$(cat /sys/kernel/realtime 2>/dev/null || echo 0)"; } > /run/result/facts
"""


def render(
    job: Job,
    seed: int,
    port: str = "/dev/ttyS1",
    *,
    later_s: int = 0,
    leave: str = "",
    mount: str = "",
    inside: str = "",
) -> str:
    """The script that runs a job in the guest and sends /run/result back through a port, whatever happens.

    `leave`: what it does in place of sending, on a board that keeps its results until they are fetched.
    `later_s`: how much later than at once it begins, which the facts tell.
    `mount`: mounts the job's disk, in place of the virtual board's; `inside`: the job's folder there.
    """
    mount = mount or _FOLDERS[job.folder]
    # All others are stopped first: under a load that goes on each turn of the port's driver waits for its own, and what
    # waits in a busy guest costs the host as much as what works. A whole run's deadline went by like that.
    leave = leave or f"kill -STOP -1; tar -C /run/result -cf - . | rtqual-agent send {port}; rtqual-agent exit 0"

    def line(step: Step) -> str:
        name, command = step.name, step.command
        run = f"rtqual-agent run /run/result {name} {command.fifo} {shlex.join(command.argv)}"
        return {
            Do.RUN: run,
            Do.PREPARE: f"{run} || fail {name}",
            Do.REST: f"grep -qs {RESET} {rest.FILE} || sleep {_REST_S + later_s}",
            Do.DISTURB: f"{run} & {name}=$!",
            Do.SETTLE: f"usleep {round(SETTLE_S * 1e6)}",
            Do.PHASE: f"rtqual-agent phase {seed}",
            Do.DISTURBED: f"kill -0 ${name} || fail {name}",
        }[step.do]

    lines = [
        f"give_back() {{ {leave}; }}",
        'fail() { echo "$*" > /run/result/failed; give_back; }',
        *([f"{mount} || fail 'the {job.folder} disk cannot be mounted'"] if mount else []),
        f"cd /run/{job.folder}{inside}",
        *(f"modprobe {shlex.quote(m)} || fail 'the kernel has no module {m}'" for m in job.modules),
        *map(line, steps(job)),
        _FACTS.rstrip(),
        *([f"echo {LATER_S}={later_s} >> /run/result/facts"] if later_s else []),
        *(f"cp {shlex.quote(name)} /run/result/{shlex.quote('file.' + name)}" for name in job.collect),
        "give_back",
    ]
    return "\n".join(lines) + "\n"


def unpack(frame: bytes, where: str) -> dict[str, str]:
    """The files in a frame `RTQUAL1 <size> <crc32>\\n<tar>`. Names the place where it is damaged."""
    start = frame.find(b"RTQUAL1 ")
    if start < 0:
        raise SystemDied(f"{where}: no result came back ({len(frame)} bytes without a frame)")
    header, _, body = frame[start:].partition(b"\n")
    try:
        _, size_text, crc_text = header.split(b" ")
        size, crc = int(size_text), int(crc_text, 16)
    except ValueError:
        raise RunFailed(f"{where}: the result's header at byte {start} is damaged: {header[:40]!r}") from None
    if len(body) < size:
        raise RunFailed(f"{where}: the result was cut at byte {len(body)} of {size}")
    if zlib.crc32(body[:size]) != crc:
        raise RunFailed(f"{where}: the result of {size} bytes was damaged on its way (CRC-32 differs)")
    return plain_files(body[:size], where)


def plain_files(archive: bytes, where: str) -> dict[str, str]:
    """Of an archive from a machine that may be anybody's, by their names; nothing of it is written anywhere."""
    import tarfile  # noqa: PLC0415 - slow to load

    found: dict[str, str] = {}
    try:
        # Neither packed nor with holes: what came is all that it takes in memory.
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for number, member in enumerate(tar, 1):
                if number > _MOST_FILES:
                    raise RunFailed(f"{where}: the result holds more than {_MOST_FILES} files")
                file = tar.extractfile(member) if member.isfile() and not member.issparse() else None
                if file:
                    found[member.name.removeprefix("./")] = file.read().decode(errors="replace")
    except (tarfile.TarError, EOFError, OverflowError, ValueError, RecursionError) as error:
        raise RunFailed(f"{where}: the result is no archive: {error}") from None
    return found


def check(job: Job, files: Mapping[str, str], where: str) -> None:
    """Raise when a step before or beside the measurement failed, with what it printed."""
    if "failed" not in files:
        return
    failed = files["failed"].strip()
    if not failed:  # a full disk takes the file's name and not a word
        raise RunFailed(f"{where}: its memory was full, so the results are not whole; let the run write or load less")
    said = " / ".join((files.get(f"{failed}.err", "") + files.get(f"{failed}.out", "")).strip().splitlines()[-3:])
    for step in steps(job):
        if step.name == failed and step.do == Do.PREPARE:
            raise RunFailed(f"{where}: the preparation `{_brief(step.command)}` failed: {said or 'silently'}")
        if step.name == failed and step.do == Do.DISTURBED:
            load = _brief(step.command)
            raise RunFailed(f"{where}: the load `{load}` ended before the measurement did: {said or 'silently'}")
    raise RunFailed(f"{where}: {' '.join(failed.split())[:200]}")


def _brief(command: Command) -> str:
    """A command on one short line: some are whole scripts."""
    text = " ".join(shlex.join(command.argv).split())
    return text if len(text) <= 80 else text[:77] + "..."


def outcome(
    files: Mapping[str, str], facts: Mapping[str, str], *, console: str, wall_s: float, command: Sequence[str]
) -> JobOutcome:
    """What the agent left of a job, as an outcome."""
    status = _status(files)
    return JobOutcome(
        exit_code=status.get("exit", -1),
        stdout=files.get("measure.out", ""),
        stderr=files.get("measure.err", ""),
        files={k.removeprefix("file."): v for k, v in files.items() if k.startswith("file.")},
        facts=facts,
        status=status,
        version=files.get("version.out", "") + files.get("version.err", ""),
        threads=_threads(files),
        console=console,
        wall_s=wall_s,
        command=tuple(command),
        problems=rest.problems(facts),
    )


def again(left: Left) -> JobOutcome:
    files = unpack(left.content, left.where)
    return outcome(files, {**facts(files), **left.facts}, console="", wall_s=0.0, command=left.command)


def facts(files: Mapping[str, str]) -> dict[str, str]:
    """Of a machine that may be anybody's: some ten lines, and none longer than a kernel's command line."""
    lines = files.get("facts", "")[: _MOST_FACTS * _LONGEST_FACT].splitlines()[:_MOST_FACTS]
    pairs = (line[:_LONGEST_FACT].split("=", 1) for line in lines if "=" in line)
    return {key: value for key, value in pairs if value}


def _status(files: Mapping[str, str]) -> dict[str, int]:
    """The agent's key-value lines: exit, minor_faults, major_faults, voluntary_switches, ..."""
    text = files.get("measure.status", "")
    try:
        return {key: int(value) for key, value in (line.split() for line in text.splitlines())}
    except ValueError:
        raise RunFailed(f"the status of the measuring program is damaged: {text[:60]!r}; run it again") from None


def _threads(files: Mapping[str, str]) -> tuple[dict[str, Any], ...]:
    """The instrument's threads, each at its highest priority of the agent's looks: tools begin and end them at less."""
    seen: dict[int, dict[str, Any]] = {}
    for tid, policy, priority, affinity, name in _THREAD.findall(files.get("measure.threads", "")):
        if int(priority) >= seen.get(int(tid), {}).get("priority", 0):
            seen[int(tid)] = {
                "tid": int(tid),
                "name": name,
                "policy": _POLICIES.get(int(policy), policy),
                "priority": int(priority),
                "affinity": affinity,
            }
    return tuple(seen.values())
