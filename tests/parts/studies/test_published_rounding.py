# SPDX-License-Identifier: MIT
"""Printed figures as intervals: rounding, and formulas over them."""

from decimal import Decimal

import pytest

from rtqual.parts.studies.formula import bound, evaluate, may_hold
from rtqual.parts.studies.rounded import Rounded


def rounded(text: str) -> Rounded:
    return Rounded.printed(Decimal(text))


def test_a_printed_figure_is_known_to_half_its_last_digit() -> None:
    figure = rounded("10.000")
    assert (figure.low, figure.high) == (Decimal("9.9995"), Decimal("10.0005"))
    assert (Rounded.about(Decimal(100)).low, Rounded.almost(Decimal(100)).high) == (50, 100)


def test_copies_need_the_same_digits_but_computed_figures_may_be_roundings_of_one() -> None:
    assert not rounded("2").agrees(rounded("3"))
    assert rounded("2").agrees(rounded("2.4"))
    assert rounded("5761").agrees(rounded("5761.00"))
    assert (rounded("4") - rounded("2")).agrees(rounded("3"))
    assert not (rounded("4") - rounded("2")).agrees(rounded("4"))


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("a - b", "0.9", "1.1"),
        ("2 * a", "3.9", "4.1"),
        ("-a + b", "-1.1", "-0.9"),
        ("squared(a - b - 1)", "0", "0.01"),
        ("sqrt(squared(a))", "1.95", "2.05"),
        ("least(a, b)", "0.95", "1.05"),
        ("mean(a, b)", "1.45", "1.55"),
        ("count(a, b, b)", "3", "3"),
    ],
)
def test_formulas_carry_intervals(formula: str, low: str, high: str) -> None:
    figures = {("a",): (rounded("2.0"),), ("b",): (rounded("1.0"),)}
    result = evaluate(formula, figures.__getitem__)
    assert (result.low, result.high) == (Decimal(low), Decimal(high))


def test_a_quotient_by_what_may_be_zero_contradicts_nothing() -> None:
    quotient = rounded("1.0") / rounded("0.0")
    assert quotient.agrees(rounded("12345"))


@pytest.mark.parametrize("formula", ["a +", "a if b else c", "open('x')", "a @ b", "several", "least(a, key=b)"])
def test_what_is_not_a_formula_is_refused(formula: str) -> None:
    with pytest.raises(ValueError, match=r"formula|take least"):
        evaluate(formula, lambda path: (rounded("1"),) * (2 if path == ("several",) else 1))


def test_a_number_to_equal_is_rounded_as_printed_and_a_limit_is_exact() -> None:
    assert bound("==", "50", lambda _: ()).low == Decimal("49.5")
    assert bound("<", "50", lambda _: ()).low == 50
    assert may_hold(rounded("0.50"), "<", Rounded.exact(Decimal("0.5")))
    assert not may_hold(rounded("0.51"), "<", Rounded.exact(Decimal("0.5")))
