# SPDX-License-Identifier: MIT
"""The command line as a user runs it, and small missions to run it on."""

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from rtqual.face.commands.app import LITERAL, STDERR, STDOUT
from rtqual.face.commands.main import main

Run = Callable[..., subprocess.CompletedProcess[str]]
Fails = Callable[..., str]

MISSION = """\
[mission]
name = "tiny"
title = "A hundred samples a run"
purpose = "Shows that a campaign goes from its mission to its report."
duration = "1 min"

{candidates}
[[requirement]]
name = "wake-up under load"
instrument = "cyclictest"
load = "hackbench"
statistic = "max"
at_most = "100 us"

[parameters.cyclictest]
cycles = 100

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = {loads}
runs = {runs}
"""
CANDIDATES = {
    "debian-rt": 'package = "linux-image-rt-amd64"',
    "debian": 'package = "linux-image-amd64"',
    "debian-cloud": 'package = "linux-image-cloud-amd64"',
    "here": "this-machine = true",
}


def mission_text(*candidates: str, loads: tuple[str, ...] = ("none", "hackbench"), runs: int = 2) -> str:
    tables = [f'[[candidate]]\nname = "{name}"\ntitle = "{name}"\n{CANDIDATES[name]}\n' for name in candidates]
    return MISSION.format(candidates="\n".join(tables), loads=list(loads), runs=runs).replace("'", '"')


def children(name: str, of: int | None = None) -> list[int]:
    """Processes below one (this one) whose program's name starts so; the dead that wait for their parent are none."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, tail = path.read_text().rpartition(")")
        except OSError:
            continue  # it ended meanwhile
        pid, state, parent = int(path.parent.name), tail.split()[0], int(tail.split()[1])
        if state != "Z":
            parents[pid], names[pid] = parent, head.partition("(")[2]

    def below(pid: int) -> bool:
        return pid in parents and (parents[pid] == (of or os.getpid()) or below(parents[pid]))

    return [pid for pid in parents if names[pid].startswith(name[:15]) and below(pid)]


def rtqual_command(*arguments: object) -> list[str]:
    return [str(Path(sys.executable).with_name("rtqual")), *map(str, arguments)]


def rtqual_here(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command line in this process: it has loaded the libraries already. An exception would be a traceback."""
    stdout, stderr, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["rtqual", *map(str, arguments)]
    try:
        with (
            ExitStack() as widths,
            chdir(cwd or "."),
            patch.dict(os.environ, environment),
            warnings.catch_warnings(),
            redirect_stdout(stdout),
            redirect_stderr(stderr),
            pytest.raises(SystemExit) as ended,
        ):
            warnings.filterwarnings("ignore", "Cyclopts application invoked without tokens")
            for console in (STDOUT, STDERR, LITERAL):  # which keep the width of the process's environment
                widths.enter_context(patch.object(console, "_width", None))
            main()
    finally:
        sys.argv = argv
    return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), stdout.getvalue(), stderr.getvalue())
