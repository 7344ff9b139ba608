# SPDX-License-Identifier: MIT
"""`rtqual show` and `rtqual compare`."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rtqual.face.commands.app import LITERAL, STDOUT, Json, print_json


def show(
    record: Path,
    /,
    *,
    records: Annotated[bool, Parameter(negative="")] = False,
    every_sample: Annotated[bool, Parameter(negative="")] = False,
    as_json: Json = False,
) -> int:
    """Show a campaign's figures and verdict, or a record.

    Parameters
    ----------
    record
        A record's folder, a campaign's folder or FOLDER:CANDIDATE of it, or how the hash or the folder of a record
        below out/ begins.
    records
        List the records of a campaign's folder, with their hashes.
    every_sample
        Check every sample against the record's hash, also where there are more than a million raw ones.
    """
    from rtqual.engine.campaign.find import find, is_verification  # noqa: PLC0415
    from rtqual.face.terminal.record import record_dict, show_record, show_records  # noqa: PLC0415
    from rtqual.protocols.record.store import verify  # noqa: PLC0415

    paths = find(record)
    for path in paths if every_sample else ():
        verify(path)
    if as_json:
        print_json([record_dict(path) for path in paths])
    elif is_verification(record):
        from rtqual.face.terminal.verify_lines import print_verified  # noqa: PLC0415
        from rtqual.stages.verify import verified_in  # noqa: PLC0415 - what judges is slow to load

        verified = verified_in(record)
        if records:
            show_records(LITERAL, verified.records)
        print_verified(STDOUT, verified)
    elif len(paths) == 1:
        show_record(LITERAL, paths[0])
    else:
        from rtqual.face.terminal.figure_lines import print_figures  # noqa: PLC0415
        from rtqual.stages.show import shown  # noqa: PLC0415 - what judges is slow to load

        found = shown(record, paths)
        if records:
            show_records(LITERAL, found.records)
        print_figures(LITERAL, found)
    return 0


def compare(a: Path, b: Path, /, *, as_json: Json = False) -> int:
    """Put two records, or two campaigns, beside each other: effect sizes first.

    What the missions of the campaigns call a margin says here too which differences do not matter.

    Parameters
    ----------
    a
        A record or a campaign, as `rtqual show` takes it, or FOLDER:CANDIDATE of a campaign.
    b
        What it is compared with.
    """
    from rtqual.engine.campaign.find import find, split  # noqa: PLC0415
    from rtqual.face.terminal.comparison import comparison_dict, print_comparisons  # noqa: PLC0415
    from rtqual.stages.side_by_side import compare_paths, margins_in  # noqa: PLC0415

    folders = (split(a)[0], split(b)[0])
    comparisons = compare_paths(find(a), find(b), margins_in(*folders), folders)
    if as_json:
        print_json([comparison_dict(comparison) for comparison in comparisons])
    else:
        print_comparisons(LITERAL, comparisons)
    return 0
