# SPDX-License-Identifier: MIT
"""Programs of the user's on this machine: among files of their own, and watched by the kernel's tracer.

A job that is to be watched runs its program twice: once by itself, then watched. What the tracer costs is seen by what
both print, and the program's own figures are of the run that nobody disturbed.
"""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.protocols.board import Command, Job

TRACE = "trace"  # of an outcome's files: what the tracer noted
TRACED = "traced"  # the name of the watched run's own files
_NAME = "--name"
_PROGRAM = "rtqual-here"
_STARTERS = ("rtqual-program", "rtqual-beside")
_KIB = 8192  # of a CPU's buffer


def lay(files: Mapping[str, Path], root: Path) -> None:
    """Copy files to their places below a root, where rtqual-here lays them over the machine's."""
    for name in ("laid", "rw", "root"):
        (root / name).mkdir()
    for place, file in files.items():
        at = root / "laid" / place
        at.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, at)


def among(job: Job, root: Path) -> Job:
    """The job with the user's programs among these files, and the measured one once more under the tracer."""
    loads = tuple(_among(command, root) for command in job.loads)
    if job.measure.argv[0] not in _STARTERS:
        return replace(job, loads=loads)
    measure = _among(job.measure, root)
    if not job.watched:
        return replace(job, loads=loads, measure=measure)
    own = job.measure.argv[job.measure.argv.index(_NAME) + 1]
    words = list(job.measure.argv)
    words[words.index(_NAME) + 1] = TRACED
    watched = _among(Command(tuple(words)), root, "--trace", TRACE, "--kib", str(_KIB))
    both = f"{shlex.join(measure.argv)} || exit; {shlex.join(watched.argv)}; exit 0"
    also = (TRACE, *(f"{TRACED}{name.removeprefix(own)}" for name in job.collect))
    return replace(
        job, loads=loads, measure=Command(("sh", "-c", both), job.measure.fifo), collect=(*job.collect, *also)
    )


def _among(command: Command, root: Path, *options: str) -> Command:
    if command.argv[0] not in _STARTERS:
        return command
    return replace(command, argv=(_PROGRAM, "--root", str(root), *options, "--", *command.argv))
