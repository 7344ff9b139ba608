# SPDX-License-Identifier: MIT
"""How much the samples of a run tell of each other, and how many independent ones they are worth.

Correlations are of ranks (Spearman), so that one huge sample neither makes nor hides them. Every sample gets its
place among all samples of the group, from 0 to 1; each thread of each run is set against its own average, so what
differs from run to run does not count as dependence within one.

The effective number comes from batch means: averages over stretches of about the square root of the samples vary by
more than independent samples would let them, by the factor that the samples are fewer (Flegal & Jones 2010). One
pass over the samples, in constant memory.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rtqual.analysis.intervals import FloatArray
from rtqual.analysis.model import Dependence
from rtqual.record.schema import Int64Array, Series

LAGS = 40
FEWEST = 4 * LAGS  # samples of a run; fewer show no dependence


def dependence(series: Sequence[Series]) -> Dependence | None:
    """Of all threads and runs of a group; None where the order is not recorded or the runs are too short."""
    if not series or any(one.order is None or one.total < FEWEST for one in series):
        return None
    values, counts = _together(series)
    places = (counts.cumsum() - counts / 2) / counts.sum()
    sums = _Sums()
    for one in series:
        mine = places[np.searchsorted(values, one.values)]
        sums.add(one, values, places, float(mine @ one.counts / one.total))
    return sums.result()


def _together(series: Sequence[Series]) -> tuple[Int64Array, Int64Array]:
    values, where = np.unique(np.concatenate([one.values for one in series]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, where, np.concatenate([one.counts for one in series]))
    return values, counts


@dataclass
class _Sums:
    """What is added up over chunks, runs and threads."""

    products: FloatArray = field(default_factory=lambda: np.zeros(LAGS + 1))  # of samples so many apart
    pairs: FloatArray = field(default_factory=lambda: np.zeros(LAGS + 1))
    batch_squares: float = 0.0  # of the batches' averages, each times its length
    batches: int = 0
    samples: int = 0

    def add(self, one: Series, values: Int64Array, places: FloatArray, average: float) -> None:
        length = math.isqrt(one.total)
        before, batch = np.empty(0), np.empty(0)
        for chunk in one.ordered() or ():
            here = places[np.searchsorted(values, chunk)] - average
            joined = np.concatenate([before, here])
            for lag in range(LAGS + 1):
                start = max(len(before), lag)
                self.products[lag] += joined[start:] @ joined[start - lag : len(joined) - lag]
                self.pairs[lag] += len(joined) - start
            before = joined[-LAGS:]
            batch = np.concatenate([batch, here])
            whole = len(batch) - len(batch) % length
            means = batch[:whole].reshape(-1, length).mean(axis=1)
            self.batch_squares += length * float(means @ means)
            self.batches += len(means)
            batch = batch[whole:]
        self.samples += one.total

    def result(self) -> Dependence:
        variances = self.products / self.pairs
        if not variances[0]:  # all samples are alike
            return Dependence((), float(self.samples), self.samples)
        times = max(1.0, self.batch_squares / self.batches / float(variances[0]))
        return Dependence(tuple((variances[1:] / variances[0]).tolist()), self.samples / times, self.samples)
