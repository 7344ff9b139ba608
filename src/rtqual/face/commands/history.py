# SPDX-License-Identifier: MIT
"""`rtqual history`."""

from pathlib import Path

from rtqual.face.commands.app import LITERAL, Json, print_json


def history(folders: list[Path], /, *, records: bool = False, as_json: Json = False) -> int:
    """Follow each figure over the campaigns of several versions, and mark where it changed (docs/history.md).

    Parameters
    ----------
    folders
        The campaigns' folders, the oldest version first; six or more to find changes.
    records
        Read every record anew with its hashes, in place of the digests that campaigns leave.
    """
    from rtqual.face.terminal.history import as_dict, print_history  # noqa: PLC0415
    from rtqual.stages.history import history as stage  # noqa: PLC0415 - what it computes with is slow to load

    found = stage(folders, records=records)
    if as_json:
        print_json(as_dict(found))
    else:
        print_history(LITERAL, found)
    return 0
