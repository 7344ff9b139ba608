# SPDX-License-Identifier: MIT
"""`rtqual reproduce`."""

from pathlib import Path

from rtqual.cli.app import LITERAL, Json, app, print_json


@app.command
def reproduce(record: Path, /, *, as_json: Json = False) -> int:
    """Run a record's recorded command line again, by itself, and compare the samples.

    Parameters
    ----------
    record
        A record of the virtual board, as `rtqual show` takes it.
    """
    from rtqual.record.find import find  # noqa: PLC0415
    from rtqual.stage.reproduce import reproduce as again  # noqa: PLC0415

    results = [again(path) for path in find(record)]
    if as_json:
        print_json([vars(one) for one in results])
    else:
        for one in results:
            LITERAL.print(f"{one.record}: {one.text}", soft_wrap=True, highlight=False)
    return 0 if all(one.same for one in results) else 1
