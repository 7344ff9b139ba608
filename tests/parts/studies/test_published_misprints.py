# SPDX-License-Identifier: MIT
"""Tables made up: correct ones are never blamed, misprints are found and named."""

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rtqual.parts.studies.audit import audit
from rtqual.parts.studies.catalogue import Study, parse
from rtqual.parts.studies.misprint import MisprintKind
from support.made_up_study import TOML

RULE = """
[[rule]]
each = { row = "*" }
at = "table.row"
columns = { range = "max - min" }
""".replace("table.row", "table.{row}")
RULES = RULE.replace('"max - min"', '"max - min", lead = "p95 - avg", part = "(max - min) / max", min = "<= avg"')
HUNDREDTH = Decimal("0.01")
MADE_UP = settings(max_examples=60, deadline=None)  # the machine may be busy
TIES = st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN])
Row = tuple[Decimal, Decimal, Decimal, Decimal]


def test_a_rule_on_what_a_study_does_not_have_is_refused() -> None:
    for broken in ("nonsense - min", "other.max", "table.nobody.max"):
        with pytest.raises(ValueError, match=r"no column|names no figure|no row"):
            audit(parse(TOML + RULE.replace("max - min", broken)))


@st.composite
def true_rows(draw: st.DrawFn) -> list[Row]:
    """Rows of (min, avg, max, p95), to more digits than are printed."""
    figures = st.integers(1, 10**7)
    rows = []
    for _ in range(draw(st.integers(3, 6))):
        low, middle, late, high = sorted(draw(st.lists(figures, min_size=4, max_size=4)))
        avg, p95 = (middle, late) if draw(st.booleans()) else (late, middle)
        rows.append(tuple(Decimal(one).scaleb(-4) for one in (low, avg, high, p95)))
    return rows


def printed_study(rows: list[Row], ties: str, **wrong: list[Decimal]) -> Study:
    """The table a study with these true figures prints. `wrong` replaces a printed column."""
    low, avg, high, p95 = zip(*rows, strict=True)
    columns = {
        "min": rounds(low, ties),
        "avg": rounds(avg, ties),
        "max": rounds(high, ties),
        "p95": rounds(p95, ties),
        "range": ranges(rows, ties),
        "lead": leads(rows, ties),
        "part": [((h - w) / h).quantize(Decimal("0.0001"), ties) for w, h in zip(low, high, strict=True)],
        **wrong,
    }
    printed = [[f'"row {n}"', *map(str, row)] for n, row in enumerate(zip(*columns.values(), strict=True))]
    text = "[" + ", ".join("[" + ", ".join(row) + "]" for row in printed) + "]"
    head, _ = TOML.split("rows = ")
    return parse(f"{head}rows = {text}\n{RULES}")


def rounds(figures: tuple[Decimal, ...], ties: str) -> list[Decimal]:
    return [figure.quantize(HUNDREDTH, ties) for figure in figures]


def ranges(rows: list[Row], ties: str) -> list[Decimal]:
    return rounds(tuple(high - low for low, _, high, _ in rows), ties)


def leads(rows: list[Row], ties: str) -> list[Decimal]:
    return rounds(tuple(p95 - avg for _, avg, _, p95 in rows), ties)


def kinds(published: Study, column: str) -> dict[str, MisprintKind]:
    return {f.row: f.kind for f in audit(published).findings if f.column == column}


@given(true_rows(), TIES)
@MADE_UP
def test_correct_arithmetic_and_rounding_is_never_blamed(rows: list[Row], ties: str) -> None:
    assert audit(printed_study(rows, ties)).findings == ()


def far_apart(a: Decimal, b: Decimal) -> bool:
    """Different, but not by a factor that could be taken for a power of ten."""
    return bool(a and b) and Decimal("0.2") < a / b < 5 and abs(a / b - 1) > Decimal("0.05") and min(a, b) > 1


@pytest.mark.guest
@given(true_rows(), TIES, st.data())
@MADE_UP
def test_a_figure_of_the_row_above_is_found_as_a_row_shift(rows: list[Row], ties: str, data: st.DataObject) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(1, len(rows) - 1))
    assume(far_apart(column[place - 1], column[place]))
    shifted = [*column[:place], column[place - 1], *column[place + 1 :]]
    assert kinds(printed_study(rows, ties, range=shifted), "range") == {f"row {place}": MisprintKind.ROW_SHIFT}


@given(true_rows(), TIES, st.data(), st.sampled_from([-2, -1, 1, 2, 3]))
@MADE_UP
def test_a_factor_of_ten_is_found_and_named(rows: list[Row], ties: str, data: st.DataObject, power: int) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(0, len(rows) - 1))
    assume(column[place] > 1)
    wrong = [*column[:place], column[place].scaleb(power), *column[place + 1 :]]
    wrong = [Decimal(f"{one:f}") for one in wrong]
    assert kinds(printed_study(rows, ties, range=wrong), "range") == {f"row {place}": MisprintKind.FACTOR_OF_TEN}


@given(true_rows(), TIES)
@MADE_UP
def test_lost_signs_are_found_and_named(rows: list[Row], ties: str) -> None:
    column = leads(rows, ties)
    negative = {f"row {n}": MisprintKind.LOST_SIGN for n, one in enumerate(column) if one < Decimal("-0.02")}
    assume(negative and not any(Decimal("-0.02") <= one < 0 for one in column))
    assert kinds(printed_study(rows, ties, lead=[abs(one) for one in column]), "lead") == negative


@given(true_rows(), TIES, st.data())
@MADE_UP
def test_exchanged_digits_are_found_and_named(rows: list[Row], ties: str, data: st.DataObject) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(0, len(rows) - 1))
    digits = str(column[place])
    assume(column[place] >= 10 and digits[1] not in ("0", digits[0]))
    wrong = Decimal(digits[1] + digits[0] + digits[2:])
    assume(
        abs(wrong) > 1
        and all(abs(wrong - one) > Decimal("0.05") for one in column)
        and not powers_of_ten(wrong, column[place])
    )
    column[place] = wrong
    assert kinds(printed_study(rows, ties, range=column), "range") == {f"row {place}": MisprintKind.TRANSPOSED}


def powers_of_ten(a: Decimal, b: Decimal) -> bool:
    return any(abs(a.scaleb(power) / b - 1) < Decimal("0.2") for power in (-2, -1, 1, 2))


@given(true_rows(), TIES, st.data())
@MADE_UP
def test_an_impossible_minimum_is_found(rows: list[Row], ties: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    low, avg = rows[place][:2]
    lows = rounds(tuple(row[0] for row in rows), ties)
    lows[place] = avg.quantize(HUNDREDTH) + 1
    assert kinds(printed_study(rows, ties, min=lows), "min") == {f"row {place}": MisprintKind.IMPOSSIBLE}
    assert low <= avg
