# SPDX-License-Identifier: MIT
"""One candidate, one instrument, one load: its figures, each with an interval or the reason why it has none.

The headline figures of a run on several CPUs are over all CPUs' samples: the mission's deadline binds
whichever CPU the thread runs on, and pooled counts are exact. A bad CPU could hide in them, so each CPU's
figures stand beside the headline, and a requirement is judged on the worst of them (gates.py).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from rtqual.base.units import DURATIONS_NS
from rtqual.base.words import clean, count, listed
from rtqual.engine.analysis.figure.asked import tail
from rtqual.engine.analysis.figure.dependence import dependence
from rtqual.engine.analysis.figure.early import early_runs, rested
from rtqual.engine.analysis.figure.figures import pool_figures, quantile_figures, why_few
from rtqual.engine.analysis.figure.intervals import (
    FINEST,
    FloatArray,
    at_least_wide,
    count_interval,
    mean_interval,
    unseen,
)
from rtqual.engine.analysis.figure.model import Conditions, Distribution, Figure, Group, Interval, Summary
from rtqual.engine.analysis.figure.pool import Pool, pool_runs
from rtqual.engine.analysis.figure.spread import spread
from rtqual.engine.analysis.figure.statistics import is_count, is_size, never_negative
from rtqual.engine.boards.guest import guest_of, why_no_hardware
from rtqual.engine.boards.remote.clock_rate import NOT_COMPARED
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing

# From the best to the weakest clock of a group.
_TIMINGS = (
    *(Timing.REAL, Timing.MODELLED, Timing.MODELLED_UNTESTED),
    *(Timing.INSTRUCTIONS, Timing.UNTESTED, Timing.HOST_TIMED),
)
_NO_SAMPLES = "no samples"
# What of a caveat differs from cell to cell: of how many runs it is told.
_COUNTS = re.compile(r" \((?:[\d,]+ ticks? in )?[\d,]+ of [\d,]+ runs?\)$")
READ_ONCE = "a size, read off the system: it needs no interval"
RESOLUTION = "resolution"  # the scalar in which an instrument states the step of its figures
_UNKNOWN, _SHOWN = "unknown", 60  # what a board says of a serial number that it has not; characters of a name
_NO_FIGURE = 1e100  # in whatever unit
SHIFTED = ("p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9")


@dataclass(frozen=True)
class Measured:
    """A summary with what only comparisons need."""

    summary: Summary
    scalars: tuple[str, ...] = ()  # which of the figures the tool itself printed, one a run
    counts: Mapping[str, FloatArray] = field(default_factory=dict)  # of each run, of those scalars that count something
    quantiles: Mapping[str, Figure] = field(default_factory=dict)  # of the headline, for a shift function
    pools: Mapping[int | None, Pool] = field(default_factory=dict)  # of the headline; by CPU, and all together
    others: Mapping[str, Mapping[int | None, Pool]] = field(default_factory=dict)  # the same of the other series

    @property
    def group(self) -> Group:
        return self.summary.group


def groups(records: Iterable[Record]) -> dict[Group, list[Record]]:
    """What may be put together. A record with the hash of another is the same draw and counts once.

    A repeat, made to test that a run is deterministic, is no further draw: it would count its seed twice.
    """
    found: defaultdict[Group, dict[str, Record]] = defaultdict(dict)
    for record in (record for record in records if record.manifest.repeat == 0):
        inputs = record.inputs
        group = Group(inputs.instrument, inputs.load, inputs.board, inputs.cpus, inputs.candidate)
        found[group].setdefault(record.manifest.hash, record)
    return {
        group: sorted(found[group].values(), key=lambda record: (record.inputs.seed, record.manifest.hash))
        for group in sorted(found)
    }


def measure(group: Group, records: Sequence[Record], looks: int = 1) -> Measured:
    """The group's figures. The first record's first series gives the headline, others carry their name.

    `looks`: after how many of them the campaign may have stopped.
    """
    names = list(dict.fromkeys(series.info.name for record in records for series in record.series))
    figures: dict[str, Figure] = {}
    step = _stated_step(records)
    pools = {name: pool_runs(_series(records, name), looks, step) for name in names}
    for name, pool in pools.items():
        prefix = "" if name == names[0] else f"{name} "
        if pool is not None:
            figures |= {prefix + statistic: figure for statistic, figure in pool_figures(pool).items()}
    headline = pools[names[0]] if names else None
    by_cpu = _by_cpu(records, names[:1], looks)
    others = {
        name: {**_by_cpu(records, [name], looks), None: pool}
        for name, pool in pools.items()
        if pool and name != names[0]
    }
    scalars = _scalar_figures(records, tail(looks))
    summary = Summary(
        group=group,
        timing=max((record.manifest.timing for record in records), key=_TIMINGS.index),
        runs=len(records),
        samples=headline.samples if headline else 0,
        figures=figures | scalars,
        distribution=distribution_of(headline),
        per_cpu={cpu: pool_figures(pool) for cpu, pool in by_cpu.items() if cpu is not None},
        run_maxima=tuple(float(high) for high in headline.highs) if headline else (),
        problems=_problems(records),
        hypervisor=next(iter(_hypervisors(records)), ""),
        caveats=(*_caveats(records), *_odd_runs(figures | scalars)),
        conditions=Conditions(
            parameters=records[0].inputs.parameters,
            lengths=(float(headline.n.min()), float(headline.n.max())) if headline and headline.samples else (),
            rested=rested(records),
            battery=next(iter(record.manifest.provenance.facts.get("battery", "") for record in records)),
        ),
        series=tuple(names),
        others={name: distribution for name, of in others.items() if (distribution := distribution_of(of[None]))},
        absent={name: why for record in records for name, why in record.manifest.absent.items()},
        seeds=tuple(record.inputs.seed for record in records),
    )
    quantiles = quantile_figures(headline, SHIFTED, figures) if headline else {}
    counts = {name: values for name, of in _drawn(records).items() if (values := _counts(of)) is not None}
    return Measured(summary, tuple(scalars), counts, quantiles, by_cpu | ({None: headline} if headline else {}), others)


def with_dependence(measured: Measured, records: Sequence[Record]) -> Measured:
    """With the dependence of the headline's samples: a pass over every sample, where figures need only the counts."""
    names = measured.summary.series[:1]
    found = dependence([series for name in names for run in _series(records, name) for series in run])
    return replace(measured, summary=replace(measured.summary, dependence=found))


