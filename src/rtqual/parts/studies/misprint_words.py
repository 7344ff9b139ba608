# SPDX-License-Identifier: MIT
"""Findings in words: figures as they are read, one sentence for every kind of misprint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from rtqual.base.words import listed
from rtqual.parts.studies.misprint import MisprintKind, Named
from rtqual.parts.studies.rounded import Rounded, exponent

RELATIONS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}

_SENTENCES: Mapping[MisprintKind, str] = {
    MisprintKind.ROW_SHIFT: "{wrong} belongs to the row '{neighbour}'; here {where} is {right}{hidden}",
    MisprintKind.FACTOR_OF_TEN: "{wrong} is {factor}; {where} is {right}",
    MisprintKind.LOST_SIGN: "The sign was lost; {where} is {right}",
    MisprintKind.TRANSPOSED: "Two digits of {wrong} are exchanged; {where} is {right}",
    MisprintKind.OTHER_STATISTIC: "{wrong} is {instead}; {where} is {right}",
    MisprintKind.COPY: "{wrong} disagrees with what it repeats; {where} is {right}",
    MisprintKind.IMPOSSIBLE: "{wrong} cannot be; {where} ask for {right}",
    MisprintKind.DIFFERENCE: "{wrong} does not follow; {where} is {right}",
    MisprintKind.CLAIM: "Not so: {where} is {right}, not {said}{others}",
    MisprintKind.ORDER: "Not so: {where} is {right}, not {said}{others}",
}


@dataclass(frozen=True)
class StudyCircumstances:
    """What a sentence says besides the printed figure."""

    right: str  # the recomputed figure
    where: str  # what was computed
    said: str = ""  # what a claim asks of it
    neighbour: str = ""  # the row that a figure belongs to
    instead: str = ""  # the statistic that it is
    also: Sequence[str] = ()  # rows that share the fault
    note: str = ""


def explain(named: Named, wrong: str, about: StudyCircumstances) -> str:
    """One sentence on a printed figure."""
    also = listed(about.also)
    sentence = _SENTENCES[named.kind].format(
        wrong=wrong,
        right=about.right,
        where=about.where,
        said=about.said,
        neighbour=about.neighbour,
        instead=about.instead,
        factor=f"{10 ** abs(named.power)} times too {'large' if named.power > 0 else 'small'}",
        hidden=f"; {also} printed a neighbour's figure too, within rounding" if also else "",
        others=f"; nor does it hold for {also}" if also else "",
    )
    return f"{sentence}; {about.note}." if about.note else f"{sentence}."


def plain(number: Decimal) -> str:
    """Without an exponent and with every digit that was printed: 10.000, 1000000."""
    return f"{number:f}"


def related(relation: str, figure: str) -> str:
    """'below 0.5'; the figure itself where it is to be equal."""
    return f"{RELATIONS[relation]} {figure}" if relation in RELATIONS else figure


def recomputed(figure: Rounded, beside: Rounded) -> str:
    """With at least as many decimals as the printed figure beside it: '0.14 [0.13, 0.15]'."""
    return span(figure, max(0, -exponent(beside.value)) if beside.as_printed is not None else 0)


def span(figure: Rounded, decimals: int = 0) -> str:
    """'4', '0.14 [0.13, 0.15]': the value to so many decimals at least, its interval to two digits of its width."""
    if figure.low == figure.high:
        return _rounded(figure.value, max(decimals, min(4, -exponent(figure.value))))
    width = figure.high - figure.low
    supported = max(0, 2 - width.adjusted()) if width.is_finite() else 4
    ends = [_rounded(end, supported) for end in (figure.low, figure.high)]
    while all(end.endswith("0") and "." in end for end in ends):
        ends = [end[:-1].rstrip(".") for end in ends]
    value = _rounded(figure.value, max(decimals, supported))
    while value.endswith("0") and len(value.partition(".")[2]) > decimals:
        value = value[:-1]
    return f"{value.rstrip('.')} [{', '.join(ends)}]"


def _rounded(number: Decimal, decimals: int) -> str:
    if not number.is_finite():
        return "no end"
    return f"{number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}"
