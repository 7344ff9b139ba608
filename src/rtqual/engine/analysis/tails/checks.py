# SPDX-License-Identifier: MIT
"""What an estimate of a tail rests on, each judged by the size of a deviation, not by whether it is significant.

The limits are set so that samples from one tail, independent but for clusters, pass: of such samples a few in a
hundred fail one of them (docs/tails.md has the figures).
"""

import math
from collections.abc import Sequence

import numpy as np

from rtqual.base.units import format_ns
from rtqual.base.words import count
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.tails import tail_model
from rtqual.engine.analysis.tails.model import Checked, Estimated, Fitted, ReturnLevel, TailCheck
from rtqual.engine.analysis.tails.peaks import Clusters, Exceedances
from rtqual.engine.analysis.tails.tail_model import Fit, Steps
from rtqual.engine.analysis.tails.thresholds import RAYS, steps

UNEXPECTED = 1.5  # times the peaks that the rest of the tail predicts at most
MISFIT = 0.15  # distance of two distribution functions
HEAVIEST = 1.0  # shape: from here on a tail has no mean, as no latency has; it is a mixture, or drifts
APART = 2.0  # halves: a ratio
BUNCHED = 2.0  # counts vary so many times as much as independent ones
ALIKE = 0.3  # rank correlation
_RAREST = 30.0  # -log of a probability; a peak at the upper end of a bounded tail has none
_A_SEGMENT = 5  # clusters, on average
_PARTS = 4  # of a run
_BY_CHANCE = 0.01  # so many runs of one kind seem to differ
UNLIKE = 0.5  # runs: a part of the rate; scales that differ by 10 % make it about as much at one sample in 200


def stability(rows: Sequence[Fitted], first: int, chosen: int | None) -> TailCheck:
    if chosen is None:
        low, high = (f([row.level.value for row in rows[first:]]) for f in (min, max))
        text = (
            f"no threshold settles: from {format_ns(rows[first].threshold)} up, the level goes from "
            f"{format_ns(low)} to {format_ns(high)} and leaves the intervals of higher thresholds"
        )
    else:
        text = (
            f"shape and level at {format_ns(rows[chosen].threshold)} lie in the intervals of every higher "
            f"threshold ({len(rows) - chosen - 1})"
        )
    return TailCheck(Checked.SETTLED, chosen is not None, text)


