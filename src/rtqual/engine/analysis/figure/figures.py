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
    OF_RUNS,
    QUANTILES,
    RUNS_FOR_INTERVAL,
    RUNS_FOR_MEDIAN,
    RUNS_FOR_STD,
    UPPER,
    UPPER_SHARE,
    fraction,
)
from rtqual.engine.analysis.figure.intervals import (
    BY_RUNS,
    FINEST,
    RARE,
    SKEW,
    SKEW_OF_SQUARES,
    FloatArray,
    Sure,
    at_least_wide,
    difference,
    exceedance_bound,
    mean_interval,
    median_interval,
    order_interval,
    rare_level,
    ratio,
    share_interval,
    sure_correlation,
    variances,
)
from rtqual.engine.analysis.figure.model import Figure, Interval, Spread
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.engine.analysis.figure.spread import LARGEST, run_medians, run_quantiles, spread
from rtqual.engine.analysis.figure.statistics import RELATIVE, evaluate, left_out, lies_in_overflow, mean, quantile
from rtqual.protocols.record.schema import Int64Array, SeriesKind

_SIGNED = ("p95-avg", "(p95-avg)/p95")  # negative where rare samples lift the average
STEPS_TO_FOLLOW = 20  # distinct values within a quantile's interval; on fewer it moves in steps, not with the average


def pool_figures(pool: Pool) -> dict[str, Figure]:
    """Every statistic the pool can give, in the order to print."""
    medians = run_medians(pool)
    found = None if medians is None else spread(medians, pool.tail, pool.step)
    figures = {name: _figure(pool, name, value) for name, value in evaluate(pool).items() if math.isfinite(value)}
    spreads = dict.fromkeys(figures, found) | dict.fromkeys(EXTREMES) | _spreads_of_maxima(pool)
    return {name: replace(figure, spread=spreads[name]) for name, figure in figures.items()}


def _spreads_of_maxima(pool: Pool) -> dict[str, Spread]:
    """Runs may differ by their largest samples though their medians are alike."""
    of_runs = {"max": pool.highs, "max-min": pool.highs - pool.lows}
    found = {name: spread(values, pool.tail, pool.step, LARGEST) for name, values in of_runs.items()}
    return {name: found["max-min" if "max-min" in name else "max"] for name in OF_RUNS}


def quantile_figures(pool: Pool, names: Iterable[str], known: Mapping[str, Figure]) -> dict[str, Figure]:
    """Quantiles of the samples, with at least one sample on either side; none of a tool that gave no samples.

    `known` figures are not computed again.
    """
    if pool.kind == SeriesKind.SUMMARY:
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
    interval, least = None if why else _interval(pool, name, value), _least(pool, name, value)
    if interval is not None:
        interval = at_least_wide(interval, value, least, signed=pool.signed or name in _SIGNED)
    at_least = lies_in_overflow(pool, name, value)
    if interval is not None and (at_least or lies_in_overflow(pool, name, interval.high)):
        interval = replace(interval, high=math.inf)
    interval, why = (interval, why) if interval is None else closed(interval, pool.runs)
    return Figure(
        value=value,
        unit="1" if name in RELATIVE else pool.unit,
        n=pool.samples,
        runs=pool.runs,
        interval=interval,
        why_no_interval=why,
        at_least=at_least,
        binned=_is_binned(pool, name),
        least=least,
    )


def _is_binned(pool: Pool, name: str) -> bool:
    """Whether a figure is read from the tool's own bins, and not printed by it."""
    printed = ("avg", "min", "max")
    needed = (
        [statistic for statistic in printed if statistic in name] if not name.startswith(("p", "(p", "std")) else [""]
    )
    return pool.kind == SeriesKind.BINNED and any(statistic not in pool.reported for statistic in needed)


def _least(pool: Pool, name: str, value: float) -> float:
    """What the measurement can tell apart: one step of the clock, or FINEST of what was measured; of a difference, of
    the larger one of the two."""
    if name in ("p95-avg", "(p95-avg)/p95"):
        size = abs(quantile(pool, "p95"))
    else:
        size = float(np.abs(pool.highs).max()) if "max-min" in name else abs(value)
    least = max(pool.step, FINEST * size, pool.bin_width(size) if _is_binned(pool, name) else 0.0)
    return least / size if name in RELATIVE else least


def _why_none(pool: Pool, name: str) -> str:
    if name == "min":
        return "samples give a minimum no lower end"
    if name in EXTREMES:
        bound = exceedance_bound(0, pool.samples, 1 - 2 * pool.tail)
        rare = f"; larger ones are rarer than {one_in(bound)} (95 %, if independent)"
        return f"samples give a maximum no upper end{rare if bound <= RARE and name == 'max' else ''}"
    if name in OF_RUNS:
        return why_few(pool.runs, RUNS_FOR_MEDIAN)
    return why_few(pool.runs, RUNS_FOR_STD if name == "std" else RUNS_FOR_INTERVAL)


def _interval(pool: Pool, name: str, value: float) -> Interval | None:
    if name in OF_RUNS:
        of_runs = pool.highs - pool.lows if "max-min" in name else pool.highs
        if name in UPPER:
            return median_interval(of_runs, tail=pool.tail)
        return order_interval(of_runs, UPPER_SHARE, tail=pool.tail)
    if name in ("avg", "std"):
        skew = SKEW if name == "avg" else SKEW_OF_SQUARES
        signed = pool.signed and name == "avg"
        return mean_interval(value, left_out(pool, name), skew, signed=signed, tail=pool.tail)
    if name in ("p95-avg", "(p95-avg)/p95"):
        return _p95_to_average(pool, value, relative=name in RELATIVE)
    return _quantile_interval(pool, name)


