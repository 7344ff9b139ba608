# SPDX-License-Identifier: MIT
"""Runs made up for the gate, and how they are judged."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from rtqual.engine.analysis.regression.course import Course, Regressions
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.campaign import folder as kept
from rtqual.face.terminal.gate import print_gate
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import record, wakeups

BASE = wakeups("rt", [12_000 + 10 * seed for seed in range(10)])


def judged(before: Sequence[Record], after: Sequence[Record], **how: object) -> Regressions:
    return regressions(Side("BASE", before), Side("NOW", after), **how)  # type: ignore[arg-type]


def courses(found: Regressions) -> dict[str, Course]:
    return {one.figure: one.course for one in found.figures}


def runs(samples: Sequence[Sequence[int]], **more: object) -> list[Record]:
    """A run for each list of samples in nanoseconds, under seeds 1, 2..."""
    return [
        record(Series.raw(list(one), name="latency"), seed=seed, **more)  # type: ignore[arg-type]
        for seed, one in enumerate(samples, 1)
    ]


def scalars(values: Mapping[str, Scalar], **more: object) -> list[Record]:
    return [record((), scalars=values, **more)]  # type: ignore[arg-type]


def noisy(shift_ns: int, runs_: int = 12, timing: Timing = Timing.REAL, first: int = 0) -> list[Record]:
    """Runs whose maxima and places vary by up to 1 us."""
    return runs(
        [[9_000 + shift_ns + (37 * i + 311 * run) % 1_000 for i in range(200)] for run in range(first, first + runs_)],
        timing=timing,
    )


def printed(found: Regressions) -> str:
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        print_gate(console, found)
    return captured.get()


def finished(path: Path, campaign: Path) -> Path:
    """A copy of a finished campaign."""
    path.mkdir(parents=True, exist_ok=True)
    for name in (kept.MISSION, *(file.name for file in campaign.glob("*.json"))):
        shutil.copy(campaign / name, path)
    for name in (kept.RECORDS, kept.CONFIGS):
        shutil.copytree(campaign / name, path / name)
    return path
