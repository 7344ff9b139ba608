# SPDX-License-Identifier: MIT
"""Whether figures of two groups may be compared: measured with the same settings, extremes over equal lengths."""

from rtqual.base.units import format_value
from rtqual.base.words import count
from rtqual.engine.analysis.figure.asked import EXTREMES, OF_RUNS
from rtqual.engine.analysis.figure.model import Conditions, Figure, Summary
from rtqual.engine.analysis.figure.statistics import STATISTICS, is_of_time, is_size
from rtqual.engine.mission.program import PREFIX
from rtqual.protocols.load import OF_LOADS
from rtqual.protocols.record.schema import Timing

LENGTHS = frozenset({"cycles", "iterations", "frames", "repetitions", "events", "time"})  # how long a run is
HARMLESS = frozenset({"histogram_limit"})  # where a tool ends its histogram: what lies beyond is an overflow
_GROWING = (*EXTREMES, *OF_RUNS)  # with every sample
ALIKE = 1.1  # threads of one run end a little apart: lengths that differ by less are the same


def unlike(a: Summary, b: Summary, statistic: str = "") -> str:
    """Why a statistic of two groups cannot be compared; empty where it can. What one of them does not tell is no
    difference."""
    if (a.timing == Timing.REAL) != (b.timing == Timing.REAL) and _in_time(a, statistic):
        return "measured by other clocks: real time against the emulator's"
    if (of := {summary.series[0] for summary in (a, b) if summary.series and statistic in STATISTICS}) and len(of) > 1:
        return f"measured otherwise: the samples are of {' and of '.join(sorted(of))}"
    if {a.conditions.rested, b.conditions.rested} == {True, False}:
        return "measured before rtqual waited for the end of a boot, and since: measure both anew"
    states = {summary.conditions.battery for summary in (a, b)} - {""}
    if len(states) > 1:
        return f"measured by two states of the battery, {' and '.join(sorted(states))}: link both images anew"
    loads = [{k: v for k, v in summary.conditions.parameters.items() if k.startswith(OF_LOADS)} for summary in (a, b)]
    if loads[0] != loads[1]:
        name = min(k for k in (*loads[0], *loads[1]) if loads[0].get(k) != loads[1].get(k))
        return f"measured under another load: {name.removeprefix(OF_LOADS)} differs"
    return unlike_conditions(a.conditions, b.conditions, statistic)


def _in_time(summary: Summary, statistic: str) -> bool:
    """Whether a statistic is one of time: all samples are, and how many deadlines a program missed."""
    figure = summary.figures.get(statistic)
    return figure is None or is_of_time(figure.unit) or summary.group.instrument.startswith(PREFIX)


def unlike_conditions(conditions: Conditions, other: Conditions, statistic: str = "") -> str:
    """The same of conditions alone, as a published table states them."""
    told = [name for name in conditions.parameters if name in other.parameters and name not in LENGTHS | HARMLESS]
    apart = [name for name in told if conditions.parameters[name] != other.parameters[name]]
    if apart:
        name = apart[0]
        return f"measured otherwise: {name} {_setting(conditions, name)} against {_setting(other, name)}"
    if any(f" {statistic}".endswith(f" {name}") for name in _GROWING):  # of whichever series
        lengths = other_lengths(conditions, other)
        return f"{lengths}: extremes grow with every sample" if lengths else ""
    return ""


def other_lengths(a: Conditions, b: Conditions) -> str:
    """'runs of 300 and of 30,000 samples'; empty where they are as long, or it is not known."""
    every = [*a.lengths, *b.lengths]
    if not a.lengths or not b.lengths or max(every) <= ALIKE * min(every):
        return ""
    return f"runs of {_range(a)} and of {_range(b)} samples"


def fewer_runs(summary: Summary) -> str:
    """'6 of 10 runs'; empty where there are as many as planned, or it is not known."""
    return (
        f"{summary.runs} of {summary.planned} runs"
        if summary.planned is not None and summary.runs < summary.planned
        else ""
    )


def lacking(summary: Summary, figure: Figure) -> str:
    """'4 of 10 runs gave none': runs without the figure that others of the group have, and that may be the bad ones;
    empty where there are none. A size is read once."""
    lack = 0 if is_size(figure.unit) else summary.runs - figure.runs
    return f"{lack} of {count(summary.runs, 'run')} gave none" if lack > 0 else ""


def _setting(conditions: Conditions, name: str) -> str:
    value = conditions.parameters[name]
    return format_value(value, "ns") if name == "interval" and isinstance(value, int) else str(value)


def _range(conditions: Conditions) -> str:
    low, high = (f"{round(end):,}" for end in conditions.lengths)
    return low if low == high else f"{low} to {high}"


def runs_differ(a: Figure, b: Figure) -> str:
    """Why runs do not tell two candidates apart: a kind of run that one shows may have been missed in the other.

    Where all runs of one lie below all of the other, it makes no difference.
    """
    odd = [figure.spread for figure in (a, b) if figure.spread and figure.spread.odd]
    if not odd or not a.spread or not b.spread or a.spread.high < b.spread.low or b.spread.high < a.spread.low:
        return ""
    needed = max(spread.needed for spread in odd)
    return f"runs differ: {needed} runs needed" if min(a.runs, b.runs) < needed else ""
