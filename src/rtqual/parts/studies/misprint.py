# SPDX-License-Identifier: MIT
"""Classifies the mistake in a printed figure that does not follow from the others."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise

from rtqual.parts.studies.rounded import Rounded, exponent, rounds_to


class MisprintKind(StrEnum):
    DIFFERENCE = "difference"  # not what its formula gives
    ROW_SHIFT = "row shift"  # what the formula gives for the row above or below
    FACTOR_OF_TEN = "factor of ten"
    LOST_SIGN = "lost sign"
    TRANSPOSED = "transposed"  # two neighbouring digits are exchanged
    OTHER_STATISTIC = "other statistic"  # right for a statistic other than its column's
    COPY = "copy disagrees"
    IMPOSSIBLE = "impossible"  # the other figures leave no room for it
    CLAIM = "claim does not hold"
    ORDER = "statement about order"


@dataclass(frozen=True)
class Wrong:
    """A printed figure and what it should be, with what helps to explain the mistake."""

    printed: Rounded
    recomputed: Rounded
    neighbours: Mapping[str, Rounded] = field(default_factory=dict)  # row -> recomputed for it
    instead: Rounded | None = None  # the other statistic that a study may have printed
    otherwise: MisprintKind = MisprintKind.DIFFERENCE


@dataclass(frozen=True)
class Named:
    kind: MisprintKind
    row: str = ""  # of a row shift
    power: int = 0  # of ten: printed = recomputed * 10^power


def name(wrong: Wrong) -> Named:
    """The most telling kind: where several fit, the first of them."""
    printed, recomputed = wrong.printed, wrong.recomputed
    if wrong.instead is not None and printed.agrees(wrong.instead):
        return Named(MisprintKind.OTHER_STATISTIC)
    if recomputed.value * printed.value < 0 and _bare(-printed).agrees(_bare(recomputed)):
        return Named(MisprintKind.LOST_SIGN)
    power = _power_of_ten(printed, recomputed)
    if power:
        return Named(MisprintKind.FACTOR_OF_TEN, power=power)
    row = next((row for row, rounded in wrong.neighbours.items() if _is_of(printed, rounded)), "")
    if row:
        return Named(MisprintKind.ROW_SHIFT, row=row)
    if any(Rounded.printed(other).agrees(_bare(recomputed)) for other in _exchanged(printed.value)):
        return Named(MisprintKind.TRANSPOSED)
    return Named(wrong.otherwise)


def _is_of(printed: Rounded, other: Rounded) -> bool:
    """Whether it is another row's figure: to the digit, or within rounding where the other figure is known well."""
    sharp = (other.high - other.low) * 20 <= abs(other.value)
    return rounds_to(other.value, printed.value) or (sharp and printed.agrees(other))


def _power_of_ten(printed: Rounded, recomputed: Rounded) -> int:
    """Zero where it is no power of ten, or where the recomputed figure is too vague to tell."""
    ends = sorted((abs(recomputed.low), abs(recomputed.high)))
    if recomputed.low <= 0 <= recomputed.high or ends[1] >= 10 * ends[0]:
        return 0
    powers = (power for size in range(1, 10) for power in (size, -size))
    return next((power for power in powers if _bare(recomputed).agrees(printed.scaled(-power))), 0)


def _bare(figure: Rounded) -> Rounded:
    return Rounded(figure.value, figure.low, figure.high)


def _exchanged(number: Decimal) -> Iterator[Decimal]:
    """The number with two neighbouring digits exchanged, each pair in turn."""
    sign, digits, _ = number.as_tuple()
    for n, (a, b) in enumerate(pairwise(digits)):
        if a != b:
            yield Decimal((sign, (*digits[:n], b, a, *digits[n + 2 :]), exponent(number)))
