# SPDX-License-Identifier: MIT
"""A printed figure and everything that rounding may have hidden behind it: interval arithmetic on half digits.

A figure printed as 0.25 stands for anything from 0.245 to 0.255. Decimals keep the digits as they were
printed (10.000 is not 10), and sums of them are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import reduce
from operator import add
from typing import Self

_TIES = (ROUND_HALF_UP, ROUND_HALF_EVEN)  # it is not known which way a study rounds


@dataclass(frozen=True)
class Rounded:
    """Between `low` and `high`; `value` takes every digit at its word.

    `as_printed` is kept as long as nothing has been computed with a figure: a copy must have the same
    digits, while a 2 and a 3 that were both computed may be roundings of the same 2.5.
    """

    value: Decimal
    low: Decimal
    high: Decimal
    as_printed: Decimal | None = None

    @classmethod
    def exact(cls, number: Decimal) -> Self:
        return cls(number, number, number)

    @classmethod
    def printed(cls, number: Decimal) -> Self:
        """Half a unit of the last printed digit either way."""
        half = Decimal(1).scaleb(exponent(number)) / 2
        return cls(number, number - half, number + half, number)

    @classmethod
    def cut(cls, number: Decimal) -> Self:
        """What a tool cut off: up to a whole unit of the last printed digit more."""
        return cls(number, number, number + Decimal(1).scaleb(exponent(number)), number)

    @classmethod
    def about(cls, number: Decimal) -> Self:
        """Half a unit of the last digit that is not zero: 'around 100' is anything from 50 to 150."""
        half = Decimal(1).scaleb(exponent(number.normalize())) / 2
        return cls(number, number - half, number + half)

    @classmethod
    def almost(cls, number: Decimal) -> Self:
        """The lower half of 'about'."""
        return cls(number, cls.about(number).low, number)

    @classmethod
    def above(cls, number: Decimal) -> Self:
        return cls(number, number, Decimal("Infinity"))

    @classmethod
    def below(cls, number: Decimal) -> Self:
        """A size below a limit: from zero to the limit."""
        return cls(number, Decimal(0), number)

    def __neg__(self) -> "Rounded":
        return Rounded(-self.value, -self.high, -self.low)

    def __add__(self, other: "Rounded") -> "Rounded":
        return Rounded(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Rounded") -> "Rounded":
        return self + -other

    def __mul__(self, other: "Rounded") -> "Rounded":
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Rounded(self.value * other.value, min(ends), max(ends))

    def __truediv__(self, other: "Rounded") -> "Rounded":
        """Any value at all where the divisor may be zero: such a quotient contradicts nothing."""
        if other.low <= 0 <= other.high:
            value = self.value / other.value if other.value else Decimal(0)
            return Rounded(value, Decimal("-Infinity"), Decimal("Infinity"))
        ends = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Rounded(self.value / other.value, min(ends), max(ends))

    def squared(self) -> "Rounded":
        ends = (self.low**2, self.high**2)
        return Rounded(self.value**2, Decimal(0) if self.low <= 0 <= self.high else min(ends), max(ends))

    def sqrt(self) -> "Rounded":
        """Values below zero come from rounding and count as zero."""
        return Rounded(*(max(decimal, Decimal(0)).sqrt() for decimal in (self.value, self.low, self.high)))

    def scaled(self, power: int) -> "Rounded":
        """Times a power of ten, the unit of the last digit with it."""
        return Rounded(*(decimal.scaleb(power) for decimal in (self.value, self.low, self.high)))

    def agrees(self, other: "Rounded") -> bool:
        """Whether the two can be the same quantity."""
        if self.as_printed is not None and other.as_printed is not None:
            return same_digits(self.as_printed, other.as_printed)
        return self.low <= other.high and other.low <= self.high


def exponent(number: Decimal) -> int:
    """Of the last digit: -2 for 0.25, 0 for 17."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{number} is not a finite number")
    return exponent


def rounds_to(value: Decimal, printed: Decimal) -> bool:
    """Whether a value, rounded to as many decimals as a printed figure has, is that figure."""
    unit = Decimal(1).scaleb(exponent(printed))
    return any(value.quantize(unit, rounding) == printed for rounding in _TIES)


def same_digits(a: Decimal, b: Decimal) -> bool:
    """Whether two printed figures are equal, or one is the other rounded to fewer decimals."""
    coarse, fine = (a, b) if exponent(a) >= exponent(b) else (b, a)
    return rounds_to(fine, coarse)


def least(figures: Sequence[Rounded]) -> Rounded:
    first = min(figures, key=lambda rounded: rounded.value)
    return Rounded(
        first.value, min(rounded.low for rounded in figures), min(rounded.high for rounded in figures), first.as_printed
    )


def greatest(figures: Sequence[Rounded]) -> Rounded:
    last = max(figures, key=lambda rounded: rounded.value)
    return Rounded(
        last.value, max(rounded.low for rounded in figures), max(rounded.high for rounded in figures), last.as_printed
    )


def mean(figures: Sequence[Rounded]) -> Rounded:
    return reduce(add, figures) / Rounded.exact(Decimal(len(figures)))
