# SPDX-License-Identifier: MIT
"""Which change moved the tail, on the terminal and as JSON."""

from math import comb

from rich.console import Console
from rich.text import Text

from rtqual.base.units import format_value
from rtqual.base.words import clean, count, listed, under
from rtqual.engine.campaign.run import Watcher
from rtqual.face.terminal.plain import plain
from rtqual.face.terminal.tables import table
from rtqual.parts.bisect.bisect import APART, Bisection, BisectStep, Foreseen

_NAMED = 12  # changes
CHANCE = 0.05
ENOUGH = next(runs for runs in range(1, 10) if 1 / comb(2 * runs, runs) <= CHANCE)


class Progress(Watcher):
    """A line for each step and for what takes long."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def preparing(self, what: str) -> None:
        self._console.print(Text(clean(f"preparing {what}")), soft_wrap=True)

    def warning(self, text: str) -> None:
        self._console.print(Text(clean(f"warning {text}")), soft_wrap=True)


def sentence(found: Bisection) -> str:
    """What moved the figure, the figures, and how easily so few runs lie apart by chance."""
    runs = min(len(step.values) for step in found.steps[:2])
    orders = comb(2 * runs, runs)  # of two draws alike, in one of which all of the good end's runs are lower
    if not found.acting or 1 / orders <= CHANCE:
        return _moved(found)
    return (
        f"{_moved(found)} With {count(runs, 'run')} an end this is weak: chance sets two kernels that are alike apart "
        f"like this in up to 1 of {orders} cases; measure the ends with {ENOUGH} runs or more."
    )


def _moved(found: Bisection) -> str:
    ends, good, bad = found.ends, found.steps[0], found.steps[1]
    what = f"the {ends.asked.statistic} of {ends.asked.instrument} {under(ends.load)}"
    if not found.acting:
        return (
            f"Nothing to bisect: {what} is {_figure(good, found)} at the good end and {_figure(bad, found)} at the bad "
            f"end; the bad one must be higher, with {APART:.0%} of the runs of each on its own side of the middle."
        )
    assert found.alone is not None and found.rest is not None, "it acts"  # noqa: S101
    groups = [" or ".join(pair) for pair in found.acting]
    moved = f"{what} from {_figure(good, found)} to"
    if found.packages:
        last = found.rest.changes[-1] if found.rest.changes else ends.good.candidate.package
        before = f"{last} before it has {_figure(found.rest, found)}"
        return f"{groups[0]} moves {what}: {_figure(found.alone, found)}; {before}."
    if len(groups) == 1:
        said = f"{groups[0]} moves {moved} {_figure(found.alone, found)}"
    else:
        said = f"{listed(groups)} act together: they move {moved} {_figure(found.alone, found)}"
    number = len(found.changes) - sum(map(len, found.acting))
    if not number:
        return f"{said}."
    others = f"the other {count(number, 'change')}" if number > 1 else "the other change"
    if found.rest.why:
        return f"{said}; {others} alone could not be measured: {found.rest.why}."
    also = ", so something among them moves it too: bisect them next" if found.rest_moves else ""
    return f"{said}; {others} alone: {_figure(found.rest, found)}{also}."


def print_bisection(console: Console, found: Bisection) -> None:
    rows: list[tuple[object, ...]] = []
    for number, step in enumerate(found.steps):
        label = ("good end", "bad end")[number] if number < 2 else str(number - 1)
        if step.why:
            rows.append((label, len(step.changes), "", "", "", f"not judged: {step.why}"[:100]))
            continue
        span = ", ".join(format_value(value, found.unit) for value in (min(step.values), max(step.values)))
        side = "bad" if step.value > found.middle else "good"
        value = format_value(step.value, found.unit)
        rows.append((label, len(step.changes), len(step.values), value, span, side))
    numbers = ("runs", found.ends.asked.statistic, "smallest, largest")
    console.print(table(("step", "changes", *numbers, "side"), rows, right=numbers))
    console.print()
    console.print(Text(clean(sentence(found)), "bold"), soft_wrap=True)


def print_foreseen(console: Console, foreseen: Foreseen) -> None:
    names = foreseen.changes
    shown = listed([*names[:_NAMED], *([f"{len(names) - _NAMED} more"] if len(names) > _NAMED else [])])
    console.print(Text(clean(f"{count(len(names), 'change')}: {shown}")), soft_wrap=True)
    verb = "built and measured" if foreseen.builds else "measured"
    more = f"; {foreseen.more} more for each further change that acts with it" if foreseen.more else ""
    console.print(Text(f"At most {count(foreseen.kernels, 'kernel')} {verb} if one change acts{more}."), soft_wrap=True)


def _figure(step: BisectStep, found: Bisection) -> str:
    return f"{format_value(step.value, found.unit)} ({count(len(step.values), 'run')}, n = {step.samples:,})"


def foreseen_dict(foreseen: Foreseen) -> dict[str, object]:
    return {name: plain(value) for name, value in vars(foreseen).items()}


def as_dict(found: Bisection) -> dict[str, object]:
    ends = found.ends
    return {
        "good": ends.good.candidate.name,
        "bad": ends.bad.candidate.name,
        "instrument": ends.asked.instrument,
        "load": ends.load,
        "statistic": ends.asked.statistic,
        "unit": found.unit,
        "changes": plain(found.changes),
        "steps": [_step(step) for step in found.steps],
        "acting": plain(found.acting),
        "rest_moves": found.rest_moves,
        "sentence": sentence(found),
    }


def _step(step: BisectStep) -> dict[str, object]:
    records = [record.manifest.hash for record in step.records]
    return {**vars(step), "records": records, "value": step.value if step.values else None}
