# SPDX-License-Identifier: MIT
"""hackbench as an instrument: how long groups of processes take to pass messages through sockets."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import last_line, require_success
from rtqual.protocols.instrument.planning import STARTUP_S, slowdown
from rtqual.protocols.instrument.version import VERSION_ARGV
from rtqual.protocols.record.schema import Measurement, Scalar, Series

_NS_PER_S = 10**9
RESOLUTION_NS = 1_000_000  # it prints seconds with three decimals
_REPEAT = """\
i=0
while [ "$i" -lt "$1" ]; do
    hackbench -P -g "$2" -l "$3" || exit
    i=$((i + 1))
done
"""
TIME = re.compile(r"^Time: (\d{1,9}\.\d{3})$", re.MULTILINE | re.ASCII)


def seconds_ns(text: str) -> int:
    return int(Decimal(text) * _NS_PER_S)


class HackbenchParameters(Parameters):
    """`groups` of 20 senders and 20 receivers; each sender passes `loops` messages to each receiver."""

    groups: Annotated[int, Field(ge=1, le=1000)] = 1
    loops: Annotated[int, Field(ge=1, lt=2**31)] = 100
    repetitions: Annotated[int, Field(ge=1, lt=2**31)] = 5


class _Hackbench(Instrument):
    def job(self, parameters: HackbenchParameters, *, cpus: int, seed: int) -> Job:
        numbers = (parameters.repetitions, parameters.groups, parameters.loops)
        measure = Command(("sh", "-c", _REPEAT, "hackbench", *map(str, numbers)))
        return Job(measure=measure, version=VERSION_ARGV["hackbench"])

    def read(self, parameters: HackbenchParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:
        require_success("hackbench", outcome)
        times_ns = [seconds_ns(seconds) for seconds in TIME.findall(outcome.stdout)]
        if len(times_ns) != parameters.repetitions:
            raise RunFailed(
                f"hackbench printed {len(times_ns)} times instead of {parameters.repetitions}, "
                f"last line: {last_line(outcome.stdout)!r}; check its version"
            )
        series = Series.raw(times_ns, name="time")
        return Measurement((series,), {"resolution": Scalar(value=RESOLUTION_NS, unit="ns")})

    def samples(self, parameters: HackbenchParameters, *, cpus: int) -> int:
        return parameters.repetitions

    def seconds(self, parameters: HackbenchParameters, load: str) -> float:
        messages = 20 * 20 * parameters.groups * parameters.loops
        return slowdown(load) * parameters.repetitions * (STARTUP_S + messages * 38e-6)


HACKBENCH = _Hackbench(
    name="hackbench",
    title="Time to pass messages between processes (hackbench)",
    program="hackbench",
    parameters=HackbenchParameters,
    caveats=("hackbench prints its times in steps of 1 ms.",),
)