def _is_figure(value: float) -> bool:
    """A number, and one whose square and sum over runs are numbers still."""
    return abs(value) <= _NO_FIGURE


def _series(records: Sequence[Record], name: str, cpu: int | None = None) -> list[list[Series]]:
    return [
        [series for series in record.series if series.info.name == name and cpu in (None, series.info.cpu)]
        for record in records
    ]


def _scalar_figures(records: Sequence[Record], tail: float) -> dict[str, Figure]:
    """A scalar is one draw a run: its figure is the average over the runs."""
    figures: dict[str, Figure] = {}
    step = _stated_step(records)
    for name, drawn in _drawn(records).items():
        values = np.array([scalar.value for scalar in drawn])
        runs, mean = len(values), float(values.mean())
        interval, least = None, 0.0 if is_size(drawn[0].unit) or is_count(drawn[0].unit, values) else FINEST * abs(mean)
        if drawn[0].unit in DURATIONS_NS:
            least = max(least, step / DURATIONS_NS[drawn[0].unit])
        seen = f", from {values.min():.6g} to {values.max():.6g}" if runs > 1 else ""
        why = READ_ONCE if is_size(drawn[0].unit) and runs == 1 else why_few(runs, seen=seen)
        if not why:
            interval = _of_scalar(values, drawn[0].unit, least, tail)
        of_runs = None if is_size(drawn[0].unit) else spread(values, tail, least)
        figures[name] = Figure(
            mean,
            drawn[0].unit,
            runs,
            runs,
            interval,
            why,
            largest_count=float(values.max()) if is_count(drawn[0].unit, values) else None,
            spread=of_runs,
            least=least,
        )
    return figures


