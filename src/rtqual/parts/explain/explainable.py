# SPDX-License-Identifier: MIT
"""What of a record can be explained: wake-ups of a thread, frames of the camera, telecommands."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.dialogue.answer_times import ACCEPTED, AnswerTime
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST
from rtqual.engine.instruments.probe.families import OWN_INTERVAL_NS, PROBES
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.engine.procedure.log import Unsound
from rtqual.engine.procedure.played_log import PREFIX, log_of
from rtqual.parts.explain.context import Slice
from rtqual.parts.explain.matching import Matched, Sample, match, match_by_function
from rtqual.parts.explain.roles import GROUND, Players, Roles, between, logged
from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.timeline import TimeKind
from rtqual.parts.explain.trace import Trace
from rtqual.protocols.board import JobOutcome
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load import split
from rtqual.protocols.record.schema import Record, Series, samples_digest
from rtqual.stages.flown import flown_before

_PROBE = next(probe for probe in PROBES if probe.family == "wakeup")
_SLEEPER = "sleeper"  # target/probe/battery/wakeup.c
_POSE = "pose"
_FRAMES = ("range", _POSE)


@dataclass(frozen=True)
class SeriesSamples:
    """The samples of a series."""

    name: str  # empty where the record has no other
    matched: Matched
    cpu: int = 0


@dataclass(frozen=True)
class MeasuredRun:
    """`begin`, `end`: the threads whose readings of the clock a sample lies between; `begin` is empty where it is a
    timer that the thread `end` sleeps until. `played`: how fast a procedure's telecommands were answered."""

    record: Record
    instrument: Instrument
    begin: str
    end: str
    played: tuple[AnswerTime, ...] | None = None

    @property
    def timer(self) -> bool:
        return not self.begin

    @property
    def series(self) -> tuple[Series, ...]:
        every = self.record.series
        if self.timer:
            return every[: self.record.inputs.cpus]
        return tuple(series for series in every if self._told(series.info.name) and len(series.values) and series.order)

    def samples(self, trace: Trace, *, linux: bool, symbols: Symbols | None = None) -> list[SeriesSamples]:
        """Where they lie; `symbols`: of an image, which may not say who runs.

        Raises BadInput where the readings do not give them.
        """
        if self.played is not None:
            return _accepted(trace, self.played, log_of(self.record))
        if not self.timer:
            values = [_in_order(each) for each in self.series]
            names = [each.info.name for each in self.series]
            return [
                SeriesSamples(*pair) for pair in zip(names, between(trace, values, self.begin, self.end), strict=True)
            ]
        parameters = self._parameters()
        interval_ns = getattr(parameters, "interval", None) or OWN_INTERVAL_NS
        priority = getattr(parameters, "priority", None) if linux else None  # FreeRTOS has its own
        found: list[SeriesSamples] = []
        before = 0
        for series in self.series:
            if linux or trace.threads or symbols is None:
                matched = match(trace, series, interval_ns, priority, self.end)
            else:
                matched = match_by_function(trace, series, interval_ns, symbols)
            samples = tuple(replace(some, number=before + some.number) for some in matched.samples)
            found.append(SeriesSamples("", replace(matched, samples=samples), series.info.cpu or 0))
            before += len(samples)
        return found

    def kind(self, trace: Trace, of: SeriesSamples, sample: Sample) -> Callable[[Slice], TimeKind]:
        """What a moment of a sample is where no timer is waited for."""
        if self.played is not None:
            return Players.of(trace).kind
        return Roles.of(trace, sample, of.matched.thread, poses=of.name == _POSE).kind

    def same(self, outcome: JobOutcome) -> bool:
        """Whether a run gave the record's samples."""
        again = self.instrument.measured(self._parameters(), outcome, cpus=self.record.inputs.cpus)
        return samples_digest(again.series, again.scalars) == self.record.manifest.samples_sha256

    def _told(self, series: str) -> bool:
        return series.startswith(ACCEPTED) if self.played is not None else series in _FRAMES

    def _parameters(self) -> Parameters:
        try:
            return self.instrument.parameters.model_validate(split(self.record.inputs.parameters)[0])
        except ValidationError:
            raise BadInput("this rtqual cannot make its job: use the version that measured it") from None


def measured(path: Path, record: Record, *, linux: bool) -> MeasuredRun:
    """Raises BadInput where nothing of it can be explained."""
    name = record.inputs.instrument
    if not linux and name == _PROBE.name:
        return MeasuredRun(record, _PROBE, "", _SLEEPER)
    if linux and name == CYCLICTEST.name:
        return MeasuredRun(record, CYCLICTEST, "", CYCLICTEST.program)
    if linux and name.startswith(PREFIX):
        return _played(path, record)
    instrument = all_instruments().get(name)
    if linux and instrument and instrument.between:
        return MeasuredRun(record, instrument, *instrument.between)
    what = "the wake-ups that cyclictest measures, frames, and telecommands" if linux else f"those of {_PROBE.name}"
    raise BadInput(f"a record of {name}; explained are {what}")


def _played(path: Path, record: Record) -> MeasuredRun:
    """The procedure, as the folder of the record keeps it."""
    name = record.inputs.instrument
    camera = Camera(record.inputs.parameters.get("camera", Camera.UVCVIDEO))
    try:
        campaign = kept.load(path.absolute().parent.parent)
    except BadInput as error:
        raise BadInput(f"a record of {name}, to be explained in the folder of its rtqual verify: {error}") from None
    verify, procedures = campaign.mission.verify, campaign.result.procedures
    if verify and verify.program:
        raise BadInput(f"a record of {name}, which was played to a program of yours: such are not explained yet")
    procedure: Described[TimedStep] | None = None
    if verify and procedures:
        program = flown_before(campaign.mission, verify.model_copy(update={"camera": camera}), procedures)
        procedure = next((each for each in program.procedures if PREFIX + each.name == name), None)
    if procedure is None:
        raise BadInput(f"a record of {name}, which its folder does not keep: run rtqual verify there again")
    if procedure.emulated:
        raise BadInput(
            f"a record of {name}, which resets the board or has a disk: such runs do not repeat to the nanosecond"
        )
    ((instrument, _),) = program.instruments((procedure,))
    try:
        return MeasuredRun(record, instrument, GROUND, GROUND, tuple(program.answers(procedure, record)))
    except Unsound as why:
        raise BadInput(f"a record of {name}, whose log {why}") from None


def _accepted(trace: Trace, answers: Iterable[AnswerTime], log: str) -> list[SeriesSamples]:
    """Each telecommand, from the ground's reading of its clock before it sends to the one after it has the answer."""
    every = [answer for answer in answers if answer.name.startswith(ACCEPTED)]
    every.sort(key=lambda answer: answer.name)  # series by series, each in its order
    times_ns = [int(line.partition(" ")[0]) for line in log.splitlines()]
    readings = dict(zip(times_ns, logged(trace, GROUND, times_ns), strict=True))
    found: dict[str, list[Sample]] = {}
    for number, answer in enumerate(every, 1):
        event, ns, ground = readings[answer.at_ns]
        found.setdefault(answer.name, []).append(Sample(number, answer.at_ns - answer.sent_ns, event, ns))
    return [SeriesSamples(name, Matched(ground, tuple(some))) for name, some in found.items()]


def _in_order(series: Series) -> list[int]:
    return [int(value) for chunk in series.ordered() or () for value in chunk]
