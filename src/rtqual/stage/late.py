# SPDX-License-Identifier: MIT
"""Why samples of the instrument timerlat-late were late, as the measured system's own kernel told it in the run.

Nothing is made again, so this is for real boards and this machine too. Watching disturbs, and the record says by how
much: half of its samples were taken without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.cause.timeline import Timeline
from rtqual.cause.told import told
from rtqual.record.schema import Record, Timing
from rtqual.stage.explain import Asked

UNWATCHED, WATCHED = "thread", "watched thread"  # series of instrument/late.py


@dataclass(frozen=True)
class Told:
    record: str
    path: Path
    candidate: str
    load: str
    board: str
    timing: Timing
    seed: int
    samples: tuple[int, int]  # without watching, and with it
    median_ns: tuple[float, float]
    moved_ns: tuple[float, ...]  # the median by watching: in the first half of the run, in the second
    timelines: tuple[Timeline, ...]  # the latest sample first


def kept(records: Mapping[Path, Record]) -> list[Path]:
    """Those whose instrument told what made samples late, once each."""
    return [path for path, one in records.items() if one.manifest.late is not None and not one.manifest.repeat]


def of(path: Path, record: Record, asked: Asked) -> Told:
    """Raises BadInput where nothing of what is asked was kept."""
    manifest = record.manifest
    both = [_in_order(record, name) for name in (UNWATCHED, WATCHED)]
    lines = [told(one) for one in sorted(manifest.late or [], key=lambda one: (-one.value_ns, one.cpu, one.number))]
    if asked.sample is not None:
        chosen = [line for line in lines if line.sample.number == asked.sample]
    else:
        above = 0 if asked.above_ns is None else sum(line.sample.value_ns > asked.above_ns for line in lines)
        chosen = lines[: max(asked.worst, above)]
    if not chosen or not all(len(one) for one in both):
        raise BadInput(f"{path}: keeps its {len(lines)} latest samples, and none of those asked for")
    halves = [[np.median(half) for half in np.array_split(one, 2)] for one in both]
    return Told(
        record=manifest.hash[:16],
        path=path,
        candidate=manifest.inputs.candidate,
        load=manifest.inputs.load,
        board=manifest.inputs.board,
        timing=manifest.timing,
        seed=manifest.inputs.seed,
        samples=(len(both[0]), len(both[1])),
        median_ns=(float(np.median(both[0])), float(np.median(both[1]))),
        moved_ns=tuple(float(after - before) for before, after in zip(*halves, strict=True)),
        timelines=tuple(chosen),
    )


def _in_order(record: Record, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The samples of the first CPU: the halves of a run are the halves of each CPU's samples."""
    one = next((one for one in record.series if one.info.name == name and one.order is not None), None)
    return np.concatenate([*one.order.chunks()]) if one and one.order and one.total else np.array([], np.int64)
