# SPDX-License-Identifier: MIT
"""How the report writes figures, places and names. Numbers become text in base/units.py; chapters get both here."""

from collections.abc import Iterable, Sequence

from rtqual.base.units import duration, format_value, number, quantity, step, typeset
from rtqual.base.words import clean, count, listed
from rtqual.base.words import under as load_text
from rtqual.engine.analysis.figure.model import Figure, Group
from rtqual.engine.analysis.figure.wording import LEAST_DIGITS, digits
from rtqual.protocols.record.schema import Timing

__all__ = ["clean", "duration", "load_text", "number", "quantity", "step"]  # not written here, offered with the rest

_MOST_VALUES = _MOST_NAMES = 3
VIRTUAL = "◇"
MODELLED = "◈"
HOST = "†"
TIMING_MARK = {
    Timing.INSTRUCTIONS: VIRTUAL, Timing.UNTESTED: VIRTUAL, Timing.MODELLED: MODELLED,
    Timing.MODELLED_UNTESTED: MODELLED, Timing.HOST_TIMED: HOST, Timing.REAL: "",
}  # fmt: skip
TIMING_NOTE = {
    VIRTUAL: (
        "Counts executed instructions, not caches or memory contention: ranks kernels, "
        "is no absolute latency for flight."
    ),
    MODELLED: (
        "Modelled: executed instructions and the stalls of a model of memory or disks that was not calibrated on any "
        "board; tells what these add and to whom, is no latency of a real board."
    ),
    HOST: (
        "Host-timed: the same run again gave other samples, or something in it waited for the host; "
        "an order of magnitude."
    ),
}


def prose(text: str) -> str:
    """A sentence from the mission or the analysis: cleaned, '12 us' set as '12 µs', numbers kept by their units."""
    return typeset(clean(text))


def figure_value(figure: Figure, limit: float | None = None) -> str:
    """'≥ 400 µs', '12.3 µs'; beside a limit with as many digits as tell the two apart."""
    needed = digits(figure.value, limit)
    written = typeset(format_value(figure.value, figure.unit, needed)) if needed > LEAST_DIGITS else None
    return ("≥\u00a0" if figure.at_least else "") + (written or quantity(figure.value, figure.unit))


def figure_interval(figure: Figure, limit: float | None = None) -> str:
    """'11.9 to 12.6', in the unit of the figure; empty without an interval; each end on its side of a limit."""
    if figure.interval is None:
        return ""
    scale, _ = step(figure.value, figure.unit)

    def end(value: float) -> str:
        needed = digits(value, limit)
        return f"{value / scale:.{needed}g}" if needed > LEAST_DIGITS else number(value / scale)

    return f"{end(figure.interval.low)} to {end(figure.interval.high)}"


def figure_text(figure: Figure, limit: float | None = None) -> str:
    """The figure and its interval in one line."""
    interval = figure_interval(figure, limit)
    return figure_value(figure, limit) + (f" [{interval}]" if interval else "")


def place(group: Group) -> str:
    """Where a group ran: 'virtual board, 2 CPUs'."""
    return f"{group.board} board, {count(group.cpus, 'CPU')}"


def cell_text(group: Group) -> str:
    """'rt, cyclictest under hackbench'."""
    return f"{group.candidate}, {group.instrument} {load_text(group.load)}"


def groups_text(groups: Sequence[Group]) -> str:
    """A few groups each with its board, else how many there are of which boards."""
    if len(groups) <= _MOST_NAMES:
        return listed([f"{cell_text(group)} ({group.board} board)" for group in groups])
    boards = dict.fromkeys(f"{group.board} board" for group in groups)
    return f"{len(groups)} groups of the {listed(list(boards))}"


def readable(name: str) -> str:
    """A figure's name for people: 'events_per_s' -> 'events per s'."""
    return clean(name.replace("_", " "))


def distinct(values: Iterable[str]) -> str:
    """'a; b': each value once, or how many there are where they are too many to list."""
    ordered = sorted(set(values))
    if len(ordered) > _MOST_VALUES:
        return f"{len(ordered)} different values"
    return clean("; ".join(ordered)) or "-"


def seeds_text(seeds: Iterable[int]) -> str:
    """'1 to 10', or each of them where there are gaps."""
    ordered = sorted(set(seeds))
    if len(ordered) > 2 and ordered == list(range(ordered[0], ordered[-1] + 1)):
        return f"{ordered[0]} to {ordered[-1]}"
    return ", ".join(map(str, ordered))


def marked(text: str, mark: str) -> str:
    """A caption with its marks, which stay on the line of its last word."""
    return f"{text}\u00a0{mark}" if mark else text
