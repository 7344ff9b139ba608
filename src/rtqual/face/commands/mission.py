# SPDX-License-Identifier: MIT
"""`rtqual mission`."""

from pathlib import Path

from cyclopts import App

from rtqual.base.words import count
from rtqual.engine.mission import load_mission, mission_schema
from rtqual.face.commands.app import LITERAL, print_json

mission_app = App(name="mission", help="Mission files.")


@mission_app.command
def schema() -> int:
    """Print the JSON Schema of mission files, for editors."""
    print_json(mission_schema())
    return 0


@mission_app.command
def check(mission: Path, /) -> int:
    """Check a mission file, and foresee what its scales cannot judge here.

    Parameters
    ----------
    mission
        The mission file.
    """
    from rtqual.engine.campaign.foresee import foresee, series_judged  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual.engine.campaign.stated import why_waits  # noqa: PLC0415

    loaded = load_mission(mission)
    scales = ", ".join(loaded.scales)
    text = f"{mission}: good; {count(len(loaded.candidates), 'candidate')}, scales {scales}"
    lines = [text, *filter(None, map(why_waits, loaded.candidates)), *series_judged(loaded)]
    for line in (*lines, *(line for scale in loaded.scales for line in foresee(loaded, scale).lines(scale))):
        LITERAL.print(line, highlight=False, soft_wrap=True)
    return 0
