# SPDX-License-Identifier: MIT
"""`rtqual report`."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rtqual.cli.app import STDOUT, Json, print_json

Format = Literal["html", "pdf", "md", "junit", "prometheus", "bencher", "github"]


def report(
    folder: Path,
    /,
    *,
    formats: Annotated[list[Format] | None, Parameter(name="--format", negative="")] = None,
    out: Path | None = None,
    as_json: Json = False,
) -> int:
    """Write the reports of a finished campaign again; nothing is run.

    Parameters
    ----------
    folder
        The campaign's folder.
    formats
        What to write; may be given several times. Everything unless given.
    out
        The file for one format, in place of the campaign's folder.
    """
    from rtqual.report.write import FORMATS  # noqa: PLC0415
    from rtqual.stage import select as stage  # noqa: PLC0415
    from rtqual.terminal.verdict import as_dict, print_reports  # noqa: PLC0415

    selection = stage.report(folder, formats or tuple(FORMATS), out)
    if as_json:
        print_json(as_dict(selection))
    elif out is None:
        print_reports(STDOUT, selection)
    return 0