def _drawn(records: Sequence[Record]) -> dict[str, list[Scalar]]:
    """Every scalar, of the runs that give it as a number; another is a problem of its record."""
    names = dict.fromkeys(chain.from_iterable(record.manifest.scalars for record in records))
    known = {name: [scalar for record in records if (scalar := record.manifest.scalars.get(name))] for name in names}
    return {
        name: drawn for name, of in known.items() if (drawn := [scalar for scalar in of if _is_figure(scalar.value)])
    }


def _counts(drawn: Sequence[Scalar]) -> FloatArray | None:
    """(R,) of each run, where a scalar counts something."""
    values = np.array([scalar.value for scalar in drawn])
    return values if is_count(drawn[0].unit, values) else None


def _of_scalar(values: FloatArray, unit: str, least: float, tail: float) -> Interval:
    """Of the average over the runs."""
    runs, mean = len(values), float(values.mean())
    counted = is_count(unit, values)
    left_out = (values.sum() - values) / (runs - 1)
    signed = not never_negative(unit) and not counted
    interval = mean_interval(mean, left_out, signed=signed, tail=tail)
    if counted and not values.all():
        return count_interval(interval, float(values.sum()), runs, tail=tail)
    return at_least_wide(interval, mean, unseen(runs, tail=tail) if counted else least, signed=signed)


def _stated_step(records: Sequence[Record]) -> float:
    """The step of the clock as an instrument states it, in ns; 0 where none does."""
    stated = (record.manifest.scalars[RESOLUTION].value for record in records if RESOLUTION in record.manifest.scalars)
    return max((step for step in stated if _is_figure(step)), default=0.0)


def _by_cpu(records: Sequence[Record], names: Sequence[str], looks: int) -> dict[int | None, Pool]:
    """The headline's runs on each CPU, where there is more than one."""
    cpus = sorted({series.info.cpu for record in records for series in record.series if series.info.cpu is not None})
    if len(cpus) < 2:
        return {}
    step = _stated_step(records)
    pools = {cpu: pool_runs(_series(records, names[0], cpu), looks, step) for cpu in cpus}
    return {cpu: pool for cpu, pool in pools.items() if pool}


def distribution_of(pool: Pool | None) -> Distribution | None:
    if pool is None or not pool.counts.any():
        return None
    seen = pool.counts > 0
    return Distribution(pool.values[seen], pool.counts[seen], pool.unit, pool.kind, pool.overflow, pool.ceiling)


def _problems(records: Sequence[Record]) -> tuple[str, ...]:
    found = Counter(chain.from_iterable(dict.fromkeys(_record_problems(record)) for record in records))
    problems = [f"{text} ({times} of {count(len(records), 'run')})" for text, times in found.items()]
    if len({r.inputs.measurement for r in records}) > 1:
        problems.append("its records have different parameters or programs: they are not one measurement")
    if len({r.manifest.timing == Timing.REAL for r in records}) > 1:
        problems.append(
            "its records were taken by other clocks, real time and the emulator's: they are not one measurement"
        )
    problems += [*_strange_machines(records), *early_runs(records)]
    units: dict[str, dict[str, None]] = {}
    for r in records:
        for name, unit in _units(r):
            units.setdefault(name, {})[unit] = None
    problems += [f"its records give {name} in {listed(list(its))}" for name, its in units.items() if len(its) > 1]
    return tuple(problems)


