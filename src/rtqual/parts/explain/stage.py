# SPDX-License-Identifier: MIT
"""Why samples were late: the recorded run is made again from its hashed inputs, watched from outside of the guest.

It runs twice more: first the events (entries of the kernel, switches of threads, readings of the clock) say when each
sample was, then every block of instructions is noted around the samples asked for. Both times all samples must be the
record's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput, RunFailed
from rtqual.base.scratch import scratch
from rtqual.base.words import listed
from rtqual.engine.campaign import trusted
from rtqual.parts.explain import sections, trace
from rtqual.parts.explain.again import Again
from rtqual.parts.explain.cause_tally import CauseTally, tally
from rtqual.parts.explain.context import Slice, slices
from rtqual.parts.explain.explainable import MeasuredRun, SeriesSamples, measured
from rtqual.parts.explain.matching import Sample
from rtqual.parts.explain.sections import Placed
from rtqual.parts.explain.spec import MOST_WINDOWS
from rtqual.parts.explain.symbols import Symbols
from rtqual.parts.explain.timeline import Timeline, timeline, told_by
from rtqual.parts.explain.windows import apart, places, window
from rtqual.protocols.board.registry import row_of
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read

_LONGEST, _LOOKED_AT = 3, 8  # sections of each kind; several may lie at one place
MOST = 200  # samples at a time


@dataclass(frozen=True)
class Asked:
    """Which samples: the `worst` of them and all above a value, or the one of a number."""

    worst: int = 3
    sample: int | None = None
    above_ns: int | None = None


@dataclass(frozen=True)
class Explained:
    record: str
    path: Path
    candidate: str
    load: str
    cpus: int
    seed: int
    samples: int  # of the run
    names: tuple[str, ...]  # of the samples' series, by their numbers; nothing where it is one
    timelines: tuple[Timeline, ...]  # the worst sample first
    longest: tuple[Placed, ...]
    windows: int  # how often the second run looked closer

    def on(self, cpu: int) -> str:
        """In words; empty where there is one only."""
        return f" on CPU {cpu}" if self.cpus > 1 else ""

    def series_of(self, line: Timeline) -> str:
        """Its name; empty where samples are of one series."""
        return self.names[line.sample.number - 1] if self.names else ""


def explain(
    asked: Mapping[Path, Asked], tell: Callable[[str], None] = lambda _: None, *, sections: int = _LONGEST
) -> list[Explained]:
    """Records by what is asked of them; `sections`: with so many of the longest ones of each run, of each kind.

    Raises BadInput where a record cannot be explained, RunFailed where its run is not the recorded one.
    """
    told = []
    with scratch() as folder:
        for path, samples in asked.items():
            record = read(path)
            require(path, record)
            trusted.require_record(record.inputs, str(path))
            try:
                told.append(_Run(path, record, folder, tell).explained(samples, sections))
            except BadInput as error:
                raise BadInput(f"{path}: {error}") from None
    return told


def explainable(records: Mapping[Path, Record]) -> list[Path]:
    """Those of them whose wake-ups can be explained together, once each: figures compare at equal numbers of CPUs."""
    found = []
    for path, record in records.items():
        with suppress(BadInput):
            if require(path, record).timer and not record.manifest.repeat and record.inputs.cpus == 1:
                found.append(path)
    return found


def worst_of(records: Mapping[Path, Record], number: int) -> dict[Path, Asked]:
    """The `number` worst samples of each candidate under each load, over its runs. Raises BadInput without any."""
    groups: dict[tuple[str, str], list[Path]] = {}
    for path in explainable(records):
        inputs = records[path].inputs
        groups.setdefault((inputs.candidate, inputs.load), []).append(path)
    if not groups:
        raise BadInput(
            "no record there can be explained: runs of cyclictest on one CPU of a virtual board can; of frames "
            "and telecommands name one record"
        )
    asked: dict[Path, Asked] = {}
    for paths in groups.values():
        late: Counter[tuple[int, Path]] = Counter()
        for path in paths:
            series = records[path].series[0]
            values, counts = series.values[-number:], series.counts[-number:]
            late.update({(int(value), path): int(times) for value, times in zip(values, counts, strict=True)})
        worst = Counter(
            path for _, path in sorted(late.elements(), key=lambda element: (-element[0], element[1]))[:number]
        )
        asked |= {path: Asked(worst=times) for path, times in sorted(worst.items())}
    return asked


def require(path: Path, record: Record) -> MeasuredRun:
    """What of such a record is explained. Raises BadInput where nothing can be."""
    inputs = record.inputs
    row = row_of(inputs.board, inputs.artefacts)
    if row is None or row.rebuilt is None:
        raise BadInput(
            f"{path}: measured on the {inputs.board} board; only runs of the virtual boards can be had again and "
            f"watched: elsewhere plan the instrument timerlat-late (docs/explain.md)"
        )
    if row.modelled:
        raise BadInput(
            f"{path}: measured on the {inputs.board} board, whose stalls cannot be explained yet: "
            f"explain a run of the {inputs.board.partition('+')[0]} board"
        )
    try:
        measured_run = measured(path, record, linux=row.linux)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if not measured_run.series:
        raise BadInput(f"{path}: holds no latency of {inputs.instrument}'s")
    if inputs.cpus != 1 and not (measured_run.timer and row.architecture is AMD64):
        raise BadInput(
            f"{path}: of {inputs.cpus} CPUs; on several the wake-ups of cyclictest on x86-64 are explained: "
            "choose such a record, or one on one CPU"
        )
    cpus = [some.info.cpu or 0 for some in measured_run.series] if inputs.cpus != 1 else [0]
    if inputs.cpus > trace.MOST_CPUS or len({*cpus}) != len(cpus) or max(cpus) >= inputs.cpus:
        said = f"of {inputs.cpus} CPUs, with samples of CPU {listed([str(number) for number in cpus])}"
        raise BadInput(f"{path}: {said}: explained are runs with one thread a CPU, on {trace.MOST_CPUS} CPUs at most")
    if any(some.info.overflow for some in measured_run.series):
        raise BadInput(f"{path}: has samples beyond its histogram, whose values are not known: raise histogram-limit")
    return measured_run


class _Run(Again):
    def __init__(self, path: Path, record: Record, folder: Path, tell: Callable[[str], None]) -> None:
        named = tuple(Path(word).name for word in record.manifest.provenance.command)
        super().__init__(record.inputs, named, folder, tell)
        self.path, self.record = path, record
        self.measured = measured(path, record, linux=self.architecture is not None)

    def explained(self, asked: Asked, longest: int) -> Explained:
        inputs = self.record.inputs
        symbols = self.symbols()
        self.tell("watches the run's events")
        events = self._watched(symbols, ())
        found = self.measured.samples(events, linux=self.architecture is not None, symbols=symbols)
        chosen = choose(found, asked)
        every = [sample for some in found for sample in some.matched.samples]
        ends = min(sample.expiry_ns for sample in every), max(sample.read_ns for sample in every)
        late = sections.longest(events, *ends, most=longest and longest - _LONGEST + _LOOKED_AT)
        own = {sample.number: window(events, sample.expiry_ns, sample.read_ns, of.cpu) for of, sample in chosen}
        theirs = [window(events, section.begin_ns, section.end_ns, section.cpu) for section in late]
        windows = apart([*own.values(), *theirs])[:MOST_WINDOWS]
        self.tell(f"looks closer at {len(windows)} places")
        closer = self._watched(symbols, windows)

        def look(there: tuple[int, int], cpu: int) -> Iterable[Slice]:
            return slices(closer, self.processor, symbols, *places(closer, there, windows), cpu)

        told = tuple(self._timeline(of, sample, events, look(own[sample.number], of.cpu)) for of, sample in chosen)
        where = [
            sections.placed(section, look(there, section.cpu)) for section, there in zip(late, theirs, strict=True)
        ]
        return Explained(
            self.record.manifest.hash[:16], self.path, inputs.candidate, inputs.load, inputs.cpus, inputs.seed,
            len(every), tuple(of.name for of in found for _ in of.matched.samples if of.name), told,
            tuple(sections.by_place(where, longest)), len(windows),
        )  # fmt: skip

    def _timeline(self, of: SeriesSamples, sample: Sample, events: trace.Trace, pieces: Iterable[Slice]) -> Timeline:
        if self.measured.timer:
            return timeline(sample, self.processor, of.matched.thread, pieces, of.cpu)
        return told_by(sample, self.measured.kind(events, of, sample), pieces)

    def _watched(self, symbols: Symbols, windows: Sequence[tuple[int, int]]) -> trace.Trace:
        """Raises RunFailed where the samples are not the record's."""
        plugin, log = self.watcher(symbols, windows)
        try:
            outcome = self.outcome(self.board(self.machine, plugin), self.job)
        except RunFailed:
            trace.require_room(log)
            raise
        if not self.measured.same(outcome):
            clock = self.record.manifest.timing
            raise RunFailed(f"{self.path}: the watched run gave other samples, so it explains nothing (clock: {clock})")
        return trace.read(log, linux=self.architecture is not None)


