# SPDX-License-Identifier: MIT
"""`rtqual report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rtqual.face.commands.app import STDOUT, Json, print_json
from rtqual.reports.formats import FORMATS

if TYPE_CHECKING:
    from rtqual.reports.page.document import Printed

    Format = str
else:
    Format = Literal[tuple(FORMATS)]


def report(
    folder: Path,
    /,
    *,
    formats: Annotated[list[Format] | None, Parameter(name="--format", negative="")] = None,
    out: Path | None = None,
    annex: bool = False,
    archive: bool = False,
    as_json: Json = False,
) -> int:
    """Write the reports of a finished campaign or verification again; nothing is run.

    Parameters
    ----------
    folder
        The campaign's folder.
    formats
        What to write; may be given several times. Everything unless given.
    out
        The file for one format, in place of the campaign's folder.
    annex
        Print the annex too: tools, environment, all results, the analysis, the commands.
    archive
        Write the PDF for an archive (PDF/A-3a) in place of one tagged for screen readers (PDF/UA-1).
    """
    from rtqual.engine.campaign.find import is_verification  # noqa: PLC0415
    from rtqual.face.terminal.verdict import as_dict, print_reports  # noqa: PLC0415
    from rtqual.reports.page.document import Printed  # noqa: PLC0415
    from rtqual.stages import selection as stage  # noqa: PLC0415

    if is_verification(folder):
        return _of_verification(folder, formats, out, Printed(annex, archive), as_json=as_json)
    selection = stage.report(folder, formats or tuple(FORMATS), out, Printed(annex, archive))
    if as_json:
        print_json(as_dict(selection))
    elif out is None:
        print_reports(STDOUT, selection)
    return 0


def _of_verification(
    folder: Path, formats: list[str] | None, out: Path | None, printed: "Printed", *, as_json: bool
) -> int:
    from rtqual.face.terminal.verify_lines import print_verified  # noqa: PLC0415
    from rtqual.reports.control import FORMS  # noqa: PLC0415
    from rtqual.reports.verification import as_dict  # noqa: PLC0415
    from rtqual.stages.verify import report as again  # noqa: PLC0415

    verified = again(folder, formats or FORMS, out, printed)
    if as_json:
        print_json(as_dict(verified))
    elif out is None:
        print_verified(STDOUT, verified)
    return 0