def _quantile_interval(pool: Pool, name: str) -> Interval:
    if pool.kind == SeriesKind.SUMMARY:
        return mean_interval(quantile(pool, name), left_out(pool, name), signed=pool.signed, tail=pool.tail)
    q = fraction(name)
    samples = int(pool.together[-1])
    shares = _shares(pool, q)
    found = share_interval(shares, float(q), samples, tail=pool.tail)
    low = pool.at_rank(math.ceil(samples * found.low)) if found.low > 0 else -math.inf
    high = pool.at_rank(min(math.floor(samples * found.high) + 1, samples)) if found.high < 1 else math.inf
    unlike = variances(shares)[0] > float(q * (1 - q)) / samples  # runs differ by more than their samples explain
    if unlike and found.high < 1 and q > Fraction(1, 2):
        high = max(high, rare_level(run_quantiles(pool, q), q))
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
    return _pseudo_values(counted, of_run, float(q))


def _pseudo_values(below: FloatArray | Int64Array, of_run: Int64Array, share: float) -> FloatArray:
    """(R,) the share as the runs contribute to it, by what it would be without each: one that is longer than the others
    draws it to itself, and would seem not to differ."""
    shares: FloatArray = share + (len(of_run) - 1) * (below - share * of_run) / np.maximum(of_run.sum() - of_run, 1)
    return shares


def _p95_to_average(pool: Pool, value: float, *, relative: bool) -> Interval:
    p95, average = quantile(pool, "p95"), mean(pool)
    without = left_out(pool, "avg")
    if pool.kind == SeriesKind.SUMMARY:
        rest = left_out(pool, "p95")
        parts = 1 - without / rest if relative else rest - without
        return mean_interval(value, parts, signed=True, tail=pool.tail)
    of_p95 = _quantile_interval(pool, "p95")
    of_average = mean_interval(average, without, signed=pool.signed, tail=pool.tail)
    within = (pool.counts > 0) & (pool.values >= of_p95.low) & (pool.values <= of_p95.high)
    alike = 0.0
    if within.sum() >= STEPS_TO_FOLLOW:
        alike = sure_correlation(-_shares(pool, QUANTILES["p95"]), -without, tail=pool.tail)
    if not relative:
        return difference(Sure(p95, of_p95), Sure(average, of_average), alike)
    shares = ratio(Sure(average, of_average), Sure(p95, of_p95), alike)  # (p95 - avg) / p95 = 1 - avg / p95
    return Interval(1 - shares.high, 1 - shares.low, BY_RUNS, runs_to_close=shares.runs_to_close)


def certain_miss(pool: Pool, name: str, limit: float) -> str:
    """Why a quantile lies above a limit for certain, though its own interval may have no lower end; else empty.

    Either every run's own quantile is above the limit (were it not so, each would be above it about every second time,
    and all of RUNS_FOR_MEDIAN or more as rarely as an end of an interval may miss), or the share of samples beyond the
    limit is, at the lower end of its interval, larger than the quantile leaves.
    """
    if name not in QUANTILES or pool.kind == SeriesKind.SUMMARY:
        return ""
    of_run, place = pool.cumulative[:, -1], int(np.searchsorted(pool.values, limit, side="right"))
    below = pool.cumulative[:, place - 1] if place else np.zeros_like(of_run)
    left = float(1 - QUANTILES[name])
    if 0.5**pool.runs <= pool.tail and (of_run - below > of_run * left).all() and (of_run * left >= 1).all():
        return f"it is above the limit in each of the {count(pool.runs, 'run')}"
    beyond = _beyond(pool, limit)
    if beyond is None or beyond[0] <= left:
        return ""
    return f"at least {100 * beyond[0]:.2g} % of the samples are beyond the limit, and {name} allows {100 * left:g} %"


def certain_hold(pool: Pool, name: str, limit: float) -> str:
    """Why a quantile lies at or below a limit for certain, though its own interval may have no upper end; else empty.

    The share of samples beyond the limit is, at the upper end of its interval, no larger than the quantile leaves, nor
    does a run lie beyond it that is too rare to be drawn (rare_level, at the upper end of its interval).
    Where none is beyond it, that end is the one of independent samples, as for a largest sample.
    """
    if name not in QUANTILES or pool.kind == SeriesKind.SUMMARY or pool.incomplete:
        return ""
    left, beyond = float(1 - QUANTILES[name]), _beyond(pool, limit)
    if beyond is None or beyond[1] > left or _rare_level(pool, QUANTILES[name]) > limit:
        return ""
    return f"at most {100 * beyond[1]:.2g} % of the samples are beyond the limit, and {name} allows {100 * left:g} %"


def _rare_level(pool: Pool, q: Fraction) -> float:
    return rare_level(run_quantiles(pool, q), q, tail=pool.tail) if q > Fraction(1, 2) else -math.inf


def _beyond(pool: Pool, limit: float) -> tuple[float, float] | None:
    """The interval of the share of samples beyond a limit; None of too few runs, or where an overflow hides them."""
    if pool.runs < RUNS_FOR_INTERVAL or (pool.ceiling is not None and pool.ceiling <= limit):
        return None
    of_run, place = pool.cumulative[:, -1], int(np.searchsorted(pool.values, limit, side="right"))
    below = pool.cumulative[:, place - 1] if place else np.zeros_like(of_run)
    samples, kept = int(of_run.sum()), float(below.sum() / of_run.sum())
    if kept == 1:
        return 0.0, exceedance_bound(0, samples, 1 - pool.tail)
    if kept == 0:
        return None
    shares = share_interval(_pseudo_values(below, of_run, kept), kept, samples, tail=pool.tail)
    return 1 - shares.high, 1 - shares.low
