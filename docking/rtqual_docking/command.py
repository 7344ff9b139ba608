# SPDX-License-Identifier: MIT
"""`rtqual lidar`."""

from pathlib import Path

from rtqual.face.commands.running import RUN, RunOptions


def lidar(mission: Path, /, *, scale: str = "lidar", run: RunOptions = RUN) -> int:
    """Stream the docking camera on every kernel, by every way from frames to ranges (docs/docking/lidar.md).

    Parameters
    ----------
    mission
        The mission file.
    scale
        How much to measure: a [scale.NAME] of the mission that names lidar instruments.
    """
    from rtqual_docking import stage  # noqa: PLC0415 - the libraries behind it are slow to load

    loaded = run.load(mission, scale)
    stage.check(loaded, scale)
    return run.of(stage.lidar, loaded, scale)
