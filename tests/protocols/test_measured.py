# SPDX-License-Identifier: MIT
"""An instrument of anybody's: what it makes of output that it did not expect."""

from dataclasses import replace

import pytest

from rtqual.base.errors import RunFailed
from rtqual.protocols.board import Command, Job, JobOutcome
from rtqual.protocols.instrument import Instrument, NoParameters
from rtqual.protocols.record.schema import Measurement, Series

SAID = JobOutcome(0, "12 7", "", {}, {}, {"exit": 0}, "", (), "", 0.1, ("tick",))


class Ticks(Instrument):
    def job(self, parameters: NoParameters, *, cpus: int, seed: int) -> Job:  # noqa: ARG002
        return Job(measure=Command(("tick",)))

    def read(self, parameters: NoParameters, outcome: JobOutcome, *, cpus: int) -> Measurement:  # noqa: ARG002
        return Measurement((Series.raw([int(word) for word in outcome.stdout.split()], name="tick"),))

    def seconds(self, parameters: NoParameters, load: str) -> float:  # noqa: ARG002
        return 1.0


TICKS = Ticks(name="ticks", title="Ticks", program="tick")


def test_what_it_reads_is_measured() -> None:
    assert TICKS.measured(NoParameters(), SAID, cpus=1).series[0].values.tolist() == [7, 12]


def test_where_it_errs_the_run_failed_and_its_name_is_told() -> None:
    with pytest.raises(RunFailed, match="ticks cannot read what its program said: invalid literal"):
        TICKS.measured(NoParameters(), replace(SAID, stdout="12 late"), cpus=1)
