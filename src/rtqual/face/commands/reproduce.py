# SPDX-License-Identifier: MIT
"""`rtqual reproduce`."""

from pathlib import Path

from rtqual.face.commands.app import LITERAL, STDERR, Json, print_json


def reproduce(record: Path, /, *, as_json: Json = False) -> int:
    """Make a recorded run again, from its hashed inputs alone, and compare the samples.

    The command is rebuilt and shown; a command in the record is never run.

    Parameters
    ----------
    record
        A record of the virtual board, as `rtqual show` takes it.
    """
    from rtqual.stages import reproduced as stage  # noqa: PLC0415

    def show(command: str) -> None:
        STDERR.print(f"runs {command}", markup=False, soft_wrap=True, highlight=False)

    results = stage.reproduce(record, show)
    if as_json:
        print_json([vars(result) for result in results])
    else:
        for reproduction in results:
            LITERAL.print(f"{reproduction.record}: {reproduction.text}", soft_wrap=True, highlight=False)
    return 0 if all(result.same for result in results) else 1
