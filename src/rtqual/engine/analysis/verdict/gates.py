# SPDX-License-Identifier: MIT
"""One requirement or need for one candidate: met, not met, or undecided for a stated reason.

A figure with an interval meets a limit when the whole interval does, and fails it when none of it does. A
maximum has no interval: one sample beyond the limit is a miss for certain; none beyond it is met as far
as was measured, and the reason says how rare misses can still be. Fewer than RUNS_TO_JUDGE runs decide
nothing else: a run is one trajectory.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from rtqual.base.units import DURATIONS_NS, format_value
from rtqual.base.words import count, listed, one_in, share, under
from rtqual.engine.analysis.figure.asked import (
    EXTREMES,
    NONE_SEEN,
    QUANTILES,
    RUNS_TO_JUDGE,
    TAIL,
    figure_name,
    figure_of,
    samples_needed,
    series_asked,
)
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.comparable import fewer_runs, lacking
from rtqual.engine.analysis.figure.figures import certain_hold, certain_miss, pool_figures
from rtqual.engine.analysis.figure.intervals import RARE, exceedance_bound
from rtqual.engine.analysis.figure.losses import Losses
from rtqual.engine.analysis.figure.model import Distribution, Figure, Summary
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.engine.analysis.figure.statistics import is_size
from rtqual.engine.analysis.figure.summary import RESOLUTION, Measured, distribution_of
from rtqual.engine.analysis.figure.wording import figure, value
from rtqual.engine.analysis.verdict.chance import in_runs
from rtqual.engine.analysis.verdict.clock import by_clock
from rtqual.engine.analysis.verdict.model import Gate, Outcome, need_name
from rtqual.engine.kernel.needs import Known, check_needs, is_config
from rtqual.engine.mission import PUBLISHED, Requirement

_ONLY_GROW = frozenset({"max", "max-min", "(max-min)/max"})  # with every further sample
_OF_TWO = frozenset({"max-min", "p95-avg"})  # differences
_OF_DEADLINES = frozenset({"skipped_periods"})  # counts of what came too late: a limit in time
EVERY_RUN_ENDS = "every run ends"  # the gate that stands where a run of any candidate did not
_WORST_FIRST = (Outcome.NOT_MET, Outcome.UNDECIDED, Outcome.MET)


def gates(
    needs: Iterable[str], requirements: Iterable[Requirement], cells: Cells, candidate: str, config: Known
) -> tuple[Gate, ...]:
    """Every gate of a candidate, the measured ones first."""
    measured = [requirement_gate(requirement, cells, candidate) for requirement in requirements]
    of_needs = [*need_gates(needs, candidate, config)]
    return (*measured, *_ends(cells, candidate, asked=bool(measured or of_needs)), *of_needs)


def _ends(cells: Cells, candidate: str, *, asked: bool) -> Iterator[Gate]:
    """That every run ends, which no mission needs to ask for; nothing where no candidate's run hung or died, nor, of
    one whose runs all ended, where the mission asks nothing else."""
    every = {group: cells.losses(group) for group in cells.lost}
    died = {group: lost for group, lost in every.items() if lost.died and group.candidate == candidate}
    runs = sum(measured.summary.runs for measured in cells.of(candidate))
    own = [lost for group, lost in every.items() if group.candidate == candidate and lost.text]
    if asked and runs and not own and any(lost.died for lost in every.values()):
        yield Gate(EVERY_RUN_ENDS, candidate, Outcome.MET, None, "", f"{count(runs, 'run')} ended")
    if died:
        told = [f"{group.instrument} {under(group.load)}, {lost.of_candidate}" for group, lost in died.items()]
        in_runs = sum(lost.runs_died for lost in died.values()), sum(_planned(lost) for lost in died.values())
        yield Gate(EVERY_RUN_ENDS, candidate, Outcome.NOT_MET, None, "", "; ".join(told), in_runs=in_runs)


def _planned(lost: Losses) -> int:
    return max(lost.planned, lost.runs_died)


def need_gates(needs: Iterable[str], candidate: str, config: Known) -> Iterator[Gate]:
    """Gates read from the kernel's configuration (None: it could not be read), or from what a study states."""
    if isinstance(config, Mapping):
        why_not, checks = "the study does not say", [config[need] for need in needs if need in config]
    elif config is None or not is_config(config):
        why_not, checks = "the kernel's configuration could not be read", []
    else:
        why_not, checks = "", check_needs(needs, config)
    known = {check.need: check for check in checks}
    for need in needs:
        check = known.get(need)
        if check is None:
            yield Gate(need_name(need), candidate, Outcome.UNDECIDED, None, "", why_not)
            continue
        outcome = Outcome.MET if check.ok else Outcome.NOT_MET
        yield Gate(need_name(need), candidate, outcome, None, check.limit, check.reason)


