# SPDX-License-Identifier: MIT
"""What every command that runs a campaign takes, and what it prints."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.engine.mission import Mission, load_mission
from rtqual.face.commands.app import LITERAL, STDERR, STDOUT, Json, print_json
from rtqual.face.terminal.tables import table

if TYPE_CHECKING:
    from rtqual.engine.analysis.figure.model import Group
    from rtqual.engine.campaign.cell import Cell
    from rtqual.engine.campaign.run import Campaign, Watcher
    from rtqual.stages.selection import Selection


@Parameter(name="*")
@dataclass(frozen=True)
class RunOptions:
    """What all commands that run a campaign ask for.

    Parameters
    ----------
    out
        Folder for records and reports; out/MISSION-SCALE unless given. The same command resumes there.
    jobs
        Guests at a time, 1 or 2.
    dry_run
        List the runs with the time and disk they need, and stop.
    run_programs
        Let the programs and loads run that the mission brings, as they are now (docs/programs.md).
    """

    out: Path | None = None
    jobs: int = 2
    dry_run: Annotated[bool, Parameter(negative="")] = False
    run_programs: Annotated[bool, Parameter(negative="")] = False
    as_json: Json = False

    def load(self, mission: Path, scale: str, begun: Callable[[Mission], Mission] = lambda whole: whole) -> Mission:
        """`begun`: what a stage adds to a mission that does not have it."""
        if self.jobs not in (1, 2):
            raise BadInput(f"--jobs {self.jobs}: at most two guests run at a time; write 1 or 2")
        loaded = begun(load_mission(mission))
        loaded.scale(scale)
        return loaded

    def folder(self, mission: Mission, scale: str) -> Path:
        from rtqual.engine.campaign.folder import OUT  # noqa: PLC0415 - as below

        return self.out or OUT / f"{mission.mission.name}-{scale}"

    def of(
        self, stage: "Callable[[Campaign, Watcher], Selection]", mission: Mission, scale: str, cluster: str = ""
    ) -> int:
        """Run a stage with its progress shown, then print its verdicts; or list what it would run."""
        from rtqual.engine.campaign.run import Campaign  # noqa: PLC0415 - the libraries behind it are slow to load
        from rtqual.face.terminal.progress import Display  # noqa: PLC0415
        from rtqual.face.terminal.verdict import as_dict, print_verdicts  # noqa: PLC0415

        folder, lets = self.folder(mission, scale), self.run_programs
        campaign = Campaign(mission, scale, folder, workers=self.jobs, cluster=cluster, run_programs=lets)
        if self.dry_run:
            _print_plan(campaign, as_json=self.as_json)
            return 0
        display = Display(STDERR, campaign.least, self.jobs)
        with display.shown():
            selection = stage(campaign, display)
        if self.as_json:
            print_json(as_dict(selection))
        else:
            print_verdicts(STDOUT, selection)
        return 3 if selection.evidence.lacking else 0


def _print_plan(campaign: "Campaign", *, as_json: bool) -> None:
    from rtqual.engine.campaign.cost import cost_of  # noqa: PLC0415
    from rtqual.engine.campaign.foresee import foresee  # noqa: PLC0415
    from rtqual.face.terminal.progress import cost_text  # noqa: PLC0415

    waiting = campaign.waiting()
    needed = cost_of(waiting, campaign.workers)
    least = set(campaign.least)
    at_least = cost_of([cell for cell in waiting if cell in least], campaign.workers)
    built = list(dict.fromkeys(cell.candidate.name for cell in waiting if cell.candidate.tailor))
    left = set(waiting)
    later = [why for name, why in campaign.later.items() if any(cell.candidate.name == name for cell in waiting)]
    foreseen = foresee(campaign.mission, campaign.scale)
    if as_json:
        rows = [
            {"cell": str(cell), "estimate_s": round(cell.estimate_s, 1), "done": cell not in left}
            for cell in campaign.cells
        ]
        print_json(
            {
                "cells": rows,
                "left": vars(needed),
                "left_at_least": vars(at_least),
                "kernels_to_build": built,
                "foreseen": vars(foreseen),
                "waiting": later,
            }
        )
        return
    groups: dict[Group, list[Cell]] = {}
    for cell in campaign.cells:
        groups.setdefault(cell.group, []).append(cell)
    twice = len({(group.candidate, group.instrument, group.load, group.cpus) for group in groups}) < len(groups)
    planned = []
    for group, cells in groups.items():
        done = sum(cell not in left for cell in cells)
        first = sum(cell in least for cell in cells)
        runs = f"{first} to {len(cells)}" if first < len(cells) else len(cells)
        board = (group.board,) if twice else ()
        a_run = f"{cells[0].estimate_s:.1f}"
        planned.append((group.candidate, *board, group.instrument, group.load, group.cpus, runs, done, a_run))
    boards = ("board",) if twice else ()
    STDOUT.print(table(("candidate", *boards, "instrument", "load", "CPUs", "runs", "done", "s a run"), planned))
    told = [*later, *foreseen.lines(campaign.scale)]
    either = "" if at_least == needed else f"at least {cost_text(at_least)}; at most "
    worst = campaign.mission.scale(campaign.scale).explain
    why = f", and two more runs for each of a group's {worst} worst samples, to explain it" if worst else ""
    told += [f"Left to do: {either}{cost_text(needed)} (an estimate; downloads come on top{why})."]
    told += [f"Not in it: building kernels that are not kept from before ({', '.join(built)})."] if built else []
    for line in told:
        LITERAL.print(line, soft_wrap=True)


RUN = RunOptions()
