# SPDX-License-Identifier: MIT
"""How the samples of a run depend on each other, and how many independent samples they are worth.

Correlations are of ranks (Spearman), so that one huge sample neither makes nor hides them. Every sample gets its
place among all samples of the group, from 0 to 1; each thread of each run is set against its own average, so what
differs from run to run does not count as dependence within one.

The effective number comes from batch means: averages over stretches of about the square root of the samples vary by
more than independent samples would let them, by the factor that the samples are fewer (Flegal & Jones 2010). It
differs with what is asked: a level that drifts slowly leaves few for the median, and may leave most for the question
how often a sample is late. So it is found for the places, and for being among the worst hundredth.

One pass over the samples, in constant memory.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.figure.model import Dependence
from rtqual.protocols.record.schema import Int64Array, Series

LAGS = 40
FEWEST = 4 * LAGS  # samples of a run; fewer show no dependence
LATE = 0.99  # the place from where on a sample is late


def dependence(series: Sequence[Series]) -> Dependence | None:
    """Of all threads and runs of a group; None where the order is not recorded or the runs are too short."""
    if not series or any(curve.order is None or curve.total < FEWEST for curve in series):
        return None
    values, counts = together(series)
    places = (counts.cumsum() - counts / 2) / counts.sum()
    late = (places > LATE).astype(np.float64)
    products, pairs = np.zeros(LAGS + 1), np.zeros(LAGS + 1)
    of_places, of_late = _Batches(), _Batches()
    for each in series:
        average, share = (_average(each, values, scores) for scores in (places, late))
        before = np.empty(0)
        of_places.begin(each.total)
        of_late.begin(each.total)
        for chunk in each.ordered() or ():
            at = np.searchsorted(values, chunk)
            joined = np.concatenate([before, places[at] - average])
            for lag in range(LAGS + 1):
                start = max(len(before), lag)
                if start < len(joined):
                    products[lag] += joined[start:] @ joined[start - lag : len(joined) - lag]
                    pairs[lag] += len(joined) - start
            of_places.add(joined[len(before) :])
            of_late.add(late[at] - share)
            before = joined[-LAGS:]
    samples = int(counts.sum())
    variances = products / pairs
    lags = tuple((variances[1:] / variances[0]).tolist()) if variances[0] else ()
    return Dependence(lags, samples / of_places.inflation, samples / of_late.inflation, samples)


def together(series: Sequence[Series]) -> tuple[Int64Array, Int64Array]:
    """Distinct values of several series, ascending, and how often each came."""
    if len(series) == 1:
        return series[0].values, series[0].counts
    values, where = np.unique(np.concatenate([each.values for each in series]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, where, np.concatenate([each.counts for each in series]))
    return values, counts


def _average(series: Series, values: Int64Array, scores: FloatArray) -> float:
    return float(scores[np.searchsorted(values, series.values)] @ series.counts / series.total)


@dataclass
class _Batches:
    """Averages of scores over stretches of a run, less the run's own average."""

    length: int = 1
    rest: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: float = 0.0  # of the averages, each times its length
    number: int = 0
    variance: float = 0.0  # sums of squares of the scores
    samples: int = 0

    def begin(self, samples: int) -> None:
        """A run of so many samples begins; what is left over of the run before is not used."""
        self.length, self.rest = math.isqrt(samples), np.empty(0)

    def add(self, scores: FloatArray) -> None:
        self.variance += float(scores @ scores)
        self.samples += len(scores)
        joined = np.concatenate([self.rest, scores])
        whole = len(joined) - len(joined) % self.length
        means = joined[:whole].reshape(-1, self.length).mean(axis=1)
        self.squares += self.length * float(means @ means)
        self.number += len(means)
        self.rest = joined[whole:]

    @property
    def inflation(self) -> float:
        """Variance of the batch means over that of independent samples; at least 1: none is worth more than itself."""
        if not self.variance or not self.number:
            return 1.0
        return max(1.0, self.squares / self.number / (self.variance / self.samples))
