# SPDX-License-Identifier: MIT
"""`rtqual history`."""

from pathlib import Path

from rtqual.face.commands.app import LITERAL, Json, print_json


def history(folders: list[Path], /, *, as_json: Json = False) -> int:
    """Follow each figure over the campaigns of several versions, and mark where it changed (docs/history.md).

    Parameters
    ----------
    folders
        The campaigns' folders, the oldest version first; three or more to find changes.
    """
    from rtqual.face.terminal.history import as_dict, print_history  # noqa: PLC0415
    from rtqual.stages.history import history as stage  # noqa: PLC0415 - what it computes with is slow to load

    found = stage(folders)
    if as_json:
        print_json(as_dict(found))
    else:
        print_history(LITERAL, found)
    return 0
