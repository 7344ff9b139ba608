# SPDX-License-Identifier: MIT
"""What rtqual's own probe wrote, on whatever system it ran (target/probe/, docs/probe.md)."""

from rtqual.base.errors import RunFailed
from rtqual.engine.instruments.probe.families import of_output
from rtqual.engine.instruments.probe.probe_output import FORMAT, parse
from rtqual.parts.importers.file_account import bad, one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.reading import Reading
from rtqual.parts.importers.source import Source
from rtqual.protocols.record.schema import Measurement

UNTOLD = ("whether its threads had their priority", "the program's version, and the CPU it ran on")


def read(source: Source, _unit: str | None) -> list[Reading]:
    text = source.whole_text()
    try:
        output = parse(text, "the file")
    except RunFailed as error:
        raise bad(source.path, None, str(error)) from None
    begun = False
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        with source.line(number, line):
            begun = begun or line.startswith(FORMAT)
            if begun:  # every line of it is under its sum
                source.use()
                begun = not line.startswith("end#")
    failed = [
        f"{benchmark.name}: {benchmark.status}: {benchmark.why or 'no reason given'}"
        for benchmark in output.benchmarks
        if benchmark.status not in ("ok", "not-offered")
    ]
    series, scalars, problems, absent = of_output(output)
    if not series and not scalars:
        raise bad(source.path, None, "the probe measured nothing: run it again")
    return [
        Reading(
            instrument=f"probe-{one_line(output.family)}",
            measurement=Measurement(tuple(series), scalars, (*problems, *map(one_line, failed)), absent),
            cpus=1,
            kernel=one_line(output.system),
            untold=UNTOLD,
        )
    ]


PROBE = Format("probe", "rtqual's own probe", mark(r"^rtqual-probe 1#[0-9a-f]{8}"), read)
