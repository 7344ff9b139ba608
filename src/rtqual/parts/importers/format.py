# SPDX-License-Identifier: MIT
"""A format of files with results: what marks it, and its reader.

It stands at the end of its reader's file, and in a row of a part (`imports`, protocols/part.py). Any package may bring
one (docs/import.md).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from rtqual.base.errors import BadInput
from rtqual.parts.importers.file_account import Above, FileAccount, one_line
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source


@dataclass(frozen=True)
class Format:
    """`mark` is found in the beginning or the end of its files, and of none that a format before it would take."""

    name: str
    title: str
    mark: re.Pattern[str] | Callable[[str], bool]
    reader: Callable[..., Sequence[Reading]]  # of the source, --unit and, where it has them, --column
    has_unit: bool = False  # whether --unit can say what its values are
    has_columns: bool = False

    def marks(self, text: str) -> bool:
        return bool(self.mark.search(text)) if isinstance(self.mark, re.Pattern) else self.mark(text)

    def read(self, path: Path, unit: str | None, column: str | None = None) -> list[Reading]:
        """Every run in the file; a failure that the file reports is a problem of its run. Raises BadInput."""
        source = Source(path)
        try:
            readings = self.reader(source, unit, *([column] if self.has_columns else []))
        except BadInput as error:  # a library's complaint may quote the file
            raise BadInput(one_line(str(error))) from None
        except (ValidationError, OverflowError):  # no record holds it
            raise BadInput(
                f"{path}: a number that no tool counts to, beyond 2^53: it is damaged; give the tool's own output"
            ) from None
        source.account.settle()
        begins = sorted({reading.above.run for reading in readings if reading.above})
        return [_with_surroundings(reading, source.account, begins, alone=len(readings) == 1) for reading in readings]


def _with_surroundings(reading: Reading, account: FileAccount, begins: Sequence[int], *, alone: bool) -> Reading:
    """With what the file says around its figures. `alone`: the file has this run only, so all of it is the run's.

    `begins`: the numbers of the runs with which the file's readings begin; one may hold several.
    """
    above = account.everything() if alone else reading.above or Above()
    if alone or reading.above is None:
        failures = account.problems()
    else:
        own = 0 if above.run == begins[0] else above.run
        failures = account.problems(own, next((begin for begin in begins if begin > above.run), None))
    facts = {name: value for name, value in above.facts.items() if name not in ("kernel", "kernel_cmdline")}
    kernel = reading.kernel or above.facts.get("kernel")
    machine = bool(reading.board or {"machine", "processor"} & (facts.keys() | reading.facts.keys()))
    untold = {"the kernel": kernel, "the machine": machine}
    missing = " and ".join(what for what, known in untold.items() if not known)
    return replace(
        reading,
        untold=(*reading.untold, *([missing] if missing else [])),
        above=above,
        account=account,
        kernel=kernel,
        kernel_cmdline=reading.kernel_cmdline or above.facts.get("kernel_cmdline"),
        facts={**facts, **reading.facts},
        measurement=replace(
            reading.measurement,
            problems=tuple(dict.fromkeys((*reading.measurement.problems, *failures))),
        ),
    )


def mark(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE | re.ASCII)
