# SPDX-License-Identifier: MIT
"""Programs of the user's in real time: watched by the kernel's tracer; on this machine, among files of their own.

A job that is to be watched runs its program twice: once by itself, then watched. What the tracer costs is seen by what
both print, and the program's own figures are of the run that nobody disturbed.
"""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rtqual.base.words import clean
from rtqual.engine.boards.jobs import NOT_SEEN
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument.output import last_line

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
    return twice(replace(job, loads=loads), measure, "--root", str(root))


def twice(job: Job, first: Command | None = None, *options: str) -> Job:
    """The job with its program run once by itself, or as `first`, and where it is watched once more, under the tracer.

    `options`: of rtqual-here.
    """
    first = first or job.measure
    if not job.watched:
        return replace(job, measure=first)
    words = list(job.measure.argv)
    at = words.index(_NAME) + 1
    own, words[at] = words[at], TRACED
    traced = shlex.join([_PROGRAM, *options, "--trace", TRACE, "--kib", str(_KIB), "--", *words])
    both = f"{shlex.join(first.argv)} || exit; {traced}; exit 0"
    also = (TRACE, *(f"{TRACED}{name.removeprefix(own)}" for name in job.collect))
    return replace(job, measure=Command(("sh", "-c", both), job.measure.fifo), collect=(*job.collect, *also))


def unseen(job: Job, outcome: JobOutcome) -> dict[str, str]:
    """The fact why a job that was to be watched was not."""
    if not job.watched or TRACE in outcome.files:
        return {}
    said = clean(last_line(outcome.stderr))
    return {NOT_SEEN: f"the kernel's tracer saw nothing: {said or 'the program did not run a second time'}"}


def _among(command: Command, root: Path) -> Command:
    if command.argv[0] not in _STARTERS:
        return command
    return replace(command, argv=(_PROGRAM, "--root", str(root), "--", *command.argv))
