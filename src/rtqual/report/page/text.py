# SPDX-License-Identifier: MIT
"""How the report writes figures, units and names: the one place where numbers become text."""

import math
import re
from collections.abc import Iterable

from rtqual.analysis.figure.model import Figure, Group
from rtqual.record.schema import Timing

# Largest first; a figure and its interval share the step that suits the figure.
STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "B": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}
VIRTUAL = "◇"
HOST = "†"
TIMING_MARK = {
    Timing.INSTRUCTIONS: VIRTUAL,
    Timing.UNTESTED: VIRTUAL,
    Timing.HOST_TIMED: HOST,
    Timing.REAL: "",
}
TIMING_NOTE = {
    VIRTUAL: (
        "Counts executed instructions, not caches or memory contention: ranks kernels, "
        "is no absolute latency for flight."
    ),
    HOST: (
        "Host-timed: the same run again gave other samples, or something in it waited for the host; "
        "an order of magnitude."
    ),
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")
_MICRO = re.compile(r"(?<=\d)(\s?)us\b")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mµn]?s|[KMG]iB|B|h|min)(?:\W|$))")


def clean(text: str) -> str:
    """Without control and direction characters, which neither XML nor a terminal log in a table can carry."""
    return _CONTROL.sub(" ", text)


def prose(text: str) -> str:
    """A sentence from the mission or the analysis: cleaned, '12 us' set as '12 µs', numbers kept by their units."""
    return _UNIT.sub("\u00a0", _MICRO.sub(r"\1µs", clean(text)))


def step(value: float, unit: str) -> tuple[float, str]:
    """The divisor and the name of the unit that suits a value."""
    steps = STEPS.get(unit, ((1.0, "" if unit == "1" else unit),))
    return next((one for one in steps if abs(value) >= one[0]), steps[-1])


def number(value: float) -> str:
    """Four significant digits, thousands apart; never an exponent a reader must undo."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4:
        return f"{value:.3g}"
    text = f"{value:,.{max(0, 3 - magnitude)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


def quantity(value: float, unit: str) -> str:
    scale, name = step(value, unit)
    return f"{number(value / scale)}\u00a0{name}".rstrip()


def duration(duration_ns: float) -> str:
    """Of something people wait for: '6 h', '12 min', else as any quantity."""
    for scale, name in ((3600e9, "h"), (60e9, "min")):
        if duration_ns >= scale:
            return f"{number(duration_ns / scale)}\u00a0{name}"
    return quantity(duration_ns, "ns")


def figure_value(figure: Figure) -> str:
    """'≥ 400 µs', '12.3 µs'."""
    return ("≥\u00a0" if figure.at_least else "") + quantity(figure.value, figure.unit)


def figure_interval(figure: Figure) -> str:
    """'11.9 to 12.6', in the unit of the figure; empty without an interval."""
    if figure.interval is None:
        return ""
    scale, _ = step(figure.value, figure.unit)
    return f"{number(figure.interval.low / scale)} to {number(figure.interval.high / scale)}"


def figure_text(figure: Figure) -> str:
    """The figure and its interval in one line."""
    interval = figure_interval(figure)
    return figure_value(figure) + (f" [{interval}]" if interval else "")


def cpus_text(cpus: int) -> str:
    return "1 CPU" if cpus == 1 else f"{cpus} CPUs"


def place(group: Group) -> str:
    """Where a group ran: 'virtual board, 2 CPUs'."""
    return f"{group.board} board, {cpus_text(group.cpus)}"


def load_text(load: str) -> str:
    return "idle" if load == "none" else f"under {load}"


def readable(name: str) -> str:
    """A figure's name for people: 'events_per_s' -> 'events per s'."""
    return clean(name.replace("_", " "))


def marked(text: str, mark: str) -> str:
    """A caption with its marks, which stay on the line of its last word."""
    return f"{text}\u00a0{mark}" if mark else text


def slug(*parts: object) -> str:
    """A name for ids and files: ASCII letters, digits and hyphens only."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", str(part).lower()).strip("-") or "x" for part in parts)


def marks(timings: Iterable[Timing]) -> tuple[str, ...]:
    """The marks these timings need, in a fixed order."""
    needed = {TIMING_MARK[timing] for timing in timings}
    return tuple(mark for mark in (VIRTUAL, HOST) if mark in needed)
