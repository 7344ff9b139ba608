# SPDX-License-Identifier: MIT
"""`rtqual tailor`."""

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.face.commands.running import RUN, Run


def tailor(
    mission: Path,
    /,
    *,
    scale: str = "tailor",
    stepwise: Annotated[bool, Parameter(negative="")] = False,
    trim: Annotated[bool, Parameter(negative="")] = False,
    run: Run = RUN,
) -> int:
    """Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).

    Parameters
    ----------
    mission
        The mission file, with a candidate that has a table [candidate.tailor].
    scale
        How much to measure: a [scale.NAME] of the mission.
    stepwise
        With the removal list put back, then without one group of it after the other: what each gained. An hour or two.
    trim
        Then watch which of the kernel's code the scale's runs use, and try what could go too (docs/trim.md).
    """
    from rtqual.parts.tailor import stage  # noqa: PLC0415 - the libraries behind it are slow to load

    if trim and stepwise:
        raise BadInput("--trim and --stepwise: the one begins with what the other ends with; give one")
    loaded = run.load(mission, scale)
    stage.check(loaded, scale)
    if stepwise:
        loaded, scale = stage.step_by_step(loaded, scale), stage.STEPWISE
    return run.of(partial(stage.tailor, trimming=trim), loaded, scale)
