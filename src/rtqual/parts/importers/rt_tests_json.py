# SPDX-License-Identifier: MIT
"""--json of rt-tests' other programs: pmqtest, ptsematest, svsematest, sigwaittest (sender and receiver a pair),
signaltest and cyclicdeadline (a thread each). Figures in us, no samples.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Annotated

from pydantic import BaseModel, Field

from rtqual.parts.importers import invocation
from rtqual.parts.importers.file_account import one_line
from rtqual.parts.importers.format import Format, mark
from rtqual.parts.importers.placed_values import KnownPlaces, read_json
from rtqual.parts.importers.reading import Reading, resolution, summary
from rtqual.parts.importers.source import Source
from rtqual.parts.importers.tally import LARGEST
from rtqual.protocols.record.schema import Measurement, Series

_PROGRAMS = "pmqtest|ptsematest|svsematest|sigwaittest|signaltest|cyclicdeadline"
_US = Annotated[float, Field(ge=0, lt=LARGEST)]
_Number = Annotated[int, Field(ge=0, lt=LARGEST)]
_KNOWN = KnownPlaces(
    used=(
        *("cmdline:", "cmdline", "rt_test_version:", "rt_test_version", "start_time", "num_threads", "sysinfo/*"),
        *(f"thread/*/{name}" for name in ("cycles", "min", "max", "avg", "cpu", "interval", "priority")),
        *(f"thread/*/{end}/{name}" for end in ("sender", "receiver") for name in
          ("cpu", "priority", "samples", "interval", "min", "avg", "max")),
    ),
    without_data={"file_version": "the file's version", "end_time": "a time", "return_code": "the program's end",
                  "thread/*/histogram/**": "a figure that others sum up"},
)  # fmt: skip


class _Sender(BaseModel):
    cpu: int
    samples: _Number
    priority: _Number = 0
    interval: _Number | None = None


class _Figures(BaseModel):
    min: _US
    avg: _US
    max: _US
    cpu: int = -1
    cycles: _Number | None = None
    priority: _Number | None = None


class _Pair(BaseModel):
    sender: _Sender
    receiver: _Figures


class _Result(BaseModel):
    command: str = Field(validation_alias="cmdline:")
    version: str | None = Field(default=None, validation_alias="rt_test_version:")
    start_time: str | None = None
    num_threads: _Number | None = None
    sysinfo: dict[str, str | int] = {}
    thread: dict[_Number, _Pair | _Figures] = Field(min_length=1)


def read(source: Source, _unit: str | None) -> list[Reading]:
    what = f"JSON of {_PROGRAMS.replace('|', ', ')}"
    result, around = read_json(source, _Result, _KNOWN, what, lambda text: text.replace('"cmdline"', '"cmdline:"', 1))
    for number, line in around:
        with source.line(number, line):
            pass
    words = result.command.split() or ["?"]
    program = words[0].rpartition("/")[2][:40]
    series, problems = list[Series](), list[str]()
    disordered = common = 0
    for number, part in sorted(result.thread.items()):
        pair = part if isinstance(part, _Pair) else None
        figures = pair.receiver if pair else part
        assert isinstance(figures, _Figures)  # noqa: S101 - a pair has them in its receiver
        count = pair.sender.samples if pair else figures.cycles
        cpu = figures.cpu if 0 <= figures.cpu < 2**16 else number % 2**16
        series.append(summary("latency", cpu, 1_000, n=count, min=figures.min, avg=figures.avg, max=figures.max))
        disordered += bool(count) and not figures.min <= figures.avg <= figures.max
        common += figures.priority == 0
    if disordered:
        problems.append(f"minimum, average and maximum of {disordered} threads are not in order")
    if common:
        problems.append(f"{common} of {len(result.thread)} threads without a real-time priority")
    if result.num_threads not in (None, len(result.thread)):
        problems.append(f"its num_threads is {result.num_threads}, the file has {len(result.thread)}")
    if len({each.info.cpu for each in series}) < len(series):  # threads that share a CPU
        series = [summary("latency", n, 1, **samples.info.reported) for n, samples in enumerate(series)]
    told = [result.sysinfo.get("release"), result.sysinfo.get("version")]
    command = invocation.parse(result.command)
    return [
        Reading(
            instrument=one_line(program),
            measurement=Measurement(tuple(series), resolution(1_000), tuple(problems)),
            programs={one_line(program): result.version} if result.version else {},
            command=command.argv if command else (),
            cpus=len(series),
            started=_started(result.start_time),
            kernel=one_line(" ".join(str(word) for word in told if word)) or None,
            facts={
                key: one_line(str(value)) for key, value in result.sysinfo.items() if key in ("machine", "realtime")
            },
            untold=("percentiles: only the smallest, the average and the largest are there",),
        )
    ]


def _started(text: str | None) -> str | None:
    """'Sat, 21 Nov 2026 04:48:05 +0000' -> ISO 8601 in UTC."""
    try:
        return parsedate_to_datetime(text).astimezone(UTC).isoformat(timespec="seconds") if text else None
    except (ValueError, OverflowError):
        return None


FORMAT = Format(
    "rt-tests-json",
    "--json of pmqtest and its like, signaltest, cyclicdeadline",
    mark(rf'"cmdline:?"\s*:\s*"(?:[^"\s]*/)?(?:{_PROGRAMS})\b'),
    read,
)
