# SPDX-License-Identifier: MIT
"""`rtqual gate`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.face.commands.app import STDOUT, Json, print_json


def gate(
    baseline: Path,
    current: Path | None = None,
    /,
    *,
    tolerance: float = 0.0,
    mission_only: Annotated[bool, Parameter(negative="")] = False,
    strict: Annotated[bool, Parameter(negative="")] = False,
    junit: Path | None = None,
    github: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Fail (exit code 1) where something got worse than a baseline (docs/ci.md).

    Parameters
    ----------
    baseline
        A campaign's folder, or records as `rtqual show` takes them.
    current
        What is judged; the only finished campaign below out/ unless given.
    tolerance
        By how many percent a figure may be worse.
    mission_only
        Judge only the figures that the mission's requirements and criteria name.
    strict
        Fail on what cannot be judged too.
    junit
        Write JUnit XML into this file as well.
    github
        Print Markdown for $GITHUB_STEP_SUMMARY.
    """
    from rtqual.face.terminal.gate import as_dict, print_gate  # noqa: PLC0415
    from rtqual.stages import gate as stage  # noqa: PLC0415

    if github and as_json:
        raise BadInput("--github and --json: give one of them")
    found = stage.gate(baseline, current, tolerance_percent=tolerance, mission_only=mission_only, strict=strict)
    if junit:
        stage.write_junit(found, junit)
    if github:
        from rtqual.reports.machine.github import gate_github  # noqa: PLC0415

        sys.stdout.write(gate_github(found))
    elif as_json:
        print_json(as_dict(found))
    else:
        print_gate(STDOUT, found)
    return 1 if found.failed else 0
