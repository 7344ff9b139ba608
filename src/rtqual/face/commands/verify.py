# SPDX-License-Identifier: MIT
"""`rtqual verify`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.base.words import clean
from rtqual.engine.mission import load_mission
from rtqual.face.commands.app import STDERR, STDOUT, Json, print_json

SEEDS_MOST = 1000
HOURS_MOST = 10_000


def verify(
    mission: Path,
    /,
    *,
    candidate: str | None = None,
    camera: str | None = None,
    scale: str = "full",
    only: Annotated[tuple[str, ...], Parameter(negative="", consume_multiple=True)] = (),
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    out: Path | None = None,
    seeds: int = 1,
    hours: float | None = None,
    jobs: int = 2,
    robustness: Annotated[bool, Parameter(negative="")] = False,
    run_programs: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Verify a flight program with its operating system under telecommands, faults and load (docs/verify.md).

    Parameters
    ----------
    mission
        The mission file, with [verify].
    candidate
        Verify it on this candidate in place of the one that [verify] names.
    camera
        How the camera's frames come, in place of what [verify] says: "uvcvideo", or "driver", the camera's own.
    scale
        "full" plays every procedure, "smoke" those that are marked so.
    only
        Play these procedures.
    list_
        List the procedures and stop.
    out
        Folder for records and reports; out/MISSION-verify-SCALE unless given, with -CANDIDATE and -CAMERA where these
        are. The same command resumes there.
    seeds
        So many runs of each procedure, each beside another course of the load: more samples of the latencies.
    hours
        A soak of so many hours on the board's clock, in segments; one that is missing is played by the next call.
    jobs
        Guests at a time, 1 or 2.
    robustness
        In place of the mission's procedures: every telecommand of the dictionary, whole, cut off at each octet, twice
        and in a flood. The program is to go on and to answer.
    run_programs
        Let the program and the loads run that the mission brings, as they are now (docs/programs.md).
    """
    from rtqual.engine.campaign.folder import OUT  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual.face.terminal.progress import Display  # noqa: PLC0415
    from rtqual.face.terminal.verify_lines import print_procedures, print_verified  # noqa: PLC0415
    from rtqual.reports.verification import as_dict  # noqa: PLC0415
    from rtqual.stages import verify as stage  # noqa: PLC0415

    if jobs not in (1, 2):
        raise BadInput(f"--jobs {jobs}: at most two guests run at a time; write 1 or 2")
    if not 1 <= seeds <= SEEDS_MOST:
        raise BadInput(f"--seeds {seeds}: write 1 to {SEEDS_MOST}")
    scale = _scale(scale, hours, robustness=robustness, only=bool(only) or seeds != 1)
    asked = stage.plan(load_mission(mission), scale, only, candidate, camera)
    for name, why in asked.flown.untried.items():
        STDERR.print(clean(f"not tried: {name}: {why}"), markup=False, highlight=False, soft_wrap=True)
    if hours is not None:
        seeds = stage.segments(asked, hours)
    if list_:
        if as_json:
            print_json(
                [
                    {"name": procedure.name, **procedure.model_dump(mode="json", by_alias=True)}
                    for procedure in asked.procedures
                ]
            )
        else:
            print_procedures(STDOUT, asked.procedures)
        return 0
    other = [name for name in (candidate, camera) if name]
    folder = out or OUT / "-".join([asked.mission.mission.name, "verify", scale, *other])
    campaign = stage.campaign(asked, folder, jobs, seeds, run_programs=run_programs)
    display = Display(STDERR, campaign.cells, jobs)
    with display.shown():
        verified = stage.verify(asked, campaign, display)
    if as_json:
        print_json(as_dict(verified))
    else:
        print_verified(STDOUT, verified)
    return 3 if verified.unknown else 0 if verified.passed else 1


def _scale(scale: str, hours: float | None, *, robustness: bool, only: bool) -> str:
    """The scale, of which a soak and robustness are ones of their own. `only`: some procedures, or several seeds."""
    from rtqual.stages.verify import FULL, ROBUSTNESS, SOAK  # noqa: PLC0415 - slow to load

    if robustness and (hours is not None or scale != FULL):
        raise BadInput("--robustness: is a scale of its own; leave out --scale and --hours")
    if hours is None:
        return ROBUSTNESS if robustness else scale
    if scale != FULL or only:
        raise BadInput("--hours: is a scale of its own; leave out --scale, --only and --seeds")
    if not 0 < hours <= HOURS_MOST:
        raise BadInput(f"--hours {hours:g}: write more than 0, and {HOURS_MOST:,} at most")
    return SOAK
