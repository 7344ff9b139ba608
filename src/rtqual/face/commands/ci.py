# SPDX-License-Identifier: MIT
"""`rtqual ci`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rtqual.engine.mission import DEFAULT_SCALE
from rtqual.face.commands.app import LITERAL


def ci(
    server: Literal["github", "gitlab"],
    mission: Path,
    /,
    *,
    rtqual: str,
    scale: str = DEFAULT_SCALE,
    branch: str = "main",
    debian: Literal["12", "13"] = "12",
    mission_only: Annotated[bool, Parameter(negative="")] = False,
    tolerance: float = 0.0,
    strict: Annotated[bool, Parameter(negative="")] = False,
    out: Path | None = None,
) -> int:
    """Write the file by which your own repository measures on each change, and fails where something got worse.

    Run it in the repository's top folder (docs/ci.md).

    Parameters
    ----------
    server
        Whose file: github or gitlab.
    mission
        The mission file, by its path in the repository.
    rtqual
        Where rtqual comes from: the URL of a wheel, its path in the repository, or git+https://HOST/PATH@TAG.
    scale
        How much to measure: a [scale.NAME] of the mission.
    branch
        The branch whose last green job is the baseline; of GitLab, the default branch is.
    debian
        The Debian of the job's container, whose QEMU measures: figures of another one are others.
    mission_only
        As of `rtqual gate`: judge only the figures that the mission's requirements and criteria name.
    tolerance
        As of `rtqual gate`: by how many percent a figure may be worse.
    strict
        As of `rtqual gate`: fail on what cannot be judged too.
    out
        The file; .github/workflows/rtqual.yml or .gitlab-ci.yml unless given. None is overwritten.
    """
    from rtqual.stages import ci_file as stage  # noqa: PLC0415 - slow to load
    from rtqual.stages.gate import check_tolerance  # noqa: PLC0415

    check_tolerance(tolerance)
    gate = [option for option, is_given in (("--mission-only", mission_only), ("--strict", strict)) if is_given]
    gate += [f"--tolerance {tolerance:g}"] if tolerance else []
    path = stage.write(stage.CiWanted(server, mission, rtqual, scale, branch, tuple(gate), debian), out)
    wheel = f" and {rtqual}" if Path(rtqual).is_file() else ""
    LITERAL.print(f"{path}: commit it with {mission}{wheel}.", highlight=False, soft_wrap=True)
    return 0
