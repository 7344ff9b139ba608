# SPDX-License-Identifier: MIT
"""Peaks over every threshold worth a look, and the rule that picks one.

The rule: start from the threshold that leaves 200 clusters, or one of 200 samples where that is fewer, and never
fewer than 50 clusters. That high, the generalised Pareto distribution has come close enough for most tails: on
normal, lognormal, gamma and Weibull samples the intervals keep their level, with twice as many peaks they begin
to lose it. If its estimates of shape and level do not lie in the intervals of all higher thresholds, go up to the
next; if no threshold settles so, there is no estimate.
"""

import math
from collections.abc import Sequence

import numpy as np

from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.tails import tail_model
from rtqual.engine.analysis.tails.model import Estimated, Fitted
from rtqual.engine.analysis.tails.peaks import Clusters, Exceedances, decluster
from rtqual.engine.analysis.tails.tail_model import Fit, Steps
from rtqual.protocols.record.schema import Int64Array

FEWEST, MOST = 50, 200  # clusters over the threshold picked
ONE_IN = 200  # samples: a cluster, where that gives fewer than MOST
LARGEST_PART = 20  # no threshold lies below the upper 1/20 of the samples
FEWEST_SHOWN = 30  # clusters over the highest threshold of the table
_BELOW = 4  # the table starts where there are so many times the clusters of the first choice
_MOST_EXCEEDANCES = 25_600  # over the lowest threshold: what is kept in memory
_DENSER = math.sqrt(2)  # clusters of one threshold to those of the next
_SINGLY, _GROUPED = 40, 100  # largest values kept apart, and groups for the others: enough for the likelihood
RAYS, _RAYS_OF_TABLE = 160, 60


def candidates(values: Int64Array, counts: Int64Array) -> list[int]:
    """Thresholds to try, ascending: those values whose exceedances come nearest to a geometric row of numbers."""
    above = counts[::-1].cumsum()[::-1]
    total = int(above[0]) if len(above) else 0
    most = min(total // LARGEST_PART, _MOST_EXCEEDANCES)
    if most < FEWEST_SHOWN:
        return []
    wanted = np.geomspace(most, FEWEST_SHOWN, 1 + round(math.log(most / FEWEST_SHOWN) / math.log(_DENSER)))
    allowed = np.flatnonzero(above <= most)
    if not len(allowed):
        return []
    nearest = [allowed[np.abs(np.log(above[allowed] / number)).argmin()] for number in wanted]
    return [int(values[at]) for at in sorted(set(nearest))]


def steps(values: Int64Array | FloatArray, origin: float, step: float) -> Steps:
    """Values as the steps they lie in, above an origin. Where there are many, neighbours share a step."""
    found, counts = np.unique(np.asarray(values, np.float64) - origin, return_counts=True)
    low, high = found, found + step
    if len(found) > _SINGLY + _GROUPED:
        top = len(found) - _SINGLY
        first = np.linspace(0, top, _GROUPED, endpoint=False).astype(np.int64)
        counts = np.concatenate([np.add.reduceat(counts[:top], first), counts[top:]])
        high = np.concatenate([low[np.append(first[1:], top)], high[top:]])
        low = np.concatenate([low[first], low[top:]])
    return Steps(low, high, counts.astype(np.float64))


def fit_peaks(clusters: Clusters, step: float, rays: int) -> tuple[Fit, float]:
    """The fit in units of the mean excess, and that unit."""
    excesses = steps(clusters.peak, clusters.threshold, step)
    unit = excesses.mean
    scaled = excesses.scaled(unit)
    start = np.array([math.log(clusters.number), 0.0, 0.1])
    return tail_model.fit(
        tail_model.peaks(scaled), start, tail_model.peaks_spread(start, clusters.number), rays=rays
    ), unit


def declustered(found: Exceedances, values: Int64Array, counts: Int64Array) -> list[Clusters]:
    """Clusters over every threshold of the table, ascending; each has fewer than the one before."""
    kept: list[Clusters] = []
    for threshold in candidates(values, counts):
        clusters = decluster(found, threshold)
        if clusters.number >= FEWEST_SHOWN and (not kept or clusters.number < kept[-1].number):
            kept.append(clusters)
    if not kept:
        return kept
    first = kept[first_choice(kept, int(counts.sum()))].number
    return [clusters for clusters in kept if clusters.number <= _BELOW * first]


def first_choice(kept: Sequence[Clusters], samples: int) -> int:
    """The place of the threshold whose number of clusters comes nearest to the rule."""
    wanted = min(MOST, max(FEWEST, samples // ONE_IN))
    distance = [abs(math.log(clusters.number / wanted)) + (clusters.number < FEWEST) * 99 for clusters in kept]
    return int(np.argmin(distance))


def fitted(clusters: Clusters, fit: Fit, unit: float, times: float) -> Fitted:
    """A row of the table."""
    shape = fit.edge[:, 2]
    modified = unit * np.exp(fit.edge[:, 1]) - shape * clusters.threshold
    best = unit * math.exp(fit.best[1]) - fit.best[2] * clusters.threshold
    return Fitted(
        threshold=float(clusters.threshold),
        exceedances=clusters.exceedances,
        clusters=clusters.number,
        apart=clusters.apart,
        extremal_index=clusters.extremal_index,
        shape=Estimated(float(fit.best[2]), float(shape.min()), float(shape.max())),
        modified_scale=Estimated(float(best), float(modified.min()), float(modified.max())),
        level=level_of(fit, clusters.threshold, unit, times),
    )


def level_of(fit: Fit, threshold: float, unit: float, times: float) -> Estimated:
    return Estimated(*(threshold + unit * y for y in fit.level(times)))


def table(kept: Sequence[Clusters], step: float, times: float) -> tuple[Fitted, ...]:
    return tuple(fitted(clusters, *fit_peaks(clusters, step, _RAYS_OF_TABLE), times) for clusters in kept)


def settled(rows: Sequence[Fitted], first: int) -> int | None:
    """The first row from `first` up whose estimates lie in the intervals of all rows above it."""
    for place in range(first, len(rows)):
        row = rows[place]
        above = rows[place + 1 :]
        if row.clusters < FEWEST or not above:
            return None
        if all(_holds(fit.shape, row.shape.value) and _holds(fit.level, row.level.value) for fit in above):
            return place
    return None


def _holds(interval: Estimated, value: float) -> bool:
    return interval.low <= value <= interval.high
