# SPDX-License-Identifier: MIT
"""Programs that are not ours, on this machine: each has jobs, or it is said why not. `python test_program_strangers.py`
prints the table of docs/verification/programs.md."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtqual.base.errors import RtqualError
from rtqual.engine.mission import load_mission
from rtqual.parts.programs.tasks import Looked, look

_LOOP = "import asyncio\nasync def tick():\n  while True: await asyncio.sleep(0.01)\nasyncio.run(tick())"
_TIMER = "setInterval(() => 0, 10)"
_SLEEPER = "while (1) { select(undef, undef, undef, 0.01) }"
_SPINNER = "while (1) { }"
_CLIENT = """\
port=$((20000 + $$ % 10000)); iperf3 -s -D -1 -p $port
until grep -q "$(printf ':%04X .* 0A ' $port)" /proc/net/tcp*; do sleep 0.05; done
exec iperf3 -c 127.0.0.1 -p $port -u -b 1M -t 30
"""  # a port of its own: the server of the run before may still be busy


@dataclass(frozen=True)
class Stranger:
    """A program, how it is started, and what there is to see: a system call that releases a thread, or nothing."""

    name: str
    program: str
    arguments: tuple[str, ...]
    waits_at: str


STRANGERS = (
    Stranger("cyclictest", "cyclictest", ("-q", "-m", "-p", "80", "-i", "10000", "-D", "60"), "clock_nanosleep"),
    Stranger("python-asyncio", "sh", ("-c", 'exec /usr/bin/python3 -c "$0"', _LOOP), "epoll_wait"),
    Stranger("node", "node", ("-e", _TIMER), "epoll_pwait"),
    Stranger("perl", "perl", ("-e", _SLEEPER), "pselect6"),
    Stranger("iperf3-client", "sh", ("-c", _CLIENT), "pselect6"),
    Stranger("iperf3-server", "iperf3", ("-s", "-p", "5299"), ""),  # nobody calls it
    Stranger("stress-ng", "stress-ng", ("--timer", "1", "--timer-freq", "100", "-t", "30"), ""),
    Stranger("hackbench", "hackbench", ("-l", "100000", "-g", "1"), "read"),
    Stranger("top", "top", ("-b", "-d", "0.1"), "pselect6"),
    Stranger("dbus-daemon", "dbus-daemon", ("--session", "--nofork", "--print-address"), ""),
    Stranger("a-spinner", "perl", ("-e", _SPINNER), ""),
)
_MISSION = """\
[mission]
name = "strangers"
title = "Programs of others"
purpose = "What there is to judge of each."
duration = "1 h"

[[candidate]]
name = "here"
title = "This machine"
this-machine = true
"""
_PROGRAM = """
[[program]]
name = "{name}"
binary = '{binary}'
arguments = {arguments}
runs_for = "2 s"
"""
_SCALE = '\n[[scale.demo.plan]]\ninstruments = ["cyclictest"]\nruns = 1\n'


def looked_at(folder: Path, more: tuple[Stranger, ...] = ()) -> Iterator[tuple[Stranger, Looked | str]]:
    """Those that are installed here, each with what was seen of it, or why it could not be looked at."""
    here = [(one, found) for one in (*STRANGERS, *more) if (found := shutil.which(one.program))]
    text = _MISSION
    for one, found in here:
        text += _PROGRAM.format(name=one.name, binary=Path(found).resolve(), arguments=json.dumps(one.arguments))
    (folder / "strangers.toml").write_text(text + _SCALE)
    mission = load_mission(folder / "strangers.toml")
    for one, _ in here:
        try:
            yield one, look(mission, one.name, "here", lets=True, tell=lambda _: None)
        except RtqualError as error:
            yield one, str(error)


def _row(one: Stranger, found: Looked | str) -> str:
    if isinstance(found, str):
        return f"| {one.name} | - | {found} |"
    threads = len(found.seen) + len(found.others)
    told = "; ".join(
        f"{seen.thread.name} at {seen.point.call}: {len(seen.jobs)} jobs"
        + (f", every {seen.period_ns / 1e6:.1f} ms" if seen.period_ns else ", woken")
        for seen in found.seen[:3]
    )
    return f"| {one.name} | {threads} | {told or found.ended or 'no thread waits again and again: no jobs'} |"


@pytest.mark.guest
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/sys/kernel/tracing").is_dir(), reason="needs root, and ftrace")
def test_a_program_of_others_has_jobs_or_it_is_said_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = list(looked_at(tmp_path))
    assert found
    for one, seen in found:
        assert isinstance(seen, Looked), (one.name, seen)
        calls = {thread.point.call for thread in seen.seen}
        assert one.waits_at in calls if one.waits_at else not seen.seen or calls, (one.name, calls, seen.ended)


@pytest.mark.guest
@pytest.mark.skipif(os.geteuid() != 0 or not Path("/sys/kernel/tracing").is_dir(), reason="needs root, and ftrace")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-c", "exit 0"), "ended after .* with exit code 0: if it goes to the background"),
        (("-c", "kill -9 $$"), "was ended by SIGKILL"),
        (("-c", "exec yes"), "wrote a file larger than 8 MiB"),
        (("-c", "exec dd if=/dev/nosuch of=/dev/null"), "with exit code 1; its last words: .*/dev/nosuch"),
    ],
)
def test_a_program_that_cannot_be_looked_at_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(sys.modules[__name__], "STRANGERS", (Stranger("bad", "sh", arguments, ""),))
    ((_, found),) = looked_at(tmp_path)
    assert isinstance(found, str)
    assert re.search(says, found), found
    assert "\n" not in found


if __name__ == "__main__":
    import tempfile

    also = tuple(Stranger(Path(path).name, path, (), "") for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for one, found in looked_at(Path(folder), also):
            print(_row(one, found), flush=True)
