# SPDX-License-Identifier: MIT
"""`rtqual ground`."""

from dataclasses import asdict
from pathlib import Path

from rtqual.engine.mission import load_mission
from rtqual.face.commands.app import LITERAL, Json, print_json


def ground(
    mission: Path,
    /,
    *,
    out: Path | None = None,
    board: str = "127.0.0.1:10025",
    web_port: int = 8090,
    as_json: Json = False,
) -> int:
    """Write what Yamcs needs to be the flight program's ground, and how to start it (docs/docking/ground.md).

    Parameters
    ----------
    mission
        The mission file; the procedures of its [verify] become stacks.
    out
        Folder for the configuration; out/MISSION-ground unless given. Written anew where there is one.
    board
        HOST:PORT where the flight program listens, or `rtqual serial` for it.
    web_port
        Where Yamcs shows its web pages, on this machine only.
    """
    from rtqual.engine.campaign.folder import OUT  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual_docking.yamcs import stage  # noqa: PLC0415

    place = stage.place(board, web_port)
    read = load_mission(mission)
    written = stage.ground(read, out or OUT / f"{read.mission.name}-ground", place)
    if as_json:
        print_json(asdict(written))
        return 0
    LITERAL.print(
        f"{written.folder}: Yamcs {written.yamcs} for {board}: {len(written.files)} files, {written.stacks} of them "
        f"procedures. To start it (Java 17; Maven fetches 50 MB, once):\n",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    for command in written.commands:
        LITERAL.print(f"  {command}", highlight=False, soft_wrap=True)
    LITERAL.print(f"\nThen open {written.page}", highlight=False, soft_wrap=True)
    return 0