def _strange_machines(records: Sequence[Record]) -> Iterator[str]:
    """Of a board whose table pins no serial number: a card was put into two machines, a board replaced."""
    machines: defaultdict[str, set[str]] = defaultdict(set)
    for facts in (record.manifest.provenance.facts for record in records):
        if (board := facts.get("board")) and facts.get("serial", _UNKNOWN) != _UNKNOWN:
            machines[board].add(facts["serial"])
    for board, serials in machines.items():
        if len(serials) > 1:
            which = listed([_short(serial) for serial in sorted(serials)[:3]])
            yield f"its records of board {_short(board)} are of machines with serial numbers {which}"


def _short(text: str) -> str:
    return clean(" ".join(text.split()))[:_SHOWN]


def _units(record: Record) -> Iterator[tuple[str, str]]:
    yield from ((name, scalar.unit) for name, scalar in record.manifest.scalars.items())
    yield from ((series.info.name, series.info.unit) for series in record.series)


def _record_problems(record: Record) -> list[str]:
    silent = [series.info for series in record.series if not series.total and not series.info.reported]
    problems = [
        f"{_NO_SAMPLES} of {series_info.name}{'' if series_info.cpu is None else f' on CPU {series_info.cpu}'}"
        for series_info in silent
    ]
    if not record.series and not record.manifest.scalars and not record.manifest.absent:
        problems.append(_NO_SAMPLES)
    said = [(name, scalar.value) for name, scalar in record.manifest.scalars.items()]
    said += [(f"{each.name} {name}", value) for each in record.manifest.series for name, value in each.reported.items()]
    problems += [f"{name} is {value}, no figure" for name, value in said if not _is_figure(value)]
    return [*record.manifest.problems, *problems]


def _facts_in_real_time(records: Sequence[Record]) -> list[dict[str, str]]:
    return [record.manifest.provenance.facts for record in records if record.manifest.timing == Timing.REAL]


def _hypervisors(records: Sequence[Record]) -> list[str]:
    """Of what a board tells over ssh before it read all signs, nothing is known unless they are in its record."""
    facts = _facts_in_real_time(records)
    found = (fact.get("hypervisor") or (guest_of(fact) if "connection" in fact else None) for fact in facts)
    return [host for host in dict.fromkeys(found) if host and host != "none"]


def _odd_runs(figures: Mapping[str, Figure]) -> Iterator[str]:
    """Of runs that stand apart from the rest."""
    found = {figure.spread: figure.runs for figure in figures.values() if figure.spread and figure.spread.odd}
    for held, runs in found.items():
        yield f"runs differ: {held.odd} of {runs} stand apart from the rest; {count(held.needed, 'run')} needed"


def without_counts(caveat: str) -> str:
    """Leave out of how many runs it is told, so that cells which share it share a sentence."""
    return _COUNTS.sub("", caveat)


def _caveats(records: Sequence[Record]) -> tuple[str, ...]:
    """What the runs themselves tell, and what disturbed a measurement in real time from outside the system under test;
    of how many runs stands at the end."""
    told = Counter(chain.from_iterable(dict.fromkeys(record.manifest.cautions or ()) for record in records))
    caveats = [f"{text} ({times} of {count(len(records), 'run')})" for text, times in told.items()]
    caveats += [
        f"{why_no_hardware(host, 'the machine')}, which can take the CPU away" for host in _hypervisors(records)
    ]
    if any(table.get("clock_rate") == NOT_COMPARED for table in _facts_in_real_time(records)):
        caveats.append(f"the board's clock was {NOT_COMPARED}: its durations are by its own clock alone")
    ticks = [
        int(table["steal_ticks"]) for table in _facts_in_real_time(records) if table.get("steal_ticks", "").isdecimal()
    ]
    if any(ticks):
        runs = f"{sum(map(bool, ticks))} of {count(len(records), 'run')}"
        caveats.append(f"the hypervisor did take the CPU away ({count(sum(ticks), 'tick')} in {runs})")
    return tuple(caveats)
