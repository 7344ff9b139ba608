# SPDX-License-Identifier: MIT
"""How often a value is passed far out in a tail: one model, fitted to peaks over a threshold or to block maxima.

Above an origin, the expected number of passings of y is rate * (1 + shape * y / scale)^(-1/shape). Peaks over a
threshold then follow a generalised Pareto distribution, their number a Poisson one, and block maxima a generalised
extreme value distribution of the same shape (Pickands 1971; Coles 2001, chapter 7).

Every value stands for the step of the clock or the tool that it lies in, [low, high), so the likelihood is that of
the steps and quantised samples need no jitter. Intervals are profile-likelihood intervals: the range of a figure
over all parameters whose log-likelihood lies less than a cut below the largest (Coles 2001, section 2.6.6).

Everything here is without unit: values are divided by their own size before they come here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import special

from rtqual.engine.analysis.figure.intervals import FloatArray

SHAPES = (-1.0, 3.0)  # below: an upper end that all samples touch; above: a tail of which samples tell nothing
# Of 50 to 200 peaks the region at 95 % holds the truth in 92 to 94 %: the tail is not yet quite its limit. Asked for
# 97 %, it holds it in 95 % (measured; docs/tails.md).
_ASKED = 0.97
_CUT = float(special.gammaincinv(1 / 2, _ASKED))  # half the quantile of chi-squared, as below
# Below this shape the samples crowd against an upper end, whose likelihood falls off as an exponential (Smith 1985).
_REGULAR, _CUT_IRREGULAR = -0.5, float(special.gammaincinv(2 / 2, _ASKED))
_NOWHERE = -1e9  # the log-likelihood of the impossible
_STRAIGHT = 1e-6  # a smaller shape makes no difference
_WIDENINGS, _BISECTIONS = 14, 8  # to 1/256 of the bracket
LogLikelihood = Callable[[FloatArray], FloatArray]  # (P, 3) log rate, log scale, shape -> (P,)


@dataclass(frozen=True)
class Steps:
    """Values in steps: `counts` of them in [low, high), ascending."""

    low: FloatArray
    high: FloatArray
    counts: FloatArray

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @property
    def mean(self) -> float:
        return float((self.low + self.high) / 2 @ self.counts / self.total)

    def scaled(self, by: float) -> "Steps":
        return Steps(self.low / by, self.high / by, self.counts)


@dataclass(frozen=True)
class Fit:
    """The most likely parameters and the edge of the region that holds them with 95 % for any one figure."""

    best: FloatArray  # (3,) log rate, log scale, shape
    edge: FloatArray  # (P, 3); empty where it was not asked for

    def level(self, times: float) -> tuple[float, float, float]:
        """The level passed once on average in so many times the observed span: most likely, low, high.

        No upper end where the samples do not exclude the heaviest tail there is.
        """
        high = math.inf if self.open else float(level(self.edge, times).max())
        return float(level(self.best, times)), float(level(self.edge, times).min()), high

    @property
    def open(self) -> bool:
        return bool((self.edge[:, 2] > SHAPES[1] - 0.01).any())


def log_passing(y: FloatArray, parameters: FloatArray) -> FloatArray:
    """Log of the share of values above the origin that are above y too; parameters (..., 1, 3) against y (D,)."""
    shape = parameters[..., 2]
    shape = np.where(np.abs(shape) < _STRAIGHT, _STRAIGHT, shape)
    grown = 1 + shape * y * np.exp(-parameters[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(grown > 0, -np.log(grown) / shape, np.where(shape > 0, np.inf, -np.inf))


def level(parameters: FloatArray, times: float) -> FloatArray:
    """The y passed once on average in so many times the span; below 0 where the origin is passed less often."""
    shape = parameters[..., 2]
    shape = np.where(np.abs(shape) < _STRAIGHT, _STRAIGHT, shape)
    with np.errstate(over="ignore"):
        grown = np.expm1(shape * (parameters[..., 0] + math.log(times)))
    return np.asarray(np.exp(parameters[..., 1]) * grown / shape)


def peaks(steps: Steps) -> LogLikelihood:
    """The likelihood of excesses over a threshold, and of their number."""

    def log_likelihood(parameters: FloatArray) -> FloatArray:
        at = parameters[..., None, :]
        low, high = log_passing(steps.low, at), log_passing(steps.high, at)
        rate = parameters[..., 0]
        return _within(low, high) @ steps.counts + steps.total * rate - np.exp(rate)

    return log_likelihood


def maxima(steps: Steps) -> LogLikelihood:
    """The likelihood of the largest value of every block."""

    def log_likelihood(parameters: FloatArray) -> FloatArray:
        at = parameters[..., None, :]
        with np.errstate(over="ignore"):
            low, high = (-np.exp(at[..., 0] + log_passing(y, at)) for y in (steps.low, steps.high))
        return _within(high, low) @ steps.counts

    return log_likelihood


def _within(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Log of the difference of two probabilities given by their logs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = larger + np.log(-np.expm1(smaller - larger))
    return np.where(np.isfinite(found), found, _NOWHERE)


def fit(log_likelihood: LogLikelihood, start: FloatArray, spread: FloatArray | None = None, *, rays: int = 0) -> Fit:
    """The maximum of a likelihood, and so many points of the region's edge.

    `spread`: about how the estimates of the parameters vary together (3, 3), where the rate of `start` is the most
    likely one; without it, all three are looked for.
    """
    from scipy import optimize  # noqa: PLC0415 - slow to load

    known = start[:0] if spread is None else start[:1]

    def loss(free: FloatArray) -> float:
        parameters = np.concatenate([known, free])
        if not SHAPES[0] <= parameters[2] <= SHAPES[1]:
            return -_NOWHERE
        return -float(log_likelihood(parameters))

    first = start[len(known) :]
    simplex = np.vstack([first, first + 0.25 * np.eye(len(first))])
    found = optimize.minimize(
        loss,
        first,
        method="Nelder-Mead",
        options={"xatol": 2e-3, "fatol": 1e-3, "maxiter": 500, "initial_simplex": simplex},
    )
    best = np.concatenate([known, found.x])
    if not rays:
        return Fit(best, np.empty((0, 3)))
    return Fit(best, _edge(log_likelihood, best, _bend(loss, best) if spread is None else spread, rays))


def _bend(loss: Callable[[FloatArray], float], best: FloatArray) -> FloatArray:
    """The inverse of the second derivatives at the maximum; rough is enough, it only aims the rays."""
    h = 0.02 * np.eye(3)
    second = np.array(
        [[loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b) for b in h] for a in h]
    ) / (4 * 0.02**2)
    values, vectors = np.linalg.eigh((second + second.T) / 2)
    return np.asarray(vectors / np.maximum(values, 1.0) @ vectors.T)


def peaks_spread(best: FloatArray, total: float) -> FloatArray:
    """How estimates from so many peaks vary together (Coles 2001, section 4.3.4, in the log of the scale)."""
    grown = 1 + max(float(best[2]), -0.4)
    spread = np.zeros((3, 3))
    spread[0, 0] = 1 / total
    spread[1:, 1:] = grown / total * np.array([[2, -1], [-1, grown]])
    return spread


def _edge(log_likelihood: LogLikelihood, best: FloatArray, spread: FloatArray, rays: int) -> FloatArray:
    """Where rays from the maximum leave the region, all found together by widening and bisection."""
    directions = _sphere(rays) @ np.linalg.cholesky(spread).T
    top = float(log_likelihood(best))
    cut = _CUT if best[2] > _REGULAR else _CUT_IRREGULAR
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(directions[:, 2] > 0, SHAPES[1] - best[2], SHAPES[0] - best[2]) / directions[:, 2]
    ends = np.where(np.isfinite(ends), np.maximum(ends, 0), np.inf)

    def inside(reach: FloatArray) -> npt.NDArray[np.bool_]:
        return (reach <= ends) & (top - log_likelihood(best + reach[:, None] * directions) < cut)

    low, high = np.zeros(rays), np.minimum(np.full(rays, math.sqrt(2 * cut)), ends)
    for _ in range(_WIDENINGS):
        held = inside(high) & (high < ends)
        if not held.any():
            break
        low, high = np.where(held, high, low), np.where(held, np.minimum(1.6 * high, ends), high)
    low = np.where(inside(high), high, low)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        held = inside(middle)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    return best + low[:, None] * directions


@cache
def _sphere(rays: int) -> FloatArray:
    """Directions spread evenly: a Fibonacci lattice (Gonzalez 2010)."""
    turn = np.arange(rays) + 0.5
    height, angle = 1 - 2 * turn / rays, np.pi * (1 + math.sqrt(5)) * turn
    flat = np.sqrt(1 - height**2)
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)
