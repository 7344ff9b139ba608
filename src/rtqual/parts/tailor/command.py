# SPDX-License-Identifier: MIT
"""`rtqual tailor`."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.engine.mission import Mission
from rtqual.face.commands.app import LITERAL, print_json, tell
from rtqual.face.commands.running import RUN, RunOptions
from rtqual.face.terminal.plain import plain


def tailor(
    mission: Path,
    /,
    *,
    scale: str = "tailor",
    stepwise: Annotated[bool, Parameter(negative="")] = False,
    trim: Annotated[bool, Parameter(negative="")] = False,
    until: Literal["configuration", "package"] | None = None,
    run: RunOptions = RUN,
) -> int:
    """Cut a kernel down to a mission, build it, and measure it beside the kernel it replaces (docs/tailor.md).

    Parameters
    ----------
    mission
        The mission file; where no candidate has a table [candidate.tailor], one is added to its first Debian kernel.
    scale
        How much to measure: a [scale.NAME] of the mission.
    stepwise
        With the removal list put back, then without one group of it after the other: what each gained. An hour or two.
    trim
        Then watch which of the kernel's code the scale's runs use, and try what could go too (docs/trim.md).
    until
        No further than the kernel's configuration, or its Debian package; into --out, and nothing is measured. With
        --dry-run: what will be in, and how long a build takes.
    """
    from rtqual.parts.tailor import stage  # noqa: PLC0415 - the libraries behind it are slow to load

    if trim and stepwise:
        raise BadInput("--trim and --stepwise: the one begins with what the other ends with; give one")
    if until and (trim or stepwise):
        raise BadInput("--until: ends before anything is measured, which --trim and --stepwise do; give one")
    loaded = run.load(mission, scale, partial(stage.begun, scale=scale))
    stage.check(loaded, scale)
    if until:
        return _until(loaded, scale, until, run)
    if stepwise:
        loaded, scale = stage.step_by_step(loaded, scale), stage.STEPWISE
    return run.of(partial(stage.tailor, trimming=trim), loaded, scale)


def _until(mission: Mission, scale: str, until: str, run: RunOptions) -> int:
    from rtqual.parts.tailor import stage  # noqa: PLC0415
    from rtqual.parts.tailor import until as stops  # noqa: PLC0415

    kernels, out = stage.tailored(mission, scale), run.folder(mission, scale)
    if until == "package" and not run.dry_run:
        packages = stops.package(mission, kernels, out, tell)
        made: list[Any] = [*packages]
        lines = [line for kernel in packages for line in stops.packaged_lines(kernel)]
    else:
        found = stops.configure(mission, kernels, None if run.dry_run else out, tell)
        made, lines = [*found], [line for kernel in found for line in stops.configured_lines(kernel)]
    if run.as_json:
        print_json({"kernels": [plain(kernel) for kernel in made]})
        return 0
    for line in lines:
        LITERAL.print(line, soft_wrap=True, highlight=False)
    return 0
