# SPDX-License-Identifier: MIT
"""`rtqual select`."""

from pathlib import Path

from rtqual.cli.running import RUN, Run
from rtqual.mission import DEFAULT_SCALE


def select(mission: Path, /, *, scale: str = DEFAULT_SCALE, run: Run = RUN) -> int:
    """Measure the candidates of a mission and say which one to fly.

    Parameters
    ----------
    mission
        The mission file.
    scale
        How much to measure: a [scale.NAME] of the mission.
    """
    from rtqual.stage import select as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    return run.of(stage.select, run.load(mission, scale), scale)
