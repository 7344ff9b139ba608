# SPDX-License-Identifier: MIT
"""`rtqual import`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.base.errors import BadInput
from rtqual.engine.mission import DEFAULT_SCALE
from rtqual.face.commands.app import LITERAL, Json, print_json
from rtqual.protocols.part import keyed


def import_(
    files: list[Path],
    /,
    *,
    candidate: Annotated[list[str] | None, Parameter(negative="")] = None,
    out: Path | None = None,
    mission: Path | None = None,
    scale: str = DEFAULT_SCALE,
    load: str | None = None,
    board: str | None = None,
    form: Annotated[str | None, Parameter(name="--format")] = None,
    unit: str | None = None,
    column: str | None = None,
    instrument: str | None = None,
    cpus: int | None = None,
    as_json: Json = False,
) -> int:
    """Read what other tools measured into records (docs/import.md).

    Parameters
    ----------
    files
        Outputs of measuring tools (docs/import.md), or folders of such; with --mission, a card that measured by itself.
    candidate
        What was measured; once for each system of a file that has several, in its order.
    out
        The folder whose records/ takes them; of a card, out/MISSION-SCALE unless given.
    mission
        The mission of a card that measured a board without a network (docs/boards.md): its folder, device or image.
    scale
        The scale that the card was made for.
    load
        What disturbed it meanwhile.
    board
        Where it ran; if neither this nor the file says it, "imported".
    form
        The files' format, where it is not recognised.
    unit
        The unit of a file that does not say it: ns or us.
    column
        The column of samples, of a table that has several.
    instrument
        The instrument of a file that does not say it.
    cpus
        The number of CPUs of a file that does not say it.
    """
    if mission is not None:
        take = keyed("forms", "card", f"--mission {mission}: reading cards")
        code: int = take(files, mission, scale, out, as_json=as_json)
        return code
    if out is None:
        raise BadInput("--out is needed, and --candidate; of a card that measured by itself, --mission")
    from rtqual.parts.importers.records import Circumstances, import_files  # noqa: PLC0415
    from rtqual.parts.importers.words import as_dict, lines  # noqa: PLC0415

    known = Circumstances(
        tuple(candidate or ()), board=board, load=load, instrument=instrument, cpus=cpus, unit=unit, column=column
    )
    imported = import_files(files, out, known, format_name=form)
    if as_json:
        print_json([as_dict(result) for result in imported])
    else:
        for line in lines(imported):
            LITERAL.print(line, soft_wrap=True, highlight=False)
    return 0
