# SPDX-License-Identifier: MIT
"""Made-up samples whose tails are known, for the tests of tail estimates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from rtqual.engine.analysis.tails.estimate import estimate
from rtqual.engine.analysis.tails.model import Estimate, Refusal
from rtqual.engine.analysis.tails.streams import Stream
from rtqual.protocols.record.schema import Series

INTERVAL_NS = 200_000
Floats = npt.NDArray[np.float64]
SHAPES = {
    "exponential": stats.expon(),
    "heavy": stats.genpareto(0.2),
    "very heavy": stats.genpareto(0.5),
    "bounded": stats.genpareto(-0.2),
    "uniform": stats.uniform(),
    "normal": stats.norm(6),
    "lognormal": stats.lognorm(0.5),
    "gamma": stats.gamma(2),
    "Weibull": stats.weibull_min(0.7),
}


@dataclass(frozen=True)
class Source:
    """Samples of a known tail: origin + scale * x, cut to whole steps as a tool cuts them (all in ns).

    `alone` is the extremal index: below 1, late samples come in clusters.
    """

    shape: str
    samples: int = 50_000
    alone: float = 1.0
    step: int = 1
    origin: float = 5_000
    scale: float = 3_000

    def draw(self, seed: int) -> npt.NDArray[np.int64]:
        rng = np.random.default_rng([seed, self.samples])
        above = rng.random(self.samples) if self.alone == 1 else clustered(rng, self.samples, self.alone)
        values = self.origin + self.scale * SHAPES[self.shape].isf(above)
        return (np.floor(values / self.step) * self.step).astype(np.int64)

    def level(self, times: float) -> float:
        """What a cluster of samples passes once on average in so many times the samples drawn."""
        above = 1 / (self.samples * times * self.alone)
        return float(self.origin + self.scale * SHAPES[self.shape].isf(above))


def clustered(rng: np.random.Generator, samples: int, alone: float) -> Floats:
    """How rare each sample of a max-autoregressive process is: its extremal index is `alone` (Davis & Resnick 1989)."""
    fresh = alone / rng.standard_exponential(samples)  # unit Frechet
    found: list[Floats] = []
    last = 1 / rng.standard_exponential()
    powers = (1 - alone) ** np.arange(1, 201)
    for start in range(0, samples, len(powers)):
        scaled = fresh[start : start + len(powers)] / powers[: samples - start]
        found.append(np.maximum.accumulate(np.maximum(scaled, last)) * powers[: samples - start])
        last = found[-1][-1]
    return np.asarray(-np.expm1(-1 / np.concatenate(found)), np.float64)


def stream(values: npt.NDArray[np.int64], runs: int = 2, interval_ns: int = INTERVAL_NS) -> Stream:
    """The values as so many runs of one thread."""
    series = tuple(Series.raw(part, name="latency") for part in np.array_split(values, runs))
    return Stream(0, series, interval_ns)


def estimated(values: npt.NDArray[np.int64], times: float = 50, runs: int = 2) -> Estimate | Refusal:
    """The tail for so many times the running time."""
    one = stream(values, runs)
    return estimate(one, times * one.exposure_ns)


def given(found: Estimate | Refusal) -> Estimate | None:
    """What is estimated, be it for a shorter time than was asked for."""
    return found.instead if isinstance(found, Refusal) else found


def holds(source: Source, seed: int, times: float) -> bool | None:
    """Whether the interval holds the true level; None where there is none."""
    made = given(estimated(source.draw(seed), times))
    if made is None:
        return None
    truth = source.level(made.level.horizon_ns / made.observed.exposure_ns)
    return made.level.at.low <= truth <= made.level.at.high


def share(answers: Sequence[bool | None]) -> float:
    """Of the intervals that were given, those that hold the truth."""
    told = [one for one in answers if one is not None]
    return sum(told) / len(told)
