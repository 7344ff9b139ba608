# SPDX-License-Identifier: MIT
"""Why samples of the instrument timerlat-late were late, as the measured system's own kernel told it in the run.

Nothing is made again, so this is for real boards and this machine too. Watching disturbs, and the record says by how
much: half of its samples were taken without it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.verdict.clock import of_board
from rtqual.engine.instruments.late import LATE
from rtqual.engine.mission.program import PREFIX
from rtqual.parts.explain.stage import Asked
from rtqual.parts.explain.timeline import Timeline
from rtqual.parts.explain.told_by_kernel import told
from rtqual.protocols.record.schema import LateSample, Manifest, Record, Series, Timing

UNWATCHED, WATCHED = "thread", "watched thread"  # series of engine/instruments/late.py


@dataclass(frozen=True)
class Watching:
    """What it costs on a CPU: the thread's latencies without it, and with it."""

    cpu: int
    samples: tuple[int, int]
    median_ns: tuple[float, float]
    moved_ns: tuple[float, float]  # the median by watching: in the first half of the run, in the second


@dataclass(frozen=True)
class LateTold:
    record: str
    path: Path
    candidate: str
    load: str
    board: str
    timing: Timing
    seed: int
    watching: tuple[Watching, ...]  # by CPU
    left_out: int  # later ones than those that were kept, of which the trace did not tell all
    timelines: tuple[Timeline, ...]  # the worst sample first
    names: tuple[str, ...] = ()  # of the samples' series, where they are of several


def kept(records: Mapping[Path, Record]) -> list[Path]:
    """Those whose instrument told what made samples late, once each."""
    return [path for path, record in records.items() if record.manifest.late is not None and not record.manifest.repeat]


def of(path: Path, record: Record, asked: Asked) -> LateTold:
    """Raises BadInput where nothing of what is asked was kept, or what was kept is not of this record's samples."""
    manifest = record.manifest
    late = sorted(
        manifest.late or [],
        key=lambda late_sample: (-late_sample.value_ns, late_sample.series, late_sample.cpu, late_sample.number),
    )
    if manifest.inputs.instrument.startswith(PREFIX):
        return _of_program(path, record, late, asked)
    try:
        both = _by_cpu(record, UNWATCHED), _by_cpu(record, WATCHED)
        _require_its_own(late, both[1], manifest.inputs.instrument)
        lines = [*map(told, late)]
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if asked.sample is not None:
        chosen = [line for line in lines if line.sample.number == asked.sample]
    else:
        above = 0 if asked.above_ns is None else sum(line.sample.value_ns > asked.above_ns for line in lines)
        chosen = lines[: max(asked.worst, above)]
    if not chosen:
        raise BadInput(f"{path}: keeps its {len(lines)} worst samples, and none of those asked for")
    least_ns = late[-1].value_ns
    later = sum(int(series.counts[series.values > least_ns].sum()) for series in both[1].values())
    return _told_of(
        path,
        manifest,
        watching=tuple(_watching(cpu, both[0][cpu], series) for cpu, series in both[1].items()),
        left_out=later - sum(late_sample.value_ns > least_ns for late_sample in late),
        timelines=tuple(chosen),
    )


def _told_of(
    path: Path,
    manifest: Manifest,
    *,
    timelines: tuple[Timeline, ...],
    watching: tuple[Watching, ...] = (),
    left_out: int = 0,
    names: tuple[str, ...] = (),
) -> LateTold:
    inputs, timing = manifest.inputs, of_board(manifest.inputs.board, manifest.timing)
    return LateTold(
        manifest.hash[:16], path, inputs.candidate, inputs.load, inputs.board, timing, inputs.seed,
        watching, left_out, timelines, names,
    )  # fmt: skip


def _of_program(path: Path, record: Record, late: Sequence[LateSample], asked: Asked) -> LateTold:
    """Jobs of a program's tasks: nothing was slowed down by looking."""
    manifest = record.manifest
    values = {series.info.name: np.concatenate([*(series.ordered() or ())] or [[]]) for series in record.series}
    for late_sample in late:
        series = values.get(late_sample.series, ())
        if not 1 <= late_sample.number <= len(series) or series[late_sample.number - 1] != late_sample.value_ns:
            raise BadInput(
                f"{path}: there is no job {late_sample.number} of {late_sample.series!r} with "
                f"{late_sample.value_ns} ns: measure again"
            )
    chosen = [sample for sample in late if asked.sample in (None, sample.number)]
    above = 0 if asked.above_ns is None else sum(sample.value_ns > asked.above_ns for sample in chosen)
    if asked.sample is None:
        chosen = chosen[: max(asked.worst, above)]
    if not chosen:
        raise BadInput(f"{path}: keeps its {len(late)} worst jobs, and none of those asked for")
    return _told_of(
        path,
        manifest,
        timelines=tuple(map(told, chosen)),
        names=tuple(sample.series for sample in chosen),
    )


def _by_cpu(record: Record, name: str) -> dict[int, Series]:
    """Raises BadInput where a CPU's samples are missing: two at least, one in each half of the run."""
    found = {
        series.info.cpu: series
        for series in record.series
        if series.info.name == name and series.order and series.total > 1
    }
    cpus = range(record.inputs.cpus)
    if sorted(cpu for cpu in found if cpu is not None) != [*cpus]:
        raise BadInput(f"has no samples '{name}' of each of its {len(cpus)} CPUs: measure again")
    return {cpu: found[cpu] for cpu in cpus}


def _require_its_own(late: Sequence[LateSample], watched: Mapping[int, Series], instrument: str) -> None:
    """Raises BadInput where one is told that the record does not have, or has less often."""
    if instrument != LATE.name:
        raise BadInput(f"is of {instrument}, which says nothing of late samples: measure again")
    numbers = Counter((sample.cpu, sample.number) for sample in late)
    values = Counter((sample.cpu, sample.value_ns) for sample in late)
    for late_sample in late:
        series = watched.get(late_sample.cpu)
        had = 0 if series is None else int(series.counts[series.values == late_sample.value_ns].sum())
        if (
            series is None
            or not 1 <= late_sample.number <= series.total
            or numbers[late_sample.cpu, late_sample.number] > 1
        ):
            raise BadInput(
                f"there is no sample {late_sample.number} of CPU {late_sample.cpu}, or it is there twice: measure again"
            )
        if values[late_sample.cpu, late_sample.value_ns] > had:
            raise BadInput(
                f"sample {late_sample.number} of CPU {late_sample.cpu} has no {late_sample.value_ns} ns: measure again"
            )


def _watching(cpu: int, *both: Series) -> Watching:
    taken = [np.concatenate([*(series.ordered() or ())]) for series in both]
    plain, watched = ([float(np.median(half)) for half in np.array_split(array, 2)] for array in taken)
    return Watching(
        cpu=cpu,
        samples=(len(taken[0]), len(taken[1])),
        median_ns=(float(np.median(taken[0])), float(np.median(taken[1]))),
        moved_ns=(watched[0] - plain[0], watched[1] - plain[1]),
    )