def requirement_gate(requirement: Requirement, cells: Cells, candidate: str) -> Gate:
    """One requirement, by its figures and by the runs that gave none."""
    lost = cells.losses(cells.group(requirement, candidate))
    gate = _with_losses(_with_left_out(requirement, _of_figures(requirement, cells, candidate), cells), lost)
    told = [f"{what}: {text}" for what, text in requirement.origin.items() if what != "id"]
    return replace(gate, reason="; ".join(filter(None, (gate.reason, *told))), origin=requirement.origin)


def _with_left_out(requirement: Requirement, gate: Gate, cells: Cells) -> Gate:
    """A largest sample beyond the limit stays one though the plan has its run no more."""
    if requirement.statistic != "max" or not requirement.at_most or requirement.series or gate.seen == Outcome.NOT_MET:
        return gate
    group, limit = cells.group(requirement, gate.candidate), requirement.limit
    for left_out in cells.left_out:
        if (
            left_out.group == group
            and left_out.alike
            and left_out.unit == limit.unit
            and (left_out.worst or 0) > limit.value
        ):
            reason = f"{left_out.text}; {gate.reason}"
            in_runs = (1, gate.in_runs[1] + len(left_out.seeds)) if gate.in_runs else None
            broken = replace(gate, outcome=Outcome.NOT_MET, on_emulator=None, reason=reason, in_runs=in_runs)
            used = [found.summary] if (found := cells.find(requirement, gate.candidate)) else []
            return by_clock(broken, left_out.unit, used, accept_virtual=cells.accept_virtual)
    return gate


def _with_losses(gate: Gate, lost: Losses) -> Gate:
    """A run that the system under test did not end is a limit not kept, whatever clock counts; what nobody knows of is
    no run that kept it."""
    if lost.died:
        told = "; ".join(filter(None, (lost.many_died, lost.of_others)))  # why they did stands with EVERY_RUN_ENDS
        return replace(
            gate,
            outcome=Outcome.NOT_MET,
            on_emulator=None,
            reason=f"{told}; of the runs that ended: {gate.reason}" if gate.measured else told,
            lost=len(lost.died),
            lost_alone=gate.seen != Outcome.NOT_MET,
            in_runs=_with_died(gate, lost),
        )
    if lost.of_others and gate.seen == Outcome.MET:
        return replace(gate, outcome=Outcome.UNDECIDED, on_emulator=None, reason=f"{lost.of_others}; {gate.reason}")
    return gate


def _with_died(gate: Gate, lost: Losses) -> tuple[int, int] | None:
    """None where the runs that ended broke a limit by their interval."""
    if gate.seen == Outcome.NOT_MET:
        return (gate.in_runs[0] + lost.runs_died, _planned(lost)) if gate.in_runs else None
    return lost.runs_died, _planned(lost)


def _of_figures(requirement: Requirement, cells: Cells, candidate: str) -> Gate:
    """On the worst of the series that it holds for."""
    found = cells.find(requirement, candidate)
    if found is None:
        why_not = _why_unmeasured(requirement, cells, candidate)
        return _undecided(requirement, candidate, why_not)
    every = found.summary.series
    if requirement.scalar or len(every) < 2:
        return _of_series(requirement, cells, found, figure_name(requirement))
    if not (asked := series_asked(requirement, every)):
        why_not = f"{requirement.instrument} has no series '{requirement.series}'; it has {listed(list(every))}"
        return _undecided(requirement, candidate, why_not)
    gates = {
        name: _of_series(requirement, cells, found, figure_of(every, name, figure_name(requirement)), name, len(asked))
        for name in asked
    }
    worst = min(gates, key=lambda gate: (_WORST_FIRST.index(gates[gate].seen), -_beyond(requirement, gates[gate])))
    of = f" (the worst of {len(gates)} series)" if len(gates) > 1 else ""
    return replace(gates[worst], reason=f"{worst}{of}: {gates[worst].reason}")


