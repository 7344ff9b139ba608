# SPDX-License-Identifier: MIT
"""`rtqual select`."""

from pathlib import Path

from rtqual.engine.mission import DEFAULT_SCALE
from rtqual.face.commands.running import RUN, RunOptions
from rtqual.protocols.part import keyed


def select(mission: Path, /, *, scale: str = DEFAULT_SCALE, cluster: str = "", run: RunOptions = RUN) -> int:
    """Measure the candidates of a mission and say which one to fly.

    Parameters
    ----------
    mission
        The mission file.
    scale
        How much to measure: a [scale.NAME] of the mission.
    cluster
        The address of a dask scheduler whose workers run the emulated cells, as tls://HOST:8786 (docs/cluster.md).
    """
    from rtqual.stages import selection as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    if cluster:
        keyed("runners", "cluster", f"--cluster {cluster}").check(cluster)
    return run.of(stage.select, run.load(mission, scale), scale, cluster)
