# SPDX-License-Identifier: MIT
"""How long a shell takes to start a program and to wait for its end: here, on boards and in guests alike."""

from itertools import pairwise
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import require_success
from rtqual.protocols.record.schema import Measurement, Series

# rtqual-agent is on every board. A guest's other programs are busybox and those of engine/initramfs/contents.py.
_START = 'i=0; while [ "$i" -lt "$1" ]; do rtqual-agent now; i=$((i + 1)); done'


class StartsParameters(Parameters):
    """How many `starts`."""

    starts: Annotated[int, Field(ge=2, le=10_000)] = 100


class _Starts(Instrument):
    def job(self, parameters: StartsParameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        return Job(measure=Command(("sh", "-c", _START, "starts", str(parameters.starts))))

    def read(self, parameters: StartsParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        require_success("rtqual-agent", outcome)
        times_ns = [int(line) for line in outcome.stdout.split()]
        if len(times_ns) != parameters.starts:
            raise RunFailed(f"{len(times_ns)} programs told their time, {parameters.starts} were started")
        return Measurement((Series.raw([later - before for before, later in pairwise(times_ns)], name="start"),))

    def seconds(self, parameters: StartsParameters, load: str) -> float:  # noqa: ARG002
        return 0.005 * parameters.starts


STARTS = _Starts(
    name="example-starts", title="A program's start and end (sh, rtqual-agent)", program="rtqual-agent",
    parameters=StartsParameters,
)  # fmt: skip
