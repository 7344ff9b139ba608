# SPDX-License-Identifier: MIT
"""`rtqual board`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from rtqual.face.commands.app import LITERAL, Json, print_json, tell
from rtqual.face.terminal.tables import table

board_app = App(name="board", help="Boards that are reached over ssh (docs/boards.md).")


@board_app.command(name="list")
def list_(*missions: Path, as_json: Json = False) -> int:
    """List the boards that missions name.

    Parameters
    ----------
    missions
        Mission files; those here and in missions/ unless given.
    """
    from rtqual.stages import named_boards as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    found = stage.boards(missions)
    if as_json:
        print_json([{"mission": str(named_board.mission), **asdict(named_board.settings)} for named_board in found])
        return 0
    rows = []
    for named in found:
        its = named.settings
        reached = "its card" if its.by_card else f"{its.user}@{its.host}:{its.port}"
        rows.append((its.name, its.model, reached, its.good, named.mission))
    heads = ("board", "model", "reached at", "known-good system", "mission")
    LITERAL.print(table(heads, rows) if found else "No mission here names a [[board]] (docs/boards.md).")
    return 0


@board_app.command
def check(name: str, /, *, mission: Path | None = None, as_json: Json = False) -> int:
    """Check that a board is reached and has what a campaign needs; nothing on it is changed.

    Parameters
    ----------
    name
        The board's name in the mission.
    mission
        The mission file; needed where those here and in missions/ do not name the board.
    """
    from rtqual.stages import named_boards as stage  # noqa: PLC0415

    found = stage.check(name, mission)
    if as_json:
        print_json([asdict(finding) for finding in found])
    else:
        rows = [("ok" if finding.good else "-", finding.name, finding.what, finding.mend) for finding in found]
        LITERAL.print(table(("", "", "found", "what to do"), rows))
    return 0 if all(finding.good for finding in found if finding.name not in ("power", "console", "watchdog")) else 1


@board_app.command
def restore(name: str, /, *, mission: Path | None = None, take: Annotated[bool, Parameter(negative="")] = False) -> int:
    """Bring a board back to its known-good system.

    Parameters
    ----------
    name
        The board's name in the mission.
    mission
        The mission file; needed where those here and in missions/ do not name the board.
    take
        Take the board from its owner: only if that has died.
    """
    from rtqual.stages import named_boards as stage  # noqa: PLC0415

    release = stage.restore(name, mission, tell, take=take)
    LITERAL.print(f"{name}: runs {release}", highlight=False, soft_wrap=True)
    return 0


@board_app.command
def tune(
    name: str,
    /,
    *,
    mission: Path | None = None,
    reset: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Set what steadies a board's time on its known-good system, until it starts again; say what was set.

    Parameters
    ----------
    name
        The board's name in the mission. `tune = true` there does the same for every candidate.
    mission
        The mission file; needed where those here and in missions/ do not name the board.
    reset
        Take it back.
    """
    from rtqual.stages import named_boards as stage  # noqa: PLC0415

    found = stage.tune(name, mission, tell, reset=reset)
    if as_json:
        print_json([asdict(change) for change in found])
        return 0
    nothing = "as it was before" if reset else "nothing to set: all is so already"
    for line in [str(change) for change in found] or [nothing]:
        LITERAL.print(f"{name}: {line}", highlight=False, soft_wrap=True)
    if found:
        LITERAL.print(f"Back: rtqual board tune {name} --reset, or its next start.", highlight=False, soft_wrap=True)
    return 0