def _undecided(requirement: Requirement, candidate: str, why: str) -> Gate:
    return Gate(requirement.name, candidate, Outcome.UNDECIDED, None, limit_text(requirement), why)


def _beyond(requirement: Requirement, gate: Gate) -> float:
    """How far a figure lies towards breaking the limit; a gate without a figure is the worst of its outcome."""
    if gate.measured is None:
        return math.inf
    return gate.measured.value if requirement.at_most else -gate.measured.value


def _of_series(
    requirement: Requirement, cells: Cells, found: Measured, figure: str, series: str = "", of_series: int = 1
) -> Gate:
    """On the worst of the CPUs where several were measured; `figure`: as the summary names it.

    `series` is one of `of_series` that the requirement holds for.
    """
    summary, name, limit = found.summary, figure_name(requirement), limit_text(requirement)
    candidate = summary.group.candidate
    if why_not := _why_unusable(requirement, summary, figure):
        return _undecided(requirement, candidate, why_not)
    own = found.others.get(series, found.pools)
    figures = {"": summary.figures[figure]}
    if own is found.pools:
        figures |= {f"CPU {cpu}: ": table[name] for cpu, table in summary.per_cpu.items() if name in table}
    else:
        of_cpus = {cpu: pool_figures(pool) for cpu, pool in own.items() if cpu is not None}
        figures |= {f"CPU {cpu}: ": table[name] for cpu, table in of_cpus.items() if name in table}
        summary = replace(summary, distribution=distribution_of(own[None]), samples=own[None].samples)
    pools = {"" if cpu is None else f"CPU {cpu}: ": pool for cpu, pool in own.items()}
    step = _step(requirement, summary, cells)
    judged, cpus = {}, len(figures) - 1
    for label, reading in figures.items():
        among = of_series * (cpus if label else 1)
        figures[label], told = _judge_among(among, requirement, name, reading, pools.get(label), step)
        judged[label] = _complete(told, lacking(found.summary, reading))
    worst = min(judged, key=lambda label: _WORST_FIRST.index(judged[label][0]))
    outcome, why = judged[worst]
    misses = _misses(requirement, name, summary)
    sentence = _sentence(name, figures[worst], requirement, summary)
    tail = pools[""].tail if "" in pools else TAIL
    said = f"{worst}{sentence}"
    # Beside a run that hung or died, that the others kept the limit is no more than their figure.
    alone = outcome != Outcome.NOT_MET and cells.losses(summary.group).died
    reason = said if alone else f"{said}{_misses_text(misses, summary, tail)}{why}"
    gate = Gate(
        requirement.name,
        candidate,
        outcome,
        figures[worst],
        limit,
        reason,
        misses,
        limit_value=requirement.limit.value,
        in_runs=in_runs(requirement, name, pools.get(worst), found.counts.get(name)),
    )
    unit = "ns" if name in _OF_DEADLINES else figures[worst].unit
    return gate if alone else by_clock(gate, unit, [summary], accept_virtual=cells.accept_virtual)


def limit_text(requirement: Requirement) -> str:
    """'at most 100 us', as the mission writes it."""
    return f"{'at most' if requirement.at_most else 'at least'} {requirement.limit.text}"


def _why_unmeasured(requirement: Requirement, cells: Cells, candidate: str) -> str:
    cell = f"{requirement.instrument} {under(requirement.load)}"
    failure = cells.failures.get(cells.group(requirement, candidate))
    if failure:
        return f"not measured: {failure}"
    if cells.board == PUBLISHED:
        return f"the study prints no {cell}"
    if (candidate, requirement.instrument, requirement.load) in cells.planned:
        return f"not measured: there is no record of {cell}"
    return f"not measured: this scale plans no {cell} for {candidate}"


