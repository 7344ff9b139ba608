# SPDX-License-Identifier: MIT
"""What a tail is estimated from: one thread's samples in all runs of a group, and the running time they cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rtqual.engine.analysis.figure.dependence import together
from rtqual.engine.analysis.figure.summary import RESOLUTION
from rtqual.engine.analysis.tails.model import Observed
from rtqual.protocols.record.schema import Int64Array, Record, Series

INTERVAL = "interval"  # the parameter in which a record states how often a sample is taken


@dataclass(frozen=True)
class Stream:
    """The series of one thread, a run each, in the order of the runs."""

    cpu: int | None
    series: tuple[Series, ...]
    interval_ns: int
    stated_step: int = 1

    @cached_property
    def counted(self) -> tuple[Int64Array, Int64Array]:
        """Distinct values of all runs, ascending, and how often each came."""
        return together(self.series)

    @cached_property
    def samples(self) -> int:
        return sum(series.total for series in self.series)

    @cached_property
    def step(self) -> int:
        """The grain of the values: what the record states, or the smallest distance between two of them."""
        values, _ = self.counted
        return max(self.stated_step, int(np.diff(values).min()) if len(values) > 1 else 1)

    @cached_property
    def exposure_ns(self) -> float:
        """A sample a period, and the periods that a sample of more than a whole period slept through."""
        values, counts = self.counted
        skipped = np.maximum(0, (values - 1) // self.interval_ns)
        return float(self.interval_ns * (self.samples + int(skipped @ counts)))

    @property
    def ordered(self) -> bool:
        return all(series.order is not None for series in self.series)

    @property
    def observed(self) -> Observed:
        return Observed(self.cpu, len(self.series), self.samples, self.interval_ns, self.exposure_ns)


def interval_ns(records: Sequence[Record]) -> int | None:
    """How often the records took a sample; None where one does not state it or they differ."""
    (only, *others) = {record.inputs.parameters.get(INTERVAL) for record in records}
    return only if isinstance(only, int) and only > 0 and not others else None


def streams(records: Sequence[Record], interval: int) -> list[Stream]:
    """The first series of a record and those of the same name, thread by thread, in the order they were made."""
    made = sorted(records, key=lambda record: record.manifest.provenance.started or "")
    name = next((series.info.name for record in records for series in record.series), None)
    series = [(series.info.cpu, series) for record in made for series in record.series if series.info.name == name]
    steps = [r.manifest.scalars[RESOLUTION].value for r in records if RESOLUTION in r.manifest.scalars]
    cpus = sorted({cpu for cpu, _ in series}, key=lambda cpu: -1 if cpu is None else cpu)
    return [
        Stream(cpu, tuple(samples for of, samples in series if of == cpu), interval, int(max(steps, default=1)))
        for cpu in cpus
    ]