def spikes(clusters: Clusters, step: float) -> TailCheck:
    """Whether a few of the largest lie far above what the tail below them predicts.

    The tail is fitted with the largest known only to be large (censored above the widest gap). Then the peaks
    that it predicts above them, at the upper end of the interval, are set against those that are there.
    """
    ordered = np.sort(clusters.peak)[::-1].astype(np.float64)
    most = len(ordered) // 2
    excess = ordered - clusters.threshold + step
    widths = (excess[:most] - excess[1 : most + 1]) / (excess[1 : most + 1] + excess[most])
    few = int((np.arange(1, most + 1) * widths).argmax()) + 1
    below = steps(ordered[few:], clusters.threshold, step)
    unit = below.mean
    censored = Steps(
        np.append(below.low, below.high[-1]) / unit,
        np.append(below.high, math.inf) / unit,
        np.append(below.counts, few),
    )
    start = np.array([math.log(clusters.number), 0.0, 0.1])
    spread = tail_model.peaks_spread(start, clusters.number - few)
    fit = tail_model.fit(tail_model.peaks(censored), start, spread, rays=RAYS // 2)
    y = np.array([(ordered[few - 1] - clusters.threshold) / unit])
    predicted = np.exp(fit.edge[:, 0] + tail_model.log_passing(y, fit.edge[:, None, :])[:, 0])
    at_most = float(predicted.max())
    passed = few <= UNEXPECTED * at_most
    what = "largest peak lies" if few == 1 else f"{few} largest peaks lie"
    text = (
        f"the {what} at {format_ns(ordered[few - 1])} or more, where the tail below "
        f"{format_ns(ordered[few])} predicts at most {_few(at_most)}"
    )
    return TailCheck(Checked.SPIKES, passed, text if passed else f"{text}: they come from something else")


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def fit_distance(clusters: Clusters, step: float, fit: Fit, unit: float) -> TailCheck:
    """The largest distance between the distribution of the excesses and the fitted one."""
    excesses = steps(clusters.peak, clusters.threshold, step)
    seen = 1 - excesses.counts.cumsum() / excesses.total
    fitted = np.exp(tail_model.log_passing(excesses.high / unit, fit.best[None, :]))
    distance = float(np.abs(seen - fitted).max())
    text = f"the fitted tail is off by at most {100 * distance:.2g} % of the peaks (allowed: {100 * MISFIT:.0f} %)"
    return TailCheck(Checked.SHAPE, distance <= MISFIT, text)


def weight(fit: Fit) -> TailCheck:
    shape = float(fit.best[2])
    text = f"the shape is {shape:.2f} (allowed: below {HEAVIEST:g}, from where on a tail has no mean)"
    return TailCheck(Checked.WEIGHT, shape < HEAVIEST, text)


def halves(clusters: Clusters, times: FloatArray, step: float, fit: Fit, unit: float) -> TailCheck:
    """Number and size of the peaks in the second half of the samples against the first.

    How far out a peak lies is measured by how rare it is in the fitted tail, so a single huge peak does not decide.
    """
    early = times < 0.5
    numbers = early.sum(), (~early).sum()
    if not min(numbers):
        return TailCheck(Checked.HALVES, False, "all peaks lie in one half of the samples")
    y = (clusters.peak.astype(np.float64) - clusters.threshold + step / 2) / unit
    rare = np.minimum(-tail_model.log_passing(y, fit.best[None, :]), _RAREST)
    rate, size = numbers[1] / numbers[0], rare[~early].mean() / rare[early].mean()
    worst = max(rate, 1 / rate, size, 1 / size)
    text = (
        f"the second half has {rate:.2f} times the peaks of the first, on average {size:.2f} times as far out "
        f"(allowed: {1 / APART:g} to {APART:g})"
    )
    return TailCheck(Checked.HALVES, bool(worst <= APART), text)


def runs_alike(found: Exceedances, lengths: Sequence[int]) -> TailCheck:
    """By how much the rate of exceedances differs from run to run, beyond what it does within runs.

    Declustering takes the many of a bad run for few clusters, so exceedances are counted, in the quarters of each run;
    their roots vary alike however many there are, and by half as large a part as the rates (analysis of variance).
    """
    runs = len(lengths)
    if runs < 2 or min(lengths) < _PARTS:
        return TailCheck(Checked.RUNS, True, "one run" if runs < 2 else "runs too short to compare")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    within = (found.place - starts[found.run]) * _PARTS // np.asarray(lengths)[found.run]
    counts = np.zeros((runs, _PARTS))
    np.add.at(counts, (found.run, within), 1)
    roots = np.sqrt(counts + 3 / 8)  # Anscombe 1948
    between, inside = _PARTS * float(roots.mean(axis=1).var(ddof=1)), float(roots.var(axis=1, ddof=1).mean())
    from scipy import stats  # noqa: PLC0415 - slow to load

    allowed = float(stats.f.isf(_BY_CHANCE, runs - 1, runs * (_PARTS - 1)))
    by_chance = between <= allowed * inside
    part = 2 * math.sqrt(max(0.0, between - inside) / _PARTS) / float(roots.mean())
    beyond = " by no more than chance," if by_chance else ""
    text = (
        f"from run to run the rate of exceedances differs{beyond} by {100 * part:.0f} % (allowed: {100 * UNLIKE:.0f} %)"
    )
    return TailCheck(Checked.RUNS, by_chance or part <= UNLIKE, text)


def bouts(clusters: Clusters, times: FloatArray) -> TailCheck:
    """Variance over mean of the clusters in equal stretches of time."""
    stretches = clusters.number // _A_SEGMENT
    counts = np.bincount((times * stretches).astype(np.int64).clip(0, stretches - 1), minlength=stretches)
    dispersion = float(counts.var(ddof=1) / counts.mean())
    text = (
        f"clusters in {stretches} equal stretches vary {dispersion:.2f} times as much as independent ones "
        f"(allowed: {BUNCHED:g})"
    )
    return TailCheck(Checked.BOUTS, dispersion <= BUNCHED, text)


def peaks_alike(clusters: Clusters) -> TailCheck:
    """Rank correlation of a peak and the next."""
    _, place, equal = np.unique(clusters.peak, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(equal) - (equal - 1) / 2)[place]  # equal peaks have equal ranks
    together = float(np.corrcoef(ranks[1:], ranks[:-1])[0, 1])
    text = f"rank correlation of a peak with the next: {together:.2f} (allowed: -{ALIKE:g} to {ALIKE:g})"
    return TailCheck(Checked.PEAKS, abs(together) <= ALIKE, text)


def block_maxima(level: Estimated, other: ReturnLevel | None, blocks: int, block_ns: float) -> TailCheck:
    if other is None:
        return TailCheck(Checked.MAXIMA, False, f"{count(blocks, 'block')}: too few for a cross-check by block maxima")
    agree = other.at.low <= level.high and level.low <= other.at.high
    text = (
        f"{count(blocks, 'block maximum').replace('maximums', 'maxima')} of {format_ns(block_ns)} each give "
        f"{format_ns(other.at.value)} [{format_ns(other.at.low)}, {format_ns(other.at.high)}]: "
        f"{'this agrees' if agree else 'this does not agree'}"
    )
    return TailCheck(Checked.MAXIMA, agree, text)
