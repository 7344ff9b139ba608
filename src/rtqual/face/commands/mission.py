# SPDX-License-Identifier: MIT
"""`rtqual mission`."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from rtqual.base.errors import BadInput
from rtqual.base.words import count
from rtqual.engine.mission import load_mission, mission_schema
from rtqual.engine.mission.explain import shown, suggest
from rtqual.face.commands.app import LITERAL, Json, print_json

mission_app = App(name="mission", help="Mission files.")


@mission_app.command
def schema() -> int:
    """Print the JSON Schema of mission files, for editors."""
    print_json(mission_schema())
    return 0


@mission_app.command
def keys(table: str = "", /) -> int:
    """Print what may stand in a mission file: each table, its keys, and what they mean.

    Parameters
    ----------
    table
        Of this table alone, as candidate or program.task.
    """
    from rtqual.engine.mission.all_keys import key_tables  # noqa: PLC0415 - few ask

    tables = key_tables()
    wanted = [each for each in tables if table in ("", *each.names)]
    if not wanted:
        raise BadInput(f"no table {shown(table)}; {suggest(table, [name for each in tables for name in each.names])}")
    for each in wanted:
        for line in (" ".join(each.headings), *filter(None, [each.about]), *(f"  {key}" for key in each.keys), ""):
            LITERAL.print(line, highlight=False, soft_wrap=True)
    return 0


@mission_app.command
def check(mission: Path, /, *, strict: Annotated[bool, Parameter(negative="")] = False, as_json: Json = False) -> int:
    """Check a mission file, and foresee what its scales cannot judge here.

    Parameters
    ----------
    mission
        The mission file.
    strict
        End with 1 where a scale cannot measure or judge all that it asks for.
    """
    from rtqual.engine.campaign.foresee import foresee, series_judged  # noqa: PLC0415 - the libraries behind it are slow to load
    from rtqual.engine.campaign.stated import why_waits  # noqa: PLC0415

    loaded = load_mission(mission)
    foreseen = {scale: foresee(loaded, scale) for scale in loaded.scales}
    code = 1 if strict and any(each.remarks for each in foreseen.values()) else 0
    waits, series = [*filter(None, map(why_waits, loaded.candidates))], [*series_judged(loaded)]
    if as_json:
        scales_told = {scale: vars(each) for scale, each in foreseen.items()}
        names = [candidate.name for candidate in loaded.candidates]
        print_json({"candidates": names, "scales": scales_told, "waiting": waits, "series": series})
        return code
    scales = ", ".join(loaded.scales)
    text = f"{mission}: good; {count(len(loaded.candidates), 'candidate')}, scales {scales}"
    for line in (text, *waits, *series, *(line for scale, each in foreseen.items() for line in each.lines(scale))):
        LITERAL.print(line, highlight=False, soft_wrap=True)
    return code
