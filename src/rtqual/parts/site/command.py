# SPDX-License-Identifier: MIT
"""`rtqual site`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.face.commands.app import LITERAL, Json, print_json


def site(
    folders: list[Path],
    /,
    *,
    out: Path = Path("public"),
    by_kernel: Annotated[bool, Parameter(negative="")] = False,
    reports: str = "",
    as_json: Json = False,
) -> int:
    """Write a static site over the campaigns of many boards, kernels and versions (docs/lab.md).

    Parameters
    ----------
    folders
        The folders of campaigns, or a folder that holds some.
    out
        The site's folder; files in it that did not change are not touched.
    by_kernel
        A version is a kernel's release; else it is the name of a campaign's folder.
    reports
        The address below which the campaigns' folders lie on the web server; else links are relative.
    """
    from rtqual.face.terminal.plain import plain  # noqa: PLC0415
    from rtqual.parts.site.stage import site as stage  # noqa: PLC0415 - the libraries behind it are slow to load

    found = stage(folders, out, by_kernel=by_kernel, reports=reports)
    if as_json:
        print_json(plain(found))
        return 0
    LITERAL.print(
        f"{found.page}: {found.campaigns} campaigns, {found.rows} series of {found.versions} versions, "
        f"{found.changes} changes; {found.written} of {found.files} files written, {found.removed} removed",
        highlight=False,
        soft_wrap=True,
    )
    return 0