def _why_unusable(requirement: Requirement, summary: Summary, figure: str) -> str:
    """Why a summary gives no figure to judge; empty where it does."""
    name = figure_name(requirement)
    reading = summary.figures.get(figure)
    if summary.problems:
        return f"refused: {'; '.join(summary.problems)}"
    if reading is None and summary.samples and name in QUANTILES:
        return f"{name} needs {samples_needed(name):,} samples; {summary.samples:,} were taken"
    if reading is None:
        return f"{requirement.instrument} gave no {name}"
    if requirement.limit.unit not in (None, reading.unit):
        return f"the limit is in {requirement.limit.unit}, {name} in {reading.unit}"
    if requirement.limit.unit is None and (reading.unit in DURATIONS_NS or is_size(reading.unit)):
        return f"the limit is a number without a unit, {name} in {reading.unit}"
    return ""


def _step(requirement: Requirement, summary: Summary, cells: Cells) -> float:
    """What the tool cuts off: 100 whole microseconds may be 100.99. A study rounds what it prints."""
    known = summary.figures.get(RESOLUTION) if requirement.statistic and cells.board != PUBLISHED else None
    return known.value if known else 0.0


def _judge_among(
    many: int, requirement: Requirement, name: str, reading: Figure, pool: Pool | None, step: float
) -> tuple[Figure, tuple[Outcome, str]]:
    """The figure of one of so many CPUs and series, and how it is judged.

    Where each alone breaks a limit falsely in 2.5 %, some one of eight may in 18 %. So what breaks it does so by an
    interval that allows for all of them (Bonferroni); that all of them keep it needs no allowance.
    """
    judged = _judge(requirement, name, reading, pool, step)
    if many < 2 or pool is None or judged[0] != Outcome.NOT_MET:
        return reading, judged
    wider = replace(pool, tail=pool.tail / many)
    widened = pool_figures(wider)[name]
    outcome, why = _judge(requirement, name, widened, wider, step)
    if outcome == Outcome.NOT_MET:
        return reading, judged
    return widened, (outcome, f"{why} (widened for the worst of {many})")


def _judge(requirement: Requirement, name: str, reading: Figure, pool: Pool | None, step: float) -> tuple[Outcome, str]:
    """The outcome, and what keeps it undecided; a true figure is less than `step` larger than the one given."""
    limit, upper = requirement.limit.value, requirement.at_most is not None
    width = pool.bin_width(reading.value) if pool is not None and reading.binned and name in EXTREMES else 0.0
    step = max(step, width)
    if (why := _broken(requirement, name, reading, pool, step)) is not None:
        return Outcome.NOT_MET, why
    if reading.runs < RUNS_TO_JUDGE and not is_size(reading.unit):
        return Outcome.UNDECIDED, f"; {count(reading.runs, 'run')}, {RUNS_TO_JUDGE} are needed"
    if why := _held(requirement, name, reading, pool, step):
        return Outcome.MET, f"; {why}"
    low, high = _between(name, reading)
    if width or name in _OF_TWO:  # what is subtracted is cut too; a bin is told by its middle
        low -= step
    keeps, breaks = (high <= limit, low > limit) if upper else (low >= limit, high < limit)
    cut = upper and keeps and high + step > limit
    if (keeps or breaks) and not cut:
        return (Outcome.MET if keeps else Outcome.NOT_MET), ""
    if reading.at_least:
        return Outcome.UNDECIDED, "; samples overflowed the histogram below the limit"
    why = "the interval holds the limit" if reading.interval else f"no interval: {reading.why_no_interval}"
    if cut:
        most = format_value(high + step, reading.unit)
        why = f"the tool counts in steps of {format_value(step, reading.unit)}: it may be up to {most}"
    return Outcome.UNDECIDED, f"; {why}"


def _complete(judged: tuple[Outcome, str], lack: str) -> tuple[Outcome, str]:
    """What nobody knows of is no run that kept a limit."""
    return (Outcome.UNDECIDED, f"; {lack}") if lack and judged[0] == Outcome.MET else judged


