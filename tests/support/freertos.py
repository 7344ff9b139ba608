# SPDX-License-Identifier: MIT
"""FreeRTOS's image of the probe, run and read."""

import tomllib
from importlib.resources import files

import numpy as np

from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.instruments.probe.probe_output import ProbeOutput
from rtqual.protocols.board import Command, Job, JobOutcome


def outcome_of(board: RtosBoard, *words: str, timeout_s: float = 60.0) -> JobOutcome:
    return board.run(Job(Command(("rtqual-probe", *words)), collect=("it",)), seed=1, timeout_s=timeout_s)


def medians_ns(output: ProbeOutput) -> dict[str, float]:
    """Of each benchmark's time, less that of the empty operation."""
    found = {
        one.name: float(np.median(series.values))
        for one in output.benchmarks
        for series in one.series
        if series.name == "time"
    }
    return {name: median - found["empty"] for name, median in found.items()}


FAMILIES = ("wakeup", "periodic", "itc", "primitives", "loop", "loaded")
_FIRST = 10


def begun_otherwise(output: ProbeOutput, within_ns: int = 0) -> dict[str, list[int]]:
    """Of each series the first samples that lie outside of all later ones, by more than that.

    An image that is not at rest has some.
    """
    found = {}
    for one in output.benchmarks:
        for series in one.series:
            first, later = series.values[:_FIRST], series.values[_FIRST:]
            least, most = min(later) - within_ns, max(later) + within_ns
            if strange := [value for value in first if not least <= value <= most]:
                found[f"{one.name} {series.name}"] = strange
    return found


def published_ns() -> dict[str, float]:
    table = tomllib.loads((files("rtqual") / "parts/studies/data/freertos.toml").read_text())["table"][0]
    column = 1 + table["columns"].index("median")
    return {row[0]: row[column] for row in table["rows"]}


MISSION = """\
[mission]
name = "tiny"
title = "t"
purpose = "p"
duration = "1 min"
[[candidate]]
name = "freertos"
title = "FreeRTOS"
{candidate}
[[scale.demo.plan]]
{plan}
runs = 1
"""
PLAN = 'instruments = ["probe-wakeup"]'
