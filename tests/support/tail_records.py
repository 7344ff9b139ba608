# SPDX-License-Identifier: MIT
"""Records and missions made up for estimates of tails, and estimates told from refusals."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rtqual.engine.analysis.tails.model import Estimate, Refusal
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Int64Array, Record, Series, Timing
from support.analysis_records import WAKE_UP, mission, record
from support.tail_samples import INTERVAL_NS

S = 10**9
HOUR = 3600 * S


def made(found: Estimate | Refusal) -> Estimate:
    assert isinstance(found, Estimate), found
    return found


def refused(found: Estimate | Refusal) -> Refusal:
    assert isinstance(found, Refusal), found
    return found


@dataclass(frozen=True)
class SmallChunks:
    """The order of a series handed out a few samples at a time."""

    samples: Int64Array
    length: int

    def chunks(self) -> Iterator[Int64Array]:
        for start in range(0, len(self.samples), self.length):
            yield self.samples[start : start + self.length]

    def histogram(self) -> tuple[Int64Array, Int64Array]:
        values, counts = np.unique(self.samples, return_counts=True)
        return values, counts.astype(np.int64)


def field(samples: npt.NDArray[np.int64], *, runs: int = 2, **more: object) -> list[Record]:
    """Runs on this machine, every 200 us."""
    parts = np.array_split(samples, runs)
    settings = {"board": "local", "timing": Timing.REAL, "parameters": {"interval": INTERVAL_NS}, **more}
    return [
        record(Series.raw(part, name="latency", cpu=0), seed=seed, **settings)  # type: ignore[arg-type]
        for seed, part in enumerate(parts, 1)
    ]


def asking(duration: str = "1 h", requirement: bool = True) -> Mission:
    asked = mission(requirements=[WAKE_UP] if requirement else [])
    header = asked.mission.model_copy(update={"duration": {"1 h": HOUR, "30 min": HOUR // 2}[duration]})
    return asked.model_copy(update={"mission": header})