def choose(found: Sequence[SeriesSamples], asked: Asked) -> list[tuple[SeriesSamples, Sample]]:
    """The samples asked for, the worst first; of several series those of each. Raises BadInput where there
    are none."""
    samples = sorted(
        ((of, sample) for of in found for sample in of.matched.samples),
        key=lambda pair: (-pair[1].value_ns, pair[1].number),
    )
    if asked.sample is not None:
        chosen = [pair for pair in samples if pair[1].number == asked.sample]
        if not chosen:
            raise BadInput(f"has samples 1 to {len(samples)}, and no sample {asked.sample}")
        return chosen
    above = [pair for pair in samples if asked.above_ns is not None and pair[1].value_ns > asked.above_ns]
    if not asked.worst and not above:
        raise BadInput(f"no sample is above {asked.above_ns} ns: the worst is {samples[0][1].value_ns} ns")
    numbers = {sample.number for _, sample in above}
    for group in {of.name for of, _ in samples}:
        numbers |= {sample.number for _, sample in [pair for pair in samples if pair[0].name == group][: asked.worst]}
    return [pair for pair in samples if pair[1].number in numbers][:MOST]


class TimedRun(Protocol):
    """A run some of whose samples are told."""

    @property
    def record(self) -> str: ...
    @property
    def candidate(self) -> str: ...
    @property
    def load(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def timelines(self) -> tuple[Timeline, ...]: ...


_Timed = TypeVar("_Timed", bound=TimedRun)


def tally_all(explained: Iterable[TimedRun]) -> list[CauseTally]:
    """By candidate and load, in the order in which they come."""
    groups: dict[tuple[str, str], list[Timeline]] = {}
    for timed in explained:
        groups.setdefault((timed.candidate, timed.load), []).extend(timed.timelines)
    return [tally(candidate, load, lines) for (candidate, load), lines in groups.items()]


def tail_of(explained: Iterable[_Timed]) -> list[tuple[_Timed, Timeline]]:
    """All timelines of several runs, the worst sample first."""
    both = [(item, line) for item in explained for line in item.timelines]
    return sorted(both, key=lambda pair: (-pair[1].sample.value_ns, pair[0].record, pair[1].sample.number))
