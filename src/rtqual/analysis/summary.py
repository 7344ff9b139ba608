# SPDX-License-Identifier: MIT
"""One candidate, one instrument, one load: its figures, each with an interval or the reason why it has none.

The headline figures of a run on several CPUs are over all CPUs' samples: the mission's deadline binds
whichever CPU the thread runs on, and pooled counts are exact. A bad CPU could hide in them, so each CPU's
figures stand beside the headline, and a requirement is judged on the worst of them (gates.py).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from rtqual.analysis.intervals import (
    BY_RUNS,
    RARE,
    RUNS_FOR_MEDIAN,
    RUNS_TO_RESAMPLE,
    FloatArray,
    exceedance_bound,
    median_interval,
    quantile_ranks,
    resampled_interval,
    run_weights,
)
from rtqual.analysis.model import Distribution, Figure, Group, Interval, Summary
from rtqual.analysis.pool import Pool, pool_runs
from rtqual.analysis.statistics import (
    EXTREMES,
    QUANTILES,
    RELATIVE,
    available,
    evaluate,
    is_size,
    lies_in_overflow,
)
from rtqual.analysis.wording import count, one_in
from rtqual.record.schema import Kind, Record, Series, Timing, digest

# From the best to the least one can say of a group's clock.
_TIMINGS = (Timing.INSTRUCTIONS, Timing.UNTESTED, Timing.HOST_TIMED, Timing.REAL)
_NO_SAMPLES = "no samples"
DETAIL = " ("  # begins what of a caveat differs from cell to cell
READ_ONCE = "a size, read off the system: no draw that would need an interval"
RESOLUTION = "resolution"  # the scalar in which an instrument states the step of its figures


@dataclass(frozen=True)
class Measured:
    """A summary with the resamples its intervals come from, which comparisons and scores go on to use."""

    summary: Summary
    replicates: Mapping[str, FloatArray]  # statistic -> (RESAMPLES,); only where the runs suffice
    scalars: tuple[str, ...]  # which of the figures the tool itself printed, one a run

    @property
    def group(self) -> Group:
        return self.summary.group


def groups(records: Iterable[Record]) -> dict[Group, list[Record]]:
    """What may be put together. A record with the hash of another is the same draw and counts once.

    A repeat, made to test that a run is deterministic, is no further draw: it would count its seed twice.
    """
    found: defaultdict[Group, dict[str, Record]] = defaultdict(dict)
    for record in (one for one in records if one.manifest.repeat == 0):
        inputs = record.inputs
        group = Group(inputs.instrument, inputs.load, inputs.board, inputs.cpus, inputs.candidate)
        found[group].setdefault(record.manifest.hash, record)
    return {
        group: sorted(found[group].values(), key=lambda record: (record.inputs.seed, record.manifest.hash))
        for group in sorted(found)
    }


def summarise(group: Group, records: Sequence[Record]) -> Summary:
    return measure(group, records).summary


def measure(group: Group, records: Sequence[Record]) -> Measured:
    """The group's figures. The first record's first series gives the headline, others carry their name."""
    names = list(dict.fromkeys(one.info.name for record in records for one in record.series))
    figures: dict[str, Figure] = {}
    replicates: dict[str, FloatArray] = {}
    pools = {name: pool_runs(_series(records, name)) for name in names}
    for name, pool in pools.items():
        prefix = "" if name == names[0] else f"{name} "
        if pool is not None:
            found, resampled = _pool_figures(pool, str(group))
            figures |= {prefix + statistic: figure for statistic, figure in found.items()}
            replicates |= {prefix + statistic: values for statistic, values in resampled.items()}
    headline = pools[names[0]] if names else None
    scalars, resampled = _scalar_figures(records, str(group))
    summary = Summary(
        group=group,
        timing=max((record.manifest.timing for record in records), key=_TIMINGS.index),
        runs=len(records),
        samples=headline.samples if headline else 0,
        figures=figures | scalars,
        distribution=_distribution(headline),
        per_cpu=_per_cpu(group, records, names[:1]),
        run_maxima=tuple(float(high) for high in headline.highs) if headline else (),
        problems=_problems(records),
        caveats=_caveats(records),
    )
    return Measured(summary, replicates | resampled, tuple(scalars))


def _series(records: Sequence[Record], name: str, cpu: int | None = None) -> list[list[Series]]:
    return [
        [one for one in record.series if one.info.name == name and cpu in (None, one.info.cpu)] for record in records
    ]


def _pool_figures(pool: Pool, key: str) -> tuple[dict[str, Figure], dict[str, FloatArray]]:
    names = available(pool)
    point = evaluate(pool, names, np.ones((1, pool.runs), np.int64))
    replicates = evaluate(pool, names, run_weights(key, pool.runs)) if pool.runs >= RUNS_TO_RESAMPLE else {}
    figures = {
        name: _figure(pool, name, float(point[name][0]), replicates.get(name))
        for name in names
        if np.isfinite(point[name][0])
    }
    return figures, replicates


def _figure(pool: Pool, name: str, value: float, replicates: FloatArray | None) -> Figure:
    interval, why = _interval(pool, name, replicates)
    at_least = lies_in_overflow(pool, name, value)
    if interval is not None and (at_least or lies_in_overflow(pool, name, interval.high)):
        interval = Interval(interval.low, math.inf, interval.method, interval.level)
    return Figure(
        value=value,
        unit="1" if name in RELATIVE else pool.unit,
        n=pool.samples,
        runs=pool.runs,
        interval=interval,
        why_no_interval=why,
        at_least=at_least,
        binned=pool.kind == Kind.BINNED and name in {*QUANTILES, "std", "p95-avg", "(p95-avg)/p95"},
    )


def _interval(pool: Pool, name: str, replicates: FloatArray | None) -> tuple[Interval | None, str]:
    """The interval of a statistic, or why there is none."""
    if name in EXTREMES:
        return None, _why_extreme(pool, name)
    if name.startswith("median run"):
        per_run = pool.highs if name == "median run max" else pool.highs - pool.lows
        return median_interval(per_run), _why_few(pool.runs, RUNS_FOR_MEDIAN)
    if replicates is not None:
        found = resampled_interval(replicates, pool.runs)
        if found is not None and name in QUANTILES and pool.kind != Kind.SUMMARY:
            _, upper = quantile_ranks(pool.samples, QUANTILES[name])
            if upper > pool.samples:  # resampling cannot see beyond the largest sample
                found = Interval(found.low, math.inf, BY_RUNS)
        return found, "" if found else "it has no value in some resamples"
    if name in QUANTILES and pool.kind != Kind.SUMMARY:
        return _order_statistics(pool, name)
    return None, _why_few(pool.runs, RUNS_TO_RESAMPLE)


def _order_statistics(pool: Pool, name: str) -> tuple[Interval | None, str]:
    lower, upper = quantile_ranks(pool.samples, QUANTILES[name])
    if lower < 1:
        return None, f"{pool.samples} samples are too few"
    high = pool.at_rank(upper) if upper <= pool.samples else math.inf
    method = f"order statistics of the samples as if independent ({count(pool.runs, 'run')}, too few to resample)"
    return Interval(pool.at_rank(lower), high, method), ""


def _why_few(runs: int, needed: int) -> str:
    return f"{count(runs, 'run')}; an interval needs {needed}" if runs < needed else ""


def _why_extreme(pool: Pool, name: str) -> str:
    if name == "min":
        return "samples give a minimum no lower end"
    bound = exceedance_bound(0, pool.samples)
    rare = (
        f"; larger ones are rarer than {one_in(bound)} (95 %, if independent)"
        if bound <= RARE and name == "max"
        else ""
    )
    return f"samples give a maximum no upper end{rare}"


def _scalar_figures(records: Sequence[Record], key: str) -> tuple[dict[str, Figure], dict[str, FloatArray]]:
    """A scalar is one draw a run: its figure is the average over the runs."""
    names = dict.fromkeys(chain.from_iterable(record.manifest.scalars for record in records))
    figures: dict[str, Figure] = {}
    replicates: dict[str, FloatArray] = {}
    for name in names:
        drawn = [record.manifest.scalars[name] for record in records if name in record.manifest.scalars]
        values = np.array([scalar.value for scalar in drawn])
        runs = len(values)
        interval = None
        if runs >= RUNS_TO_RESAMPLE:
            replicates[name] = run_weights(key, runs) @ values / runs
            interval = resampled_interval(replicates[name], runs)
        spread = f", from {values.min():.6g} to {values.max():.6g}" if runs > 1 else ""
        why = "" if interval else f"{count(runs, 'run')}{spread}; an interval needs {RUNS_TO_RESAMPLE}"
        if is_size(drawn[0].unit) and runs == 1:
            why = READ_ONCE
        figures[name] = Figure(float(values.mean()), drawn[0].unit, runs, runs, interval, why)
    return figures, replicates


def _per_cpu(group: Group, records: Sequence[Record], names: Sequence[str]) -> dict[int, Mapping[str, Figure]]:
    """The headline's figures for each CPU, where there is more than one."""
    cpus = sorted({one.info.cpu for record in records for one in record.series if one.info.cpu is not None})
    if len(cpus) < 2:
        return {}
    pools = {cpu: pool_runs(_series(records, names[0], cpu)) for cpu in cpus}
    return {cpu: _pool_figures(pool, str(group))[0] for cpu, pool in pools.items() if pool}