def _broken(requirement: Requirement, name: str, reading: Figure, pool: Pool | None, step: float) -> str | None:
    """Whether the limit is broken for certain, however few the runs: by what no further run can take back. None where
    it is not; else what to say of it."""
    limit = requirement.limit.value
    if not requirement.at_most:
        return "" if name == "min" and reading.value < limit else None
    if reading.largest_count is not None and reading.largest_count > limit:
        return f"; {reading.largest_count:,.0f} in a run"
    if name in _ONLY_GROW and reading.value - (step if reading.binned or name in _OF_TWO else 0) > limit:
        return ""
    why = certain_miss(pool, name, limit + pool.bin_width(limit)) if pool is not None else ""
    return f"; {why}" if why else None


def _held(requirement: Requirement, name: str, reading: Figure, pool: Pool | None, step: float) -> str:
    """Why a limit is kept whatever the figure's own interval; empty where that is not sure. A count that is its limit
    in every run keeps it as far as was measured, as a largest sample below it does."""
    limit = requirement.limit.value
    if reading.largest_count == reading.value == limit:
        others = reading.interval.high - limit if reading.interval else NONE_SEEN / reading.runs
        if limit == 0:
            return f"none seen, so fewer than {others:.2g} a run (95 %)"
        return f"{limit:,.0f} in every run, so another number in fewer than {100 * others:.0f} % of runs (95 %)"
    if requirement.at_most is None:
        return ""
    return certain_hold(pool, name, limit - max(step, pool.bin_width(limit))) if pool is not None else ""


def _between(name: str, reading: Figure) -> tuple[float, float]:
    """What the figure lies between; NaN where it is not known."""
    if reading.interval is not None:
        return reading.interval.low, reading.interval.high
    if name in EXTREMES or is_size(reading.unit):
        return reading.value, math.inf if reading.at_least else reading.value
    return math.nan, math.nan


def _misses(requirement: Requirement, name: str, summary: Summary) -> int | None:
    """Samples beyond the limit, where the limit applies to samples and these can be counted."""
    if requirement.at_most is None or not (name == "max" or name in QUANTILES):
        return None
    limit, drawn = requirement.limit.value, summary.distribution
    if drawn is None:
        return None
    hidden = drawn.overflow_from is not None and drawn.overflow_from <= limit
    if hidden and (summary.figures["max"].at_least or summary.figures["max"].value > limit):
        return None
    return beyond(drawn, limit)


def beyond(distribution: Distribution, limit: float) -> int:
    """Samples above a limit. Overflowed samples count where all of them are above it for certain."""
    valued = int(distribution.counts[distribution.values > limit].sum())
    certain = distribution.overflow_from is not None and distribution.overflow_from > limit
    return valued + (distribution.overflow if certain else 0)


def _sentence(name: str, reading: Figure, requirement: Requirement, summary: Summary) -> str:
    samples = f"{count(reading.n, 'sample')} in " if reading.n > reading.runs else ""
    runs = fewer_runs(summary) or count(reading.runs, "run")
    return f"{name} {figure(reading, requirement.limit.value)} of {samples}{runs}, {limit_text(requirement)} asked"


def _misses_text(misses: int | None, summary: Summary, tail: float) -> str:
    if misses is None:
        return ""
    if misses:
        word = "miss" if misses == 1 else "misses"
        return f"; {misses:,} deadline {word}, {share(misses, summary.samples)} of the samples"
    return f"; no deadline miss{_how_rare(summary.samples, tail)}"


def _how_rare(samples: int, tail: float) -> str:
    """What may be said where none of so many samples missed; empty where that is next to nothing."""
    bound = exceedance_bound(0, samples, 1 - 2 * tail)
    return f": one is rarer than {one_in(bound)} (95 %, if independent)" if bound <= RARE else ""


def shortfall(gate: Gate) -> str:
    """A gate that is not met, for a headline: "'wake-up under load' (434 us; at most 100 us asked)"."""
    agreed = next((f", with a {what}" for what in ("deviation", "waiver") if what in gate.origin), "")
    if gate.measured is None:
        return f"'{gate.requirement}'{agreed}"
    return f"'{gate.requirement}' ({value(gate.measured, gate.limit_value)}; {gate.limit} asked{agreed})"
