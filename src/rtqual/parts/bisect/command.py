# SPDX-License-Identifier: MIT
"""`rtqual bisect`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.face.commands.app import LITERAL, STDERR, Json, print_json


def bisect(
    good: str,
    bad: str,
    /,
    *,
    statistic: str = "max",
    load: str | None = None,
    instrument: str = "cyclictest",
    runs: int | None = None,
    source: str | None = None,
    through: Annotated[list[str] | None, Parameter(negative="")] = None,
    out: Path | None = None,
    jobs: int = 2,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Find which change moved the tail between two candidates: kernels in between are made and measured alike.

    The change is a kernel parameter, a setting of the kernel's configuration, or the first of several packages.

    Parameters
    ----------
    good
        The candidate with the lower figure: a finished campaign's folder, as out/docking-demo:debian-rt where it
        measured several.
    bad
        The one with the higher figure, likewise.
    statistic
        What is compared: the median over the runs of each run's max, p99, p99.9, avg..., of its first series unless
        another's name stands before ("tick response p99"); or of a figure that each run gives once ("tick missed").
    load
        The load they were measured under, where that were several.
    instrument
        What measured them.
    runs
        How many of their runs a step repeats; all of them unless given.
    source
        The tree that kernels in between are built from: a path, or Debian's package of it; not needed for kernels
        tailored from the same tree.
    through
        Debian's packages between the two, the oldest first.
    out
        Folder for records and what was measured; out/bisect-GOOD-BAD unless given. The same command resumes there.
    jobs
        Guests at a time, 1 or 2.
    dry_run
        Say in what the two differ and how many kernels that takes at most, and stop.
    """
    from rtqual.base.errors import BadInput  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual.engine.campaign.folder import OUT  # noqa: PLC0415
    from rtqual.parts.bisect import bisect as stage  # noqa: PLC0415
    from rtqual.parts.bisect.ends import EndsAsked, ends_of  # noqa: PLC0415
    from rtqual.parts.bisect.words import Progress, as_dict, foreseen_dict, print_bisection, print_foreseen  # noqa: PLC0415

    if jobs not in (1, 2):
        raise BadInput(f"--jobs {jobs}: at most two guests run at a time; write 1 or 2")
    if runs is not None and runs < 1:
        raise BadInput(f"--runs {runs}: give 1 or more")
    ends = ends_of(good, bad, EndsAsked(instrument, load, statistic, runs, source, tuple(through or ())))
    folder = out or OUT / f"bisect-{ends.good.candidate.name}-{ends.bad.candidate.name}"
    progress = Progress(STDERR)
    if dry_run:
        foreseen = stage.foresee(ends, folder, progress)
        if as_json:
            print_json(foreseen_dict(foreseen))
        else:
            print_foreseen(LITERAL, foreseen)
        return 0
    found = stage.bisect(ends, folder, progress, workers=jobs)
    if as_json:
        print_json(as_dict(found))
    else:
        print_bisection(LITERAL, found)
    return 0 if found.acting else 1
