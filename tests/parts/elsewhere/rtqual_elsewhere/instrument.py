# SPDX-License-Identifier: MIT
"""How long the shell takes from one look at the clock to the next."""

from itertools import pairwise
from typing import Annotated

from pydantic import Field

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.output import require_success
from rtqual.protocols.record.schema import Measurement, Series

_LOOK = 'i=0; while [ "$i" -lt "$1" ]; do date +%s%N; i=$((i + 1)); done'


class PausesParameters(Parameters):
    """`looks` at the clock."""

    looks: Annotated[int, Field(ge=2, le=10_000)] = 20


class _Pauses(Instrument):
    def job(self, parameters: PausesParameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        return Job(measure=Command(("sh", "-c", _LOOK, "looks", str(parameters.looks))))

    def read(self, parameters: PausesParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        require_success("date", outcome)
        times_ns = [int(line) for line in outcome.stdout.split()]
        if len(times_ns) != parameters.looks:
            raise RunFailed(f"date told {len(times_ns)} times, {parameters.looks} were asked for")
        return Measurement((Series.raw([later - before for before, later in pairwise(times_ns)], name="pause"),))

    def seconds(self, parameters: PausesParameters, load: str) -> float:  # noqa: ARG002
        return 0.01 * parameters.looks


PAUSES = _Pauses(
    name="elsewhere-pauses", title="From one look at the clock to the next (date)", program="date",
    parameters=PausesParameters,
)  # fmt: skip
