# SPDX-License-Identifier: MIT
"""The statistics of a pool as figures: each with an interval, or the reason why it has none."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from rtqual.base.words import count, one_in
from rtqual.engine.analysis.figure.asked import (
    EXTREMES,
    QUANTILES,
    RUNS_FOR_INTERVAL,
    RUNS_FOR_MEDIAN,
    RUNS_FOR_STD,
    fraction,
)
from rtqual.engine.analysis.figure.intervals import (
    BY_RUNS,
    RARE,
    SKEW,
    SKEW_OF_SQUARES,
    FloatArray,
    Sure,
    difference,
    exceedance_bound,
    mean_interval,
    median_interval,
    ratio,
    share_interval,
    sure_correlation,
)
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.engine.analysis.figure.spread import run_medians, spread
from rtqual.engine.analysis.figure.statistics import RELATIVE, evaluate, left_out, lies_in_overflow, mean, quantile
from rtqual.protocols.record.schema import Kind

STEPS_TO_FOLLOW = 20  # distinct values within a quantile's interval; on fewer it moves in steps, not with the average


def pool_figures(pool: Pool) -> dict[str, Figure]:
    """Every statistic the pool can give, in the order to print."""
    medians = run_medians(pool)
    found = None if medians is None else spread(medians, pool.tail)
    figures = {name: _figure(pool, name, value) for name, value in evaluate(pool).items() if math.isfinite(value)}
    return {name: replace(one, spread=None if name in EXTREMES else found) for name, one in figures.items()}


def quantile_figures(pool: Pool, names: Iterable[str], known: Mapping[str, Figure]) -> dict[str, Figure]:
    """Quantiles of the samples, with at least one sample on either side; none of a tool that gave no samples.

    `known` figures are not computed again.
    """
    if pool.kind == Kind.SUMMARY:
        return {}
    return {
        name: known.get(name) or _figure(pool, name, quantile(pool, name))
        for name in names
        if pool.samples * min(fraction(name), 1 - fraction(name)) >= 1
    }


def why_few(runs: int, needed: int = RUNS_FOR_INTERVAL, seen: str = "") -> str:
    return f"{count(runs, 'run')}{seen}; an interval needs {needed}" if runs < needed else ""


def closed(interval: Interval, runs: int) -> tuple[Interval | None, str]:
    """An interval that is open at both ends says nothing, so there is none."""
    if math.isfinite(interval.low) or math.isfinite(interval.high):
        return interval, ""
    more = f"; about {interval.runs_to_close:,} would give one" if interval.runs_to_close else ""
    return None, f"{count(runs, 'run')} that differ so much give no interval{more}"


def _figure(pool: Pool, name: str, value: float) -> Figure:
    why = _why_none(pool, name)
    interval = None if why else _interval(pool, name, value)
    at_least = lies_in_overflow(pool, name, value)
    if interval is not None and (at_least or lies_in_overflow(pool, name, interval.high)):
        interval = Interval(interval.low, math.inf, interval.method, interval.level)
    interval, why = (interval, why) if interval is None else closed(interval, pool.runs)
    return Figure(
        value=value,
        unit="1" if name in RELATIVE else pool.unit,
        n=pool.samples,
        runs=pool.runs,
        interval=interval,
        why_no_interval=why,
        at_least=at_least,
        binned=pool.kind == Kind.BINNED and name.startswith(("p", "(p", "std")),
    )


def _why_none(pool: Pool, name: str) -> str:
    if name == "min":
        return "samples give a minimum no lower end"
    if name in EXTREMES:
        bound = exceedance_bound(0, pool.samples, 1 - 2 * pool.tail)
        rare = f"; larger ones are rarer than {one_in(bound)} (95 %, if independent)"
        return f"samples give a maximum no upper end{rare if bound <= RARE and name == 'max' else ''}"
    if name.startswith("median run"):
        return why_few(pool.runs, RUNS_FOR_MEDIAN)
    return why_few(pool.runs, RUNS_FOR_STD if name == "std" else RUNS_FOR_INTERVAL)


def _interval(pool: Pool, name: str, value: float) -> Interval | None:
    if name.startswith("median run"):
        return median_interval(pool.highs if name == "median run max" else pool.highs - pool.lows, tail=pool.tail)
    if name in ("avg", "std"):
        skew = SKEW if name == "avg" else SKEW_OF_SQUARES
        return mean_interval(value, left_out(pool, name), skew, tail=pool.tail)
    if name in ("p95-avg", "(p95-avg)/p95"):
        return _p95_to_average(pool, value, relative=name in RELATIVE)
    return _quantile_interval(pool, name)


def _quantile_interval(pool: Pool, name: str) -> Interval:
    if pool.kind == Kind.SUMMARY:
        return mean_interval(quantile(pool, name), left_out(pool, name), tail=pool.tail)
    q = fraction(name)
    samples = int(pool.together[-1])
    found = share_interval(_shares(pool, q), float(q), samples, tail=pool.tail)
    low = pool.at_rank(math.ceil(samples * found.low)) if found.low > 0 else -math.inf
    high = pool.at_rank(min(math.floor(samples * found.high) + 1, samples)) if found.high < 1 else math.inf
    return Interval(low, high, BY_RUNS, runs_to_close=found.runs_to_close)


def _shares(pool: Pool, q: Fraction) -> FloatArray:
    """(R,) what each run contributes to the share q of samples below the q-quantile.

    Of the samples that equal the quantile as many count as make up q: a clock's coarse steps would hide how runs vary.
    """
    of_run, together = pool.cumulative[:, -1], pool.together
    wanted = float(together[-1] * q)
    place = int(np.searchsorted(together, math.ceil(wanted)))
    below = pool.cumulative[:, place - 1] if place else np.zeros_like(of_run)
    equal = pool.cumulative[:, place] - below
    counted = below + equal * ((wanted - below.sum()) / equal.sum())
    shares: FloatArray = float(q) + pool.runs * (counted - float(q) * of_run) / together[-1]
    return shares


def _p95_to_average(pool: Pool, value: float, *, relative: bool) -> Interval:
    p95, average = quantile(pool, "p95"), mean(pool)
    without = left_out(pool, "avg")
    if pool.kind == Kind.SUMMARY:
        rest = left_out(pool, "p95")
        return mean_interval(value, 1 - without / rest if relative else rest - without, tail=pool.tail)
    of_p95, of_average = _quantile_interval(pool, "p95"), mean_interval(average, without, tail=pool.tail)
    within = (pool.counts > 0) & (pool.values >= of_p95.low) & (pool.values <= of_p95.high)
    alike = 0.0
    if within.sum() >= STEPS_TO_FOLLOW:
        alike = sure_correlation(-_shares(pool, QUANTILES["p95"]), -without, tail=pool.tail)
    if not relative:
        return difference(Sure(p95, of_p95), Sure(average, of_average), alike)
    parts = ratio(Sure(average, of_average), Sure(p95, of_p95), alike)  # (p95 - avg) / p95 = 1 - avg / p95
    return Interval(1 - parts.high, 1 - parts.low, BY_RUNS, runs_to_close=parts.runs_to_close)


def certain_miss(pool: Pool, name: str, limit: float) -> str:
    """Why a quantile lies above a limit for certain, though its own interval may have no lower end; else empty.

    Either every run's own quantile is above the limit (in RUNS_FOR_MEDIAN or more runs; were it not so, each would be
    above it about every second time), or the share of samples beyond the limit is, at the lower end of its interval,
    larger than the quantile leaves.
    """
    if name not in QUANTILES or pool.kind == Kind.SUMMARY:
        return ""
    of_run, place = pool.cumulative[:, -1], int(np.searchsorted(pool.values, limit, side="right"))
    below = pool.cumulative[:, place - 1] if place else np.zeros_like(of_run)
    left = float(1 - QUANTILES[name])
    if pool.runs >= RUNS_FOR_MEDIAN and (of_run - below > of_run * left).all() and (of_run * left >= 1).all():
        return f"it is above the limit in each of the {count(pool.runs, 'run')}"
    samples, kept = int(of_run.sum()), float(below.sum() / of_run.sum())
    if pool.runs < RUNS_FOR_INTERVAL or not 0 < kept < 1:
        return ""
    per_run: FloatArray = kept + pool.runs * (below - kept * of_run) / samples
    beyond = 1 - share_interval(per_run, kept, samples, tail=pool.tail).high
    if beyond <= left:
        return ""
    return f"at least {100 * beyond:.2g} % of the samples are beyond the limit, and {name} allows {100 * left:g} %"
