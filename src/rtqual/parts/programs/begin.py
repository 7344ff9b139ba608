# SPDX-License-Identifier: MIT
"""A whole mission for a program of which nothing is known: it is looked at once, and what it does is written down."""

import re
from collections.abc import Callable
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.base.units import format_ns, parse_duration_ns
from rtqual.engine.mission import load_mission
from rtqual.parts.programs.tasks import SeenThread, look, tables

_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_HEAD = """\
# Made by `rtqual init --program`: yours to change (docs/programs.md).
[mission]
name = "{name}"
title = "{name}, under every kernel"
purpose = "Say here what {name} does, and why it matters when it is late."
duration = "1 h"

[[candidate]]
name = "debian-rt"
title = "Debian, PREEMPT_RT"
package = "linux-image-rt-amd64"

[[candidate]]
name = "debian"
title = "Debian, stock kernel"
package = "linux-image-amd64"

[[program]]
name = "{name}"
binary = {binary}
{runs_for}
# arguments, files, packages, prepare, ready, kernel_threads...: rtqual mission keys program

"""
_TRIAL = '[[scale.demo.plan]]\ninstruments = ["cyclictest"]\nruns = 1\n'
_TAIL = """\
[[requirement]]
name = "no {task} is missed"
instrument = "program-{name}"
load = "hackbench"
scalar = "{task} missed"
at_most = 0

[[scale.demo.plan]]
instruments = ["program-{name}"]
loads = ["none", "hackbench"]
runs = 10
"""
_SLACK = 2  # a first deadline, where a task has no period, is so many times the longest response seen


def begin(binary: Path, file: Path | None, runs_for: str, *, lets: bool, tell: Callable[[str], None]) -> Path:
    """Write the mission; returns its file. Raises BadInput where it is there already, or the program has no jobs."""
    name = _NOT_SLUG.sub("-", binary.name.lower()).strip("-") or "program"
    path = file or Path(f"{name}.toml")
    if path.exists() or path.is_symlink():
        raise BadInput(f"{path}: is there already and stays as it is: give another name")
    if not binary.is_file():
        raise BadInput(f"--program {binary}: is no file")
    quoted, limit = _quoted(binary.absolute()), f'runs_for = "{runs_for}"'
    with scratch() as folder:
        trial = folder / "trial.toml"
        trial.write_text(_HEAD.format(name=name, binary=quoted, runs_for=limit) + _TRIAL)
        looked = look(load_mission(trial), None, None, lets=lets, tell=tell)
        if not looked.seen:
            ended = f": {looked.ended}" if looked.ended else ""
            raise BadInput(
                f"--program {binary}: no thread of it waits again and again within {runs_for}: it has no jobs{ended}; "
                "what it prints itself can be measured ([[program.output]], docs/programs.md)"
            )
        if looked.lasted_ns < parse_duration_ns(runs_for):
            limit = f"# no runs_for: it ends by itself, after {format_ns(looked.lasted_ns)}"
        head = _HEAD.format(name=name, binary=quoted, runs_for=limit)
        text = head + _tasks(looked.seen) + _TAIL.format(name=name, task=_first(looked.seen))
        trial.write_text(text)
        load_mission(trial)
    near = _quoted(_from(path.absolute().parent, binary.absolute()))
    text = text.replace(f"binary = {quoted}", f"binary = {near}", 1)
    try:
        with path.open("x") as new:
            new.write(text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}; give another name") from None
    return path


def _quoted(path: Path) -> str:
    if "'" in str(path) or not str(path).isprintable():
        raise BadInput(f"--program {str(path)!r}: has characters that no mission's path has")
    return f"'{path}'"


def _from(folder: Path, binary: Path) -> Path:
    """So that the mission's folder can move with what lies in it."""
    return binary.relative_to(folder) if binary.is_relative_to(folder) else binary


def _first(seen: tuple[SeenThread, ...]) -> str:
    """The task that the requirement asks for."""
    return tables(seen[:1]).partition('name = "')[2].partition('"')[0]


def _tasks(seen: tuple[SeenThread, ...]) -> str:
    """With a first deadline for each: its period, or twice the longest that was seen."""
    text = ""
    blocks = tables(seen).strip().split("\n\n")
    for watched, block in zip(seen, blocks, strict=True):
        lines = block.splitlines()
        worst = max(job.response_ns for job in watched.jobs)
        period = next((line.partition('"')[2].partition('"')[0] for line in lines if line.startswith("period")), "")
        deadline = period or format_ns(_SLACK * worst).replace(",", "")
        lines[-1] = (
            f'deadline = "{deadline}"  # yours to say; of {len(watched.jobs)} jobs the longest took {format_ns(worst)}'
        )
        text += "\n".join(lines) + "\n\n"
    return text
