# SPDX-License-Identifier: MIT
"""Shift functions: the difference of two candidates at each quantile, which shows where they differ.

A candidate may be better in the middle and worse in the tail, which an average hides (Doksum 1974; Rousselet, Pernet
& Wilcox 2017). Each interval is that of its quantile's difference alone; quantiles beside each other are not
independent.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from rtqual.base.words import listed
from rtqual.engine.analysis.difference.compare import figure_difference, flipped, pairs, refusal
from rtqual.engine.analysis.difference.model import Relation, ShiftFunction
from rtqual.engine.analysis.difference.statement import Margins, margin_value, relation, undecided
from rtqual.engine.analysis.figure.asked import USUAL
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.model import Figure
from rtqual.engine.analysis.figure.statistics import STATISTICS
from rtqual.engine.analysis.figure.summary import Measured
from rtqual.engine.mission import Quantity


def shift_functions(measured: Iterable[Measured], margins: Margins | None = None) -> tuple[ShiftFunction, ...]:
    """Of every pair of candidates that differ in nothing else, where both have samples."""
    found = (shift_function(a, b, margins or {}) for a, b in pairs(measured))
    return tuple(function for function in found if function is not None)


def shift_function(a: Measured, b: Measured, margins: Margins) -> ShiftFunction | None:
    names = [name for name in a.quantiles if name in b.quantiles]
    if not names:
        return None
    of_a, of_b = a.quantiles, b.quantiles
    differences = {name: figure_difference(of_a[name], of_b[name]) for name in names}
    if why := unlike(a.summary, b.summary, USUAL[0]):
        differences = {
            name: replace(figure, interval=None, why_no_interval=why) for name, figure in differences.items()
        }
    stated = _of_samples(a.group.instrument, a.group.load, margins)
    values = {name: margin_value(stated, of_a[name], of_b[name]) for name in names}
    within = {name: value for name, value in values.items() if value is not None}
    refused = refusal(a.summary, b.summary)
    words = (
        undecided(refused).statement if refused else in_words(a.group.candidate, b.group.candidate, differences, within)
    )
    decided = not refused and is_decided(differences, within)
    return ShiftFunction(a.group, b.group, of_a[names[0]].unit, differences, within, words, decided)


def turned(function: ShiftFunction) -> ShiftFunction:
    """The same with a and b in each other's place."""
    differences = {name: flipped(apart, lambda value: -value) for name, apart in function.differences.items()}
    words = function.statement
    if function.decided:
        words = in_words(function.b.candidate, function.a.candidate, differences, function.margins)
    return replace(function, a=function.b, b=function.a, differences=differences, statement=words)


def is_decided(differences: Mapping[str, Figure], margins: Mapping[str, float]) -> bool:
    """Whether a quantile tells the two apart, or that they are equal."""
    return any(relation(figure, margins.get(name))[0] != Relation.UNDECIDED for name, figure in differences.items())


def in_words(a: str, b: str, differences: Mapping[str, Figure], margins: Mapping[str, float]) -> str:
    """'a < b from p50 up', 'crosses at p90: a > b up to p50, a < b from p90 up', 'undecided: ...'."""
    names = list(differences)
    found = [relation(figure, margins.get(name)) for name, figure in differences.items()]
    signs = [Relation.EQUAL if inside else sign for sign, inside in found]
    parts = [
        (sign, [name for name, _ in group])
        for sign, group in groupby(zip(names, signs, strict=True), key=lambda pair: pair[1])
        if sign != Relation.UNDECIDED
    ]
    if not parts:
        why = {figure.why_no_interval for figure in differences.values()}
        missing = why.pop() or "no quantile tells them apart" if len(why) == 1 else "too few runs"
        return undecided(missing).statement
    unequal = [part for part in parts if part[0] != Relation.EQUAL]
    turns = [later for earlier, later in pairwise(unequal) if earlier[0] != later[0]]
    crossing = f"crosses at {listed([of[0] for _, of in turns])}: " if turns else ""
    relations = [(f"{a} {sign} {b}", _where(of, names)) for sign, of in parts]
    return crossing + ", ".join(f"{what} {listed(places)}" for what, places in _merged(relations).items())


def _merged(relations: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """What holds -> all places where it does."""
    return {what: [where for its, where in relations if its == what] for what, _ in relations}


def _where(of: Sequence[str], names: Sequence[str]) -> str:
    """'everywhere from p5 to p99', 'from p90 up', 'up to p50', 'at p90', 'from p50 to p90'."""
    if len(of) == len(names) > 1:
        return f"everywhere from {names[0]} to {names[-1]}"
    if of[-1] == names[-1]:
        return f"from {of[0]} up" if len(of) > 1 else f"at {of[0]}"
    if of[0] == names[0]:
        return f"up to {of[-1]}"
    return f"at {of[0]}" if len(of) == 1 else f"from {of[0]} to {of[-1]}"


def _of_samples(instrument: str, load: str, margins: Margins) -> list[Quantity]:
    """The margins that a mission states on figures of these samples."""
    return [
        quantity
        for (its, under, figure), stated in margins.items()
        if (its, under) == (instrument, load) and figure in STATISTICS
        for quantity in stated
    ]