def _distribution(pool: Pool | None) -> Distribution | None:
    if pool is None or not pool.counts.any():
        return None
    seen = pool.counts > 0
    return Distribution(pool.values[seen], pool.counts[seen], pool.unit, pool.kind, pool.overflow, pool.ceiling)


def _problems(records: Sequence[Record]) -> tuple[str, ...]:
    found = Counter(chain.from_iterable(dict.fromkeys(_record_problems(record)) for record in records))
    problems = [f"{text} ({times} of {count(len(records), 'run')})" for text, times in found.items()]
    if len({digest([r.inputs.parameters, r.inputs.artefacts]) for r in records}) > 1:
        problems.append("its records have different parameters or programs: they are not one measurement")
    return tuple(problems)


def _record_problems(record: Record) -> list[str]:
    silent = [one.info for one in record.series if not one.total and not one.info.reported]
    problems = [f"{_NO_SAMPLES} of {one.name}{'' if one.cpu is None else f' on CPU {one.cpu}'}" for one in silent]
    if not record.series and not record.manifest.scalars:
        problems.append(_NO_SAMPLES)
    return [*record.manifest.problems, *problems]


def _caveats(records: Sequence[Record]) -> tuple[str, ...]:
    """What disturbed a measurement in real time from outside the system under test; counts in DETAIL."""
    facts = [one.manifest.provenance.facts for one in records if one.manifest.timing == Timing.REAL]
    hosts = dict.fromkeys(one["hypervisor"] for one in facts if one.get("hypervisor", "none") != "none")
    caveats = [f"the machine is a guest of {host}, which can take the CPU away" for host in hosts]
    ticks = [int(one["steal_ticks"]) for one in facts if one.get("steal_ticks", "").isdecimal()]
    if any(ticks):
        runs = f"{sum(map(bool, ticks))} of {count(len(records), 'run')}"
        caveats.append(f"the hypervisor did take the CPU away{DETAIL}{count(sum(ticks), 'tick')} in {runs})")
    return tuple(caveats)
