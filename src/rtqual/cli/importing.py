# SPDX-License-Identifier: MIT
"""`rtqual import`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.cli.app import LITERAL, Json, print_json


def import_(
    files: list[Path],
    /,
    *,
    candidate: str,
    out: Path,
    load: str | None = None,
    board: str = "imported",
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
        Output of cyclictest, sysbench, hackbench, stress-ng, rtla, jitterdebugger or rteval; Parquet or CSV.
    candidate
        What was measured.
    out
        The folder whose records/ takes them.
    load
        What disturbed it meanwhile.
    board
        Where it ran.
    form
        The files' format, where it is not recognised.
    unit
        The unit of a file that does not tell: ns or us.
    column
        The column of samples, of a table that has several.
    instrument
        The instrument of a file that does not tell.
    cpus
        The number of CPUs of a file that does not tell.
    """
    from rtqual.importer.records import Circumstances, import_files  # noqa: PLC0415
    from rtqual.terminal.importer import as_dict, lines  # noqa: PLC0415

    known = Circumstances(candidate, board=board, load=load, instrument=instrument, cpus=cpus, unit=unit, column=column)
    imported = import_files(files, out, known, format_name=form)
    if as_json:
        print_json([as_dict(one) for one in imported])
    else:
        for line in lines(imported):
            LITERAL.print(line, soft_wrap=True, highlight=False)
    return 0
