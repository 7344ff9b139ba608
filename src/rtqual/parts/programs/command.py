# SPDX-License-Identifier: MIT
"""`rtqual program`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from rtqual.face.commands.app import LITERAL, Json, print_json, tell

program_app = App(name="program", help="Programs of your own, judged job by job (docs/programs.md).")


@program_app.command
def tasks(
    mission: Path,
    name: str | None = None,
    /,
    *,
    candidate: str | None = None,
    run_programs: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Run a mission's program once, watched from outside, and print each thread as a [[program.task]] to paste.

    Parameters
    ----------
    mission
        The mission file.
    name
        The program; the mission's first unless given.
    candidate
        The candidate to run it under, on the virtual board or this machine; the first of these unless given.
    run_programs
        Let the program run, as it is now.
    """
    from rtqual.base.units import format_ns  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual.base.words import clean, count  # noqa: PLC0415
    from rtqual.engine.mission import load_mission  # noqa: PLC0415
    from rtqual.parts.programs.tasks import look, tables  # noqa: PLC0415

    looked = look(load_mission(mission), name, candidate, lets=run_programs, tell=tell)
    if as_json:
        told = [
            {
                "thread": clean(seen.thread.name), "priority": seen.thread.priority, "waits_at": str(seen.point),
                "jobs": len(seen.jobs), "timed": seen.timed, "period_ns": seen.period_ns, "woken_by": list(seen.wakers),
                "response_ns": [job.response_ns for job in seen.jobs],
            }
            for seen in looked.seen
        ]  # fmt: skip
        print_json({"program": looked.program, "candidate": looked.candidate, "threads": told, "ended": looked.ended})
        return 0
    threads = count(len(looked.seen) + len(looked.others), "thread")
    span = f"the last {format_ns(looked.judged_ns)} of {format_ns(looked.lasted_ns)}"
    head = f"# {looked.program} under {looked.candidate}, {span}: {threads}"
    lines = [head, *([f"# {looked.ended}"] if looked.ended else []), "", *tables(looked.seen).splitlines()]
    rest = ", ".join(f"{clean(thread.name)} at priority {thread.priority}" for thread in looked.others)
    lines += [f"# Without jobs, since they waited less than five times at one point then: {rest}"] if rest else []
    if not looked.seen:
        lines += ["# No thread of it waits again and again: it has no jobs (docs/programs.md, what is no job)."]
    for line in lines:
        LITERAL.print(line, highlight=False, soft_wrap=True)
    return 0
