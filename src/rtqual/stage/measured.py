# SPDX-License-Identifier: MIT
"""What of a record can be explained: wake-ups of a thread, frames of the camera."""

from dataclasses import dataclass

from pydantic import ValidationError

from rtqual.base.errors import BadInput
from rtqual.board import Outcome
from rtqual.cause.matching import Matched, match
from rtqual.cause.roles import EMULATOR, STREAM, between
from rtqual.cause.trace import Trace
from rtqual.instrument import Instrument, Parameters
from rtqual.instrument.cyclictest.measure import CYCLICTEST
from rtqual.instrument.lidar.ways import WAYS
from rtqual.instrument.probe.families import OWN_INTERVAL_NS, PROBES
from rtqual.record.schema import Record, Series, samples_digest

_WAYS = {one.name: one for one in WAYS}
_PROBE = next(one for one in PROBES if one.family == "wakeup")
_SLEEPER = "sleeper"  # probe/battery/wakeup.c
POSE = "pose"
_FRAMES = ("range", POSE)


@dataclass(frozen=True)
class Found:
    """The samples of a series."""

    name: str  # empty where the record has no other
    matched: Matched


@dataclass(frozen=True)
class Measured:
    """`begin`, `end`: the threads whose readings of the clock a sample lies between; `begin` is empty where it is a
    timer that the thread `end` sleeps until."""

    record: Record
    begin: str
    end: str

    @property
    def timer(self) -> bool:
        return not self.begin

    @property
    def series(self) -> tuple[Series, ...]:
        every = self.record.series
        if self.timer:
            return every[:1]
        return tuple(one for one in every if one.info.name in _FRAMES and len(one.values) and one.order)

    def samples(self, trace: Trace, *, linux: bool) -> list[Found]:
        """Where they lie. Raises BadInput where the readings do not give them."""
        if not self.timer:
            values = [_in_order(one) for one in self.series]
            names = [one.info.name for one in self.series]
            return [Found(*one) for one in zip(names, between(trace, values, self.begin, self.end), strict=True)]
        parameters = self._parameters()
        interval_ns = getattr(parameters, "interval", None) or OWN_INTERVAL_NS
        priority = getattr(parameters, "priority", None) if linux else None  # FreeRTOS has its own
        return [Found("", match(trace, self.series[0], interval_ns, priority, self.end))]

    def same(self, outcome: Outcome) -> bool:
        """Whether a run gave the record's samples."""
        instrument = _instrument(self.record)
        again = instrument.read(self._parameters(), outcome, cpus=self.record.inputs.cpus)
        return samples_digest(again.series, again.scalars) == self.record.manifest.samples_sha256

    def _parameters(self) -> Parameters:
        try:
            return _instrument(self.record).parameters.model_validate(self.record.inputs.parameters)
        except ValidationError:
            raise BadInput("this rtqual cannot make its job: use the version that measured it") from None


def measured(record: Record, *, linux: bool) -> Measured:
    """Raises BadInput where nothing of it can be explained."""
    name = record.inputs.instrument
    if not linux and name == _PROBE.name:
        return Measured(record, "", _SLEEPER)
    if linux and name == CYCLICTEST.name:
        return Measured(record, "", CYCLICTEST.program)
    if linux and name in _WAYS:
        return Measured(record, EMULATOR, STREAM)
    what = "the wake-ups that cyclictest measures, and frames" if linux else f"those of {_PROBE.name}"
    raise BadInput(f"a record of {name}; explained are {what}")


def _instrument(record: Record) -> Instrument:
    return {one.name: one for one in (CYCLICTEST, _PROBE, *_WAYS.values())}[record.inputs.instrument]


def _in_order(series: Series) -> list[int]:
    return [int(value) for chunk in series.ordered() or () for value in chunk]
