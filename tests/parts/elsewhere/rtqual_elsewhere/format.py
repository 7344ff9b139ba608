# SPDX-License-Identifier: MIT
"""A format that `rtqual import` reads: what a bell wrote of how late it rang, a line a time."""

import re

from rtqual.parts.importers.file_account import bad
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement, Series

_RUNG = re.compile(r"rung (\d{1,9}) us late", re.ASCII)


def read(source: Source, _unit: str | None) -> list[Reading]:
    late_ns: list[int] = []
    for _, line in source.lines(re.compile("rung ")):
        if match := _RUNG.fullmatch(line):
            late_ns.append(int(match[1]) * 1_000)
            source.use()
    if not late_ns:
        raise bad(source.path, None, "the bell did not ring: give all that it wrote")
    return [Reading("elsewhere-bell", Measurement((Series.raw(late_ns, name="late"),)), cpus=1)]


BELL = Format("elsewhere-bell", "a bell's notes", mark(r"^rung \d+ us late$"), read)
